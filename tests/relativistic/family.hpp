// SPDX-License-Identifier: Apache-2.0
// A relativistic table whose resizes are driven by hand, and a reader that stands still in the middle of its find while
// others act. All in one thread: the reader's hook runs the others, so each case is one exact interleaving.
#pragma once

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include <cubby/detail/core/codec.hpp>
#include <cubby/map.hpp>
#include <cubby/relativistic.hpp>

#include "modes.hpp"
#include "support/hooks.hpp"

namespace cubby_test {

/// Keys are their own hashes, so a test chooses their buckets.
struct key_as_hash {
  using is_avalanching = void;
  std::uint64_t operator()(std::uint64_t key) const noexcept { return key; }
};

namespace relativistic = cubby::detail::engines::relativistic;

/// Runs `others` before the `number`th step (from 0) of the thread that made it, once.
class interruption final : public watcher {
public:
  interruption(unsigned number, std::function<void()> others) : number_(number), others_(std::move(others)) {}
  void before(step, const void*) override {
    if (done_ || seen_++ != number_) return;
    done_ = true;
    others_();
  }
  [[nodiscard]] bool happened() const { return done_; }

private:
  unsigned number_;
  unsigned seen_ = 0;
  bool done_ = false;
  std::function<void()> others_;
};

/// A table with words or, of `wide_value`, with records, which are made of numbers and turned back. `fixed` at first.
template <class Value>
class coded_table {
public:
  using codec =
      typename cubby::detail::codec<std::uint64_t, Value, key_as_hash,
                                    std::allocator<std::byte>>::template with_front<sizeof(relativistic::node)>;
  using table = relativistic::table<codec>;
  static constexpr std::uint64_t assigned = std::uint64_t{1} << 40; // added to a key, what `assign` gives it

  explicit coded_table(std::uint64_t buckets)
      : t(settings(buckets), codec(key_as_hash{}, std::allocator<std::byte>{}, 0)) {
    EXPECT_TRUE(relativistic::open(t));
  }
  [[nodiscard]] auto probe(std::uint64_t key) const { return t.policy.probe_of(key); }
  [[nodiscard]] static Value value(std::uint64_t n) {
    if constexpr (codec::in_records) return Value{n, ~n, n * 3};
    else return n;
  }
  [[nodiscard]] std::uint64_t word(std::uint64_t key, std::uint64_t n) const {
    return t.policy.make(probe(key), key, value(n)).word;
  }
  [[nodiscard]] std::uint64_t number_of(std::uint64_t word) const {
    const Value& v = t.policy.value(word);
    if constexpr (codec::in_records) return v == value(v.number) ? v.number : torn;
    else return v;
  }

  table t;

private:
  static cubby::relativistic::options settings(std::uint64_t buckets) {
    cubby::relativistic::options o;
    o.capacity = buckets;
    o.growth = cubby::growth_policy::fixed; // which has no worker
    return o;
  }
};

/// With a thread record for the reader and one for every other thread.
template <class Value>
class family : public coded_table<Value> {
  using base = coded_table<Value>;
  using base::number_of, base::probe, base::word;

public:
  using codec = typename base::codec;
  using table = typename base::table;
  using base::assigned, base::t;

  explicit family(std::uint64_t buckets)
      : base(buckets), reader(*cubby::detail::registry::claim()), writer(*cubby::detail::registry::claim()) {
    // From here on the table may grow, and there is no worker: the test does it all, and holds the lock while others write.
    t.settings.growth = cubby::growth_policy::background;
    t.bound = ~std::uint64_t{0};
  }
  ~family() {
    relativistic::close(t);
    cubby::detail::registry::release(&reader);
    cubby::detail::registry::release(&writer);
  }
  family(const family&) = delete;
  family& operator=(const family&) = delete;

  void insert(std::uint64_t key) {
    const cubby::detail::thread_pin pin(writer);
    const cubby::detail::lock_scope resizes_are_the_tests(t.resize_lock);
    EXPECT_EQ(relativistic::insert(t, probe(key), word(key, key)).outcome, cubby::outcome::inserted);
    keys.push_back(key);
  }
  void erase(std::uint64_t key) {
    change(key, {cubby::action::erase, 0});
    std::erase(keys, key);
  }
  void assign(std::uint64_t key) { change(key, {cubby::action::replace, word(key, key + assigned)}); }
  void begin(std::uint64_t buckets) { EXPECT_TRUE(relativistic::begin_resize(t, buckets)); }
  /// As far as readers let it, without waiting for them. False: the resize has ended.
  bool go_as_far_as_it_can() {
    relativistic::progress how = relativistic::progress::more;
    while (how == relativistic::progress::more) how = relativistic::work_on(t, ~std::uint64_t{0});
    return how != relativistic::progress::idle;
  }
  /// One piece of four: family 0 moves; the others, and the new array is shown; with `alone`, or when readers have left,
  /// family 0 is cut; the others are. A shrink has the first two, and ends with the third. False: the resize has ended.
  bool go_on(bool alone) {
    const bool first = t.work.cursor == 0 || t.work.waiting;
    return relativistic::work_on(t, first ? 1 : ~std::uint64_t{0}, alone) != relativistic::progress::idle;
  }
  /// Whether the reader finds the key, when before its step `number` the others act.
  bool finds(std::uint64_t key, unsigned number, std::function<void()> others, bool& interrupted) {
    const cubby::detail::thread_pin pin(reader);
    interruption here(number, std::move(others));
    const cubby::detail::found_word got = relativistic::find(t, probe(key));
    interrupted = here.happened();
    if (got.found) {
      const std::uint64_t shown = number_of(got.word);
      EXPECT_TRUE(shown == key || shown == key + assigned) << shown << " under " << key;
    }
    return got.found;
  }

  /// What a lookup of the key shows that has come as far as this link; 0: nothing. Inside a pin.
  [[nodiscard]] std::uint64_t shown_from(std::uint64_t link, std::uint64_t key) const {
    const relativistic::seen_slot hit = relativistic::search(t.policy, link, probe(key));
    return hit.where == nullptr ? 0 : number_of(hit.value);
  }
  /// What a scan shows of the key, all of it added up, and how often.
  [[nodiscard]] std::pair<std::uint64_t, unsigned> scanned(std::uint64_t key) const {
    std::pair<std::uint64_t, unsigned> met{0, 0};
    auto f = [&](std::uint64_t k, std::uint64_t value) {
      if (k == key) met = {met.first + number_of(value), met.second + 1};
    };
    relativistic::for_each(t, f);
    return met;
  }

  /// The keys on the path of a bucket of the newest array that is shown.
  [[nodiscard]] std::vector<std::uint64_t> path(std::uint64_t bucket) const {
    std::vector<std::uint64_t> met;
    const std::uint64_t link = relativistic::first_link(t, bucket);
    for (const relativistic::node* n = relativistic::node_at(link); n != nullptr;) {
      met.push_back(n->key);
      n = relativistic::node_at(n->next.load(cubby::detail::sync::relaxed));
    }
    return met;
  }
  /// Every bucket has its own keys, each once, in the order of chains, and nothing else.
  void expect_precise() const {
    std::size_t met = 0;
    const std::uint64_t buckets = t.buckets.load(cubby::detail::sync::relaxed);
    for (std::uint64_t b = 0; b < buckets; ++b) {
      const auto here = path(b);
      EXPECT_TRUE(std::is_sorted(here.begin(), here.end(), relativistic::comes_before)) << "bucket " << b;
      for (const std::uint64_t key : here) {
        EXPECT_EQ(key % buckets, b);
        EXPECT_EQ(std::count(keys.begin(), keys.end(), key), 1) << key;
        ++met;
      }
    }
    EXPECT_EQ(met, keys.size());
  }

  cubby::detail::thread_record& reader;
  cubby::detail::thread_record& writer;
  std::vector<std::uint64_t> keys;

private:
  /// What has left is freed at once unless the reader may stand on it: the sanitizers then see what was forgotten.
  void change(std::uint64_t key, cubby::detail::decision wanted) {
    {
      const cubby::detail::thread_pin pin(writer);
      const cubby::detail::lock_scope resizes_are_the_tests(t.resize_lock);
      auto f = [wanted](std::uint64_t) { return wanted; };
      const cubby::detail::mutated m = relativistic::mutate(t, writer, probe(key), f);
      EXPECT_TRUE(m.found);
      if constexpr (codec::in_records) t.bag.add(writer, m.before);
    }
    EXPECT_FALSE(leads_to_what_has_left(key)) << "after a change of " << key;
    t.node_bag.collect();
    t.bag.collect();
  }
  /// Whether any path of the key's family still leads to a node that is removed or replaced.
  [[nodiscard]] bool leads_to_what_has_left(std::uint64_t key) const {
    for (std::uint64_t b = key % relativistic::stripe_count; b < 65536; b += relativistic::stripe_count) {
      for (const relativistic::node* n = relativistic::node_at(relativistic::first_link(t, b)); n != nullptr;) {
        const std::uint64_t link = n->next.load(cubby::detail::sync::relaxed);
        if ((link & relativistic::mark::gone) != 0) return true;
        n = relativistic::node_at(link);
      }
    }
    return false;
  }
};

} // namespace cubby_test
