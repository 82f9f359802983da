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
    requires(M& m) { caller_thread_record(m); } || requires(M& m) { empty_at_end(m); } ||
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
template <class M, class A>
concept found_with_one =
    requires(M& m, A a) { add(m, a); } || requires(M& m, A a) { assign_engine(m, a); } ||
    requires(M& m, A a) { replace_engine(m, a); } || requires(M& m, A a) { swap_engines(m, a); } ||
    requires(M& m, A a) { after_move(m, a); } || requires(M& m, A a) { append(m, a); } ||
    requires(M& m, A a) { compare(m, a); } || requires(M& m, A a) { contains(m, a); } ||
    requires(M& m, A a) { copy(m, a); } || requires(M& m, A a) { erase(m, a); } ||
    requires(M& m, A a) { fill(m, a); } || requires(M& m, A a) { find(m, a); } || requires(M& m, A a) { get(m, a); } ||
    requires(M& m, A a) { has(m, a); } || requires(M& m, A a) { hold(m, a); } ||
    requires(M& m, A a) { query_of(m, a); } || requires(M& m, A a) { has_same_entries(m, a); } ||
    requires(M& m, A a) { insert(m, a); } || requires(M& m, A a) { load(m, a); } ||
    requires(M& m, A a) { lookup(m, a); } || requires(M& m, A a) { merge(m, a); } ||
    requires(M& m, A a) { print(m, a); } || requires(M& m, A a) { put(m, a); } || requires(M& m, A a) { read(m, a); } ||
    requires(M& m, A a) { remove(m, a); } || requires(M& m, A a) { report(m, a); } ||
    requires(M& m, A a) { save(m, a); } || requires(M& m, A a) { set(m, a); } || requires(M& m, A a) { show(m, a); } ||
    requires(M& m, A a) { take(m, a); } || requires(M& m, A a) { update(m, a); } ||
    requires(M& m, A a) { write(m, a); };
template <class M, class A>
concept found_with_two = requires(M& m, A a) { add(m, a, a); } || requires(M& m, A a) { assign(m, a, a); } ||
                         requires(M& m, A a) { change(m, a, a); } || requires(M& m, A a) { fill(m, a, a); } ||
                         requires(M& m, A a) { hold(m, a, a); } || requires(M& m, A a) { scan_while(m, a, a); } ||
                         requires(M& m, A a) { find_or(m, a, a); } || requires(M& m, A a) { insert(m, a, a); } ||
                         requires(M& m, A a) { insert_range(m, a, a); } || requires(M& m, A a) { load(m, a, a); } ||
                         requires(M& m, A a) { put(m, a, a); } || requires(M& m, A a) { report(m, a, a); } ||
                         requires(M& m, A a) { set(m, a, a); } || requires(M& m, A a) { update(m, a, a); } ||
                         requires(M& m, A a) { upsert(m, a, a); } || requires(M& m, A a) { write(m, a, a); };

template <class M> class names_of_the_user : public testing::Test {};
using maps =
    testing::Types<cubby::map<word, word>, cubby::map<word, word, cubby::iceberg>, cubby::map<word, word, cubby::seph>,
                   cubby::map<word, word, cubby::relativistic>, cubby::set<word>, cubby::in_place_map<word, word>,
                   cubby::durable_map<word, word>, cubby::durable_set<word>, cubby::map<word, word>::handle_type>;
TYPED_TEST_SUITE(names_of_the_user, maps);

TYPED_TEST(names_of_the_user, call_no_function_of_ours) {
  EXPECT_FALSE(found_with_a_map<TypeParam>);
  EXPECT_FALSE(found_with_a_map<const TypeParam>);
  EXPECT_FALSE((found_with_one<TypeParam, TypeParam&>));
  EXPECT_FALSE((found_with_one<TypeParam, word>));
  EXPECT_FALSE((found_with_two<TypeParam, word>));
  EXPECT_FALSE((found_with_two<TypeParam, anything>));
}

} // namespace somebody
