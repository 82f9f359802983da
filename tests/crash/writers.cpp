// SPDX-License-Identifier: Apache-2.0
// Two writers and a reader on one durable table, interleaved step by step by a seed, with a power cut at each drain and at each return. An
// answer that one thread has got counts, so what it has seen must be there afterwards.
#include "crash/rig.hpp"
#include "crash/turns.hpp"

namespace cubby_test::crash {
namespace {

/// What the threads do: few keys, which meet in a bucket.
struct plan {
  std::size_t beside = 0; ///< keys that are there before, and stay
  std::size_t capacity = 200;
  unsigned calls = 6;
  bool grows = false; ///< the third thread resizes the table instead of looking keys up
};

template <class Coding> class interleaving {
public:
  using table = typename Coding::table;
  interleaving(rig<Coding>& r, const plan& p, std::uint64_t seed) : rig_(r), plan_(p), random_(seed) {}

  void run() {
    turns all(rig_.domain());
    for (unsigned actor = 0; actor < most_actors; ++actor) all.start([this, actor] { act(actor); });
    // Also where what is seen may not be durable.
    const auto persists = [this](step kind) { return kind == step::fence && random_.one_in(2); };
    std::vector<bool> ended(most_actors, false);
    for (unsigned turn = 0; turn < 100000 && !rig_.failed(); ++turn) {
      const std::size_t actor = random_.below(most_actors);
      if (ended[actor]) continue;
      ended[actor] = all.go(actor, random_.one_in(3) ? 1 + random_.below(4) : 1 + random_.below(60), persists);
      rig_.flush();
      if (std::find(ended.begin(), ended.end(), false) == ended.end()) return;
    }
    EXPECT_TRUE(rig_.failed()) << "the threads do not end";
  }

private:
  void act(unsigned actor) {
    auto mine = rig_.map().handle();
    random_source random(random_.next());
    for (unsigned i = 0; i < plan_.calls && !rig_.failed(); ++i) {
      const bool reads = actor == 2;
      if (reads && plan_.grows) {
        if (i == 0) (void)mine.reserve(plan_.capacity * 2);
        if (i == plan_.calls / 2) (void)mine.shrink_to_fit();
        continue;
      }
      call c{verb::find, crowd + 500 + random.below(2), 10 * (i + 1) + actor};
      if (!reads)
        c.what = Coding::has_values ? static_cast<verb>(1 + random.below(6))
                                    : (random.one_in(2) ? verb::insert : verb::erase);
      if (Coding::has_zero_key && random.one_in(4)) c.key = 0;
      (void)rig_.act_on(mine, actor, c, false);
    }
  }

  rig<Coding>& rig_;
  plan plan_;
  random_source random_;
};

template <class Coding> class crash_writers : public ::testing::Test {
protected:
  static void interleave(const plan& p, std::uint64_t seeds) {
    rig<Coding> r(table_options(p.capacity), sample(24));
    for (std::uint64_t seed = 0; seed < scaled(seeds) && !r.failed(); ++seed) {
      r.open();
      for (token key = 0; key < p.beside; ++key) (void)r.act({verb::insert, crowd + key, key + 1});
      r.watch();
      interleaving<Coding>(r, p, seed).run();
      r.watch(false);
      r.cut_power();
    }
  }
};
TYPED_TEST_SUITE(crash_writers, all_codings);

TYPED_TEST(crash_writers, in_the_front_yard) { this->interleave({.beside = 2}, 40); }
TYPED_TEST(crash_writers, in_the_back_yard) { this->interleave({.beside = 55}, 8); }
TYPED_TEST(crash_writers, in_chains) {
  if (TypeParam::most_crowd < 73) GTEST_SKIP() << "no more than 64 keys may have one hash";
  this->interleave({.beside = 71}, 8);
}
TYPED_TEST(crash_writers, beside_growth_and_shrink) {
  this->interleave({.beside = 2, .capacity = 1, .calls = 8, .grows = true}, 6);
  const std::size_t beside = TypeParam::most_crowd < 73 ? 60 : 71;
  this->interleave({.beside = beside, .capacity = 200, .calls = 8, .grows = true}, 1);
}

/// The same where caches survive a power cut.
template <class Coding> class crash_writers_in_byte : public crash_writers<Coding> {
  in_byte chosen_;
};
TYPED_TEST_SUITE(crash_writers_in_byte, all_codings);
TYPED_TEST(crash_writers_in_byte, in_the_front_yard) { this->interleave({.beside = 2}, 12); }
TYPED_TEST(crash_writers_in_byte, beside_growth_and_shrink) {
  this->interleave({.beside = 2, .capacity = 1, .calls = 8, .grows = true}, 3);
}

} // namespace
} // namespace cubby_test::crash
