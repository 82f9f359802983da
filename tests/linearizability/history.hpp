// SPDX-License-Identifier: Apache-2.0
// What a recorded history is: one 48-byte record for each call, with the interval in which it must have taken effect.
// A stamp is a clock read between two full barriers, so that r1.returned < r2.called proves that r1 came first.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace cubby_test {

enum class verb : std::uint8_t {
  find,             // ok: found `result`
  insert,           // ok: was absent, is `argument`; else the key was there (or reserved by a shadow insert)
  assign,           // ok: was present, is `argument`
  erase,            // ok: was present
  extract,          // ok: was `result`, is absent
  insert_or_assign, // ok: was absent; else was present; is `argument` in both cases
  update,           // ok: was `result`, is `argument`
  shadow_insert,    // ok: was absent, is reserved
  shadow_commit,    // the reserved key becomes `argument`
  shadow_abort      // the reserved key becomes absent
};
inline constexpr std::size_t verb_count = 10;

struct record {
  std::uint64_t called = 0;
  std::uint64_t returned = 0;
  std::uint64_t key = 0;
  std::uint64_t argument = 0;
  std::uint64_t result = 0;
  verb what = verb::find;
  bool ok = false;
  std::uint16_t thread = 0;
  std::uint32_t unused = 0;
};
static_assert(sizeof(record) == 48);

/// One thread's records, in an array that is allocated before the threads start.
class trace {
public:
  trace(std::uint16_t thread, std::size_t capacity) : thread_(thread) { records_.reserve(capacity); }

  /// Runs `call(record&)`, which fills in the outcome, between two stamps.
  template <class Call>
  void take(verb what, std::uint64_t key, std::uint64_t argument, Call call) {
    record r;
    r.what = what;
    r.key = key;
    r.argument = argument;
    r.thread = thread_;
    r.called = stamp();
    call(r);
    r.returned = stamp();
    if (records_.size() == records_.capacity()) {
      overflowed_ = true;
      return;
    }
    records_.push_back(r);
  }

  /// A value that no other record of the history carries.
  std::uint64_t fresh_value() { return (static_cast<std::uint64_t>(thread_ + 1) << 40) | ++values_; }

  const std::vector<record>& records() const { return records_; }
  bool overflowed() const { return overflowed_; }

private:
  std::uint64_t stamp() {
    // A read-modify-write and not a fence: ThreadSanitizer knows no fences.
    barrier_.exchange(1, std::memory_order_seq_cst);
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    barrier_.exchange(0, std::memory_order_seq_cst);
    return static_cast<std::uint64_t>(std::chrono::nanoseconds(now).count());
  }

  std::vector<record> records_;
  std::atomic<int> barrier_{0};
  std::uint64_t values_ = 0;
  std::uint16_t thread_;
  bool overflowed_ = false;
};

} // namespace cubby_test
