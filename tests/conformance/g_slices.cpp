// SPDX-License-Identifier: Apache-2.0
// G.2: a call disposes of a bounded number of records, whatever a long pin has held back, and what waits becomes less while
// records keep coming. Counted by the destructors of values.
#include <algorithm>
#include <cstdint>
#include <thread>

#include "engines.hpp"
#include "support/random.hpp"

namespace cubby_test {
namespace {

/// Ends are counted for each thread.
struct ended {
  static inline thread_local std::uint64_t here = 0;
  std::uint64_t words[3] = {};
  explicit ended(std::uint64_t n = 0) noexcept : words{n, n, n} {}
  ended(const ended& other) = default;
  ended& operator=(const ended&) = default;
  ~ended() { ++here; }
};

template <class Engine> struct slices : testing::Test {
  using map_type = cubby::map<std::uint64_t, ended, Engine>;
  /// Many times what may wait without a pin.
  const std::uint64_t held_back = 200'000 / sparse_stride(8);
  /// The value that is given, and its copies on the way into the record.
  static constexpr std::uint64_t own_values = 4;

  slices() {
    for (std::uint64_t k = 0; k < 8; ++k) m.insert(k, ended(k));
  }
  /// Ends of values in one call.
  std::uint64_t assign(std::uint64_t n) {
    const std::uint64_t before = ended::here;
    m.assign(n % 8, ended(n));
    return ended::here - before;
  }
  /// After a long pin: the most in one call, until nothing is left that it held back.
  void drain(std::uint64_t most_calls) {
    std::uint64_t worst = 0;
    std::uint64_t calls = 0;
    const std::size_t at_first = m.stats().retired;
    EXPECT_GE(at_first, held_back);
    for (; calls < most_calls && m.stats().retired > 4 * 2048; calls += 512) {
      for (std::uint64_t n = 0; n < 512; ++n) worst = std::max(worst, assign(n));
    }
    EXPECT_LE(worst, cubby::detail::dispose_slice + own_values);
    EXPECT_LT(calls, most_calls) << "what waits becomes less: " << m.stats().retired;
  }
  map_type m{table_options{.capacity = 16}};
};
TYPED_TEST_SUITE(slices, shared_engines);

TYPED_TEST(slices, a_call_frees_a_bounded_number_after_a_long_pin) {
  auto holder = this->m.handle();
  (void)holder.find_ref(0);
  for (std::uint64_t n = 0; n < this->held_back; ++n) this->assign(n);
  holder.unpin();
  this->drain(2 * this->held_back);
}

TYPED_TEST(slices, also_of_what_an_ended_thread_has_left) {
  auto holder = this->m.handle();
  (void)holder.find_ref(0);
  std::thread([this] {
    for (std::uint64_t n = 0; n < this->held_back; ++n) this->assign(n);
  }).join();
  holder.unpin();
  this->drain(4 * this->held_back);
}

TYPED_TEST(slices, a_thread_that_retires_frees_in_one_of_2048_calls) {
  std::uint64_t in_call = ~std::uint64_t{0}; // ends of values in a call that frees nothing
  for (std::uint64_t n = 0; n < 3 * 2048; ++n) in_call = std::min(in_call, this->assign(n));
  std::uint64_t longest = 0;
  std::uint64_t since = 0;
  for (std::uint64_t n = 0; n < 20'000; ++n) {
    since = this->assign(n) > in_call ? 0 : since + 1;
    longest = std::max(longest, since);
  }
  EXPECT_LT(longest, 2048u);
}

TYPED_TEST(slices, what_promises_everything_does_it_at_once) {
  auto holder = this->m.handle();
  (void)holder.find_ref(0);
  for (std::uint64_t n = 0; n < this->held_back; ++n) this->assign(n);
  holder.unpin();
  this->m.shrink_to_fit();
  EXPECT_EQ(this->m.stats().retired, 0u);
}

TEST(slices_of_one_thread, a_call_frees_a_bounded_number_after_a_long_pin) {
  cubby::map<std::uint64_t, ended, cubby::dlht_single> m;
  for (std::uint64_t k = 0; k < 8; ++k) m.insert(k, ended(k));
  std::uint64_t worst = 0;
  m.visit(0, [&](const ended&) {
    for (std::uint64_t n = 0; n < 20'000; ++n) m.assign(n % 8, ended(n));
  });
  EXPECT_GE(m.stats().retired, 19'000u);
  for (int n = 0; n < 60; ++n) {
    const std::uint64_t before = ended::here;
    m.assign(1, ended(1));
    worst = std::max(worst, ended::here - before);
  }
  EXPECT_LE(worst, cubby::detail::dispose_slice + 4);
  EXPECT_EQ(m.stats().retired, 0u);
}

} // namespace
} // namespace cubby_test
