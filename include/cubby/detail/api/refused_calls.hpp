// SPDX-License-Identifier: Apache-2.0
// Calls of the containers of the standard library, and of other concurrent tables, that no table has. Each is a deleted function, so
// a constraint that asks for it is false. Both compilers show the line of a deleted function that is called: its comment says what to
// use instead.
#pragma once

#include <cstddef>
#include <type_traits>

namespace cubby::inline v0::detail {

/// What someone may take for a capacity, where options belong.
template <class T> concept number = std::is_arithmetic_v<T>;

// The classes are empty. Each depends on `Derived`, because a table and its first member, another table, could not begin at the same
// address if both had a base of one type. The results are `auto`, because clang reports a second error for the use of a `void`.

/// By all tables and handles.
template <class Derived> struct refused_by_all {
  auto begin() const = delete; // no iterators, as other threads may erase the entry: use visit_all(f)
  auto end() const = delete;   // no iterators, as other threads may erase the entry: use visit_all(f), find or contains
  auto cbegin() const = delete; // no iterators, as other threads may erase the entry: use visit_all(f)
  auto cend() const = delete; // no iterators, as other threads may erase the entry: use visit_all(f), find or contains
  template <class Q>
  auto count(const Q&) const = delete; // use contains(key)
  template <class F>
  auto for_each(F&&) const = delete;  // use visit_all(f), or visit_while(f)
  auto rehash(std::size_t) = delete;  // use reserve(entries); memory comes back by shrink_to_fit()
  auto load_factor() const = delete;  // use stats(), which has size and capacity
  auto bucket_count() const = delete; // use capacity(), or stats()
  auto lock_table() = delete;         // nothing locks a whole table: use visit_all(f), erase_if(p), or a snapshot
  template <class F>
  auto cvisit_all(F&&) const = delete; // use visit_all(f), which shows const references
  template <class Q>
  auto remove(const Q&) = delete; // use erase(key)
};

template <class Derived> struct refused_by_sets : refused_by_all<Derived> {
  template <class Q>
  auto find(const Q&) const = delete; // no iterators, as other threads may erase the key: use contains(key)
  template <class... A>
  auto emplace(A&&...) = delete; // use insert(key)
};

template <class Derived> struct refused_by_maps : refused_by_all<Derived> {
  template <class Q>
  auto operator[](const Q&) const = delete; // no references: use find, insert_or_assign, insert_or_add, find_or_emplace
  template <class Q>
  auto at(const Q&) const = delete; // no references: use find(key), whose result is optional, or visit(key, f)
  template <class... A>
  auto emplace(A&&...) = delete; // use insert(key, value) or try_emplace(key, args...)
  template <class... A>
  auto get_or_create(A&&...) = delete; // use find_or_emplace(key, factory)
  template <class... A>
  auto upsert(A&&...) = delete; // use insert_or_update(key, f, args...), or insert_or_assign(key, value)
  template <class Q>
  auto get(const Q&) const = delete; // use find(key), whose result is optional, or visit(key, f)
  template <class... A>
  auto put(A&&...) = delete; // use insert_or_assign(key, value), or insert(key, value)
  template <class... A>
  auto cvisit(A&&...) const = delete; // use visit(key, f), which shows a const value
  template <class... A>
  auto insert_or_cvisit(A&&...) = delete; // use insert_or_visit(key, value, f), which shows a const value
  template <class... A>
  auto try_emplace_or_cvisit(A&&...) = delete; // use try_emplace_or_visit(key, args..., f)
  template <class... A>
  auto emplace_or_visit(A&&...) = delete; // use try_emplace_or_visit(key, args..., f)
  template <class Q>
  auto find_ref(const Q&) const = delete; // a handle has it: auto h = m.handle(); h.find_ref(key)
  template <class... A>
  auto fetch_add(A&&...) = delete; // use add_and_fetch(key, n), or insert_or_add(key, n)
  template <class... A>
  auto find_fn(A&&...) const = delete; // use visit(key, f)
  template <class... A>
  auto if_contains(A&&...) const = delete; // use visit(key, f)
  template <class... A>
  auto update_fn(A&&...) = delete; // use update(key, f), whose f returns the new value
  template <class... A>
  auto modify_if(A&&...) = delete; // use update(key, f), whose f returns the new value
  template <class... A>
  auto erase_fn(A&&...) = delete; // use erase_if(key, p), or compute(key, f)
  template <class... A>
  auto uprase_fn(A&&...) = delete; // use compute(key, f)
  template <class... A>
  auto lazy_emplace_l(A&&...) = delete; // use insert_or_visit, try_emplace_or_visit or find_or_emplace
};

template <class Derived> struct refused_in_place : refused_by_all<Derived> {
  template <class Q>
  auto operator[](const Q&) const = delete; // no references: use emplace_and_modify, insert_or_assign, find or modify
  template <class Q>
  auto at(const Q&) const = delete; // no references: use visit(key, f), modify(key, f) or find(key)
  template <class... A>
  auto update(A&&...) = delete; // values change in place: use modify(key, f)
  template <class... A>
  auto insert_or_update(A&&...) = delete; // values change in place: use insert_or_modify or emplace_and_modify
  template <class... A>
  auto insert_or_add(A&&...) = delete; // values change in place: use emplace_and_modify(key, f)
  template <class... A>
  auto find_or_emplace(A&&...) = delete; // values change in place: use emplace_and_modify(key, f, args...)
  template <class... A>
  auto compute(A&&...) = delete; // values change in place: use modify, emplace_and_modify or erase_if(key, p)
  template <class Q>
  auto get(const Q&) const = delete; // use find(key), visit(key, f) or modify(key, f)
  template <class... A>
  auto put(A&&...) = delete; // use insert_or_assign(key, value), or insert(key, value)
  template <class... A>
  auto cvisit(A&&...) const = delete; // use visit(key, f)
  template <class... A>
  auto update_fn(A&&...) = delete; // use modify(key, f)
  template <class... A>
  auto upsert(A&&...) = delete; // use insert_or_modify or emplace_and_modify
  template <class... A>
  auto insert_or_visit(A&&...) = delete; // use insert_or_modify(key, f, args...)
  template <class... A>
  auto try_emplace_or_visit(A&&...) = delete; // use insert_or_modify(key, f, args...)
  template <class... A>
  auto add_and_fetch(A&&...) = delete; // use emplace_and_modify(key, f), whose f adds and keeps the result
  template <class Q>
  auto find_ref(const Q&) const = delete; // others may change the value: use visit(key, f) or modify(key, f)
  template <class... A>
  auto fetch_add(A&&...) = delete; // use emplace_and_modify(key, f), whose f adds and keeps the result
  template <class... A>
  auto find_batch(A&&...) const = delete; // use visit_batch(keys, f)
  auto snapshot() const = delete;         // a value may change meanwhile: use visit_all(f) or to<Container>()
  template <class... A>
  auto emplace(A&&...) = delete; // use insert(key, value) or try_emplace(key, args...)
};

/// By delegated maps and their handles.
template <class Derived> struct refused_by_delegated : refused_by_all<Derived> {
  template <class Q>
  auto operator[](const Q&) const = delete; // no references: use find, or insert_or_assign of a handle
  template <class Q>
  auto at(const Q&) const = delete; // no references: use find(key), whose result is optional
  template <class... A>
  auto emplace(A&&...) = delete; // writes are not answered: use insert_or_assign(key, value) of a handle
  template <class... A>
  auto insert(A&&...) = delete; // writes are not answered: use insert_or_assign(key, value) of a handle
};

template <class Derived, bool HasValues>
using refused_calls = std::conditional_t<HasValues, refused_by_maps<Derived>, refused_by_sets<Derived>>;

} // namespace cubby::inline v0::detail
