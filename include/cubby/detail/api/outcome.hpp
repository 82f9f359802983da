// SPDX-License-Identifier: Apache-2.0
// Types of the API beside those of contract.hpp: the decision and the result of `compute`, and the requests and replies of
// batches (`execute`) and pipelines.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

#include <cubby/detail/core/contract.hpp>
#include <cubby/detail/core/key.hpp>

namespace cubby::inline v0 {

/// What a `compute` has done to the entry.
enum class change : std::uint8_t { none, inserted, replaced, erased };

/// The decision of the function given to `compute`: keep the entry, erase it, or give it this value. For an absent key, `keep` and
/// `erase` both do nothing.
template <class V> class computed {
public:
  [[nodiscard]] static computed keep() { return computed(action::keep); }
  [[nodiscard]] static computed erase() { return computed(action::erase); }
  template <std::convertible_to<V> U> [[nodiscard]] static computed value(U&& v) {
    return computed(std::forward<U>(v));
  }

  /// `action::keep` or `action::erase`. `action::replace` needs a value; without one it means `keep`.
  computed(action what) : what_(what == action::replace ? action::keep : what) {}
  template <class U>
    requires(std::convertible_to<U, V> && !std::same_as<std::remove_cvref_t<U>, action> &&
             !std::same_as<std::remove_cvref_t<U>, computed>)
  computed(U&& v) : what_(action::replace), value_(std::forward<U>(v)) {}

  [[nodiscard]] action what() const noexcept { return what_; }
  /// Only when `what()` is `action::replace`.
  [[nodiscard]] V& get() noexcept { return *value_; }

private:
  action what_;
  std::optional<V> value_;
};

/// The operation of a request. DLHT's Get, Put, Insert and Delete are find, assign, insert and erase. An `insert_or_add` of values
/// without a `+`, or of a set, is `not_executed`.
enum class verb : std::uint8_t { find, insert, assign, insert_or_assign, insert_or_add, erase };

/// The value of a request: a V, or an optional V if V has no default constructor. A request that needs a value and has none is not
/// carried out: `not_executed`.
template <class V> using requested = std::conditional_t<std::default_initializable<V>, V, std::optional<V>>;

/// One request of a batch or a pipeline. K: the table's key type, or a type with which its keys can be looked up (std::string_view
/// for std::string keys). In the second case a key of the table's type is made only when it is stored. find and erase ignore
/// `value`. `tag` is the caller's, and the reply has it, too.
template <class K, class V = detail::no_value> struct request {
  verb what = verb::find;
  K key{};
  requested<V> value{};
  std::uint64_t tag = 0;
};

/// The answer to the request with this tag. `insert_or_assign` and `insert_or_add` end in `done`, whether the key was there or not.
/// `value` is the value that a find found or an erase removed.
template <class V = detail::no_value> struct reply {
  outcome result = outcome::not_executed;
  std::optional<V> value{};
  std::uint64_t tag = 0;
};

/// What a batch does after a request that fails. Each outcome except `done` is a failure.
enum class batch_policy : std::uint8_t { run_all, stop_at_first_failure };

namespace detail {

/// Whether a request has its value; and the value, which must be there.
template <class V> constexpr bool has_value([[maybe_unused]] const requested<V>& value) noexcept {
  if constexpr (std::default_initializable<V>) return true;
  else return value.has_value();
}
template <class V, class Requested> constexpr auto& given_value(Requested& value) noexcept {
  if constexpr (std::default_initializable<V>) return value;
  else return *value;
}

} // namespace detail

} // namespace cubby::inline v0
