// SPDX-License-Identifier: Apache-2.0
// A destructor of a key or a value that calls the map which it is in: in every call, and when the map goes. Then each sees a
// working map, that holds what has not been destroyed; what it inserts is destroyed as well, and every object once.
#include <algorithm>
#include <string>

#include "engines.hpp"

namespace cubby_test {
namespace {

/// What the destructors call, whatever the map's type.
struct called {
  virtual ~called() = default;
  virtual void bereave(std::uint64_t number) = 0;
};

struct ledger {
  called* map = nullptr; // null: destructors only count
  int living = 0;
  int calls = 0;
};

/// Tells its map when it goes. Copies that were moved from tell nothing.
class heir {
public:
  heir(ledger& in, std::uint64_t n) : in_(&in), number_(n) { ++in.living; }
  heir(const heir& other) : in_(other.in_), number_(other.number_) { ++in_->living; }
  heir& operator=(const heir&) = delete;
  ~heir() {
    --in_->living;
    if (in_->map == nullptr) return;
    ++in_->calls;
    in_->map->bereave(number_);
  }
  [[nodiscard]] std::uint64_t number() const { return number_; }
  [[nodiscard]] ledger& book() const { return *in_; }
  friend bool operator==(const heir& a, const heir& b) { return a.number_ == b.number_; }

private:
  ledger* in_;
  std::uint64_t number_;
};
struct heir_hash {
  std::uint64_t operator()(const heir& h) const { return h.number(); }
};

template <class Engine> class destructors_that_call_their_map : public ::testing::Test {};
TYPED_TEST_SUITE(destructors_that_call_their_map, every_engine);

template <class Engine> struct family final : called {
  explicit family(ledger& in) : book(in), all(tiny_options()) {}
  void bereave(std::uint64_t number) override {
    const std::uint64_t next = number + 1;
    (void)all.contains(number);
    all.visit(next, [&](const heir& h) { EXPECT_EQ(h.number(), next); });
    (void)all.update(next, [&](const heir& h) { return heir(h); });
    all.erase(number + 2);
    if (number % 4 == 0) (void)all.try_emplace(number * 64 + 1001, book, number * 64 + 1001); // odd: it has no child
    if (number % 16 == 0) all.reserve(all.size() * 2);
  }
  ledger& book;
  cubby::map<std::uint64_t, heir, Engine> all;
};

TYPED_TEST(destructors_that_call_their_map, find_it_working_when_it_goes) {
  ledger book;
  {
    family<TypeParam> f(book);
    for (std::uint64_t n = 0; n < 300; ++n) ASSERT_TRUE(f.all.try_emplace(n, book, n));
    book.map = &f;
  }
  EXPECT_EQ(book.living, 0);
  EXPECT_GE(book.calls, 300);
}

TYPED_TEST(destructors_that_call_their_map, find_it_working_in_every_call) {
  ledger book;
  {
    family<TypeParam> f(book);
    book.map = &f;
    for (std::uint64_t n = 0; n < 2000; ++n) {
      (void)f.all.try_emplace(n % 50, book, n % 50);
      (void)f.all.assign(n % 40, heir(book, n % 40));
      if (n % 3 == 0) f.all.erase(n % 50);
    }
    f.all.clear();
  }
  EXPECT_EQ(book.living, 0);
  EXPECT_GE(book.calls, 2000);
}

template <class Engine> struct owners final : called {
  explicit owners(ledger& of_owners) : all(tiny_options()), index(tiny_options()) { of_owners.map = this; }
  void bereave(std::uint64_t number) override { index.erase(number); }
  cubby::map<std::uint64_t, heir, Engine> all;
  cubby::map<std::uint64_t, heir, Engine> index;
};

/// Entries that only destructors erase are freed while that goes on, and do not pile up.
TYPED_TEST(destructors_that_call_their_map, free_what_they_erase_from_another_one) {
  constexpr std::uint64_t rounds = 40'000;
  ledger of_owners;
  ledger of_index;
  {
    owners<TypeParam> o(of_owners);
    for (std::uint64_t n = 0; n < rounds; ++n) {
      ASSERT_TRUE(o.index.try_emplace(n, of_index, n));
      ASSERT_TRUE(o.all.try_emplace(n, of_owners, n));
      ASSERT_TRUE(o.all.erase(n));
    }
    EXPECT_LT(of_index.living, static_cast<int>(rounds / 2));
    of_owners.map = nullptr;
  }
  EXPECT_EQ(of_owners.living + of_index.living, 0);
}

template <class Engine> struct society final : called {
  explicit society(ledger& in) : book(in), all(tiny_options()) {}
  void bereave(std::uint64_t number) override {
    if (number >= 1000) return; // the one that is made below
    book.map = nullptr;
    const heir next(book, number + 1);
    (void)all.contains(next);
    all.erase(next);
    book.map = this;
  }
  ledger& book;
  cubby::set<heir, Engine, heir_hash> all;
};

TYPED_TEST(destructors_that_call_their_map, may_be_those_of_a_sets_keys) {
  ledger book;
  {
    society<TypeParam> s(book);
    for (std::uint64_t n = 0; n < 300; ++n) ASSERT_TRUE(s.all.insert(heir(book, n)));
    book.map = &s;
  }
  EXPECT_EQ(book.living, 0);
  EXPECT_GE(book.calls, 1);
}

/// Counts how many destructors run inside one another.
struct nested {
  static inline cubby::map<std::uint64_t, nested, cubby::dlht_single>* map = nullptr;
  static inline unsigned depth = 0;
  static inline unsigned deepest = 0;
  std::uint64_t words[3] = {};
  nested() = default;
  nested(const nested&) = default;
  nested& operator=(const nested&) = default;
  ~nested() {
    if (map == nullptr) return;
    deepest = std::max(deepest, ++depth);
    (void)map->contains(0);
    --depth;
  }
};

TEST(destructors_of_one_thread, do_not_run_inside_one_another) {
  cubby::map<std::uint64_t, nested, cubby::dlht_single> m(tiny_options());
  for (std::uint64_t n = 0; n < 2000; ++n) ASSERT_TRUE(m.insert(n, nested()));
  nested::map = &m;
  m.clear();
  nested::map = nullptr;
  EXPECT_EQ(nested::deepest, 1u);
}

} // namespace
} // namespace cubby_test
