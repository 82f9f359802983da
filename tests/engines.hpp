// SPDX-License-Identifier: Apache-2.0
// What the suite runs over, computed from engine_list.hpp: engines, and engines with modes of keys and values. The
// capabilities of an engine decide which of the tests it takes part in.
#pragma once

#include <type_traits>

#include <gtest/gtest.h>

#include "modes.hpp"
#include "support/type_lists.hpp"
#include "support/typed_tests.hpp"
#include "table_options.hpp"

// A build may test another list: tests/lesson.
#ifdef CUBBY_TEST_ENGINES
#include CUBBY_TEST_ENGINES
#else
#include "engine_headers.hpp"
#include "engine_list.hpp"
#endif

namespace cubby_test {

/// Whether an engine claims something: `claims<Mode>(&cubby::capability_set::snapshot)`.
template <class Mode>
constexpr bool claims(bool cubby::capability_set::* what) {
  return Mode::map::capabilities.*what;
}

/// Whether a scan that begins now meets each entry once: yes, unless the engine's scans may meet again what moves behind them
/// (F.1), and something moves. No other thread may write.
template <class Map>
bool is_scan_exact(const Map& m) {
  return Map::capabilities.scans_once || !m.stats().migrating;
}

/// Each engine in one mode only, where compiling them all takes too long. CUBBY_TEST_FEW_MODES is 1 for records, in the builds of the
/// check command for clang's sanitizers, which have more to see there than in atomic words. It is 2 for words, in the builds of that
/// command with g++ and for AArch64. The long command has all modes.
#ifndef CUBBY_TEST_FEW_MODES
#define CUBBY_TEST_FEW_MODES 0
#endif
inline constexpr bool few_modes = CUBBY_TEST_FEW_MODES != 0;
inline constexpr bool words_alone = CUBBY_TEST_FEW_MODES == 2;

enum class storage { records, tuples, delegated };
enum class threads_of { shared, single };

/// What a table of words can do. An engine that delegates its writes has a class of tables of its own.
template <class Engine>
constexpr cubby::capability_set capabilities_of_words() {
  using codec =
      cubby::detail::codec<std::uint64_t, std::uint64_t, cubby::hash<std::uint64_t>, std::allocator<std::byte>>;
  if constexpr (requires { typename Engine::template delegating_engine<codec>; }) {
    return cubby::detail::contract::capabilities_of<typename Engine::template delegating_engine<codec>>;
  } else {
    return cubby::map<std::uint64_t, std::uint64_t, Engine>::capabilities;
  }
}

/// A line of the list.
template <class Engine, storage Storage, threads_of Threads, template <class> class... Modes>
struct listed {
  using engine = Engine;
  using modes = ::testing::Types<Modes<Engine>...>;
  static constexpr cubby::capability_set capabilities = capabilities_of_words<Engine>();
  static constexpr bool records = Storage == storage::records;
  static constexpr bool tuples = Storage == storage::tuples;
  static constexpr bool shared = Threads == threads_of::shared;
  static constexpr bool lookups_lock = !capabilities.lock_free_find;
  /// Whether the engine keeps texts and tuples in its slots beside words and records.
  static constexpr bool wide_slots =
      Storage == storage::records && (std::is_same_v<Modes<Engine>, slot_text_mode<Engine>> || ...);
  static_assert(shared != capabilities.one_thread_only, "the list and the engine differ about threads");
  static_assert((Storage == storage::delegated) == capabilities.delegates,
                "the list and the engine differ about writes");
};
#define CUBBY_LINE(tag, storage_, threads, ...)                                                                        \
  struct line_##tag : listed<cubby::tag, storage::storage_, threads_of::threads, __VA_ARGS__> {                        \
    static constexpr const char* name = #tag;                                                                          \
  };
CUBBY_FOR_EACH_ENGINE(CUBBY_LINE)
#undef CUBBY_LINE
#define CUBBY_LISTED(tag, ...) , line_##tag
using listed_engines = rest_of<void CUBBY_FOR_EACH_ENGINE(CUBBY_LISTED)>::type;
#undef CUBBY_LISTED

template <class Line, template <class> class Mode>
using mode_of = Mode<typename Line::engine>;

/// One mode of each engine: records where it has them, since the sanitizers see more in them than in atomic words. Two
/// of an engine that keeps texts in slots. Or words, and tuples where there are no words.
template <class Line>
using words_of_line =
    join<types_if<Line::records, mode_of<Line, word_mode>>, types_if<Line::tuples, mode_of<Line, tuple_mode>>>;
template <class Line>
using records_of_line =
    join<types_if<Line::records && Line::shared && Line::lookups_lock, mode_of<Line, named_text_mode>>,
         types_if<Line::records && Line::shared && !Line::lookups_lock, mode_of<Line, text_mode>>,
         types_if<Line::records && !Line::shared, mode_of<Line, word_mode>>,
         types_if<Line::wide_slots, mode_of<Line, slot_text_mode>>, types_if<Line::tuples, mode_of<Line, tuple_mode>>>;
template <class Line>
using few_modes_of = std::conditional_t<words_alone, words_of_line<Line>, records_of_line<Line>>;
template <class Line>
using every_mode_of = std::conditional_t<Line::records || Line::tuples, typename Line::modes, ::testing::Types<>>;
using every_mode =
    std::conditional_t<few_modes, join_over<few_modes_of, listed_engines>, join_over<every_mode_of, listed_engines>>;

/// Words in slots, and strings with namespaces in records: the two ends of what the modes ask of an engine.
template <class Line>
using main_modes_of = join<types_if<Line::records, mode_of<Line, word_mode>>,
                           types_if<Line::records && Line::shared, mode_of<Line, named_text_mode>>,
                           types_if<Line::wide_slots, mode_of<Line, slot_text_mode>>,
                           types_if<Line::tuples || Line::wide_slots, mode_of<Line, tuple_mode>>>;
using main_modes =
    std::conditional_t<few_modes, join_over<few_modes_of, listed_engines>, join_over<main_modes_of, listed_engines>>;

/// For tests with threads: words in slots and records, over every engine that threads may share. An engine whose lookups
/// lock, locks for both alike, so one will do.
template <class Line>
using shared_words_of = std::conditional_t<Line::shared, words_of_line<Line>, ::testing::Types<>>;
template <class Line>
using shared_records_of =
    join<types_if<Line::records && Line::shared && !Line::lookups_lock, mode_of<Line, text_mode>>,
         types_if<Line::wide_slots, mode_of<Line, slot_text_mode>>, types_if<Line::tuples, mode_of<Line, tuple_mode>>>;
template <class Line>
using shared_modes_of = join<types_if<Line::records && Line::shared, mode_of<Line, word_mode>>, shared_records_of<Line>,
                             types_if<Line::wide_slots, mode_of<Line, tuple_mode>>>;
template <class Line>
using few_shared_modes_of = std::conditional_t<words_alone, shared_words_of<Line>, shared_records_of<Line>>;
using few_shared_modes = join_over<few_shared_modes_of, listed_engines>;
using all_shared_modes = join_over<shared_modes_of, listed_engines>;
using shared_modes = std::conditional_t<few_modes, few_shared_modes, all_shared_modes>;

/// Engines that take requests to be answered later.
template <class Line>
using pipelined_modes_of = std::conditional_t<Line::capabilities.pipelined, shared_modes_of<Line>, ::testing::Types<>>;
using pipelined_modes = join_over<pipelined_modes_of, listed_engines>;

template <class Line>
using engine_with_records = types_if<Line::records, typename Line::engine>;
template <class Line>
using shared_engine_with_records = types_if<Line::records && Line::shared, typename Line::engine>;
template <class Line>
using answering_engine = types_if<Line::records || Line::tuples, typename Line::engine>;
template <class Line>
using shared_answering_engine = types_if<(Line::records || Line::tuples) && Line::shared, typename Line::engine>;

using every_engine = join_over<engine_with_records, listed_engines>;
using shared_engines = join_over<shared_engine_with_records, listed_engines>;
/// With those that take plain keys and values only.
using every_plain_engine = join_over<answering_engine, listed_engines>;
using shared_plain_engines = join_over<shared_answering_engine, listed_engines>;

/// Those whose tables can be in files. tests/durable/kinds.hpp and tests/crash/codings.hpp say what they keep there.
template <class Line>
using engine_with_files = types_if<cubby::detail::keeps_files<typename Line::engine>, typename Line::engine>;
using durable_engines = join_over<engine_with_files, listed_engines>;
/// Whether an engine has slots for words and tuples. If not, all its entries are in records.
template <class Engine>
inline constexpr bool has_slots = !cubby::detail::keeps_records<Engine>;

/// A table so small that overflow and growth happen within a few inserts, one bin at a time.
inline table_options tiny_options(cubby::growth_policy growth = cubby::growth_policy::incremental) {
  table_options o;
  o.capacity = 1;
  o.growth = growth;
  o.shrink = cubby::shrink_policy::manual;
  o.chunk_bins = 1;
  o.move_bins = 1;
  o.growth_factor = 2;
  o.segment_bits = 1;
  return o;
}

inline constexpr cubby::growth_policy growing_policies[] = {
    cubby::growth_policy::cooperative, cubby::growth_policy::incremental, cubby::growth_policy::background};

} // namespace cubby_test
