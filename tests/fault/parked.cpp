// SPDX-License-Identifier: Apache-2.0
// Guarantee P and G in figures: a thread stands still at a fault point while one thread for each key asks for something.
// Inside the transfer of a bin exactly the requests of that bin's keys wait. In a visitor or with a reference, no thread
// does. What is retired meanwhile waits, to the last record, and comes back when the thread leaves.
#include <atomic>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "engines.hpp"
#include "support/counting.hpp"
#include "support/hooks.hpp"

namespace cubby_test {
namespace {

constexpr std::uint64_t residents = 48;

/// One thread for each key, each with one request. Locks are waited for too, but only for a moment: a thread may have
/// waited and then end, and counts among those that have ended.
class requests {
public:
  explicit requests(std::function<void(std::uint64_t)> one) {
    for (std::uint64_t n = 0; n < residents; ++n) {
      threads_.emplace_back([this, n, one] {
        const wait_counter w(waits_[n]);
        one(n);
        ended_[n].store(true);
      });
    }
  }
  ~requests() { join(); }
  requests(const requests&) = delete;
  requests& operator=(const requests&) = delete;
  void join() {
    for (auto& t : threads_) {
      if (t.joinable()) t.join();
    }
  }
  /// Until each has ended or waits, and those that end do no more.
  [[nodiscard]] bool all_wait_or_end(std::uint64_t expected_to_wait) {
    return eventually([&] { return ended() >= residents - expected_to_wait && waiting() + ended() == residents; });
  }
  [[nodiscard]] bool is_waiting(std::uint64_t n) const { return waits_[n].load() != 0 && !ended_[n].load(); }
  [[nodiscard]] std::uint64_t ended() const {
    return count([&](std::uint64_t n) { return ended_[n].load(); });
  }
  [[nodiscard]] std::uint64_t waiting() const {
    return count([&](std::uint64_t n) { return is_waiting(n); });
  }

private:
  template <class Condition>
  static std::uint64_t count(Condition c) {
    std::uint64_t sum = 0;
    for (std::uint64_t n = 0; n < residents; ++n) sum += c(n) ? 1 : 0;
    return sum;
  }
  std::atomic<std::uint64_t> waits_[residents] = {};
  std::atomic<bool> ended_[residents] = {};
  std::vector<std::thread> threads_;
};

template <class Mode>
class parked : public ::testing::Test {
protected:
  using map = typename Mode::map;
  using request = std::function<void(map&, std::uint64_t)>;

  static std::uint64_t bin_of(const map& m, std::uint64_t n, std::uint64_t bins) {
    return cubby::detail::cpu::multiply(m.hash_for(Mode::key(n)), bins).high;
  }
  static bool is_side(std::uint64_t n) { return std::is_same_v<typename Mode::key_type, std::uint64_t> && n < 4; }

  /// A mover stands before its first capture, in the first bin with an entry: it moves bins in their order. Asks for
  /// every key; says which requests wait.
  static void expect_the_bins_keys_to_wait(cubby::growth_policy growth, const request& one) {
    map m(tiny_options(growth));
    for (std::uint64_t n = 0; n < residents; ++n) ASSERT_TRUE(m.insert(Mode::key(n), Mode::value(n)));
    ASSERT_TRUE(m.reserve(1)); // ends a growth that is still under way
    const std::uint64_t bins = m.stats().bins;
    std::uint64_t first = bins; // the side bin moves last
    for (std::uint64_t n = 0; n < residents; ++n) {
      if (!is_side(n)) first = std::min(first, bin_of(m, n, bins));
    }
    std::uint64_t expected = 0;
    for (std::uint64_t n = 0; n < residents; ++n) expected += !is_side(n) && bin_of(m, n, bins) == first ? 1 : 0;
    ASSERT_GT(expected, 0u);
    ASSERT_LE(expected, 15u);
    parking spot;
    std::thread mover([&] {
      const park_before at_capture(spot, [](step kind, const void*) { return kind == step::rmw16; });
      EXPECT_TRUE(m.reserve(4 * residents));
    });
    EXPECT_TRUE(spot.wait_until_parked());
    {
      requests all([&](std::uint64_t n) { one(m, n); });
      EXPECT_TRUE(all.all_wait_or_end(expected))
          << all.ended() << " ended, " << all.waiting() << " wait, of " << residents;
      EXPECT_EQ(all.waiting(), expected);
      for (std::uint64_t n = 0; n < residents; ++n) {
        EXPECT_EQ(all.is_waiting(n), !is_side(n) && bin_of(m, n, bins) == first) << "key " << n;
      }
      spot.release();
      all.join();
      EXPECT_EQ(all.ended(), residents);
    }
    mover.join();
  }
};
using parked_modes = ::testing::Types<word_mode<cubby::dlht>, text_mode<cubby::dlht>>;
TYPED_TEST_SUITE(parked, parked_modes);

TYPED_TEST(parked, in_a_transfer_holds_up_exactly_the_requests_of_its_bin) {
  using table = typename TypeParam::map;
  using mapped = typename TypeParam::mapped_type;
  const auto key = [](std::uint64_t n) { return TypeParam::key(n); };
  const auto value = [](std::uint64_t n) { return TypeParam::value(n + 100); };
  const std::vector<std::function<void(table&, std::uint64_t)>> verbs = {
      [&](table& m, std::uint64_t n) { EXPECT_EQ(TypeParam::number(*m.find(key(n))), n); },
      [&](table& m, std::uint64_t n) { EXPECT_TRUE(m.contains(key(n))); },
      [&](table& m, std::uint64_t n) { EXPECT_FALSE(m.insert(key(n), value(n))); },
      [&](table& m, std::uint64_t n) { EXPECT_TRUE(m.assign(key(n), value(n))); },
      [&](table& m, std::uint64_t n) { EXPECT_FALSE(m.insert_or_assign(key(n), value(n))); },
      [&](table& m, std::uint64_t n) { EXPECT_TRUE(m.update(key(n), [&](const mapped&) { return value(n); })); },
      [&](table& m, std::uint64_t n) { EXPECT_TRUE(m.erase(key(n))); },
      [&](table& m, std::uint64_t n) { EXPECT_TRUE(m.extract(key(n)).has_value()); }};
  // Cooperative and background tables have others move all that they can; here each moves only what it needs.
  for (std::size_t i = 0; i < verbs.size(); ++i) {
    for (const auto growth : {cubby::growth_policy::incremental, cubby::growth_policy::cooperative}) {
      this->expect_the_bins_keys_to_wait(growth, verbs[i]);
      if (::testing::Test::HasFailure()) {
        ADD_FAILURE() << "verb " << i;
        return;
      }
    }
  }
}

template <class Engine>
class lingering : public ::testing::Test {
protected:
  using allocator = counting_allocator<std::byte>;
  using map = cubby::map<std::uint64_t, tracked, Engine, cubby::hash<std::uint64_t>, allocator>;
  std::unique_ptr<map> filled() {
    auto m = std::make_unique<map>(tiny_options(), cubby::hash<std::uint64_t>{}, allocator(account));
    for (std::uint64_t n = 0; n < residents; ++n) EXPECT_TRUE(m->insert(n, tracked(n)));
    m->reserve(1);
    m->shrink_to_fit();
    return m;
  }
  [[nodiscard]] std::uint64_t blocks() const { return static_cast<std::uint64_t>(account.blocks.load()); }

  /// While another thread stands inside its pin: no thread waits, and each change keeps one record more.
  void expect_others_to_go_on(map& m) {
    constexpr std::uint64_t changes = 300; // of each key
    const std::uint64_t before = blocks();
    requests all([&](std::uint64_t n) {
      for (std::uint64_t i = 0; i < changes; ++i) EXPECT_TRUE(m.assign(n, tracked(n + i)));
    });
    all.join();
    EXPECT_EQ(all.ended(), residents);
    EXPECT_EQ(blocks(), before + residents * changes) << "nothing that was retired under the pin is freed";
    m.shrink_to_fit(); // looks for what may go
    EXPECT_EQ(blocks(), before + residents * changes);
    EXPECT_GE(m.stats().retired, residents * changes);
  }
  allocation_account account;
};
TYPED_TEST_SUITE(lingering, shared_engines);

TYPED_TEST(lingering, in_a_visitor_holds_up_nobody_and_keeps_what_is_retired) {
  auto m = this->filled();
  parking spot;
  std::thread visitor([&] {
    EXPECT_EQ(m->visit(7,
                       [&](const tracked& v) {
                         const std::uint64_t first = v.number();
                         spot.park();
                         EXPECT_EQ(v.number(), first) << "freed under a visitor";
                       }),
              1u);
  });
  EXPECT_TRUE(spot.wait_until_parked());
  this->expect_others_to_go_on(*m);
  spot.release();
  visitor.join();
  m->shrink_to_fit();
  EXPECT_EQ(this->blocks(), residents) << "all of it comes back when the visitor has left";
  EXPECT_EQ(m->stats().retired, 0u);
}

TYPED_TEST(lingering, with_a_reference_holds_up_nobody_and_keeps_what_is_retired) {
  auto m = this->filled();
  auto h = m->handle();
  const tracked* const v = h.find_ref(7);
  ASSERT_NE(v, nullptr);
  this->expect_others_to_go_on(*m);
  EXPECT_EQ(v->number(), 7u);
  h.unpin();
  m->shrink_to_fit();
  EXPECT_EQ(this->blocks(), residents);
  EXPECT_EQ(m->stats().retired, 0u);
}

/// An index that entries have left waits too; one pin keeps every generation that came and went under it.
TEST(lingering_in_dlht, keeps_retired_indexes_until_it_leaves) {
  cubby::map<std::uint64_t, wide_value, cubby::dlht> m(tiny_options());
  ASSERT_TRUE(m.insert(1, {}));
  ASSERT_TRUE(m.reserve(2000) && m.shrink_to_fit()); // an index that was shrunk has more links than the first one
  const std::size_t bytes_before = m.stats().bytes;
  auto h = m.handle();
  ASSERT_NE(h.find_ref(1), nullptr);
  std::size_t most = 0;
  constexpr unsigned rounds = 20;
  std::thread other([&] {
    for (unsigned round = 0; round < rounds; ++round) {
      EXPECT_TRUE(m.reserve(2000));
      EXPECT_TRUE(m.shrink_to_fit());
      const std::size_t now = m.stats().bytes;
      EXPECT_GT(now, most) << "round " << round << ": an index was freed under the pin";
      most = now;
    }
  });
  other.join();
  EXPECT_GE(m.stats().retired, 2 * rounds);
  h.unpin();
  EXPECT_TRUE(m.shrink_to_fit());
  EXPECT_EQ(m.stats().retired, 0u);
  EXPECT_EQ(m.stats().bytes, bytes_before);
}

/// Thread records are reused: ten thousand threads, a few at a time, need as many thread records as those few.
TYPED_TEST(lingering, nobody_after_ten_thousand_threads) {
  auto m = this->filled();
  constexpr unsigned at_once = 4;
  constexpr unsigned rounds = 2500;
  std::atomic<std::size_t> highest{0};
  const auto note = [&](std::size_t id) {
    for (std::size_t seen = highest.load(); id > seen && !highest.compare_exchange_weak(seen, id);) {
    }
  };
  const auto come_and_go = [&](unsigned count) {
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < count; ++t) {
      threads.emplace_back([&, t] {
        auto h = m->handle();
        EXPECT_TRUE(h.assign(t, tracked(t)));
        EXPECT_TRUE(m->contains(t));
        note(h.own_thread_record()->id());
        note(cubby::detail::registry::local()->id());
      });
    }
    for (auto& t : threads) t.join();
  };
  // A thread record for each of as many threads as there will be, and for each of their handles, at the same time.
  std::vector<cubby::detail::thread_record*> claimed;
  for (unsigned i = 0; i < 2 * at_once; ++i) claimed.push_back(cubby::detail::registry::claim());
  for (auto* const s : claimed) note(s->id());
  for (auto* const s : claimed) cubby::detail::registry::release(s);
  const std::size_t at_first = highest.load();
  for (unsigned round = 0; round < rounds; ++round) come_and_go(at_once);
  EXPECT_EQ(highest.load(), at_first) << "the registry grew";
  m->shrink_to_fit();
  EXPECT_EQ(this->blocks(), residents);
}

} // namespace
} // namespace cubby_test
