# SPDX-License-Identifier: Apache-2.0
# Files that instantiate the same tables and share no names. cmake/own_targets.cmake joins each group into one unit, so that a table is
# compiled once for all of them. A file in no group stays alone: its names meet those of others, or it switches fibers.
function(cubby_join group)
  set_source_files_properties(${ARGN} PROPERTIES UNITY_GROUP ${group})
endfunction()

# cubby_tests_hooked
cubby_join(dlht dlht/empty.cpp dlht/freed.cpp dlht/holes.cpp dlht/units.cpp)
cubby_join(play dlht/moves.cpp dlht/schedules.cpp dlht/slots.cpp)
cubby_join(dramhit dramhit/entries.cpp dramhit/lookups.cpp dramhit/retired.cpp)
cubby_join(dramhit_moves dramhit/arrays.cpp dramhit/changes.cpp)
cubby_join(relativistic relativistic/modify.cpp relativistic/old_arrays.cpp relativistic/parked_reader.cpp relativistic/parked_writer.cpp
           relativistic/sorted_chains.cpp relativistic/updates_of_zipped_chains.cpp relativistic/wide_growth.cpp)
cubby_join(fault fault/allocation.cpp fault/allocation_of_verbs.cpp fault/parked.cpp fault/parked_retirers.cpp fault/stalled.cpp
           fault/stalled_mover.cpp)
cubby_join(partitioned partitioned/histories.cpp partitioned/without_memory.cpp partitioned/stops.cpp)
cubby_join(histories linearizability/histories.cpp linearizability/perturbation.cpp)
cubby_join(durable_log durable/erased_in_moves.cpp durable/growing_files.cpp durable/log.cpp durable/log_places.cpp
           durable/log_power_cut.cpp durable/log_stops.cpp durable/scans.cpp)
cubby_join(durable_space durable/new_files.cpp durable/power_cut.cpp durable/space.cpp durable/unsettled_moves.cpp)
get_target_property(hooked_sources cubby_tests_hooked SOURCES)
list(FILTER hooked_sources INCLUDE REGEX "^regression/")
cubby_join(regression ${hooked_sources})

# cubby_tests_of_composed_calls, cubby_tests_durable, cubby_tests_crash
cubby_join(equal_keys conformance/get_or_create.cpp conformance/hashes_and_equalities.cpp conformance/prepared_keys.cpp)
cubby_join(contents conformance/contents.cpp conformance/moved_keys.cpp conformance/moved_tables.cpp conformance/seeds.cpp)
cubby_join(durable_entries durable/churn.cpp durable/damage.cpp durable/entries.cpp durable/reopened.cpp durable/torn.cpp)
cubby_join(durable_opening durable/killed.cpp durable/older_hashes.cpp durable/opening.cpp durable/refusals.cpp durable/sets_and_texts.cpp durable/truncated.cpp)
cubby_join(crash crash/budget.cpp crash/bytes.cpp crash/life.cpp crash/operations.cpp crash/resizes.cpp crash/writers.cpp)

# The explorer. Each adapter has a table of its own under the same names.
cubby_join(scenarios explore/scenarios_at_rest.cpp explore/scenarios_background.cpp explore/scenarios_dramhit.cpp
           explore/scenarios_lookups.cpp explore/scenarios_moving.cpp)
cubby_join(search explore/groups.cpp explore/judge.cpp explore/scenario.cpp explore/schedule.cpp explore/search.cpp)
