// SPDX-License-Identifier: Apache-2.0
// Guarantee A, without threads: each verb does what the API says. Long random histories over every mode, each step
// compared with std::unordered_map, on tables so small that they grow, chain and reuse slots all the time.
#include <unordered_map>
#include <vector>

#include "engines.hpp"
#include "support/random.hpp"

namespace cubby_test {
namespace {

/// One table beside its oracle, which maps numbers to numbers.
template <class Mode>
class pair_of_tables {
public:
  explicit pair_of_tables(const table_options& o, std::uint64_t salt, std::uint64_t keys)
      : map_(o), random_(salt), keys_(keys) {}

  void step() {
    number_ = random_.below(keys_);
    key_ = Mode::key(number_);
    const auto at = oracle_.find(number_);
    present_ = at != oracle_.end();
    old_ = present_ ? at->second : 0;
    fresh_ = ++values_;
    value_ = Mode::value(fresh_);
    switch (random_.below(4)) {
    case 0: return read();
    case 1: return write();
    case 2: return change();
    default: return remove();
    }
  }

  void compare_all() {
    ASSERT_EQ(map_.size(), oracle_.size());
    ASSERT_EQ(map_.empty(), oracle_.empty());
    std::unordered_map<std::uint64_t, std::uint64_t> seen;
    map_.visit_all([&](const auto& k, const auto& v) {
      const bool first = seen.emplace(Mode::number_of_key(k), Mode::number(v)).second;
      // A mover of the table's own may work behind the scan.
      EXPECT_TRUE(first || !Mode::map::capabilities.scans_once) << "twice: " << Mode::number_of_key(k);
    });
    EXPECT_EQ(seen, oracle_);
    for (std::uint64_t n = 0; n < keys_; ++n) ASSERT_EQ(map_.contains(Mode::key(n)), oracle_.contains(n)) << n;
  }

  void clear() {
    map_.clear();
    oracle_.clear();
  }
  void shrink() { map_.shrink_to_fit(); }

private:
  void set(std::uint64_t n) { oracle_[number_] = n; }

  void read() {
    switch (random_.below(3)) {
    case 0: {
      const auto got = map_.find(key_);
      ASSERT_EQ(got.has_value(), present_);
      if (got) {
        ASSERT_EQ(Mode::number(*got), old_);
      }
      return;
    }
    case 1: ASSERT_EQ(map_.contains(key_), present_); return;
    default: {
      std::uint64_t saw = torn;
      ASSERT_EQ(map_.visit(key_, [&](const auto& v) { saw = Mode::number(v); }), present_ ? 1u : 0u);
      ASSERT_EQ(saw, present_ ? old_ : torn);
    }
    }
  }

  void write() {
    switch (random_.below(5)) {
    case 0: ASSERT_EQ(map_.insert(key_, value_), !present_); break;
    case 1: ASSERT_EQ(map_.try_emplace(key_, value_), !present_); break;
    case 2: {
      const auto expected = present_ ? cubby::outcome::exists : cubby::outcome::inserted;
      ASSERT_EQ(map_.try_insert(key_, value_), expected);
      break;
    }
    case 3:
      ASSERT_EQ(map_.assign(key_, value_), present_);
      if (present_) set(fresh_);
      return;
    default: ASSERT_EQ(map_.insert_or_assign(key_, value_), !present_); return set(fresh_);
    }
    if (!present_) set(fresh_);
  }

  void change() {
    const auto next = [&](const auto& v) {
      EXPECT_EQ(Mode::number(v), old_);
      return value_;
    };
    switch (random_.below(4)) {
    case 0:
      ASSERT_EQ(map_.update(key_, next), present_);
      if (present_) set(fresh_);
      return;
    case 1: ASSERT_EQ(map_.insert_or_update(key_, next, value_), !present_); return set(fresh_);
    case 2: return compute();
    default: return add();
    }
  }

  void compute() {
    using mapped = typename Mode::mapped_type;
    const std::uint64_t wish = random_.below(3);
    map_.compute(key_, [&](const mapped* v) -> cubby::computed<mapped> {
      EXPECT_EQ(v != nullptr, present_);
      if (v != nullptr) {
        EXPECT_EQ(Mode::number(*v), old_);
      }
      if (wish == 0) return cubby::computed<mapped>::keep();
      if (wish == 1) return cubby::computed<mapped>::erase();
      return value_;
    });
    if (wish == 1) oracle_.erase(number_);
    if (wish == 2) set(fresh_);
  }

  void add() {
    if constexpr (std::is_same_v<typename Mode::mapped_type, std::uint64_t>) {
      ASSERT_EQ(map_.insert_or_add(key_, std::uint64_t{3}), !present_);
      set(old_ + 3);
    }
  }

  void remove() {
    switch (random_.below(4)) {
    case 0: ASSERT_EQ(map_.erase(key_), present_); break;
    case 1: {
      const auto got = map_.extract(key_);
      ASSERT_EQ(got.has_value(), present_);
      if (got) {
        ASSERT_EQ(Mode::number(*got), old_);
      }
      break;
    }
    case 2: ASSERT_EQ(map_.erase_if(key_, [&](const auto& v) { return Mode::number(v) == old_; }), present_); break;
    default: ASSERT_FALSE(map_.erase_if(key_, [](const auto&) { return false; })); return;
    }
    oracle_.erase(number_);
  }

  typename Mode::map map_;
  std::unordered_map<std::uint64_t, std::uint64_t> oracle_;
  random_source random_;
  std::uint64_t keys_, values_ = 0;
  std::uint64_t number_ = 0, old_ = 0, fresh_ = 0;
  bool present_ = false;
  typename Mode::key_type key_{};
  typename Mode::mapped_type value_{};
};

template <class Mode>
class a_visibility : public ::testing::Test {};
TYPED_TEST_SUITE(a_visibility, every_mode);

template <class Mode>
void random_history(const table_options& o, std::uint64_t salt, std::uint64_t keys, std::uint64_t steps) {
  pair_of_tables<Mode> both(o, salt, keys);
  for (std::uint64_t i = 0; i < steps && !::testing::Test::HasFatalFailure(); ++i) {
    both.step();
    if (i % (steps / 4) == steps / 5) both.shrink();
    if (i == steps / 2) both.clear();
  }
  both.compare_all();
}

TYPED_TEST(a_visibility, random_histories_match_the_oracle_on_tiny_tables) {
  std::uint64_t salt = 100;
  for (const auto growth : growing_policies) {
    for (std::uint64_t keys : {3u, 40u, 700u}) {
      random_history<TypeParam>(tiny_options(growth), ++salt, keys, scaled(4000));
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

TYPED_TEST(a_visibility, random_history_matches_the_oracle_with_default_options) {
  random_history<TypeParam>(table_options{}, 7, 3000, scaled(20000));
}

TYPED_TEST(a_visibility, random_history_matches_the_oracle_with_a_random_seed) {
  table_options o = tiny_options();
  o.seed = cubby::random_seed();
  random_history<TypeParam>(o, 8, 300, scaled(4000));
}

TYPED_TEST(a_visibility, erase_if_over_the_whole_table_takes_what_the_predicate_names) {
  typename TypeParam::map m(tiny_options());
  for (std::uint64_t n = 0; n < 300; ++n) ASSERT_TRUE(m.insert(TypeParam::key(n), TypeParam::value(n)));
  const auto erased = m.erase_if([](const auto& k, const auto& v) {
    EXPECT_EQ(TypeParam::number_of_key(k), TypeParam::number(v));
    return TypeParam::number(v) % 3 == 0;
  });
  EXPECT_EQ(erased, 100u);
  EXPECT_EQ(m.size(), 200u);
  for (std::uint64_t n = 0; n < 300; ++n) EXPECT_EQ(m.contains(TypeParam::key(n)), n % 3 != 0);
}

TYPED_TEST(a_visibility, a_handle_has_the_same_verbs) {
  typename TypeParam::map m(tiny_options());
  auto h = m.handle();
  const auto k = TypeParam::key(5);
  EXPECT_TRUE(h.insert(k, TypeParam::value(1)));
  EXPECT_TRUE(h.contains(k));
  EXPECT_TRUE(m.contains(k));
  EXPECT_FALSE(h.try_emplace(k, TypeParam::value(2)));
  EXPECT_TRUE(h.assign(k, TypeParam::value(3)));
  EXPECT_FALSE(h.insert_or_assign(k, TypeParam::value(4)));
  EXPECT_TRUE(h.update(k, [](const auto& v) { return TypeParam::value(TypeParam::number(v) + 1); }));
  EXPECT_EQ(TypeParam::number(*h.find(k)), 5u);
  EXPECT_EQ(h.visit(k, [](const auto& v) { EXPECT_EQ(TypeParam::number(v), 5u); }), 1u);
  auto moved = std::move(h);
  EXPECT_EQ(TypeParam::number(*moved.extract(k)), 5u);
  EXPECT_FALSE(moved.erase(k));
}

template <class Engine>
class a_visibility_set : public ::testing::Test {};
TYPED_TEST_SUITE(a_visibility_set, every_plain_engine);

TYPED_TEST(a_visibility_set, random_history_matches_the_oracle) {
  cubby::set<std::uint64_t, TypeParam> s(tiny_options());
  std::vector<bool> oracle(500, false);
  std::size_t count = 0;
  random_source random(9);
  for (std::uint64_t i = 0; i < scaled(20000); ++i) {
    const std::uint64_t k = random.below(500);
    switch (random.below(3)) {
    case 0:
      ASSERT_EQ(s.insert(k), !oracle[k]);
      count += oracle[k] ? 0 : 1;
      oracle[k] = true;
      break;
    case 1:
      ASSERT_EQ(s.erase(k), static_cast<bool>(oracle[k]));
      count -= oracle[k] ? 1 : 0;
      oracle[k] = false;
      break;
    default: ASSERT_EQ(s.contains(k), static_cast<bool>(oracle[k]));
    }
    if (i % 5000 == 4000) s.shrink_to_fit();
  }
  EXPECT_EQ(s.size(), count);
  std::size_t seen = 0;
  s.visit_all([&](const std::uint64_t& k) {
    EXPECT_TRUE(oracle[k]);
    ++seen;
  });
  EXPECT_EQ(seen, count);
}

} // namespace
} // namespace cubby_test
