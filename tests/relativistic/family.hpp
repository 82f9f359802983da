// SPDX-License-Identifier: Apache-2.0
// A relativistic table whose resizes are driven by hand, and a reader that stands still in the middle of its find while
// others act. All in one thread: the reader's hook runs the others, so each case is one exact interleaving.
#pragma once

#include <algorithm>
#include <functional>
#include <vector>

#include <cubby/core/codec.hpp>
#include <cubby/engine/relativistic/relativistic.hpp>
#include <cubby/map.hpp>

#include "support/hooks.hpp"

namespace cubby_test {

/// Keys are their own hashes, so a test chooses their buckets.
struct key_as_hash {
  using is_avalanching = void;
  std::uint64_t operator()(std::uint64_t key) const noexcept { return key; }
};

namespace room = cubby::engines::relativistic;

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

/// A table of one key to itself, with a seat for the reader and one for everybody else.
class family {
public:
  using codec = cubby::codec<std::uint64_t, std::uint64_t, key_as_hash, std::allocator<std::byte>>;
  using table = room::table<codec>;

  explicit family(std::uint64_t buckets)
      : t(settings(buckets), codec(key_as_hash{}, std::allocator<std::byte>{}, 0)), reader(*cubby::registry::claim()),
        writer(*cubby::registry::claim()) {
    EXPECT_TRUE(room::open(t));
  }
  ~family() {
    room::close(t);
    cubby::registry::release(&reader);
    cubby::registry::release(&writer);
  }
  family(const family&) = delete;
  family& operator=(const family&) = delete;

  void insert(std::uint64_t key) {
    const cubby::seat_pin pin(writer);
    EXPECT_EQ(room::insert(t, probe(key), key).outcome, cubby::insert_outcome::inserted);
    keys.push_back(key);
  }
  void erase(std::uint64_t key) {
    {
      const cubby::seat_pin pin(writer);
      auto f = [](std::uint64_t) { return cubby::decision{cubby::verdict::erase, 0}; };
      EXPECT_TRUE(room::mutate(t, writer, probe(key), f).found);
    }
    std::erase(keys, key);
    EXPECT_FALSE(is_linked(key)) << "a path still leads to a removed node";
    t.node_bag.collect(); // frees it unless the reader may stand on it: the sanitizers then see what was forgotten
  }
  void begin(std::uint64_t buckets) { EXPECT_TRUE(room::begin_resize(t, buckets)); }
  /// To the next wait for readers; with `alone` through one that is there. False: the resize has ended.
  bool go_on(bool alone) { return room::work_on(t, ~std::uint64_t{0}, alone) != room::progress::idle; }
  /// Whether the reader finds the key, when before its step `number` the others act.
  bool finds(std::uint64_t key, unsigned number, std::function<void()> others, bool& interrupted) {
    const cubby::seat_pin pin(reader);
    interruption here(number, std::move(others));
    const cubby::found_word got = room::find(t, probe(key));
    interrupted = here.happened();
    EXPECT_TRUE(!got.found || got.word == key);
    return got.found;
  }

  /// The keys on the path of a bucket of the newest array that is shown.
  [[nodiscard]] std::vector<std::uint64_t> path(std::uint64_t bucket) const {
    std::vector<std::uint64_t> met;
    const std::uint64_t link = room::first_link(t, bucket);
    for (const room::node* n = room::node_at(link); n != nullptr;) {
      met.push_back(n->key);
      n = room::node_at(n->next.load(cubby::sync::relaxed));
    }
    return met;
  }
  /// Every bucket has its own keys, each once, and nothing else.
  void expect_precise() const {
    std::size_t met = 0;
    const std::uint64_t buckets = t.buckets.load(cubby::sync::relaxed);
    for (std::uint64_t b = 0; b < buckets; ++b) {
      for (const std::uint64_t key : path(b)) {
        EXPECT_EQ(key % buckets, b);
        EXPECT_EQ(std::count(keys.begin(), keys.end(), key), 1) << key;
        ++met;
      }
    }
    EXPECT_EQ(met, keys.size());
  }

  table t;
  cubby::seat& reader;
  cubby::seat& writer;
  std::vector<std::uint64_t> keys;

private:
  static cubby::options settings(std::uint64_t buckets) {
    cubby::options o;
    o.capacity = buckets;
    o.growth = cubby::growth_policy::background; // whose writers do nothing for a resize: the test does
    return o;
  }
  static cubby::word_probe probe(std::uint64_t key) { return {key, key}; }
  [[nodiscard]] bool is_linked(std::uint64_t key) const {
    for (std::uint64_t b = key % room::stripe_count; b < 1024; b += room::stripe_count) {
      const auto met = path(b);
      if (std::count(met.begin(), met.end(), key) != 0) return true;
    }
    return false;
  }
};

} // namespace cubby_test
