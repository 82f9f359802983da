// SPDX-License-Identifier: Apache-2.0
// Batches ask for lines at a pace that depends on the processor (`cpu::drops_prefetches`). Each test runs at both, so that no processor has one
// that was never tested. Seen: a partition that was rebuilt between two messages of a section freed the array that the next ones were asked for in.
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <cubby/delegated_map.hpp>
#include <cubby/dramhit.hpp>
#include <cubby/dramhit_tuples.hpp>
#include <cubby/iceberg.hpp>
#include <cubby/map.hpp>
#include <cubby/relativistic.hpp>
#include <cubby/seph.hpp>

#include "support/random.hpp"

namespace cubby_test::paces {
namespace {

namespace detail = cubby::detail;

/// Until its end, batches go as on a processor that drops prefetches, or as on another one.
class as_on_a_processor {
public:
  explicit as_on_a_processor(bool drops) {
    if (detail::cpu::drops_prefetches() != drops) detail::cpu::as_the_other_kind() = true;
    EXPECT_EQ(detail::cpu::drops_prefetches(), drops);
  }
  ~as_on_a_processor() { detail::cpu::as_the_other_kind() = false; }
  as_on_a_processor(const as_on_a_processor&) = delete;
  as_on_a_processor& operator=(const as_on_a_processor&) = delete;
};

template <class K> K key_of(std::uint64_t n) {
  if constexpr (std::is_same_v<K, std::string>) return "the key number " + std::to_string(n);
  else return n * 77;
}
/// What a request does to an entry, and answers.
cubby::outcome done_to(std::optional<std::uint64_t>& entry, cubby::verb what, std::uint64_t value,
                       std::optional<std::uint64_t>& answer) {
  using cubby::verb;
  const bool is_there = entry.has_value();
  if (what == verb::find || what == verb::erase) answer = entry;
  if (what == verb::erase) entry.reset();
  if (what == verb::insert_or_add) entry = entry.value_or(0) + value;
  else if (what == verb::insert_or_assign || (what == verb::assign && is_there) || (what == verb::insert && !is_there))
    entry = value;
  if (what == verb::insert) return is_there ? cubby::outcome::exists : cubby::outcome::done;
  const bool always = what == verb::insert_or_assign || what == verb::insert_or_add;
  return is_there || always ? cubby::outcome::done : cubby::outcome::absent;
}

template <class Map> class batches : public ::testing::Test {
protected:
  using key = typename Map::key_type;
  using request = typename Map::request_type;
  using reply = typename Map::reply_type;
  static constexpr std::uint64_t keys = 200;
  static constexpr std::size_t sizes[] = {1, 4, 19, 20, 21, 31, 32, 33, 64, 65, 200};

  /// `pairs`: each key twice, one request right behind the other.
  void run_requests(std::size_t count, bool pairs) {
    std::vector<request> asked(count);
    for (std::size_t i = 0; i < count; ++i) {
      asked[i].what = verbs[random_.below(std::size(verbs))];
      asked[i].key = pairs && i % 2 == 1 ? asked[i - 1].key : key_of<key>(random_.below(keys));
      asked[i].value = random_.below(1000);
    }
    std::vector<reply> answers(count);
    ASSERT_EQ(map_->execute(std::span<const request>(asked), std::span<reply>(answers)), count);
    for (std::size_t i = 0; i < count; ++i) {
      std::optional<std::uint64_t> value;
      EXPECT_EQ(answers[i].result, done_to(model_[asked[i].key], asked[i].what, asked[i].value, value));
      EXPECT_EQ(answers[i].value, value) << "request " << i << " of " << count;
    }
  }
  void find_all(std::size_t count) {
    std::vector<key> asked(count);
    for (key& one : asked) one = key_of<key>(random_.below(keys));
    std::vector<std::uint64_t> values(count);
    const std::unique_ptr<bool[]> found(new bool[count]);
    map_->find_batch(std::span<const key>(asked), std::span(values), std::span(found.get(), count));
    for (std::size_t i = 0; i < count; ++i) {
      const std::optional<std::uint64_t>& entry = model_[asked[i]];
      ASSERT_EQ(found[i], entry.has_value()) << "key " << i << " of " << count;
      if (entry) {
        ASSERT_EQ(values[i], *entry);
      }
    }
  }
  /// By `insert_range` and by `insert_batch`.
  void insert(std::size_t count) {
    std::vector<std::pair<key, std::uint64_t>> pairs;
    std::vector<key> inserted;
    std::vector<std::uint64_t> values;
    for (std::size_t i = 0; i < count; ++i) {
      pairs.emplace_back(key_of<key>(random_.below(keys)), random_.below(1000));
      inserted.push_back(key_of<key>(random_.below(keys)));
      values.push_back(random_.below(1000));
    }
    map_->insert_range(pairs);
    for (const auto& [k, v] : pairs)
      if (!model_[k]) model_[k] = v;
    std::vector<cubby::outcome> results(count);
    map_->insert_batch(std::span<const key>(inserted), std::span<const std::uint64_t>(values), std::span(results));
    for (std::size_t i = 0; i < count; ++i) {
      auto& entry = model_[inserted[i]];
      EXPECT_EQ(results[i], entry ? cubby::outcome::exists : cubby::outcome::done) << "key " << i << " of " << count;
      if (!entry) entry = values[i];
    }
    find_all(count);
  }
  void run_all(bool drops) {
    const as_on_a_processor kind(drops);
    for (int turn = 0; turn < 20; ++turn)
      for (const std::size_t count : sizes) {
        run_requests(count, turn % 2 == 1);
        find_all(count);
        insert(count);
      }
  }

private:
  static constexpr cubby::verb verbs[] = {
      cubby::verb::find,  cubby::verb::insert,           cubby::verb::assign,
      cubby::verb::erase, cubby::verb::insert_or_assign, cubby::verb::insert_or_add};
  std::unique_ptr<Map> map_ = std::make_unique<Map>();
  std::unordered_map<key, std::optional<std::uint64_t>> model_;
  random_source random_{1};
};

using word = std::uint64_t;
using every_kind =
    ::testing::Types<cubby::map<word, word>, cubby::map<std::string, word>, cubby::map<word, word, cubby::dramhit>,
                     cubby::map<word, word, cubby::dramhit_tuples>, cubby::map<word, word, cubby::iceberg>,
                     cubby::map<std::string, word, cubby::iceberg>, cubby::map<word, word, cubby::seph>,
                     cubby::map<word, word, cubby::relativistic>>;
TYPED_TEST_SUITE(batches, every_kind);

TYPED_TEST(batches, are_answered_as_by_a_model_where_prefetches_are_dropped) { this->run_all(true); }
TYPED_TEST(batches, are_answered_as_by_a_model_where_no_prefetch_is_dropped) { this->run_all(false); }

// Entries in the slots are asked for evenly, those behind records are not.
template <class Map> constexpr bool evenly = detail::contract::ending_in_asked_lines<typename Map::engine_type>;
static_assert(evenly<cubby::map<word, word>> && !evenly<cubby::map<std::string, word>>);
static_assert(evenly<cubby::map<word, word, cubby::dramhit>> && !evenly<cubby::map<word, std::string, cubby::dramhit>>);
static_assert(evenly<cubby::map<word, word, cubby::dramhit_tuples>>);
static_assert(evenly<cubby::map<word, word, cubby::iceberg>> && !evenly<cubby::map<std::string, word, cubby::iceberg>>);
static_assert(!evenly<cubby::map<word, word, cubby::seph>> && !evenly<cubby::map<word, word, cubby::relativistic>>);

TEST(paces, of_a_partition_do_not_outlive_its_array) {
  for (const bool drops : {true, false}) {
    const as_on_a_processor kind(drops);
    cubby::delegated_map<word, word> m(cubby::partitioned::options{{}, {.partitions = 1}});
    constexpr word all = 20000;
    {
      auto h = m.handle();
      for (word i = 0; i < all; ++i) ASSERT_EQ(h.insert_or_assign(i, i + 1), cubby::outcome::done);
      ASSERT_TRUE(h.flush());
    }
    ASSERT_EQ(m.size(), all);
    std::vector<word> keys(all), values(all);
    for (word i = 0; i < all; ++i) keys[i] = i + all / 2; // half of them are absent
    const std::unique_ptr<bool[]> found(new bool[all]);
    m.find_batch(std::span<const word>(keys), std::span(values), std::span(found.get(), all));
    for (word i = 0; i < all; ++i) {
      ASSERT_EQ(found[i], keys[i] < all);
      if (found[i]) {
        ASSERT_EQ(values[i], keys[i] + 1);
      }
    }
  }
}

} // namespace
} // namespace cubby_test::paces
