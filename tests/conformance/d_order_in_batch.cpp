// SPDX-License-Identifier: Apache-2.0
// Guarantee D: a batch takes effect in its order, and `stop_at_first_failure` leaves what follows the failure undone.
// The batches of finds answer for their own keys.
#include <memory>
#include <span>
#include <vector>

#include "engines.hpp"
#include "support/random.hpp"
#include "support/threads.hpp"

namespace cubby_test {
namespace {

template <class Mode>
class d_order_in_batch : public ::testing::Test {
protected:
  using key_type = typename Mode::key_type;
  using mapped_type = typename Mode::mapped_type;
  using request = cubby::request<key_type, mapped_type>;
  using reply = cubby::reply<mapped_type>;

  void ask(cubby::verb what, std::uint64_t n, std::uint64_t v = 0) {
    requests.push_back(request{what, Mode::key(n), Mode::value(v)});
  }
  std::size_t run(cubby::batch_policy policy) {
    replies.assign(requests.size(), reply{});
    return map.execute(std::span<const request>(requests), std::span<reply>(replies), policy);
  }

  typename Mode::map map{tiny_options()};
  std::vector<request> requests;
  std::vector<reply> replies;
};
TYPED_TEST_SUITE(d_order_in_batch, main_modes);

TYPED_TEST(d_order_in_batch, requests_on_one_key_take_effect_in_order) {
  using cubby::verb;
  this->ask(verb::find, 1);
  this->ask(verb::insert, 1, 10);
  this->ask(verb::find, 1);
  this->ask(verb::insert, 1, 11);
  this->ask(verb::assign, 1, 12);
  this->ask(verb::find, 1);
  this->ask(verb::erase, 1);
  this->ask(verb::find, 1);
  this->ask(verb::assign, 1, 13);
  this->ask(verb::insert_or_assign, 1, 14);
  this->ask(verb::find, 1);
  ASSERT_EQ(this->run(cubby::batch_policy::run_all), this->requests.size());
  const bool succeeded[] = {false, true, true, false, true, true, true, false, false, true, true};
  for (std::size_t i = 0; i < std::size(succeeded); ++i) {
    EXPECT_EQ(this->replies[i].result == cubby::outcome::done, succeeded[i]) << "request " << i;
  }
  EXPECT_EQ(TypeParam::number(*this->replies[2].value), 10u);
  EXPECT_EQ(TypeParam::number(*this->replies[5].value), 12u);
  EXPECT_EQ(TypeParam::number(*this->replies[10].value), 14u);
  EXPECT_EQ(TypeParam::number(*this->replies[6].value), 12u) << "an erase hands over what left";
  EXPECT_EQ(this->replies[7].result, cubby::outcome::absent);
  EXPECT_EQ(this->replies[3].result, cubby::outcome::exists);
}

/// Each verb that a pipeline has, on one key, and the tag of each request in its answer.
TYPED_TEST(d_order_in_batch, sums_take_effect_in_order_and_answers_have_their_tags) {
  using cubby::outcome;
  using cubby::verb;
  constexpr bool adds = requires(const typename TypeParam::mapped_type& v) {
    static_cast<typename TypeParam::mapped_type>(v + v);
  } && !std::is_same_v<typename TypeParam::mapped_type, std::string>; // text is added, too, and is no sum
  this->ask(verb::insert_or_add, 1, 10);
  this->ask(verb::insert_or_add, 1, 5);
  this->ask(verb::find, 1);
  this->ask(verb::erase, 1);
  this->ask(verb::insert_or_add, 1, 3);
  this->ask(verb::find, 1);
  for (std::size_t i = 0; i < this->requests.size(); ++i) this->requests[i].tag = 100 - i;
  ASSERT_EQ(this->run(cubby::batch_policy::run_all), this->requests.size());
  for (std::size_t i = 0; i < this->requests.size(); ++i) {
    EXPECT_EQ(this->replies[i].tag, 100 - i);
    EXPECT_EQ(this->replies[i].result, outcome::done) << i;
  }
  if constexpr (adds) {
    EXPECT_EQ(TypeParam::number(*this->replies[2].value), 15u);
    EXPECT_EQ(TypeParam::number(*this->replies[3].value), 15u) << "an erase hands over what left";
  } else {
    EXPECT_EQ(*this->replies[2].value, TypeParam::value(10) + TypeParam::value(5));
  }
  EXPECT_EQ(TypeParam::number(*this->replies[5].value), 3u);
}

TYPED_TEST(d_order_in_batch, stop_at_first_failure_undoes_nothing_and_does_no_more) {
  using cubby::verb;
  ASSERT_TRUE(this->map.insert(TypeParam::key(3), TypeParam::value(3)));
  for (std::uint64_t n = 0; n < 6; ++n) this->ask(verb::insert, n, n);
  EXPECT_EQ(this->run(cubby::batch_policy::stop_at_first_failure), 4u) << "three that worked and the one that failed";
  for (std::uint64_t n = 0; n < 6; ++n) EXPECT_EQ(this->map.contains(TypeParam::key(n)), n <= 3) << n;
  EXPECT_EQ(this->replies[3].result, cubby::outcome::exists);
  EXPECT_EQ(this->replies[4].result, cubby::outcome::not_executed);
}

TYPED_TEST(d_order_in_batch, stop_at_first_failure_stops_at_whatever_fails) {
  using cubby::verb;
  ASSERT_TRUE(this->map.insert(TypeParam::key(3), TypeParam::value(3)));
  for (const verb what : {verb::find, verb::erase, verb::assign, verb::insert}) {
    this->requests.clear();
    this->ask(verb::find, 3);
    this->ask(what, what == verb::insert ? 3 : 4,
              9); // an insert fails of a key that is there, the others of one that is not
    this->ask(verb::insert, 5, 5);
    EXPECT_EQ(this->run(cubby::batch_policy::stop_at_first_failure), 2u) << "verb " << static_cast<int>(what);
    EXPECT_FALSE(this->map.contains(TypeParam::key(5))) << "verb " << static_cast<int>(what);
  }
}

TYPED_TEST(d_order_in_batch, a_batch_may_grow_the_table_many_times) {
  using cubby::verb;
  for (std::uint64_t n = 0; n < 500; ++n) this->ask(verb::insert, n, n);
  for (std::uint64_t n = 0; n < 500; ++n) this->ask(verb::find, n);
  ASSERT_EQ(this->run(cubby::batch_policy::stop_at_first_failure), 1000u);
  for (std::uint64_t n = 0; n < 500; ++n) ASSERT_EQ(TypeParam::number(*this->replies[500 + n].value), n);
}

TYPED_TEST(d_order_in_batch, an_empty_batch_is_legal) {
  EXPECT_EQ(this->run(cubby::batch_policy::run_all), 0u);
  EXPECT_EQ(this->map.find_batch({}, {}, {}), 0u);
}

TYPED_TEST(d_order_in_batch, finds_answer_for_their_own_keys) {
  for (const std::size_t size : {1u, 2u, 15u, 16u, 33u, 1000u}) {
    std::vector<typename TypeParam::key_type> keys;
    for (std::uint64_t i = 0; i < size; ++i) {
      keys.push_back(TypeParam::key(i * 7 % size));
      if (i % 3 == 0) this->map.insert_or_assign(TypeParam::key(i), TypeParam::value(i + size));
      else this->map.erase(TypeParam::key(i));
    }
    std::vector<typename TypeParam::mapped_type> values(size);
    const auto found = std::make_unique<bool[]>(size);
    const auto count = this->map.find_batch(std::span<const typename TypeParam::key_type>(keys), std::span(values),
                                            std::span(found.get(), size));
    std::size_t expected = 0, visited = 0;
    for (std::size_t i = 0; i < size; ++i) {
      const std::uint64_t n = i * 7 % size;
      ASSERT_EQ(found[i], n % 3 == 0) << i;
      if (found[i]) {
        ASSERT_EQ(TypeParam::number(values[i]), n + size);
      }
      expected += found[i] ? 1u : 0u;
    }
    EXPECT_EQ(count, expected);
    this->map.visit_batch(std::span<const typename TypeParam::key_type>(keys), [&](std::size_t i, const auto* v) {
      EXPECT_EQ(v != nullptr, found[i]);
      if (v != nullptr) {
        EXPECT_EQ(TypeParam::number(*v), TypeParam::number(values[i]));
      }
      ++visited;
    });
    EXPECT_EQ(visited, size) << "each key is visited once, found or not";
  }
}

template <class Mode>
class d_order_shared : public ::testing::Test {};
TYPED_TEST_SUITE(d_order_shared, shared_modes);

/// Lock keys in order, stop at the first that is taken, undo in reverse: two threads never hold the same pair.
TYPED_TEST(d_order_shared, ordered_batches_do_not_deadlock_or_overlap) {
  using request = cubby::request<typename TypeParam::key_type, typename TypeParam::mapped_type>;
  using reply = cubby::reply<typename TypeParam::mapped_type>;
  typename TypeParam::map locks(tiny_options());
  std::uint64_t guarded[4] = {}; // plain: the sanitizer sees two holders
  std::atomic<std::uint64_t> taken{0};
  run_threads(3, [&](unsigned t) {
    random_source random(60 + t);
    for (std::uint64_t i = 0; i < scaled(3000); ++i) {
      const std::uint64_t low = random.below(3), high = low + 1;
      const request take[] = {{cubby::verb::insert, TypeParam::key(low), TypeParam::value(t)},
                              {cubby::verb::insert, TypeParam::key(high), TypeParam::value(t)}};
      reply replies[2];
      const auto done = locks.execute(take, replies, cubby::batch_policy::stop_at_first_failure);
      const bool got_low = replies[0].result == cubby::outcome::done;
      const bool got_both = done == 2 && replies[1].result == cubby::outcome::done;
      if (got_both) {
        ++guarded[low];
        ++guarded[high];
        taken.fetch_add(2);
        EXPECT_TRUE(locks.erase(TypeParam::key(high)));
      }
      if (got_low) {
        EXPECT_TRUE(locks.erase(TypeParam::key(low)));
      }
    }
  });
  EXPECT_EQ(guarded[0] + guarded[1] + guarded[2] + guarded[3], taken.load());
  EXPECT_TRUE(locks.empty());
}

} // namespace
} // namespace cubby_test
