// SPDX-License-Identifier: Apache-2.0
// Moves of whole tables, which the user's destructors may watch: first all of them run that a move runs, while each table is whole.
#pragma once

#include <concepts>
#include <new>
#include <type_traits>
#include <utility>

#include <cubby/detail/api/ending.hpp>

namespace cubby::inline v0::detail {

/// What is moved from where a `T` is made of it.
template <class M, class T> concept moving = std::derived_from<M, T> && !std::is_const_v<M>;

/// Puts `from`, for which nothing waits and which no user can reach, in the place of `old`.
template <contract::with_policy Engine> void replace_engine(Engine& old, Engine& from) noexcept {
  if (old.ok()) empty_at_end(old);
  old.~Engine(); // <memory>, which has names for both, is large
  new (static_cast<void*>(&old)) Engine(std::move(from));
}
template <contract::with_policy Engine> void assign_engine(Engine& to, Engine& from) noexcept {
  Engine kept(std::move(from));
  replace_engine(to, kept);
}
template <contract::with_policy Engine> void swap_engines(Engine& one, Engine& other) noexcept {
  Engine first(std::move(one));
  Engine second(std::move(other));
  replace_engine(one, second);
  replace_engine(other, first);
}

} // namespace cubby::inline v0::detail
