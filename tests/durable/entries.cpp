// SPDX-License-Identifier: Apache-2.0
// Durable tables of all kinds beside std::map: what the verbs answer, and what is there after the table was closed and opened.
#include <chrono>
#include <map>
#include <vector>

#include <gtest/gtest.h>

#include "durable/files.hpp"
#include "durable/kinds.hpp"
#include "support/threads.hpp"

namespace cubby_test {
namespace {

using cubby::outcome;

template <class Kind> class durable_entries : public testing::Test {
public:
  using K = typename Kind::key_type;
  using V = typename Kind::mapped_type;
  using table_type = typename Kind::table;

  durable_entries() : path_(folder_.file("table")) { reopen(); }
  void reopen() {
    table_.reset();
    auto got = table_type::open(path_.c_str(), options_);
    ASSERT_TRUE(got) << got.message();
    const auto& found = got.recovered();
    EXPECT_TRUE(found.clean);
    EXPECT_EQ(found.entries, model_.size());
    EXPECT_EQ(found.torn + found.restored + found.damaged, 0U);
    table_ = got.take();
    compare();
  }
  void compare() {
    EXPECT_TRUE(table_->reserve(0)); // a scan meets entries twice while they are moved
    EXPECT_EQ(table_->size(), model_.size());
    std::map<K, V> seen;
    table_->visit_all([&](const K& k, const V& v) { EXPECT_TRUE(seen.emplace(k, v).second) << "met twice"; });
    EXPECT_TRUE(seen == model_);
    for (const auto& [k, v] : model_) EXPECT_TRUE(table_->find(k) == v);
    const cubby::checked found = table_->check();
    EXPECT_TRUE(found.ok()) << found.lost << " lost, " << found.damaged << " damaged";
    EXPECT_EQ(found.entries, model_.size());
  }

  template <class To> void change_one(To& to, const K& k, std::uint64_t n) {
    const V v = value_of<V>(n);
    const auto there = model_.find(k);
    const bool is = there != model_.end();
    switch (random_.below(9)) {
    case 0: EXPECT_EQ(to.insert(k, v), model_.emplace(k, v).second); break;
    case 1:
      EXPECT_EQ(to.assign(k, v), is);
      if (is) there->second = v;
      break;
    case 2:
      EXPECT_EQ(to.insert_or_assign(k, v), !is);
      model_[k] = v;
      break;
    case 3:
      EXPECT_EQ(to.update(k, [](const V& now) { return value_of<V>(number_of(now) + 1); }), is);
      if (is) there->second = value_of<V>(number_of(there->second) + 1);
      break;
    case 4:
      if constexpr (cubby::detail::contract::exclusive<typename table_type::engine_type>) {
        EXPECT_EQ(to.modify(k, [](V& now) { now = value_of<V>(number_of(now) * 2); }), is);
      } else {
        EXPECT_EQ(to.update(k, [](const V& now) { return value_of<V>(number_of(now) * 2); }), is);
      }
      if (is) there->second = value_of<V>(number_of(there->second) * 2);
      break;
    case 5: compute_one(to, k, n); break;
    case 6:
      EXPECT_EQ(to.erase(k), is);
      model_.erase(k);
      break;
    case 7: {
      const auto odd = [](const V& now) { return number_of(now) % 2 != 0; };
      EXPECT_EQ(to.erase_if(k, odd), is && odd(there->second));
      if (is && odd(there->second)) model_.erase(there);
      break;
    }
    default: EXPECT_TRUE(to.extract(k) == (is ? std::optional<V>(there->second) : std::nullopt)); model_.erase(k);
    }
  }
  template <class To> void compute_one(To& to, const K& k, std::uint64_t n) {
    using cubby::change;
    const auto there = model_.find(k);
    const bool is = there != model_.end();
    const auto wanted = static_cast<cubby::action>(n % 3);
    const change done = to.compute(k, [&](const V* now) -> cubby::computed<V> {
      EXPECT_EQ(now != nullptr, is);
      if (now != nullptr && is) {
        EXPECT_TRUE(*now == there->second);
      }
      if (wanted == cubby::action::replace) return value_of<V>(n);
      return wanted;
    });
    if (wanted == cubby::action::replace) {
      EXPECT_EQ(done, is ? change::replaced : change::inserted);
      model_[k] = value_of<V>(n);
    } else if (wanted == cubby::action::erase && is) {
      EXPECT_EQ(done, change::erased);
      model_.erase(k);
    } else {
      EXPECT_EQ(done, change::none);
    }
  }
  /// A batch of inserts and a batch of lookups.
  void batch(std::uint64_t most) {
    std::vector<K> keys(17);
    std::vector<V> values(keys.size());
    for (std::size_t i = 0; i < keys.size(); ++i) {
      keys[i] = key_of<K>(random_.below(most));
      values[i] = value_of<V>(random_.below(1000));
    }
    std::vector<outcome> results(keys.size());
    table_->insert_batch(keys, values, results);
    for (std::size_t i = 0; i < keys.size(); ++i)
      EXPECT_EQ(results[i], model_.emplace(keys[i], values[i]).second ? outcome::done : outcome::exists);
    std::vector<V> got(keys.size());
    bool found[17];
    EXPECT_EQ(table_->find_batch(keys, got, found), keys.size());
    for (std::size_t i = 0; i < keys.size(); ++i) EXPECT_TRUE(found[i] && got[i] == model_[keys[i]]);
  }
  /// A batch of requests of all verbs.
  void execute(std::uint64_t most) {
    using cubby::verb;
    std::vector<cubby::request<K, V>> asked(9);
    std::vector<cubby::reply<V>> replies(asked.size());
    for (auto& one : asked) {
      const verb all[] = {verb::find, verb::insert, verb::assign, verb::insert_or_assign, verb::erase};
      one = {all[random_.below(5)], key_of<K>(random_.below(most)), value_of<V>(random_.below(1000)), 0};
    }
    EXPECT_EQ(table_->execute(asked, replies), asked.size());
    for (std::size_t i = 0; i < asked.size(); ++i) {
      const auto& one = asked[i];
      const bool is = model_.contains(one.key);
      const auto expected = one.what == verb::insert                   ? (is ? outcome::exists : outcome::done)
                            : is || one.what == verb::insert_or_assign ? outcome::done
                                                                       : outcome::absent;
      EXPECT_EQ(replies[i].result, expected);
      if (one.what == verb::find || one.what == verb::erase) {
        EXPECT_TRUE(replies[i].value == (is ? std::optional<V>(model_[one.key]) : std::nullopt));
      }
      if (one.what == verb::erase) model_.erase(one.key);
      else if (one.what == verb::insert_or_assign || (one.what == verb::insert && !is) ||
               (one.what == verb::assign && is))
        model_[one.key] = one.value;
    }
  }
  void reference(const K& k) {
    if constexpr (!table_type::engine_type::policy::in_records) {
      auto h = table_->handle();
      const auto* const at = h.find_ref(k);
      const auto there = model_.find(k);
      ASSERT_EQ(at != nullptr, there != model_.end());
      if (at != nullptr) {
        EXPECT_TRUE(*at == there->second);
      }
    }
  }
  void seldom(std::uint64_t dice) {
    if (dice == 0) reopen();
    else if (dice == 1) EXPECT_TRUE(table_->shrink_to_fit());
    else if (dice == 2) EXPECT_TRUE(table_->reserve(model_.size() * 2 + 50));
    else if (dice == 3) EXPECT_TRUE(table_->sync());
    else if (dice == 4) compare();
    else if (dice == 5) {
      const auto third = [](const K&, const V& v) { return number_of(v) % 3 == 0; };
      std::size_t count = 0;
      for (auto i = model_.begin(); i != model_.end();) {
        if (third(i->first, i->second)) {
          i = model_.erase(i);
          ++count;
        } else {
          ++i;
        }
      }
      EXPECT_EQ(table_->erase_if(third), count);
    } else if (dice == 6) {
      table_->clear();
      model_.clear();
    }
  }
  void play(std::uint64_t steps, std::uint64_t most) {
    for (std::uint64_t i = 0; i < steps && !this->HasFailure(); ++i) {
      const K k = key_of<K>(random_.below(most));
      const std::uint64_t dice = random_.below(200);
      if (dice < 7) seldom(dice == 6 && random_.below(8) != 0 ? 7 : dice);
      else if (dice < 20) batch(most);
      else if (dice < 40) execute(most);
      else if (dice < 60) reference(k);
      else if (dice < 70) EXPECT_EQ(table_->contains(k), model_.contains(k));
      else if (dice < 100) {
        auto h = table_->handle();
        change_one(h, k, random_.below(1000));
      } else change_one(*table_, k, random_.below(1000));
    }
    reopen();
  }

protected:
  own_folder folder_;
  std::string path_;
  cubby::durable_options options_;
  std::unique_ptr<table_type> table_;
  std::map<K, V> model_;
  random_source random_{97};
};

TYPED_TEST_SUITE(durable_entries, every_kind);

TYPED_TEST(durable_entries, agree_with_a_map) {
  this->play(scaled(4000), 40);
  this->play(scaled(4000), 3000);
}

TYPED_TEST(durable_entries, agree_with_a_map_while_lines_are_written_back) {
  this->options_.write_lines_back = true;
  this->reopen();
  EXPECT_EQ(this->table_->domain(), cubby::persistence::line);
  this->play(scaled(3000), 500);
}

TYPED_TEST(durable_entries, agree_with_a_map_under_each_policy) {
  for (const auto growth : {cubby::growth_policy::cooperative, cubby::growth_policy::background}) {
    this->options_.growth = growth;
    this->options_.shrink = cubby::shrink_policy::automatic;
    this->reopen();
    this->play(scaled(2000), 700);
  }
}

TYPED_TEST(durable_entries, grow_and_shrink_and_are_there) {
  using key_of_test = typename TypeParam::key_type;
  using value_of_test = typename TypeParam::mapped_type;
  for (std::uint64_t n = 0; n < 20'000; ++n) {
    ASSERT_TRUE(this->table_->insert(key_of<key_of_test>(n), value_of<value_of_test>(n)));
    this->model_.emplace(key_of<key_of_test>(n), value_of<value_of_test>(n));
  }
  ASSERT_TRUE(this->table_->reserve(20'000)); // a growth that waits for a slow sync may still be to come
  EXPECT_GT(this->table_->stats().growths, 3U);
  this->reopen();
  for (std::uint64_t n = 0; n < 19'900; ++n) ASSERT_TRUE(this->table_->erase(key_of<key_of_test>(n)));
  this->model_.erase(this->model_.begin(), this->model_.end());
  for (std::uint64_t n = 19'900; n < 20'000; ++n)
    this->model_.emplace(key_of<key_of_test>(n), value_of<value_of_test>(n));
  ASSERT_TRUE(this->table_->shrink_to_fit());
  EXPECT_LT(this->table_->capacity(), 4000U);
  this->reopen();
  const std::size_t before = this->table_->stats().file_bytes;
  for (std::uint64_t n = 0; n < 19'900; ++n) { // the segments that were left are used again
    ASSERT_TRUE(this->table_->insert(key_of<key_of_test>(n), value_of<value_of_test>(n)));
    this->model_.emplace(key_of<key_of_test>(n), value_of<value_of_test>(n));
  }
  this->reopen();
  EXPECT_LE(this->table_->stats().file_bytes, before * 5 / 4);
}

TYPED_TEST(durable_entries, find_space_while_a_guard_keeps_what_a_shrink_has_left) {
  using key_of_test = typename TypeParam::key_type;
  using value_of_test = typename TypeParam::mapped_type;
  for (std::uint64_t n = 0; n < 100; ++n) {
    ASSERT_TRUE(this->table_->insert(key_of<key_of_test>(n), value_of<value_of_test>(n)));
    this->model_.emplace(key_of<key_of_test>(n), value_of<value_of_test>(n));
  }
  {
    auto h = this->table_->handle();
    const auto stay = h.guard();
    for (int round = 0; round < 3; ++round) {
      ASSERT_TRUE(this->table_->reserve(2000));
      this->compare();
      ASSERT_TRUE(this->table_->shrink_to_fit());
      this->compare();
    }
    ASSERT_TRUE(this->table_->reserve(2000));
  }
  this->compare();
  this->reopen();
}

TYPED_TEST(durable_entries, keep_the_bound_of_a_fixed_table) {
  using key_of_test = typename TypeParam::key_type;
  using value_of_test = typename TypeParam::mapped_type;
  this->table_.reset();
  std::filesystem::remove(this->path_);
  const std::uint64_t bound = 300;
  this->options_.capacity = bound;
  this->options_.growth = cubby::growth_policy::fixed;
  this->reopen();
  const auto fill = [&](std::uint64_t from, std::uint64_t to) {
    for (std::uint64_t n = from; n < to; ++n) {
      ASSERT_EQ(this->table_->try_insert(key_of<key_of_test>(n), value_of<value_of_test>(n)), outcome::inserted) << n;
      this->model_.emplace(key_of<key_of_test>(n), value_of<value_of_test>(n));
    }
  };
  fill(0, 200);
  this->options_ = {}; // the file knows its bound
  this->reopen();
  fill(200, bound);
  EXPECT_EQ(this->table_->try_insert(key_of<key_of_test>(bound), value_of<value_of_test>(1)), outcome::full);
  this->reopen();
  EXPECT_EQ(this->table_->try_insert(key_of<key_of_test>(bound), value_of<value_of_test>(1)), outcome::full);
  for (std::uint64_t n = 0; n < 5000; ++n) { // churn at the bound
    ASSERT_TRUE(this->table_->erase(key_of<key_of_test>(n)));
    this->model_.erase(key_of<key_of_test>(n));
    fill(n + bound, n + bound + 1);
    ASSERT_EQ(this->table_->try_insert(key_of<key_of_test>(n), value_of<value_of_test>(n)), outcome::full);
  }
  this->reopen();
}

TYPED_TEST(durable_entries, of_several_threads_are_there) {
  using key_of_test = typename TypeParam::key_type;
  using value_of_test = typename TypeParam::mapped_type;
  constexpr unsigned threads = 4;
  constexpr std::uint64_t keys = 3000; // of each
  this->options_.sync_every = std::chrono::milliseconds(1);
  for (int round = 0; round < 2; ++round) {
    this->reopen();
    std::vector<std::map<key_of_test, value_of_test>> mine(threads);
    run_threads(threads, [&](unsigned t) {
      random_source random(t + 10 * static_cast<unsigned>(round));
      auto h = this->table_->handle();
      for (std::uint64_t i = 0; i < scaled(6000); ++i) {
        const key_of_test k = key_of<key_of_test>(t + threads * random.below(keys));
        if (random.one_in(3)) {
          h.erase(k);
          mine[t].erase(k);
        } else {
          const std::uint64_t n = random.below(1000);
          h.insert_or_assign(k, value_of<value_of_test>(n));
          mine[t][k] = value_of<value_of_test>(n);
        }
      }
    });
    this->table_->clear();
    run_threads(threads, [&](unsigned t) {
      for (const auto& [k, v] : mine[t]) this->table_->insert(k, v);
    });
    this->model_.clear();
    for (const auto& one : mine) this->model_.insert(one.begin(), one.end());
  }
  this->reopen();
}

/// Threads that change the same few keys meet in changes that are not complete.
TYPED_TEST(durable_entries, that_several_threads_change_are_there) {
  using key_of_test = typename TypeParam::key_type;
  using value_of_test = typename TypeParam::mapped_type;
  for (const bool lines : {false, true}) {
    this->options_.sync_every = std::chrono::milliseconds(lines ? 0 : 1);
    this->options_.write_lines_back = lines;
    this->reopen();
    run_threads(3, [&](unsigned t) {
      random_source random(t + 100);
      for (std::uint64_t i = 0; i < scaled(4000); ++i) {
        const key_of_test k = key_of<key_of_test>(random.below(8));
        if (random.one_in(3)) this->table_->erase(k);
        else this->table_->insert_or_assign(k, value_of<value_of_test>(random.below(1000)));
        const auto v = this->table_->find(k);
        EXPECT_TRUE(!v || is_whole_value(*v));
      }
    });
    this->model_.clear();
    this->table_->visit_all([&](const key_of_test& k, const value_of_test& v) { this->model_.emplace(k, v); });
    this->reopen();
  }
}

} // namespace
} // namespace cubby_test
