// SPDX-License-Identifier: Apache-2.0
// A relativistic table in which several threads stand at once, at a chosen step of a resize. Each has a thread record, which no
// thread's end gives back, and the locks can be seen.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "relativistic/family.hpp"

namespace cubby_test {

/// Each stripe has these keys; the last two are for the writer, which has a stripe that it asks for.
enum class part : std::uint64_t { kept = 1, assigned, erased, absent, inserted, writers_old, writers_new };
constexpr std::uint64_t key_of(std::uint64_t stripe, part which) {
  return relativistic::stripe_count * static_cast<std::uint64_t>(which) + stripe;
}
inline constexpr std::uint64_t writers_stripe = 5;

enum class change { insert, assign, erase, commit, abort };

/// Where a table is when the writer begins.
struct post {
  std::uint64_t from = 64;
  std::uint64_t to = 0; // 0: no resize
  cubby::growth_policy growth = cubby::growth_policy::fixed;
  std::uint64_t done = 0; // families that have moved; all: readers are to be waited for
};
inline constexpr std::uint64_t all_families = ~std::uint64_t{0};

/// A table of words or of records, with a thread record for each of the threads that may stand in it at once.
template <class Value>
class table_with_worker : public coded_table<Value> {
  using base = coded_table<Value>;
  using base::number_of, base::probe, base::word;

public:
  using codec = typename base::codec;
  using base::assigned, base::t;

  explicit table_with_worker(const post& p) : base(p.from) {
    for (std::size_t i = 0; i < thread_records; ++i) thread_records_[i] = thread_record_of_bag(i);
    thread_records_[twin_of_writer] = thread_record_of_bag(0);
    t.bound = ~std::uint64_t{0};
    for (std::uint64_t s = 0; s < relativistic::stripe_count; ++s) {
      for (const part which : {part::kept, part::assigned, part::erased}) act(0, change::insert, key_of(s, which));
    }
    act(0, change::insert, key_of(writers_stripe, part::writers_old));
    t.settings.growth = p.growth;
    t.settings.move_bins = 1;
    if (p.to == 0) return;
    EXPECT_TRUE(relativistic::begin_resize(t, p.to));
    if (p.done != 0) (void)relativistic::work_on(t, p.done);
  }
  ~table_with_worker() {
    relativistic::close(t);
    for (auto* const s : thread_records_) cubby::detail::registry::release(s);
    for (auto* const s : spare_) cubby::detail::registry::release(s);
  }
  table_with_worker(const table_with_worker&) = delete;
  table_with_worker& operator=(const table_with_worker&) = delete;

  void act(std::size_t who, change what, std::uint64_t key) {
    cubby::detail::thread_record& mine = *thread_records_[who];
    const cubby::detail::thread_pin pin(mine);
    if (what == change::assign) return alter(mine, key, {cubby::action::replace, word(key, key + assigned)});
    if (what == change::erase) return alter(mine, key, {cubby::action::erase, 0});
    const std::uint64_t made = word(key, key);
    const std::uint64_t marks = what == change::insert ? 0 : relativistic::mark::hidden;
    EXPECT_EQ(relativistic::insert(t, probe(key), made, marks).outcome, cubby::outcome::inserted);
    if (what == change::commit) relativistic::shadow_commit(t, probe(key), made);
    if (what != change::abort) return;
    relativistic::shadow_abort(t, mine, probe(key), made);
    if constexpr (codec::in_records) t.bag.add(mine, made);
  }
  /// What is under the key; 0: nothing.
  [[nodiscard]] std::uint64_t find(std::size_t who, std::uint64_t key) const {
    const cubby::detail::thread_pin pin(*thread_records_[who]);
    const cubby::detail::found_word got = relativistic::find(t, probe(key));
    return got.found ? number_of(got.word) : 0;
  }
  [[nodiscard]] std::vector<std::uint64_t> find_batch(std::size_t who, const std::vector<std::uint64_t>& keys) const {
    const cubby::detail::thread_pin pin(*thread_records_[who]);
    std::vector<std::uint64_t> out(keys.size());
    auto make = [&](std::size_t i) { return probe(keys[i]); };
    auto take = [&](std::size_t i, const cubby::detail::found_word& got) {
      out[i] = got.found ? number_of(got.word) : 0;
    };
    relativistic::find_many(t, keys.size(), make, take);
    return out;
  }
  /// As `reserve` does it. False: it has waited for others for long enough.
  bool finish_resize(std::size_t who) { return relativistic::finish_resize(t, *thread_records_[who]); }

  std::uint64_t next_update = 0;                                // of those beside the writer
  static constexpr std::size_t thread_records = 8;              // that retire under different locks
  static constexpr std::size_t twin_of_writer = thread_records; // and one that shares the first one's

private:
  void alter(cubby::detail::thread_record& mine, std::uint64_t key, cubby::detail::decision wanted) {
    auto f = [wanted](std::uint64_t) { return wanted; };
    const cubby::detail::mutated m = relativistic::mutate(t, mine, probe(key), f);
    EXPECT_TRUE(m.found) << key;
    if constexpr (codec::in_records) t.bag.add(mine, m.before);
  }

  cubby::detail::thread_record* thread_record_of_bag(std::size_t number) {
    for (;; spare_.push_back(cubby::detail::registry::claim())) {
      const auto at =
          std::find_if(spare_.begin(), spare_.end(), [&](const auto* s) { return s->id() % bags == number; });
      if (at == spare_.end()) continue;
      cubby::detail::thread_record* const found = *at;
      spare_.erase(at);
      return found;
    }
  }

  static constexpr std::size_t bags = 16; // the locks of core/epoch.hpp
  cubby::detail::thread_record* thread_records_[thread_records + 1] = {};
  std::vector<cubby::detail::thread_record*> spare_;
};

} // namespace cubby_test
