// SPDX-License-Identifier: Apache-2.0
// Guarantee C: a value never appears under another key, and never in pieces, through erase, reuse of slots, assign,
// growth and shrink. Each value carries its key's number.
#include <atomic>
#include <vector>

#include "engines.hpp"
#include "support/random.hpp"
#include "support/threads.hpp"

namespace cubby_test {
namespace {

constexpr std::uint64_t keys = 48;

/// A value that belongs to key `n`, the `i`th of its kind.
constexpr std::uint64_t tagged(std::uint64_t n, std::uint64_t i) { return i * keys + n; }
constexpr bool belongs(std::uint64_t number, std::uint64_t n) { return number != torn && number % keys == n; }

template <class Mode>
class c_whole_pairs : public ::testing::Test {};
template <class Line>
using pair_modes_of = join<types_if<Line::records && Line::shared, mode_of<Line, word_mode>, mode_of<Line, wide_mode>,
                                    mode_of<Line, named_text_mode>>,
                           types_if<Line::wide_slots, mode_of<Line, slot_text_mode>, mode_of<Line, tuple_mode>>,
                           types_if<Line::tuples, mode_of<Line, wide_mode>, mode_of<Line, tuple_mode>>>;
using pair_modes = join_over<pair_modes_of, listed_engines>;
TYPED_TEST_SUITE(c_whole_pairs, pair_modes);

template <class Mode, class Map>
void churn(Map& m, std::uint64_t salt, std::uint64_t steps) {
  random_source random(salt);
  for (std::uint64_t i = 0; i < steps; ++i) {
    const std::uint64_t n = random.below(keys);
    const auto k = Mode::key(n);
    const auto v = Mode::value(tagged(n, i));
    const auto check = [n](const auto& was) { EXPECT_TRUE(belongs(Mode::number(was), n)) << "under key " << n; };
    switch (random.below(6)) {
    case 0: m.insert(k, v); break;
    case 1: m.assign(k, v); break;
    case 2:
      if (const auto got = m.extract(k)) check(*got);
      break;
    case 3:
      m.update(k, [&](const auto& was) {
        check(was);
        return v;
      });
      break;
    case 4: m.erase(k); break;
    default: m.insert_or_assign(k, v);
    }
  }
}

template <class Mode, class Map>
void watch(Map& m, std::uint64_t salt, const std::atomic<bool>& stop) {
  random_source random(salt);
  std::vector<typename Mode::key_type> asked;
  for (std::uint64_t n = 0; n < keys; ++n) asked.push_back(Mode::key(n));
  std::vector<typename Mode::mapped_type> values(keys);
  const auto found = std::make_unique<bool[]>(keys);
  while (!stop.load()) {
    const std::uint64_t n = random.below(keys);
    if (const auto got = m.find(asked[n])) {
      ASSERT_TRUE(belongs(Mode::number(*got), n));
    }
    m.visit(asked[n], [n](const auto& v) { ASSERT_TRUE(belongs(Mode::number(v), n)); });
    m.find_batch(std::span<const typename Mode::key_type>(asked), std::span(values), std::span(found.get(), keys));
    for (std::uint64_t j = 0; j < keys; ++j) {
      if (found[j]) {
        ASSERT_TRUE(belongs(Mode::number(values[j]), j));
      }
    }
    m.visit_batch(std::span<const typename Mode::key_type>(asked), [](std::size_t j, const auto* v) {
      if (v != nullptr) {
        ASSERT_TRUE(belongs(Mode::number(*v), j));
      }
    });
    m.visit_all([](const auto& k, const auto& v) { ASSERT_TRUE(belongs(Mode::number(v), Mode::number_of_key(k))); });
  }
}

TYPED_TEST(c_whole_pairs, every_reader_sees_whole_pairs) {
  for (const auto growth : growing_policies) {
    typename TypeParam::map m(tiny_options(growth));
    std::atomic<bool> stop{false};
    std::atomic<unsigned> writers{2};
    run_threads(4, [&](unsigned t) {
      if (t >= 2) return watch<TypeParam>(m, 40 + t, stop);
      for (unsigned round = 0; round < 8; ++round) {
        churn<TypeParam>(m, 50 + t + round * 2, scaled(500));
        if (t == 0) m.shrink_to_fit();
        if (t == 1) m.reserve(keys << (round % 3));
      }
      if (writers.fetch_sub(1) == 1) stop.store(true);
    });
  }
}

} // namespace
} // namespace cubby_test
