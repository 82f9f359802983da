// SPDX-License-Identifier: Apache-2.0
// The options of every table. An engine's own options derive from them: `options{{.capacity = 1000}, {.move_bins = 16}}`. A
// table's `options_type` is the type of its engine's options.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <cubby/detail/platform/entropy.hpp>

namespace cubby::inline v0 {

/// Which threads move the entries when a table grows or shrinks. An engine whose writes are delegated has one policy beside `fixed`.
enum class growth_policy : std::uint8_t {
  cooperative, ///< each thread that needs space moves chunks until none is left (DLHT section 3.2.5)
  /// Each write moves a bounded share of the entries first; in some engines only inserts and erases do. The engine's options set the
  /// share. While no thread writes, the move stops, and lookups may have to read the old and the new index. `reserve(0)` ends it.
  incremental,
  background, ///< a thread of the table moves all entries; callers move only the bin that they need
  fixed       ///< a bound: `options.capacity` entries always fit; for one more, `try_insert` answers `full`
};

/// When a table gives memory back.
enum class shrink_policy : std::uint8_t {
  never,    ///< `shrink_to_fit` keeps the size, and only frees retired memory
  manual,   ///< only when `shrink_to_fit` or `clear_and_release` is called
  automatic ///< also when erases leave the table nearly empty; where writes are delegated the same as `manual`
};

/// As `options.seed`: the table draws a seed that no other table has.
inline constexpr std::uint64_t own_seed = ~std::uint64_t{0};

/// The options of a table. The defaults suit most programs; `docs/performance.md` has the measurements.
struct options {
  /// The number of entries that fit without growing. A shrink keeps space for them. With `fixed` it is also the bound: one more entry
  /// is refused, and with 0 every entry. Guarantee F.4 says what that means in bytes.
  std::size_t capacity = 0;
  growth_policy growth = growth_policy::incremental;
  shrink_policy shrink = shrink_policy::manual;
  /// Of the hash mixer. By default each table has a seed of its own, as keys that come in the order of a scan would crowd a small table with
  /// the same seed. Any other number: tables with it agree, and runs can be repeated. `random_seed()` makes one that an attacker cannot guess.
  std::uint64_t seed = own_seed;
};

struct durable_options;

namespace detail {

namespace contract {

/// The types from which a table can be made beside `options`: the options of its engine, and types that convert to them. The options
/// of other engines and of durable tables match, too, so that `options_for` can give a readable error.
template <class O, class E>
concept options_of = !std::same_as<O, options> && (std::same_as<O, durable_options> || std::derived_from<O, options> ||
                                                   std::convertible_to<const O&, typename E::options_type>);

/// What stands where options belong. A number is among them: the constructor that refuses it says what to write.
template <class O, class E>
concept given_options = std::same_as<O, options> || options_of<O, E> || std::is_arithmetic_v<O>;

/// What a constructor takes for the allocator of a table: a memory resource for `std::pmr`, for instance.
template <class A, class Allocator>
concept given_allocator = std::convertible_to<const A&, Allocator> && !std::is_arithmetic_v<A> &&
                          !std::is_null_pointer_v<A> && !std::derived_from<A, options>;

/// The options of engine `E`: `wanted`, with the engine's defaults added if `wanted` has only the common options.
template <class E, class O> [[nodiscard]] constexpr typename E::options_type options_for(const O& wanted) {
  using own = typename E::options_type;
  if constexpr (std::same_as<O, options> && !std::same_as<own, options>) {
    own all{};
    static_cast<options&>(all) = wanted;
    return all;
  } else if constexpr (std::same_as<O, durable_options>) {
    static_assert(!std::same_as<O, durable_options>,
                  "these are the options of a table in a file, which cubby::durable_map::open makes: give "
                  "cubby::options, or the options_type of this table");
    return own{};
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

/// The seed of a table that is made with these options.
[[nodiscard]] inline std::uint64_t seed_for(const options& of) noexcept {
  return of.seed == own_seed ? seed_of_a_table() : of.seed;
}
/// Gives an empty table another seed, unless it was asked for one. Its contents may be put into it again, in the order of their scan.
template <class Policy> void renew_seed(const options& of, Policy& policy) noexcept {
  if constexpr (draws_seeds && requires { policy.reseed(std::uint64_t{}); }) {
    if (of.seed == own_seed) policy.reseed(seed_of_a_table());
  }
}

/// The options of the empty table that a move leaves: only a bound keeps its capacity, as it is a promise.
inline void forget_capacity(options& of) noexcept {
  if (of.growth != growth_policy::fixed) of.capacity = 0;
}

} // namespace contract

} // namespace detail

} // namespace cubby::inline v0
