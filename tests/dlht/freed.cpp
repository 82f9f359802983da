// SPDX-License-Identifier: Apache-2.0
// What a reader may still look at is not freed: at every pair of steps of the reader and of the thread that takes a
// record or an index away and collects. A record that is destroyed says so, also without AddressSanitizer.
#include <string>

#include <cubby/map.hpp>

#include "engines.hpp"
#include "linearizability/client.hpp"
#include "support/scheduler.hpp"

namespace cubby_test {
namespace {

/// A value that is spoilt when it is destroyed.
class mortal {
public:
  explicit mortal(std::uint64_t n) : number_(n), sign_(alive) {}
  mortal(const mortal& other) : number_(other.number_), sign_(other.sign_) {}
  mortal& operator=(const mortal&) = default;
  ~mortal() { const_cast<volatile std::uint64_t&>(sign_) = 0; }
  bool lives() const { return const_cast<const volatile std::uint64_t&>(sign_) == alive; }
  std::uint64_t number() const { return number_; }

private:
  static constexpr std::uint64_t alive = 0x616c697665;
  std::uint64_t number_;
  std::uint64_t sign_;
};

using map = cubby::map<std::uint64_t, mortal, cubby::dlht, clustered_hash>;

/// `take(m)` stands after j steps, then `look(m)` after i, then `take` ends and all is collected, then `look` ends.
template <class Map, class Take, class Look>
void at_every_pair_of_steps(std::uint64_t stride, Take take, Look look) {
  for (std::uint64_t j = 0;; j += stride) {
    bool taken = false;
    for (std::uint64_t i = 1;; ++i) {
      Map m(tiny_options());
      for (const std::uint64_t k : {4u, 5u}) ASSERT_TRUE(m.insert(k, typename Map::mapped_type(k)));
      scheduler turns;
      const auto taker = turns.start([&] {
        take(m);
        m.shrink_to_fit(); // collects
      });
      const auto looker = turns.start([&] { look(m); });
      taken = turns.run(taker, j) == scheduler::stopped::finished;
      const bool looked = turns.run(looker, i) != scheduler::stopped::before_step; // ended, or waits for the taker
      turns.run_until(taker, scheduler::never);
      ASSERT_TRUE(turns.finish_all());
      if (looked) break;
      if (::testing::Test::HasFatalFailure()) FAIL() << "stops " << j << " " << i;
    }
    if (taken) return;
  }
}

std::uint64_t stride() { return scaled(1) > 1 ? 1 : cubby::detail::cpu::thread_sanitizer ? 11 : 3; }

void look_at(const map& m) {
  m.visit(4, [](const mortal& v) {
    ASSERT_TRUE(v.lives());
    ASSERT_EQ(v.number() % 10, 4u);
  });
}

TEST(freed, are_records_only_when_nobody_looks_at_them) {
  at_every_pair_of_steps<map>(stride(), [](map& m) { m.erase(4); }, look_at);
  at_every_pair_of_steps<map>(stride(), [](map& m) { m.assign(4, mortal(14)); }, look_at);
  at_every_pair_of_steps<map>(
      stride(), [](map& m) { m.update(4, [](const mortal& v) { return mortal(v.number() + 10); }); }, look_at);
}

/// A pin inside a pin: the visitor asks the table again, and what it was given stays.
TEST(freed, are_records_only_when_the_outer_pin_has_gone) {
  at_every_pair_of_steps<map>(
      stride(), [](map& m) { m.erase(4); },
      [](map& m) {
        m.visit(4, [&m](const mortal& v) {
          (void)m.contains(5);
          (void)m.contains(4);
          ASSERT_TRUE(v.lives());
        });
      });
}

TEST(freed, are_indexes_only_when_nobody_looks_into_them) {
  using words = cubby::map<std::uint64_t, std::uint64_t, cubby::dlht, clustered_hash>;
  at_every_pair_of_steps<words>(
      stride(), [](words& m) { m.reserve(20); },
      [](words& m) {
        ASSERT_EQ(m.find(4), 4u);
        ASSERT_TRUE(m.assign(5, 6u));
      });
}

} // namespace
} // namespace cubby_test
