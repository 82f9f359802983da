// SPDX-License-Identifier: Apache-2.0
// The binding of DRAMHiT's second protocol to the contract: tuples above 16 bytes kept in the array, under a version each ("DRAMHiT:
// A Hash Table Architected for the Speed of DRAM", EuroSys 2023, section 3, Atomicity). README.md beside this file has
// the drawing, what we changed and why, and what is not proved.
#pragma once

#include <utility>

#include <cubby/detail/engines/dramhit_tuples/batch.hpp>
#include <cubby/detail/engines/dramhit_tuples/insert.hpp>
#include <cubby/detail/engines/dramhit_tuples/lifecycle.hpp>
#include <cubby/detail/engines/dramhit_tuples/mutate.hpp>
#include <cubby/detail/engines/dramhit_tuples/pipeline.hpp>
#include <cubby/detail/engines/dramhit_tuples/scan.hpp>
#include <cubby/detail/platform/fail.hpp>

namespace cubby::inline v0 {

/// Words to words, some of each: see core/tuple_codec.hpp. Every verb runs inside a pin.
template <tuple_policy Policy> class dramhit_tuples_engine {
public:
  using policy = Policy;
  using probe = typename Policy::probe;
  using found = found_as<typename Policy::stored_value>;
  using options_type = engines::dramhit_tuples::options;
  using stats_type = table_stats;
  static constexpr engine_claims claims{.grows_without_blocking = true};

  /// Throws std::bad_alloc when the first array or the background thread cannot be had (without exceptions: `ok`).
  dramhit_tuples_engine(const options_type& chosen, Policy codec) : table_(chosen, std::move(codec)) {
    ok_ = engines::dramhit_tuples::open(table_);
    if (ok_) return;
    engines::dramhit_tuples::close(table_);
    fail::with_no_memory();
  }
  ~dramhit_tuples_engine() {
    if (ok_) engines::dramhit_tuples::close(table_);
  }
  dramhit_tuples_engine(const dramhit_tuples_engine&) = delete;
  dramhit_tuples_engine& operator=(const dramhit_tuples_engine&) = delete;

  [[nodiscard]] bool ok() const noexcept { return ok_; }
  [[nodiscard]] const Policy& slots() const noexcept { return table_.policy; }
  /// Keeps alive the arrays that a verb looks into, until the returned object goes. Nests. One store in, one out.
  static thread_pin pin(thread_record& s) noexcept { return thread_pin(s); }
  /// The calling thread's record; null when there is no memory for one.
  [[nodiscard]] thread_record* local_thread_record() noexcept { return registry::local(*table_.home); }
  /// A thread record for a handle; null: no memory.
  [[nodiscard]] thread_record* claim_thread_record() noexcept { return registry::claim(*table_.home); }

  CUBBY_ALWAYS_INLINE found find(thread_record&, const probe& p) const noexcept {
    return engines::dramhit_tuples::find(table_, p);
  }
  CUBBY_ALWAYS_INLINE void prefetch(const probe& p) const noexcept {
    engines::dramhit_tuples::prefetch_home(table_, p);
  }
  inserted_tuple insert(thread_record& s, const probe& p, const typename Policy::stored_value& value) {
    return {engines::dramhit_tuples::insert(table_, s, p, value)};
  }
  template <class F> mutated_as<typename Policy::stored_value> mutate(thread_record& s, const probe& p, F f) {
    const auto result = engines::dramhit_tuples::mutate(table_, s, p, f);
    if (result.found && result.done == action::erase) arrays::after_erase(table_);
    return result;
  }
  void collect(thread_record&) { generations::release_retired(table_); }

  /// Where a pending request stands (pipeline.hpp); good inside the pin in which it was aimed.
  using course = engines::dramhit_tuples::course<Policy, sync::shared>;
  CUBBY_ALWAYS_INLINE course aim(const probe& p) const noexcept { return engines::dramhit_tuples::aim(table_, p); }
  /// Asks memory for what it needs first.
  CUBBY_ALWAYS_INLINE void ask(const course& c) const noexcept { engines::dramhit_tuples::ask(c); }
  /// True when the request may be carried out; else it has asked for memory and wants another turn.
  CUBBY_ALWAYS_INLINE bool advance(course& c, const probe& p) const noexcept {
    return engines::dramhit_tuples::advance(c, p);
  }
  /// The same for a find, which it answers.
  CUBBY_ALWAYS_INLINE bool find_along(course& c, const probe& p, found& out) const noexcept {
    if (!advance(c, p)) return false;
    out = engines::dramhit_tuples::find(table_, p);
    return true;
  }

  template <class F> void for_each(thread_record&, F f) { engines::dramhit_tuples::for_each(table_, f); }
  template <class Make, class Take>
  CUBBY_ALWAYS_INLINE void find_many(thread_record&, std::size_t count, Make make, Take take) const {
    engines::dramhit_tuples::find_many(table_, count, make, take);
  }

  [[nodiscard]] std::size_t size() const noexcept { return arrays::live_entries(table_); }
  [[nodiscard]] std::size_t capacity() const noexcept { return generations::capacity(table_); }
  [[nodiscard]] table_stats stats() const noexcept { return arrays::figures_of<table_stats>(table_); }
  bool reserve(thread_record& s, std::size_t entries) {
    bool done = false;
    {
      const auto stay = pin(s);
      done = arrays::reserve(table_, entries);
    }
    collect(s);
    return done;
  }
  bool shrink_to_fit(thread_record& s) {
    bool done = false;
    {
      const auto stay = pin(s);
      done = arrays::shrink_to_fit(table_);
    }
    collect(s);
    return done;
  }

private:
  mutable engines::dramhit_tuples::table<Policy, sync::shared> table_;
  bool ok_ = true;
};

/// Engine tag: DRAMHiT with keys and values of up to 56 bytes together in the table itself, 32 or 64 bytes a tuple.
struct dramhit_tuples {
  using options = engines::dramhit_tuples::options;
  static constexpr bool keeps_tuples = true;
  template <class Policy> using engine = dramhit_tuples_engine<Policy>;
};

} // namespace cubby::inline v0
