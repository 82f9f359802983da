// SPDX-License-Identifier: Apache-2.0
// Recorded histories of a partitioned table. A write takes effect at some moment between its sending and the end of the next
// flush, and several of them in the order of their sending. A find takes effect at some moment of its call. Under random
// pauses between atomic steps, while partitions are rebuilt, every key has an order. The model knows no erase without an
// answer: an erase is written down as a put of 0, which no thread stores, and a miss as a find of 0.
#include <deque>
#include <vector>

#include "linearizability/checker.hpp"
#include "partitioned/ways.hpp"
#include "support/hooks.hpp"

namespace cubby_test::partitioned_tests {
namespace {

class partitioned_histories : public ::testing::TestWithParam<way> {};
INSTANTIATE_TEST_SUITE_P(partitioned, partitioned_histories, ::testing::ValuesIn(every_way),
                         [](const auto& one) { return one.param.name; });

void send_group(map::handle_type& h, trace& t, random_source& random, std::uint64_t keys) {
  std::vector<record> writes(1 + random.below(5));
  for (record& r : writes) {
    r.what = verb::put;
    r.ok = true;
    r.key = random.below(keys);
    r.argument = random.one_in(3) ? 0 : t.fresh_value();
  }
  t.take_group(grouping::ordered, writes, [&] {
    for (const record& r : writes) {
      if (r.argument == 0) h.erase(r.key);
      else h.insert_or_assign(r.key, r.argument);
    }
    EXPECT_TRUE(h.flush());
  });
}

void look(const map& m, trace& t, std::uint64_t key) {
  t.take(verb::find, key, 0, [&](record& r) {
    r.ok = true;
    r.result = m.find(key).value_or(0);
  });
}

std::vector<record> record_one(const way& w, unsigned threads, std::uint64_t keys, std::uint64_t salt) {
  map m(tiny(w));
  const std::uint64_t calls = scaled(300);
  std::deque<trace> traces;
  for (unsigned t = 0; t <= threads; ++t) traces.emplace_back(static_cast<std::uint16_t>(t), calls * 6 + keys);
  for (std::uint64_t k = 0; k < keys; ++k) {
    record absent;
    absent.what = verb::put;
    absent.ok = true;
    absent.key = k;
    traces[threads].take_group(grouping::ordered, {&absent, 1}, [] {}); // the table is empty
  }
  run_threads(threads + 1, [&](unsigned t) {
    perturber pauses(salt + t, 8);
    random_source random(salt * 31 + t);
    if (t == threads) { // no thread's history: moves the entries about
      for (std::uint64_t i = 0; i < calls / 10; ++i) i % 2 == 0 ? m.reserve(100 + i) : m.shrink_to_fit();
      return;
    }
    auto h = handle_of(m, w, t, threads);
    for (std::uint64_t i = 0; i < calls; ++i) {
      if (random.one_in(3)) send_group(h, traces[t], random, keys);
      else look(m, traces[t], random.below(keys));
    }
  });
  std::vector<record> all;
  for (const trace& t : traces) {
    EXPECT_FALSE(t.overflowed());
    all.insert(all.end(), t.records().begin(), t.records().end());
  }
  return all;
}

TEST_P(partitioned_histories, have_an_order_for_every_key) {
  std::uint64_t salt = 1900;
  for (const unsigned threads : {2u, 3u, 4u}) {
    for (const std::uint64_t keys : {1u, 3u, 12u}) { // the first four live in side slots
      const auto history = record_one(GetParam(), threads, keys, ++salt);
      ASSERT_GE(history.size(), threads * scaled(300));
      const finding f = check_history(history);
      ASSERT_EQ(f.what, judgement::linearizable) << f.text;
    }
  }
}

} // namespace
} // namespace cubby_test::partitioned_tests
