// SPDX-License-Identifier: Apache-2.0
// The engines and the modes that the suite runs over. A new engine is added here, and its capabilities decide which of
// the tests it takes part in.
#pragma once

#include <type_traits>

#include <gtest/gtest.h>

#include <cubby/engine/dramhit/dramhit.hpp>
#include <cubby/engine/dramhit_tuples/dramhit_tuples.hpp>
#include <cubby/engine/reference/reference.hpp>
#include <cubby/engine/relativistic/relativistic.hpp>
#include <cubby/map.hpp>
#include <cubby/set.hpp>

#include "support/modes.hpp"
#include "support/table_options.hpp"
#include "support/typed_tests.hpp"

namespace cubby_test {

/// Whether an engine claims something: `claims<Mode>(&cubby::capability_set::snapshot)`.
template <class Mode>
constexpr bool claims(bool cubby::capability_set::* what) {
  return Mode::map::capabilities.*what;
}

/// Whether a walk that begins now meets each entry once: yes, unless the engine's walks may meet again what moves behind them
/// (F.1), and something moves. Nobody else may write.
template <class Map>
bool is_walk_exact(const Map& m) {
  return Map::capabilities.walks_once || !m.stats().migrating;
}

/// Each engine in one mode only, where compiling them all takes too long: CUBBY_TEST_FEW_MODES is 1 in the builds of the
/// short command for clang's sanitizers, which have more to see in records than in atomic words.
#ifndef CUBBY_TEST_FEW_MODES
#define CUBBY_TEST_FEW_MODES 0
#endif
inline constexpr bool few_modes = CUBBY_TEST_FEW_MODES != 0;

using few_of_every_mode =
    ::testing::Types<named_text_mode<cubby::reference>, text_mode<cubby::dlht>, word_mode<cubby::dlht_single>,
                     text_mode<cubby::dramhit>, tuple_mode<cubby::dramhit_tuples>, text_mode<cubby::relativistic>>;
using all_of_every_mode =
    ::testing::Types<word_mode<cubby::reference>, named_text_mode<cubby::reference>, word_mode<cubby::dlht>,
                     text_mode<cubby::dlht>, wide_mode<cubby::dlht>, named_mode<cubby::dlht>,
                     word_mode<cubby::dlht_single>, text_mode<cubby::dlht_single>, word_mode<cubby::dramhit>,
                     text_mode<cubby::dramhit>, named_mode<cubby::dramhit>, word_mode<cubby::dramhit_tuples>,
                     tuple_mode<cubby::dramhit_tuples>, word_mode<cubby::relativistic>, text_mode<cubby::relativistic>>;

using every_mode = std::conditional_t<few_modes, few_of_every_mode, all_of_every_mode>;

/// Words in slots, and strings with namespaces in records: the two ends of what the modes ask of an engine.
using all_main_modes =
    ::testing::Types<word_mode<cubby::reference>, named_text_mode<cubby::reference>, word_mode<cubby::dlht>,
                     named_text_mode<cubby::dlht>, word_mode<cubby::dlht_single>, word_mode<cubby::dramhit>,
                     named_text_mode<cubby::dramhit>, tuple_mode<cubby::dramhit_tuples>, word_mode<cubby::relativistic>,
                     named_text_mode<cubby::relativistic>>;

using main_modes = std::conditional_t<few_modes, few_of_every_mode, all_main_modes>;

/// For tests with threads: words in slots and records, over every engine that threads may share. `reference` locks for
/// both alike, so one will do.
using few_shared_modes = ::testing::Types<text_mode<cubby::dlht>, text_mode<cubby::dramhit>,
                                          tuple_mode<cubby::dramhit_tuples>, text_mode<cubby::relativistic>>;
using all_shared_modes =
    ::testing::Types<word_mode<cubby::reference>, word_mode<cubby::dlht>, text_mode<cubby::dlht>,
                     word_mode<cubby::dramhit>, text_mode<cubby::dramhit>, tuple_mode<cubby::dramhit_tuples>,
                     word_mode<cubby::relativistic>, text_mode<cubby::relativistic>>;

using shared_modes = std::conditional_t<few_modes, few_shared_modes, all_shared_modes>;

/// Engines that take requests to be answered later.
using pipelined_modes =
    ::testing::Types<word_mode<cubby::dramhit>, text_mode<cubby::dramhit>, tuple_mode<cubby::dramhit_tuples>>;

using every_engine =
    ::testing::Types<cubby::reference, cubby::dlht, cubby::dlht_single, cubby::dramhit, cubby::relativistic>;
using shared_engines = ::testing::Types<cubby::reference, cubby::dlht, cubby::dramhit, cubby::relativistic>;
/// With those that take plain keys and values only.
using every_plain_engine = ::testing::Types<cubby::reference, cubby::dlht, cubby::dlht_single, cubby::dramhit,
                                            cubby::dramhit_tuples, cubby::relativistic>;
using shared_plain_engines =
    ::testing::Types<cubby::reference, cubby::dlht, cubby::dramhit, cubby::dramhit_tuples, cubby::relativistic>;

/// A table so small that overflow and growth happen within a few inserts, one bin at a time.
inline table_options tiny_options(cubby::growth_policy growth = cubby::growth_policy::incremental) {
  table_options o;
  o.capacity = 1;
  o.growth = growth;
  o.shrink = cubby::shrink_policy::manual;
  o.chunk_bins = 1;
  o.move_bins = 1;
  o.growth_factor = 2;
  return o;
}

inline constexpr cubby::growth_policy growing_policies[] = {
    cubby::growth_policy::cooperative, cubby::growth_policy::incremental, cubby::growth_policy::background};

} // namespace cubby_test
