// SPDX-License-Identifier: Apache-2.0
// Calls of the containers of the standard library, and of other concurrent tables, that no table has. Each is a deleted function, so
// a constraint that asks for it is false. Both compilers show the line of a deleted function that is called: its comment says what to
// use instead.
#pragma once

#include <cstddef>
#include <iterator>
#include <type_traits>

namespace cubby::inline v0::detail {

/// What someone may take for a capacity, where options belong.
template <class T> concept number = std::is_arithmetic_v<T>;

/// A parameter that a T becomes by a conversion, so that any other function is a better match.
template <class T> struct made_of {
  made_of(const T&);
};

/// A key and a value in braces, of which no template parameter can be deduced.
struct pair_in_braces {
  template <class K, class V> pair_in_braces(const K&, const V&);
};

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
  template <class Q>
  auto unsafe_erase(const Q&) = delete; // use erase(key), which is safe beside all other calls
  template <class... A>
  auto max_load_factor(A...) const = delete; // use options.capacity or reserve(entries)
  template <class P>
  auto find_if(P&&) const = delete; // use visit_while(f), whose f returns false to end the scan
  template <class F>
  auto cvisit_while(F&&) const = delete; // use visit_while(f), which shows const references
  // By a conversion and an ellipsis: every function of the user is a better match.
  friend auto erase_if(made_of<Derived>, ...) = delete; // use the member: m.erase_if(p)
};

template <class Derived> struct refused_by_sets : refused_by_all<Derived> {
  template <class Q>
  auto find(const Q&) const = delete; // no iterators, as other threads may erase the key: use contains(key)
  template <class... A>
  auto emplace(A&&...) = delete; // use insert(key)
};

template <class Derived> struct refused_by_maps : refused_by_all<Derived> {
  struct accessor {
    accessor() = delete; // no accessors: use visit(key, f), update(key, f) or an in_place_map
  };
  using const_accessor = accessor;
  template <class Q, class Out>
  auto find(const Q&, Out&) const = delete; // use find(key), whose result is optional
  template <std::input_or_output_iterator It, class F>
  auto visit(It, It, F&&) const = delete; // use visit_batch(keys, f), whose f(i, const V*) gets null for no entry
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
  template <std::input_or_output_iterator It, class F>
  auto cvisit(It, It, F&&) const = delete; // use visit_batch(keys, f), whose f(i, const V*) gets null for no entry
  template <class... A>
  auto insert_or_cvisit(A&&...) = delete; // use insert_or_visit(key, value, f), which shows a const value
  template <class F>
  auto insert_or_cvisit(pair_in_braces, F&&) = delete; // use insert_or_visit(key, value, f), which shows a const value
  template <class... A>
  auto try_emplace_or_cvisit(A&&...) = delete; // use try_emplace_or_visit(key, args..., f)
  template <class... A>
  auto emplace_or_visit(A&&...) = delete; // use try_emplace_or_visit(key, args..., f)
  template <class... A>
  auto emplace_or_cvisit(A&&...) = delete; // use try_emplace_or_visit(key, args..., f)
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
  template <class... A>
  auto try_emplace_l(A&&...) = delete; // use try_emplace_or_visit(key, args..., f) or insert_or_update(key, f, args...)
  template <class... A>
  auto for_each_m(A&&...) = delete; // use visit_all(f) to read; to change, modify_all(f) of an in_place_map
  template <class... A>
  auto assign_if_equal(A&&...) = delete; // use compute(key, f), whose f compares and answers keep or the new value
  template <class... A>
  auto erase_if_equal(A&&...) = delete; // use erase_if(key, p), whose p compares
  template <class... A>
  auto erase_key_if(A&&...) = delete; // use erase_if(key, p)
};

template <class Derived> struct refused_in_place : refused_by_all<Derived> {
  struct accessor {
    accessor() = delete; // no accessors: use visit(key, f), modify(key, f) or emplace_and_modify(key, f, args...)
  };
  using const_accessor = accessor;
  template <class Q, class Out>
  auto find(const Q&, Out&) const = delete; // use find(key), whose result is optional
  template <std::input_or_output_iterator It, class F>
  auto visit(It, It, F&&) const = delete; // use visit_batch(keys, f), whose f(i, const V*) gets null for no entry
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
  template <std::input_or_output_iterator It, class F>
  auto cvisit(It, It, F&&) const = delete; // use visit_batch(keys, f), whose f(i, const V*) gets null for no entry
  template <class... A>
  auto update_fn(A&&...) = delete; // use modify(key, f)
  template <class... A>
  auto upsert(A&&...) = delete; // use insert_or_modify or emplace_and_modify
  template <class... A>
  auto insert_or_visit(A&&...) = delete; // use insert_or_modify(key, f, args...)
  template <class F>
  auto insert_or_visit(pair_in_braces, F&&) = delete; // use insert_or_modify(key, f, value)
  template <class... A>
  auto insert_or_cvisit(A&&...) = delete; // use insert_or_modify(key, f, args...)
  template <class F>
  auto insert_or_cvisit(pair_in_braces, F&&) = delete; // use insert_or_modify(key, f, value)
  template <class... A>
  auto try_emplace_or_visit(A&&...) = delete; // use insert_or_modify(key, f, args...)
  template <class... A>
  auto try_emplace_or_cvisit(A&&...) = delete; // use insert_or_modify(key, f, args...)
  template <class... A>
  auto emplace_or_visit(A&&...) = delete; // use insert_or_modify(key, f, args...)
  template <class... A>
  auto emplace_or_cvisit(A&&...) = delete; // use insert_or_modify(key, f, args...)
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
  template <class... A>
  auto find_fn(A&&...) const = delete; // use visit(key, f)
  template <class... A>
  auto if_contains(A&&...) const = delete; // use visit(key, f)
  template <class... A>
  auto modify_if(A&&...) = delete; // use modify(key, f)
  template <class... A>
  auto erase_fn(A&&...) = delete; // use erase_if(key, p)
  template <class... A>
  auto uprase_fn(A&&...) = delete; // use emplace_and_modify(key, f, args...), modify(key, f) or erase_if(key, p)
  template <class... A>
  auto lazy_emplace_l(A&&...) = delete; // use insert_or_modify(key, f, args...)
  template <class... A>
  auto try_emplace_l(A&&...) = delete; // use insert_or_modify(key, f, args...)
  template <class... A>
  auto for_each_m(A&&...) = delete; // use modify_all(f)
  template <class... A>
  auto assign_if_equal(A&&...) = delete; // use modify(key, f), whose f compares and assigns
  template <class... A>
  auto erase_if_equal(A&&...) = delete; // use erase_if(key, p), whose p compares
  template <class... A>
  auto erase_key_if(A&&...) = delete; // use erase_if(key, p)
};

/// By delegated maps and their handles.
template <class Derived> struct refused_by_delegated : refused_by_all<Derived> {
  struct accessor {
    accessor() = delete; // no accessors: use find(key), and insert_or_assign or insert_or_add of a handle
  };
  using const_accessor = accessor;
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
