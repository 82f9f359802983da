// SPDX-License-Identifier: Apache-2.0
// The options that every table has. What only one engine reads is in the options of that engine, which derive from these:
// `cubby::dlht::options{{.capacity = 1000}, {.move_bins = 16}}`. A table's `options_type` is the type that its engine takes.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

namespace cubby::inline v0 {

/// Who moves the entries when a table grows or shrinks. An engine that delegates its writes may know `fixed` alone; its writers
/// move the entries otherwise.
enum class growth_policy : std::uint8_t {
  cooperative, ///< each thread that needs space moves chunks until none is left (DLHT section 3.2.5)
  /// Each write moves a bounded share of the entries, then goes on; in some engines each insert and erase does. The options of the
  /// engine say how large a share is. A move stops while nobody writes, and lookups may then have to look at both sides
  /// of it: `reserve(0)` ends it.
  incremental,
  background, ///< one thread of the table moves everything; callers move only the bin that they need
  fixed       ///< a bound: `options.capacity` entries always fit, and then `try_insert` answers `full`
};

/// When a table gives memory back.
enum class shrink_policy : std::uint8_t {
  never,    ///< `shrink_to_fit` keeps the size, and frees what was retired
  manual,   ///< only when `shrink_to_fit` or `clear_and_release` is called
  automatic ///< also when erases leave it nearly empty (low mark with hysteresis); as `manual` where writes are delegated
};

/// How a table is set up. Every field has a default that suits most; `docs/performance.md` cites the measurements.
struct options {
  /// Entries that must fit without growing; shrinking keeps space for them. With `fixed`, also the most: one more is refused, and
  /// with 0 all are. It bounds entries; docs/guarantees.md, F.4, says what that means in bytes.
  std::size_t capacity = 0;
  growth_policy growth = growth_policy::incremental;
  shrink_policy shrink = shrink_policy::manual;
  std::uint64_t seed = 0; ///< of the mixer; `random_seed()` makes one that an attacker cannot know
};

namespace detail {

namespace contract {

/// What a table may be made with beside `options`: the options of its engine, or a type that converts to them. The options of
/// another engine match, too, so that `options_for` can say what is wrong.
template <class O, class E>
concept options_of = !std::same_as<O, options> &&
                     (std::derived_from<O, options> || std::convertible_to<const O&, typename E::options_type>);

/// The options of engine `E`: the common ones with the engine's defaults beside them, or `wanted` as it is.
template <class E, class O> [[nodiscard]] constexpr typename E::options_type options_for(const O& wanted) {
  using own = typename E::options_type;
  if constexpr (std::same_as<O, options> && !std::same_as<own, options>) {
    own all{};
    static_cast<options&>(all) = wanted;
    return all;
  } else {
    constexpr bool of_this_engine =
        std::same_as<O, own> || (!std::derived_from<O, options> && std::convertible_to<const O&, own>);
    static_assert(of_this_engine,
                  "these are the options of another engine: give cubby::options, or the options_type of this "
                  "table");
    if constexpr (of_this_engine) return wanted;
    else return own{};
  }
}

} // namespace contract

} // namespace detail

} // namespace cubby::inline v0
