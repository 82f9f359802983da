// SPDX-License-Identifier: Apache-2.0
// The reference engine: a spin lock around a std::unordered_multimap from {hash, key word} to value word. Each verb is simple, so that
// its agreement with the contract is easy to see. It is the oracle of the tests, the lower bound of the benches, and the example for
// a new engine. Only cubby/reference.hpp includes it, because <unordered_map> is large.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include <cubby/detail/core/contract.hpp>
#include <cubby/detail/core/epoch.hpp>
#include <cubby/detail/core/lock.hpp>
#include <cubby/detail/core/registry.hpp>
#include <cubby/detail/core/scan_cursor.hpp>
#include <cubby/detail/platform/fail.hpp>
#include <cubby/detail/platform/memory.hpp>

namespace cubby::inline v0 {

namespace detail {

namespace engines {

template <slot_policy Policy> class reference {
  struct copied {
    std::uint64_t key_word;
    std::uint64_t value_word;
  };

public:
  using policy = Policy;
  using probe = typename Policy::probe;
  using options_type = options;
  using stats_type = table_stats;
  static constexpr engine_claims claims{.slots_freed_at_once = true, .scans_once = true};

  reference(const options& wanted, Policy slots) : options_(wanted), policy_(std::move(slots)) {
    ok_ = home_ && make_space(options_.capacity);
    if (!ok_) fail::with_no_memory();
  }
  /// Moves an idle table. `from` is then empty; without memory for that it is not `ok`.
  reference(reference&& from) noexcept
    requires std::is_nothrow_copy_constructible_v<Policy>
      : options_(at_rest(from).options_), home_(from.home_), policy_(from.policy_), index_(std::move(from.index_)),
        growths_(std::exchange(from.growths_, 0)), shrinks_(std::exchange(from.shrinks_, 0)), ok_(from.ok_) {
    from.index_.clear();
    contract::forget_capacity(from.options_);
    contract::renew_seed(from.options_, from.policy_);
    from.ok_ = from.ok_ && from.make_space(from.options_.capacity);
  }
  reference(const reference&) = delete;
  reference& operator=(const reference&) = delete;
  ~reference() {
    for (const auto& [where, what] : index_) policy_.dispose(what.word);
  }

  [[nodiscard]] bool ok() const noexcept { return ok_; }
  [[nodiscard]] const Policy& slots() const noexcept { return policy_; }
  static thread_pin pin(thread_record& s) noexcept { return thread_pin(s); }
  /// The calling thread's record; null if there is no memory for one.
  [[nodiscard]] thread_record* local_thread_record() noexcept { return registry::local(*home_); }
  /// A thread record for a handle; null: no memory.
  [[nodiscard]] thread_record* claim_thread_record() noexcept { return registry::claim(*home_); }

  [[nodiscard]] found_word find(thread_record&, const probe& p) const {
    lock_scope held(lock_);
    const auto at = locate(p);
    if (at == index_.end() || at->second.hidden) return {};
    return {true, at->second.word};
  }

  inserted_word insert(thread_record&, const probe& p, std::uint64_t word) { return insert_as(p, word, false); }

  /// `f` is shown a word without the lock, and its decision is carried out if the entry still has that word.
  template <class F> mutated mutate(thread_record&, const probe& p, F f) {
    for (;;) {
      const found_word seen = look(p);
      if (!seen.found) return {};
      const decision wanted = f(seen.word);
      if (wanted.what == action::keep) return {true, action::keep, seen.word};
      if (apply(p, seen.word, wanted)) return {true, wanted.what, seen.word};
    }
  }

  void retire(thread_record& s, std::uint64_t word) { retired_.add(s, word); }
  static void stop_worker() noexcept {}
  bool dispose_retired() { return retired_.dispose_all(); }

  /// Scans a copy of the words, so that `f` runs without the lock and may call the table.
  template <class F> void for_each(thread_record&, F f) {
    for (const auto& entry : copy()) f(entry.key_word, entry.value_word);
  }
  /// The threads share one copy.
  struct shared_scan {
    std::vector<copied> all;
    scan_cursor<sync::shared> entries;
  };
  [[nodiscard]] shared_scan begin_shared_scan() const { return {copy(), {}}; }
  template <class F> void for_each_of(shared_scan& shared, thread_record&, F f) {
    shared.entries.share_out(shared.all.size(), 256, [&](std::uint64_t first, std::uint64_t count) {
      for (std::uint64_t i = first; i < first + count; ++i) f(shared.all[i].key_word, shared.all[i].value_word);
    });
  }
  static void end_shared_scan(shared_scan& shared) noexcept { shared.entries.end(); }

  /// The point in time is that at which the lock is held.
  template <class B, class F> bool snapshot(thread_record&, B begin, F sink) {
    lock_scope held(lock_);
    if (!begin(index_.size())) return false;
    for (const auto& [where, what] : index_) {
      if (!what.hidden) sink(where.word, what.word);
    }
    return true;
  }

  inserted_word shadow_insert(thread_record&, const probe& p, std::uint64_t word) { return insert_as(p, word, true); }
  void shadow_commit(thread_record&, const probe& p, std::uint64_t) {
    lock_scope held(lock_);
    if (const auto at = locate(p); at != index_.end()) at->second.hidden = false;
    --hidden_;
  }
  void shadow_abort(thread_record&, const probe& p, std::uint64_t) {
    lock_scope held(lock_);
    index_.erase(locate(p));
    --hidden_;
  }

  [[nodiscard]] std::size_t size() const noexcept {
    lock_scope held(lock_);
    return index_.size() - hidden_;
  }
  [[nodiscard]] std::size_t capacity() const noexcept {
    lock_scope held(lock_);
    return slots_now();
  }
  [[nodiscard]] table_stats stats() const {
    lock_scope held(lock_);
    table_stats now;
    now.size = index_.size() - hidden_;
    now.capacity = slots_now();
    now.bins = index_.bucket_count();
    // a node is {next, cached hash, pair}, as in the common implementations
    now.bytes = now.bins * sizeof(void*) + index_.size() * (sizeof(typename index::value_type) + 2 * sizeof(void*));
    now.retired = retired_.waiting();
    now.growths = growths_;
    now.shrinks = shrinks_;
    return now;
  }
  bool reserve(thread_record&, std::size_t entries) {
    lock_scope held(lock_);
    if (options_.growth == growth_policy::fixed) return entries <= slots_now();
    bool had = false;
    counting_growth([&] { had = make_space(entries); });
    return had;
  }
  void collect(thread_record&) { retired_.collect(); }
  bool shrink_to_fit(thread_record& s) {
    collect(s);
    if (options_.shrink == shrink_policy::never) return true;
    lock_scope held(lock_);
    const std::size_t before = index_.bucket_count();
    const std::size_t least = index_.size() > options_.capacity ? index_.size() : options_.capacity;
    const bool had = fail::attempt([&] {
      index_.rehash(0);
      index_.reserve(least);
    });
    if (index_.bucket_count() < before) ++shrinks_;
    return had;
  }

  template <class Make, class Take> void find_many(thread_record& s, std::size_t n, Make make, Take take) const {
    for (std::size_t i = 0; i < n; ++i) take(i, find(s, make(i)));
  }

private:
  /// No guard lives, so nothing has to wait.
  static reference& at_rest(reference& of) {
    (void)of.retired_.dispose_all();
    return of;
  }
  struct hashed_word {
    std::uint64_t hash;
    std::uint64_t word;
    friend bool operator==(const hashed_word&, const hashed_word&) = default;
  };
  struct by_hash {
    std::size_t operator()(const hashed_word& where) const noexcept { return static_cast<std::size_t>(where.hash); }
  };
  struct content {
    std::uint64_t word;
    bool hidden;
  };
  using index = std::unordered_multimap<hashed_word, content, by_hash>;

  template <class Index> static auto locate_in(Index& all, const Policy& policy, const probe& p) {
    auto [at, end] = all.equal_range(hashed_word{p.hash, p.word});
    for (; at != end; ++at) {
      if (policy.matches(p, at->second.word)) return at;
    }
    return all.end();
  }
  auto locate(const probe& p) { return locate_in(index_, policy_, p); }
  auto locate(const probe& p) const { return locate_in(index_, policy_, p); }

  [[nodiscard]] found_word look(const probe& p) {
    lock_scope held(lock_);
    const auto at = locate(p);
    if (at == index_.end() || at->second.hidden) return {};
    return {true, at->second.word};
  }

  inserted_word insert_as(const probe& p, std::uint64_t word, bool hidden) {
    lock_scope held(lock_);
    if (const auto at = locate(p); at != index_.end())
      return {.outcome = insert_outcome::exists, .word = at->second.word};
    if (options_.growth == growth_policy::fixed && index_.size() >= slots_now())
      return {.outcome = insert_outcome::full};
    const bool had = fail::attempt(
        [&] { counting_growth([&] { index_.emplace(hashed_word{p.hash, p.word}, content{word, hidden}); }); });
    if (!had) return {.outcome = insert_outcome::no_memory};
    if (hidden) ++hidden_;
    return {};
  }

  bool apply(const probe& p, std::uint64_t expected, const decision& wanted) {
    lock_scope held(lock_);
    const auto at = locate(p);
    if (at == index_.end() || at->second.hidden || at->second.word != expected) return false;
    if (wanted.what == action::replace) {
      at->second.word = wanted.word;
    } else {
      index_.erase(at);
    }
    return true;
  }

  /// Makes space; false without memory. The multimap computes sizes in floating point, which cannot hold the largest ones, and clears
  /// all its buckets. So requests beyond the machine's memory are refused first.
  bool make_space(std::size_t entries) {
    if (entries > index_.max_size() || !memory::can_hold(entries * sizeof(void*))) return false;
    return fail::attempt([&] { index_.reserve(entries); });
  }

  template <class F> void counting_growth(F f) {
    const std::size_t before = index_.bucket_count();
    f();
    if (index_.bucket_count() > before) ++growths_;
  }

  [[nodiscard]] std::size_t slots_now() const noexcept {
    if (options_.growth == growth_policy::fixed) return options_.capacity;
    return index_.bucket_count();
  }

  [[nodiscard]] std::vector<copied> copy() const {
    std::vector<copied> all;
    lock_scope held(lock_);
    all.reserve(index_.size());
    for (const auto& [where, what] : index_) {
      if (!what.hidden) all.push_back({where.word, what.word});
    }
    return all;
  }

  mutable small_lock<> lock_;
  options options_;
  const domain_ref home_ = domain_of_table<sync::shared>();
  Policy policy_;
  index index_;
  std::size_t hidden_ = 0;
  retire_bag<Policy, sync::shared> retired_{policy_, home_};
  std::uint64_t growths_ = 0;
  std::uint64_t shrinks_ = 0;
  bool ok_ = true;
};

} // namespace engines

} // namespace detail

/// Engine tag: one lock and `std::unordered_multimap`.
struct reference {
  using options = cubby::options;
  template <class Policy> using engine = detail::engines::reference<Policy>;
};

} // namespace cubby::inline v0
