// SPDX-License-Identifier: Apache-2.0
// A user calls functions of his own with a map, by plain names. Such a call also finds functions by the type of its argument. None of ours may be
// among them: a template of the user would be ambiguous with it, or worse. Here no function of the user is declared, so each call that compiles
// has found one of ours.
#include <cstdint>

#include <gtest/gtest.h>

#include <cubby/coro.hpp>
#include <cubby/durable_map.hpp>
#include <cubby/in_place_map.hpp>
#include <cubby/map.hpp>
#include <cubby/relativistic.hpp>
#include <cubby/seph.hpp>
#include <cubby/set.hpp>

namespace somebody {

using word = std::uint64_t;
struct anything {};
/// No header that we include may have macros of these names.
struct version {
  unsigned major;
  unsigned minor;
  constexpr version(unsigned first, unsigned second) : major(first), minor(second) {}
};
static_assert(version(1, 2).minor == 2);

template <class M>
concept found_with_a_map =
    requires(M& m) { after(m); } || requires(M& m) { begin_all(m); } || requires(M& m) { bytes_of(m); } ||
    requires(M& m) { capacity(m); } || requires(M& m) { check(m); } || requires(M& m) { clean_up(m); } ||
    requires(M& m) { clear(m); } || requires(M& m) { close(m); } || requires(M& m) { collect(m); } ||
    requires(M& m) { contents(m); } || requires(M& m) { count(m); } || requires(M& m) { count_all(m); } ||
    requires(M& m) { dump(m); } || requires(M& m) { end_worker(m); } || requires(M& m) { erase_all(m); } ||
    requires(M& m) { fill(m); } || requires(M& m) { find_all(m); } || requires(M& m) { first(m); } ||
    requires(M& m) { for_each(m); } || requires(M& m) { is_full(m); } || requires(M& m) { is_open(m); } ||
    requires(M& m) { keys(m); } || requires(M& m) { last(m); } || requires(M& m) { load(m); } ||
    requires(M& m) { move_rest(m); } || requires(M& m) { open(m); } || requires(M& m) { open_again(m); } ||
    requires(M& m) { print(m); } || requires(M& m) { report(m); } || requires(M& m) { reserve(m); } ||
    requires(M& m) { retire(m); } || requires(M& m) { save(m); } || requires(M& m) { scan(m); } ||
    requires(M& m) { show(m); } || requires(M& m) { statistics(m); } || requires(M& m) { sum(m); } ||
    requires(M& m) { sync(m); } || requires(M& m) { to_vector(m); } || requires(M& m) { total(m); } ||
    requires(M& m) { update(m); } || requires(M& m) { values(m); } || requires(M& m) { visit_all(m); } ||
    requires(M& m) { warm_up(m); };
template <class M>
concept found_with_another =
    requires(M& m) { add(m, m); } || requires(M& m) { after_move(m, m); } || requires(M& m) { append(m, m); } ||
    requires(M& m) { compare(m, m); } || requires(M& m) { contains(m, m); } || requires(M& m) { copy(m, m); } ||
    requires(M& m) { erase(m, m); } || requires(M& m) { fill(m, m); } || requires(M& m) { find(m, m); } ||
    requires(M& m) { get(m, m); } || requires(M& m) { has(m, m); } || requires(M& m) { hold(m, m); } ||
    requires(M& m) { query_of(m, m); } || requires(M& m) { has_same_entries(m, m); } ||
    requires(M& m) { insert(m, m); } || requires(M& m) { load(m, m); } || requires(M& m) { lookup(m, m); } ||
    requires(M& m) { merge(m, m); } || requires(M& m) { print(m, m); } || requires(M& m) { put(m, m); } ||
    requires(M& m) { read(m, m); } || requires(M& m) { remove(m, m); } || requires(M& m) { report(m, m); } ||
    requires(M& m) { save(m, m); } || requires(M& m) { set(m, m); } || requires(M& m) { show(m, m); } ||
    requires(M& m) { take(m, m); } || requires(M& m) { update(m, m); } || requires(M& m) { write(m, m); };
template <class M>
concept found_with_an_argument =
    requires(M& m) { add(m, word()); } || requires(M& m) { after_move(m, word()); } ||
    requires(M& m) { append(m, word()); } || requires(M& m) { compare(m, word()); } ||
    requires(M& m) { contains(m, word()); } || requires(M& m) { copy(m, word()); } ||
    requires(M& m) { erase(m, word()); } || requires(M& m) { fill(m, word()); } ||
    requires(M& m) { find(m, word()); } || requires(M& m) { get(m, word()); } || requires(M& m) { has(m, word()); } ||
    requires(M& m) { hold(m, word()); } || requires(M& m) { query_of(m, word()); } ||
    requires(M& m) { has_same_entries(m, word()); } || requires(M& m) { insert(m, word()); } ||
    requires(M& m) { load(m, word()); } || requires(M& m) { lookup(m, word()); } ||
    requires(M& m) { merge(m, word()); } || requires(M& m) { print(m, word()); } ||
    requires(M& m) { put(m, word()); } || requires(M& m) { read(m, word()); } ||
    requires(M& m) { remove(m, word()); } || requires(M& m) { report(m, word()); } ||
    requires(M& m) { save(m, word()); } || requires(M& m) { set(m, word()); } || requires(M& m) { show(m, word()); } ||
    requires(M& m) { take(m, word()); } || requires(M& m) { update(m, word()); } ||
    requires(M& m) { write(m, word()); };
template <class M>
concept found_with_arguments =
    requires(M& m) { add(m, word(), word()); } || requires(M& m) { assign(m, word(), word()); } ||
    requires(M& m) { change(m, word(), word()); } || requires(M& m) { fill(m, word(), word()); } ||
    requires(M& m) { hold(m, word(), word()); } || requires(M& m) { scan_while(m, word(), word()); } ||
    requires(M& m) { find_or(m, word(), word()); } || requires(M& m) { insert(m, word(), word()); } ||
    requires(M& m) { insert_range(m, word(), word()); } || requires(M& m) { load(m, word(), word()); } ||
    requires(M& m) { put(m, word(), word()); } || requires(M& m) { report(m, word(), word()); } ||
    requires(M& m) { set(m, word(), word()); } || requires(M& m) { update(m, word(), word()); } ||
    requires(M& m) { upsert(m, word(), word()); } || requires(M& m) { write(m, word(), word()); };
template <class M>
concept found_with_objects =
    requires(M& m) { add(m, anything(), anything()); } || requires(M& m) { assign(m, anything(), anything()); } ||
    requires(M& m) { change(m, anything(), anything()); } || requires(M& m) { fill(m, anything(), anything()); } ||
    requires(M& m) { find_or(m, anything(), anything()); } || requires(M& m) { insert(m, anything(), anything()); } ||
    requires(M& m) { insert_range(m, anything(), anything()); } ||
    requires(M& m) { load(m, anything(), anything()); } || requires(M& m) { put(m, anything(), anything()); } ||
    requires(M& m) { report(m, anything(), anything()); } || requires(M& m) { set(m, anything(), anything()); } ||
    requires(M& m) { update(m, anything(), anything()); } || requires(M& m) { upsert(m, anything(), anything()); } ||
    requires(M& m) { write(m, anything(), anything()); };

template <class M> class names_of_the_user : public testing::Test {};
using maps =
    testing::Types<cubby::map<word, word>, cubby::map<word, word, cubby::iceberg>, cubby::map<word, word, cubby::seph>,
                   cubby::map<word, word, cubby::relativistic>, cubby::set<word>, cubby::in_place_map<word, word>,
                   cubby::durable_map<word, word>, cubby::durable_set<word>, cubby::map<word, word>::handle_type>;
TYPED_TEST_SUITE(names_of_the_user, maps);

TYPED_TEST(names_of_the_user, call_no_function_of_ours) {
  EXPECT_FALSE(found_with_a_map<TypeParam>);
  EXPECT_FALSE(found_with_a_map<const TypeParam>);
  EXPECT_FALSE(found_with_another<TypeParam>);
  EXPECT_FALSE(found_with_an_argument<TypeParam>);
  EXPECT_FALSE(found_with_arguments<TypeParam>);
  EXPECT_FALSE(found_with_objects<TypeParam>);
}

} // namespace somebody
