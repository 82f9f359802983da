// SPDX-License-Identifier: Apache-2.0
// The record of an insert that was refused after it had lain in a slot. A thread that read its address from there may still be
// comparing keys, so it is freed only when their pins have ended.
#include <atomic>
#include <thread>

#include "engines.hpp"
#include "support/counting.hpp"
#include "support/hooks.hpp"

namespace cubby_test {
namespace {

/// A key whose comparison can be made to stand still, and says whether the stored key was still there afterwards.
struct slow_key {
  std::uint64_t number = 0;
  std::uint64_t twin = 0; // too large for a slot, and tells a key from what an allocator leaves behind
  bool operator==(const slow_key& asked) const noexcept;
};

thread_local parking* stands_here = nullptr;
std::atomic<bool> was_gone{false};

bool slow_key::operator==(const slow_key& asked) const noexcept {
  if (stands_here != nullptr && number == asked.number) std::exchange(stands_here, nullptr)->park();
  // Either may be the stored one.
  if (twin != ~number || asked.twin != ~asked.number) was_gone.store(true);
  return number == asked.number;
}

/// The same bin for all keys, but other words in its slots.
struct one_bin {
  using is_avalanching = void;
  std::uint64_t operator()(const slow_key& k) const noexcept { return 5 + (k.number << 32); }
};

using counted = counting_allocator<std::byte>;
using table = cubby::map<slow_key, std::uint64_t, cubby::dlht, one_bin, counted>;
constexpr slow_key key{7, ~std::uint64_t{7}};

/// Starts a thread that stands still before its `n`th step of the kind in `act(handle)`, and goes on when released.
template <class Act>
std::thread standing(table& m, parking& spot, step kind, unsigned n, Act act) {
  return std::thread([&m, &spot, kind, n, act] {
    auto h = m.handle();
    const park_before stop(spot, [kind, left = n](step k, const void*) mutable { return k == kind && --left == 0; });
    act(h);
  });
}

/// An insert of the key that has filled its slot when another one inserts the key, and then is refused.
class refused_insert {
public:
  explicit refused_insert(table& m)
      : thread_(standing(m, spot_, step::rmw8, 2, [](auto& h) { EXPECT_FALSE(h.insert(key, 2)); })) {
    EXPECT_TRUE(spot_.wait_until_parked());
    EXPECT_TRUE(m.insert(key, 3));
  }
  void end() {
    spot_.release();
    thread_.join();
  }

private:
  parking spot_;
  std::thread thread_;
};

/// A find stops before its `load`th load. Meanwhile its entry goes, and an insert that will be refused fills a slot. If the bin has few other
/// entries this is a free one, else that of the erased entry, where the find may look. True if the find compared the key with one.
bool find_meets_refused(unsigned load, std::uint64_t others) {
  allocation_account account;
  table m(tiny_options(), {}, counted(account));
  m.insert(key, 1);
  for (std::uint64_t n = 0; n < others; ++n) m.insert({100 + n, ~(100 + n)}, 1);
  parking find_spot, compare_spot;
  std::atomic<bool> found{false};
  std::thread reader = standing(m, find_spot, step::load, load, [&](auto& h) {
    stands_here = &compare_spot;
    (void)h.find(key);
    stands_here = nullptr;
    found.store(true);
  });
  EXPECT_TRUE(eventually([&] { return find_spot.parked() || found.load() || compare_spot.parked(); }));
  if (!find_spot.parked()) {
    compare_spot.release();
    find_spot.release();
    reader.join();
    return false;
  }
  EXPECT_TRUE(m.erase(key));
  refused_insert refused(m);
  find_spot.release();
  EXPECT_TRUE(eventually([&] { return compare_spot.parked() || found.load(); }));
  refused.end();
  const bool met = compare_spot.parked();
  compare_spot.release();
  reader.join();
  EXPECT_EQ(m.find(key), 3u);
  return met;
}

TEST(refused, records_outlive_who_compares_them) {
  for (std::uint64_t others = 0; others < 8; ++others) {
    unsigned met = 0;
    for (unsigned load = 1; load <= 12; ++load) met += find_meets_refused(load, others) ? 1 : 0;
    EXPECT_GT(met, 0u) << "no find got to compare";
    EXPECT_FALSE(was_gone.load());
  }
}

} // namespace
} // namespace cubby_test
