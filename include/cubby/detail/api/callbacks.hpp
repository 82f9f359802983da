// SPDX-License-Identifier: Apache-2.0
// What a user's function takes and answers. Each check hands the function back. If it does not fit, the check asserts in one line what the
// call needs, and hands back a function that fits: so no other error follows from inside the library.
#pragma once

#include <concepts>
#include <cstddef>

#include <cubby/detail/api/outcome.hpp>

namespace cubby::inline v0::detail {

/// Stands for a function that does not fit. It has no body, because nothing that uses it compiles.
template <class R> struct unfit_function {
  template <class... A> R operator()(A&&...) const;
};
template <class R> inline constexpr unfit_function<R> unfit{};

template <class F, class... A> concept callable_with = requires(F& f, A&&... a) { f(static_cast<A&&>(a)...); };
/// What compilers name when a body such as `[](auto& x) { ++x.second; }` does not compile: a body cannot be asked whether it does.
template <class F, class V> inline constexpr bool is_called_with_the_value_alone = callable_with<F, V>;
template <class F, class... A>
concept decides_by = requires(F& f, A&&... a) { static_cast<bool>(f(static_cast<A&&>(a)...)); };
template <class F, class V>
concept renews = is_called_with_the_value_alone<F, const V&> &&
                 requires(F& f, const V& v) { requires std::constructible_from<V, decltype(f(v))>; };
template <class F, class V>
concept computes = requires(F& f, const V* v) {
  { f(v) } -> std::convertible_to<computed<V>>;
};
/// The same for functions of an entry of a map, or of a set, which has no V.
template <class F, class K, class V, bool has_values>
concept takes_entry = (has_values && callable_with<F, const K&, V&>) || (!has_values && callable_with<F, const K&>);
template <class F, class K, class V, bool has_values>
concept decides_entry = (has_values && decides_by<F, const K&, V&>) || (!has_values && decides_by<F, const K&>);

template <class V, class F> constexpr auto& that_looks(F& f) noexcept {
  constexpr bool fits = is_called_with_the_value_alone<F, const V&>;
  static_assert(fits, "the function of visit is called with the value alone: f(const V&)");
  if constexpr (fits) return f;
  else return unfit<void>;
}
template <class V, class F> constexpr auto& that_changes(F& f) noexcept {
  constexpr bool fits = is_called_with_the_value_alone<F, V&>;
  static_assert(fits, "the function of a modify is called with the value, which it changes: f(V&)");
  if constexpr (fits) return f;
  else return unfit<void>;
}
template <class V, class F> constexpr auto& that_renews(F& f) noexcept {
  constexpr bool fits = renews<F, V>;
  static_assert(fits, "the function of an update is called with the value and returns the new one: f(const V&) -> V");
  if constexpr (fits) return f;
  else return unfit<V>;
}
/// An enumeration is made of a number by a cast alone.
template <class V, class... A>
inline constexpr bool made_by_a_cast =
    std::is_enum_v<V> && !std::constructible_from<V, A...> && requires { V(std::declval<A>()...); };
/// The same for a function beside `args`, of which a new value is made.
template <class V, class F, class... A> constexpr bool renews_or_makes() noexcept {
  constexpr bool fits = renews<F, V>;
  constexpr bool makes = std::constructible_from<V, A...> || made_by_a_cast<V, A...>;
  static_assert(fits, "the function of an update is called with the value and returns the new one: f(const V&) -> V; "
                      "insert_or_update takes it behind the key, and last what a new value is made of");
  static_assert(makes || !fits, "insert_or_update takes a key, then a function, and last what a new value is made of");
  return fits && makes;
}
template <class V, class F> constexpr auto& that_computes(F& f) noexcept {
  constexpr bool fits = computes<F, V>;
  static_assert(fits, "the function of compute is called with the value, or null, and returns what to do: "
                      "f(const V*) -> cubby::computed<V>");
  if constexpr (fits) return f;
  else return unfit<computed<V>>;
}
/// V: `const` unless the predicate may change the value.
template <class V, class F> constexpr auto& that_decides(F& f) noexcept {
  constexpr bool fits = is_called_with_the_value_alone<F, V&> && decides_by<F, V&>;
  static_assert(fits,
                "the predicate of erase_if(k, p) is called with the value and returns a bool: p(const V&) -> bool, "
                "in an in_place_map p(V&) -> bool");
  if constexpr (fits) return f;
  else return unfit<bool>;
}
template <class Answer, class F> constexpr auto& that_looks_at_each(F& f) noexcept {
  constexpr bool fits = callable_with<F, std::size_t, Answer>;
  static_assert(fits, "the function of a batch is called with the index of a key and what is there: "
                      "f(i, const V*), of a set f(i, bool), of modify_batch f(i, V*)");
  if constexpr (fits) return f;
  else return unfit<void>;
}
template <class K, class V, bool has_values, class F> constexpr auto& that_scans(F& f) noexcept {
  constexpr bool fits = takes_entry<F, K, V, has_values>;
  static_assert(fits,
                "the function of a scan is called with key and value: f(const K&, const V&), of a set f(const K&), "
                "of modify_all f(const K&, V&)");
  if constexpr (fits) return f;
  else return unfit<void>;
}
template <class K, class V, bool has_values, class F> constexpr auto& that_selects(F& f) noexcept {
  constexpr bool fits = decides_entry<F, K, V, has_values>;
  static_assert(fits, "the predicate of erase_if(p) or visit_while(p) is called with key and value and returns a bool: "
                      "p(const K&, const V&) -> bool, of a set p(const K&) -> bool");
  if constexpr (fits) return f;
  else return unfit<bool>;
}

} // namespace cubby::inline v0::detail
