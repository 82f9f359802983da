// SPDX-License-Identifier: Apache-2.0
// Binds DRAMHiT-P (sections 3.2 to 3.4) to the contract: all threads read a partition, one thread at a time writes to it. Writes are
// sent and not answered. README.md beside this file has a drawing, what we changed and why, and what is not proved.
#pragma once

#include <utility>

#include <cubby/detail/engines/partitioned/grow.hpp>
#include <cubby/detail/engines/partitioned/lifecycle.hpp>
#include <cubby/detail/engines/partitioned/partition_scan.hpp>
#include <cubby/detail/platform/fail.hpp>

namespace cubby::inline v0 {

namespace detail {

/// Maps words to words. A find runs inside a pin. A write goes through a `sender`, which one thread at a time uses.
template <slot_policy Policy> class partitioned_engine {
public:
  using policy = Policy;
  using probe = typename Policy::probe;
  using sender = engines::partitioned::outbox;
  using options_type = engines::partitioned::options;
  using stats_type = table_stats;
  static constexpr engine_claims claims{.lock_free_find = true};

  /// Throws std::bad_alloc if there is no memory for the first arrays, or no thread for an owner; without exceptions `ok` is then false.
  partitioned_engine(const options_type& chosen, Policy slots) : all_(chosen, std::move(slots)) {
    ok_ = engines::partitioned::open(all_);
    if (ok_) return;
    engines::partitioned::close(all_);
    fail::with_no_memory();
  }
  ~partitioned_engine() {
    if (ok_) engines::partitioned::close(all_);
  }
  partitioned_engine(const partitioned_engine&) = delete;
  partitioned_engine& operator=(const partitioned_engine&) = delete;

  [[nodiscard]] bool ok() const noexcept { return ok_; }
  [[nodiscard]] const Policy& slots() const noexcept { return all_.set.policy; }
  /// Keeps alive what the table shows, until the returned object ends. Nests. It costs one store at each end.
  static thread_pin pin(thread_record& s) noexcept { return thread_pin(s); }
  /// The calling thread's record; null if there is no memory for one.
  [[nodiscard]] thread_record* local_thread_record() noexcept { return registry::local(*all_.set.home); }
  /// A thread record for a handle; null: no memory.
  [[nodiscard]] thread_record* claim_thread_record() noexcept { return registry::claim(*all_.set.home); }

  CUBBY_ALWAYS_INLINE found_word find(thread_record&, const probe& p) const noexcept {
    return engines::partitioned::find_in(all_.set, p);
  }
  /// Inside a pin, because it reads the address of the partition's array.
  CUBBY_ALWAYS_INLINE void prefetch(const word_probe& p) const noexcept {
    const auto at = engines::partitioned::whereabouts_of(all_.set, p.hash);
    const auto& a = engines::partitioned::array_of(all_.set.all[at.partition]);
    prefetch_line(engines::partitioned::home_line<Policy>(a, at.rest));
  }
  /// Words have no records.
  static void prefetch_record(const word_probe&) noexcept {}
  template <class Make, class Take>
  CUBBY_ALWAYS_INLINE void find_many(thread_record&, std::size_t count, Make make, Take take) const {
    engines::partitioned::find_many(all_.set, count, make, take);
  }
  template <class F> void for_each(thread_record&, F f) const { engines::partitioned::for_each(all_.set, f); }

  /// Null: no memory.
  [[nodiscard]] sender* open_sender() noexcept { return engines::partitioned::take_outbox(all_); }
  /// Flushes first.
  void close_sender(sender& from) noexcept { engines::partitioned::give_outbox(all_, from); }
  CUBBY_ALWAYS_INLINE outcome insert_or_assign(sender& from, const probe& p, std::uint64_t word) noexcept {
    return engines::partitioned::send(all_, from, p, word, engines::partitioned::write_kind::insert_or_assign);
  }
  CUBBY_ALWAYS_INLINE outcome insert_or_add(sender& from, const probe& p, std::uint64_t word) noexcept {
    return engines::partitioned::send(all_, from, p, word, engines::partitioned::write_kind::insert_or_add);
  }
  CUBBY_ALWAYS_INLINE void erase(sender& from, const probe& p) noexcept {
    (void)engines::partitioned::send(all_, from, p, 0, engines::partitioned::write_kind::erase);
  }
  /// False: some messages since the last call were dropped for want of memory.
  bool flush(sender& from) noexcept { return engines::partitioned::flush(all_, from); }

  [[nodiscard]] std::size_t partitions() const noexcept { return all_.set.count; }
  [[nodiscard]] std::size_t partition_of(const word_probe& p) const noexcept {
    return engines::partitioned::whereabouts_of(all_.set, p.hash).partition;
  }
  void look_after(sender& from, std::size_t partition, bool serves) noexcept {
    engines::partitioned::look_after(all_, from, partition, serves);
  }
  std::size_t serve(sender& from) noexcept { return engines::partitioned::serve_own(all_, from); }

  [[nodiscard]] std::size_t size() const noexcept { return engines::partitioned::live_entries(all_.set); }
  [[nodiscard]] std::size_t capacity() noexcept { return stats().capacity; }
  [[nodiscard]] table_stats stats() noexcept { return engines::partitioned::stats(all_.set); }
  bool reserve(thread_record&, std::size_t entries) noexcept {
    return engines::partitioned::reserve(all_.set, entries);
  }
  bool shrink_to_fit(thread_record&) noexcept { return engines::partitioned::shrink_to_fit(all_.set); }

private:
  engines::partitioned::delegation<Policy> all_;
  bool ok_ = true;
};

} // namespace detail

/// Engine tag: DRAMHiT-P. It is the engine of `delegated_map` alone, because its writes are not answered. A `map` or a `set` of
/// it does not compile, and says so in one line (delegated_map.hpp).
struct partitioned {
  using options = detail::engines::partitioned::options;
  template <class Policy> using delegating_engine = detail::partitioned_engine<Policy>;
};

} // namespace cubby::inline v0
