// SPDX-License-Identifier: Apache-2.0
// What a recorded history is: one 48-byte record for each request, with the interval in which it must have taken effect.
// A stamp is a clock read behind all earlier loads and before all later ones, so that r1.returned < r2.called proves that r1
// came first. It empties no store buffer: a table whose calls return before others can see what they did is not helped.
// The requests of a group share one interval; their positions say the order in which they were to take effect.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace cubby_test {

/// The model's verbs; each verb of the API ends as one of them. `ok` and not `ok` are the two answers of the verb.
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
  shadow_abort,     // the reserved key becomes absent
  contains,         // ok: was present
  put,              // was absent or present, is `argument`: a batch's insert_or_assign, which does not tell
  add               // ok: was absent, is `argument`; else is what it was plus `argument`
};
inline constexpr std::size_t verb_count = 13;

/// How a request ended. Only `answered` says anything by `ok`.
enum class status : std::uint8_t {
  answered,
  not_executed, // its batch had stopped: no effect
  no_memory,    // no effect
  full,         // the key was absent, and is
  unknown       // nobody can say: the key's history cannot be checked
};

/// What a record shares its interval with.
enum class grouping : std::uint8_t {
  single,
  ordered,  // `execute` of all, or calls one by one: they take effect in the order of their positions
  stopping, // `execute` up to the first failure: the same, and none behind it has any effect
  unordered // lookups of several keys, in no promised order
};

struct record {
  std::uint64_t called = 0;
  std::uint64_t returned = 0;
  std::uint64_t key = 0;
  std::uint64_t argument = 0;
  std::uint64_t result = 0;
  verb what = verb::find;
  bool ok = false;
  std::uint16_t thread = 0;
  status how = status::answered;
  grouping group = grouping::single;
  std::uint16_t position = 0; // in its group; 0 begins one
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
    keep({&r, 1});
  }

  /// The same for a group: `call()` fills in the outcomes of `requests`, which carry verbs, keys and arguments.
  template <class Call>
  void take_group(grouping group, std::span<record> requests, Call call) {
    const std::uint64_t called = stamp();
    call();
    const std::uint64_t returned = stamp();
    std::uint16_t position = 0;
    for (record& r : requests) {
      r.called = called;
      r.returned = returned;
      r.thread = thread_;
      r.group = group;
      r.position = position++;
    }
    keep(requests);
  }

  /// A value that no other record of the history carries.
  std::uint64_t fresh_value() { return (static_cast<std::uint64_t>(thread_ + 1) << 40) | ++values_; }

  const std::vector<record>& records() const { return records_; }
  bool overflowed() const { return overflowed_; }

private:
  void keep(std::span<const record> some) {
    if (records_.capacity() - records_.size() < some.size()) {
      overflowed_ = true;
      return;
    }
    records_.insert(records_.end(), some.begin(), some.end());
  }

  /// Waits for what has been loaded, not for what has been stored; what follows begins behind it.
  static void wait_for_loads() {
#if defined(__x86_64__)
    asm volatile("lfence" ::: "memory");
#else
    asm volatile("dsb ishld\n\tisb" ::: "memory");
#endif
  }
  static std::uint64_t stamp() {
    wait_for_loads();
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    wait_for_loads();
    return static_cast<std::uint64_t>(std::chrono::nanoseconds(now).count());
  }

  std::vector<record> records_;
  std::uint64_t values_ = 0;
  std::uint16_t thread_;
  bool overflowed_ = false;
};

} // namespace cubby_test
