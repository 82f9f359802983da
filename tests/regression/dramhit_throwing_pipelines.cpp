// SPDX-License-Identifier: Apache-2.0
// Pipelines whose users' code throws. A request that throws is dropped alone, and none is carried out twice or blocks
// the others. Nothing is held when nothing is pending. A request that is done leaves nothing behind.
#include <cubby/pipeline.hpp>

#include <set>

#include "engines.hpp"
#include "support/random.hpp"

namespace cubby_test {
namespace {

using cubby::outcome;

struct blown {};
/// Throws when it has been asked so many times; 0: never.
struct fuse {
  static inline std::uint64_t left = 0;
  static void burn() {
    if (left != 0 && --left == 0) throw blown{};
  }
};

/// A value that may throw whenever it is copied, and if `Moves` is false when it is moved.
template <bool Moves>
struct touchy {
  static inline std::int64_t living = 0;
  static constexpr std::uint64_t gone = 999999;
  std::uint64_t number;
  touchy(std::uint64_t n = 0) : number(n) { ++living; }
  touchy(const touchy& other) : number(other.number) {
    fuse::burn();
    ++living;
  }
  touchy(touchy&& other) noexcept(Moves) : number(other.number) {
    if (!Moves) fuse::burn();
    other.number = gone;
    ++living;
  }
  touchy& operator=(const touchy& other) {
    fuse::burn();
    number = other.number;
    return *this;
  }
  touchy& operator=(touchy&& other) noexcept(Moves) {
    if (!Moves) fuse::burn();
    number = std::exchange(other.number, gone);
    return *this;
  }
  ~touchy() { --living; }
  friend touchy operator+(const touchy& a, const touchy& b) {
    fuse::burn();
    return touchy(a.number + b.number);
  }
};

struct name {
  std::string text;
  bool operator==(const name&) const = default;
};
struct touchy_hash {
  using is_avalanching = void;
  std::uint64_t operator()(const name& n) const {
    fuse::burn();
    return std::hash<std::string>()(n.text) * 0x9e3779b97f4a7c15u;
  }
};

template <class Value>
class regression_dramhit_pipelines : public ::testing::Test {
protected:
  using map = cubby::map<name, Value, cubby::dramhit, touchy_hash>;
  using request = typename map::request_type;
  using reply = typename map::reply_type;
  static name key(std::uint64_t n) { return {"a key that is long enough " + std::to_string(n)}; }
  static request ask(cubby::verb what, std::uint64_t n) { return {what, key(n), Value(n + 5), n}; }
  ~regression_dramhit_pipelines() override { fuse::left = 0; }
};
using touchy_values = ::testing::Types<touchy<true>, touchy<false>>;
TYPED_TEST_SUITE(regression_dramhit_pipelines, touchy_values);

constexpr std::uint64_t verbs = 6, keys = 24;

/// What each verb has to leave under key n when it was answered; the even keys are there before.
std::optional<std::uint64_t> wanted(cubby::verb what, std::uint64_t n) {
  const bool was_there = n % 2 == 0;
  const std::uint64_t before = n + 100, given = n + 5;
  switch (what) {
  case cubby::verb::find: return was_there ? std::optional(before) : std::nullopt;
  case cubby::verb::insert: return was_there ? before : given;
  case cubby::verb::assign: return was_there ? std::optional(given) : std::nullopt;
  case cubby::verb::insert_or_assign: return given;
  case cubby::verb::insert_or_add: return was_there ? before + given : given;
  default: return std::nullopt;
  }
}
cubby::verb verb_of(std::uint64_t n) { return static_cast<cubby::verb>(n / 2 % verbs); }

/// False: the fuse has blown.
template <class F>
bool passes(F f) {
  try {
    f();
    return true;
  } catch (const blown&) {
    return false;
  }
}

/// The nth thing that can throw does: one request may be missing among the answers, and has changed nothing.
TYPED_TEST(regression_dramhit_pipelines, drop_the_request_that_throws_and_no_other) {
  for (const std::size_t window : {1u, 3u, 4u, 50u}) {
    for (std::uint64_t nth = 1;; ++nth) {
      typename TestFixture::map m(tiny_options());
      for (std::uint64_t n = 0; n < keys; n += 2) m.insert(TestFixture::key(n), TypeParam(n + 100));
      std::vector<typename TestFixture::request> all;
      for (std::uint64_t n = 0; n < keys; ++n) all.push_back(TestFixture::ask(verb_of(n), n));
      std::set<std::uint64_t> answered;
      const auto sink = [&](auto&& r) { ASSERT_TRUE(answered.insert(r.tag).second) << "twice"; };
      std::size_t refused = 0, thrown = 0;
      auto p = m.handle().pipeline({.window = window});
      fuse::left = nth;
      for (std::size_t n = 0; n < keys;) (passes([&] { p.submit(all[n], sink); }) ? n : refused) += 1;
      std::size_t dropped = keys - answered.size() - p.pending(); // dropped by a submit
      while (p.pending() != 0) thrown += passes([&] { p.drain(sink); }) ? 0 : 1;
      dropped += thrown;
      const bool struck = fuse::left == 0;
      fuse::left = 0;
      ASSERT_EQ(refused + thrown, struck ? 1u : 0u);
      ASSERT_EQ(answered.size() + dropped, keys) << "window " << window << ", nth " << nth;
      for (std::uint64_t n = 0; n < keys; ++n) {
        const auto got = m.find(TestFixture::key(n));
        const auto want = answered.contains(n) ? wanted(verb_of(n), n) : wanted(cubby::verb::find, n);
        ASSERT_EQ(got.has_value(), want.has_value()) << n << ", window " << window << ", nth " << nth;
        if (want) {
          ASSERT_EQ(got->number, *want) << n << ", window " << window << ", nth " << nth;
        }
      }
      if (!struck) break;
    }
  }
}

/// With space for replies instead of a sink, `latest` tells how far a call came that has thrown.
TYPED_TEST(regression_dramhit_pipelines, tell_how_far_a_call_came_that_has_thrown) {
  for (std::uint64_t nth = 1;; ++nth) {
    typename TestFixture::map m(tiny_options());
    std::vector<typename TestFixture::request> all;
    for (std::uint64_t n = 0; n < keys; ++n) all.push_back(TestFixture::ask(cubby::verb::insert, n));
    std::vector<typename TestFixture::reply> replies(keys);
    auto p = m.handle().pipeline({.window = 4});
    std::size_t taken = 0, answered = 0;
    unsigned thrown = 0;
    fuse::left = nth;
    while (taken < keys || p.pending() != 0) {
      const std::span<typename TestFixture::reply> space(replies.data() + answered, keys - answered);
      try {
        if (taken < keys) (void)p.submit(std::span(all).subspan(taken), space);
        else (void)p.drain(space);
      } catch (const blown&) {
        ++thrown;
      }
      taken += p.latest().taken;
      answered += p.latest().answered;
    }
    const bool struck = fuse::left == 0;
    fuse::left = 0;
    ASSERT_EQ(taken, keys);
    ASSERT_EQ(thrown, struck ? 1u : 0u);
    ASSERT_GE(answered + 1, keys) << "nth " << nth;
    for (std::size_t i = 0; i < answered; ++i) {
      ASSERT_EQ(replies[i].result, outcome::done) << "carried out twice, nth " << nth;
      ASSERT_TRUE(m.contains(TestFixture::key(replies[i].tag)));
    }
    if (!struck) break;
  }
}

/// Nothing is pending, so everything that was erased can be freed.
TYPED_TEST(regression_dramhit_pipelines, hold_no_pin_when_the_only_request_has_thrown) {
  for (std::uint64_t nth = 1;; ++nth) {
    typename TestFixture::map m(tiny_options());
    const std::int64_t before = TypeParam::living;
    const auto sink = [](auto&&) {};
    bool struck = false;
    {
      auto p = m.handle().pipeline({.window = 4});
      const auto one = TestFixture::ask(cubby::verb::insert, 1);
      fuse::left = nth;
      try {
        p.submit(one, sink);
        p.drain(sink);
      } catch (const blown&) {
      }
      struck = fuse::left == 0;
      fuse::left = 0;
      p.drain(sink);
      m.erase(TestFixture::key(1));
      m.insert(TestFixture::key(2), TypeParam(2));
      m.erase(TestFixture::key(2));
      m.shrink_to_fit();
      ASSERT_EQ(m.stats().retired, 0u) << "nth " << nth;
    }
    ASSERT_EQ(TypeParam::living, before);
    if (!struck) break;
  }
}

TYPED_TEST(regression_dramhit_pipelines, go_although_what_is_pending_throws) {
  for (std::uint64_t nth = 1; nth < 40; ++nth) {
    typename TestFixture::map m(tiny_options());
    std::uint64_t taken = 0;
    bool struck = false;
    {
      auto p = m.handle().pipeline({.window = 50});
      for (; taken < 10; ++taken) p.submit(TestFixture::ask(cubby::verb::insert, taken), [](auto&&) {});
      fuse::left = nth;
    }
    struck = fuse::left == 0;
    fuse::left = 0;
    ASSERT_EQ(m.size(), struck ? taken - 1 : taken) << "nth " << nth;
  }
}

TYPED_TEST(regression_dramhit_pipelines, keep_nothing_of_requests_that_are_done) {
  typename TestFixture::map m(tiny_options());
  auto p = m.handle().pipeline({.window = 50});
  for (std::uint64_t n = 0; n < 20; ++n) p.submit(TestFixture::ask(cubby::verb::insert, n), [](auto&&) {});
  p.drain([](auto&&) {});
  EXPECT_EQ(TypeParam::living, 20) << "those in the table";
}

/// A pin is renewed while requests are pending, and aiming them anew may throw: each of them is answered or dropped.
TYPED_TEST(regression_dramhit_pipelines, renew_their_pin_although_hashes_throw) {
  random_source random(404);
  typename TestFixture::map m(tiny_options());
  constexpr std::uint64_t kept = 40, finds = 15000;
  for (std::uint64_t n = 0; n < kept; ++n) m.insert(TestFixture::key(n), TypeParam(n));
  std::uint64_t answered = 0, thrown = 0;
  const auto sink = [&](auto&& r) {
    ASSERT_EQ(r.value.value().number, r.tag);
    ++answered;
  };
  auto p = m.handle().pipeline({.window = 16});
  for (std::uint64_t n = 0; n < finds;) {
    const auto one = TestFixture::ask(cubby::verb::find, n % kept);
    if (n % 8 == 0) { // what was aimed at is gone soon after the pin has ended
      m.reserve(400);
      m.shrink_to_fit();
    }
    const std::uint64_t open = p.pending() + answered;
    fuse::left = random.below(60);
    try {
      p.submit(one, sink);
      ++n;
    } catch (const blown&) {
      thrown += open - p.pending() - answered;
    }
    fuse::left = 0;
  }
  p.drain(sink);
  EXPECT_EQ(answered + thrown, finds);
  EXPECT_GT(thrown, 0u);
}

} // namespace
} // namespace cubby_test
