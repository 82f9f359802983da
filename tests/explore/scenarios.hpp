// SPDX-License-Identifier: Apache-2.0
// The scenarios, in groups. Keys k1, k2, ... live in one bin whatever the size of the index.
#pragma once

#include <vector>

#include "explore/scenario.hpp"

namespace cubby_test {

std::vector<scenario> pairs_of_verbs();
std::vector<scenario> pairs_on_two_keys();
std::vector<scenario> erase_and_reuse();
std::vector<scenario> three_and_four_threads();
std::vector<scenario> keys_zero_to_three();
std::vector<scenario> growth();
std::vector<scenario> growth_without_memory();
std::vector<scenario> chained_growth();
std::vector<scenario> shrinking();
std::vector<scenario> snapshots();
std::vector<scenario> scans();
std::vector<scenario> batches();
std::vector<scenario> retirement();
std::vector<scenario> batch_lookups();
std::vector<scenario> batch_lookups_meet_moves();
std::vector<scenario> background_pairs();
std::vector<scenario> background_moves();
std::vector<scenario> dramhit_moves();
std::vector<scenario> dramhit_lookups_and_scans();
std::vector<scenario> dramhit_pipelines();
std::vector<scenario> dramhit_background();
std::vector<scenario> tuples_moves();
std::vector<scenario> tuples_being_written();
std::vector<scenario> tuples_lookups_and_scans();
std::vector<scenario> tuples_pipelines();
std::vector<scenario> tuples_background();
std::vector<scenario> relativistic_resizes();
std::vector<scenario> relativistic_casts();
std::vector<scenario> relativistic_looks();
std::vector<scenario> relativistic_modifies();
std::vector<scenario> relativistic_background();
std::vector<scenario> iceberg_reuse();
std::vector<scenario> iceberg_growth();
std::vector<scenario> iceberg_merges();
std::vector<scenario> iceberg_fronts();
std::vector<scenario> iceberg_modifies();
std::vector<scenario> iceberg_growth_under_way();
std::vector<scenario> iceberg_shrink_under_way();
std::vector<scenario> seph_inserts();
std::vector<scenario> seph_splits();
std::vector<scenario> seph_rewrites();
std::vector<scenario> seph_merges();
std::vector<scenario> seph_looks();
std::vector<scenario> partitioned_writes();
std::vector<scenario> partitioned_rebuilds();
std::vector<scenario> partitioned_newcomers();

/// Scenarios over the published bin, one for each of its holes, in their order.
std::vector<scenario> published_holes();
/// The same scripts over a table of ours.
std::vector<scenario> closed_holes();

} // namespace cubby_test
