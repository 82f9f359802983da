// SPDX-License-Identifier: Apache-2.0
// A table that shrinks by itself keeps the size that a crowded bin has brought about while its load stays. Once each halving sent
// the crowded bin back to the larger size, and the table halved and doubled for ever.
#include <deque>

#include "engines.hpp"
#include "support/random.hpp"
#include "support/threads.hpp"

namespace cubby_test {
namespace {

/// Keys are their own hashes.
struct verbatim_hash {
  using is_avalanching = void;
  std::uint64_t operator()(std::uint64_t key) const noexcept { return key; }
};

template <class Engine>
class regression_dlht_shrink_beside_a_crowd : public ::testing::Test {
protected:
  using map = cubby::map<std::uint64_t, std::uint64_t, Engine, verbatim_hash>;
  static constexpr std::uint64_t unlucky = std::uint64_t{0x12345} << 40;

  static cubby::options shrinking(cubby::growth_policy growth) {
    cubby::options o;
    o.growth = growth;
    o.shrink = cubby::shrink_policy::automatic;
    return o;
  }
  /// So many times a key goes and another comes.
  void churn(map& m, std::uint64_t times) {
    for (std::uint64_t n = 0; n < times; ++n) {
      drop(m);
      add(m);
    }
    ASSERT_TRUE(m.reserve(0));
  }
  void drop(map& m) {
    ASSERT_TRUE(m.erase(keys_.front()));
    keys_.pop_front();
  }
  void add(map& m) {
    std::uint64_t key = splitmix(++drawn_);
    while (m.try_insert(key, 1) != cubby::outcome::inserted) key = splitmix(++drawn_); // it met the crowd
    keys_.push_back(key);
  }
  std::deque<std::uint64_t> keys_;
  std::uint64_t drawn_ = 0;
};
using engines_that_shrink = ::testing::Types<cubby::dlht, cubby::dlht_single>;
TYPED_TEST_SUITE(regression_dlht_shrink_beside_a_crowd, engines_that_shrink);

TYPED_TEST(regression_dlht_shrink_beside_a_crowd, waits_until_the_load_has_halved) {
  for (const auto growth : growing_policies) {
    this->keys_.clear();
    typename TestFixture::map m(this->shrinking(growth));
    while (m.size() < 540) this->add(m);
    ASSERT_TRUE(m.reserve(0));
    for (std::uint64_t n = 0; n < 16; ++n) (void)m.try_insert(this->unlucky + n, n);
    ASSERT_TRUE(m.reserve(0));
    // Down to 0.3 entries a bin: below the mark, and more than half of what there was.
    while (m.size() * 10 > m.stats().bins * 3) this->drop(m);
    this->churn(m, 500);
    const auto before = m.stats();
    this->churn(m, 4000);
    const auto after = m.stats();
    EXPECT_LE(after.growths + after.shrinks, before.growths + before.shrinks) << "growth " << static_cast<int>(growth);

    while (this->keys_.size() > 10) this->drop(m);
    for (std::uint64_t n = 0; n < 16; ++n) (void)m.erase(this->unlucky + n);
    const auto shrinks = [&] {
      this->churn(m, 200);
      return m.stats().bins <= 64;
    };
    ASSERT_TRUE(eventually(shrinks, std::chrono::seconds(10)))
        << "the load has changed, and nothing crowds; bins " << m.stats().bins;
  }
}

} // namespace
} // namespace cubby_test
