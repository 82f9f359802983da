// SPDX-License-Identifier: Apache-2.0
// A value whose copy throws while it is taken out stays in the table. It once was copied again after the erase had taken
// effect: then the entry was gone, no thread had its value, and a batch said that nothing had been done.
#include <string>

#include "engines.hpp"

namespace cubby_test {
namespace {

/// Copies throw when their number comes up; it has no move of its own.
class fragile {
public:
  fragile() = default;
  fragile(const fragile& other) : text_(other.text_) {
    if (until_throw >= 0 && until_throw-- == 0) throw 7;
  }
  fragile& operator=(const fragile&) = default;
  static inline int until_throw = -1;

private:
  std::string text_ = "long enough to live on the heap, whatever the library";
};

template <class Engine>
class regression_api_copies : public ::testing::Test {
protected:
  using map = cubby::map<std::string, fragile, Engine>;

  /// Whether `take()` threw at copy number `n`.
  template <class Take>
  static bool throws_at(int n, Take take) {
    fragile::until_throw = n;
    bool thrown = false;
    try {
      take();
    } catch (int) {
      thrown = true;
    }
    fragile::until_throw = -1;
    return thrown;
  }
};
TYPED_TEST_SUITE(regression_api_copies, every_engine);

TYPED_TEST(regression_api_copies, of_an_extract_lose_nothing) {
  for (int n = 0; n < 4; ++n) {
    typename TestFixture::map m;
    m.insert("key", fragile());
    const bool thrown = this->throws_at(n, [&] { EXPECT_TRUE(m.extract("key")); });
    EXPECT_EQ(m.contains("key"), thrown) << "copy " << n;
  }
}

TYPED_TEST(regression_api_copies, of_an_erase_in_a_batch_lose_nothing) {
  for (int n = 0; n < 4; ++n) {
    typename TestFixture::map m;
    m.insert("key", fragile());
    typename TestFixture::map::request_type wanted[1];
    wanted[0].what = cubby::verb::erase;
    wanted[0].key = "key";
    typename TestFixture::map::reply_type answers[1];
    const bool thrown = this->throws_at(n, [&] { m.execute(wanted, answers); });
    EXPECT_EQ(m.contains("key"), thrown) << "copy " << n;
    EXPECT_EQ(answers[0].result, thrown ? cubby::outcome::not_executed : cubby::outcome::done) << "copy " << n;
  }
}

} // namespace
} // namespace cubby_test
