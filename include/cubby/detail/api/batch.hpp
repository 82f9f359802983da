// SPDX-License-Identifier: Apache-2.0
// Batches (DLHT section 3.3): requests are carried out in the order given, inside one pin; their bins are asked for
// some requests ahead and, in record mode, their records half as far ahead, so that memory works while we do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <cubby/detail/api/operations.hpp>
#include <cubby/detail/core/prefetch_group.hpp>

namespace cubby::inline v0::detail {

/// How many requests ahead a record is asked for; its bin must have arrived by then.
inline constexpr std::size_t record_distance = 8;

constexpr std::size_t least_of(std::size_t a, std::size_t b, std::size_t c) noexcept {
  const std::size_t least = a < b ? a : b;
  return least < c ? least : c;
}

/// `act(i, probe) -> bool` for i in [0, n), in order, until it answers false. The number of calls made.
template <class Engine, class Make, class Act>
  requires(!contract::prefetching<Engine>)
std::size_t in_order(context<Engine>, std::size_t n, Make make, Act act) {
  for (std::size_t i = 0; i < n; ++i) {
    if (!act(i, make(i))) return i + 1;
  }
  return n;
}
template <class Engine, class Make, class Act>
  requires contract::prefetching<Engine>
CUBBY_ALWAYS_INLINE std::size_t in_order(context<Engine> s, std::size_t n, Make make, Act act) {
  using probe = typename Engine::probe;
  prefetch_group::ring<probe> at;
  std::size_t called = n;
  const auto ask = [&](std::size_t first, std::size_t last) CUBBY_INLINED {
    for (std::size_t i = first; i < last; ++i) {
      const probe p = make(i);
      s.engine.prefetch(p);
      at[i] = p;
    }
    if constexpr (Engine::policy::in_records) {
      const std::size_t end = last < record_distance ? last : record_distance;
      for (std::size_t i = first; i < end; ++i) s.engine.prefetch_record(at[i]);
    }
  };
  const auto answer = [&](std::size_t first, std::size_t last) CUBBY_INLINED {
    for (std::size_t i = first; i < last; ++i) {
      if constexpr (Engine::policy::in_records) {
        if (i + record_distance < n) s.engine.prefetch_record(at[i + record_distance]);
      }
      if (!act(i, at[i])) {
        called = i + 1;
        return false;
      }
    }
    return true;
  };
  prefetch_group::for_each(n, ask, answer);
  return called;
}

/// `take(i, found_word)` once for each key; equal keys in their order, others in none.
template <class Engine, class K, class Take> void find_keys(context<Engine> s, std::span<const K> keys, Take take) {
  const auto& codec = s.codec();
  s.engine.find_many(s.at, keys.size(), [&](std::size_t i) { return codec.probe_of(keys[i]); }, take);
}

constexpr outcome outcome_of(changed how) noexcept {
  if (how == changed::done) return outcome::done;
  return how == changed::absent ? outcome::absent : outcome::no_memory;
}

template <class Engine>
CUBBY_ALWAYS_INLINE outcome run_request(context<Engine> s, const typename Engine::probe& p,
                                        const request<typename Engine::policy::key_type, value_of<Engine>>& asked,
                                        reply<value_of<Engine>>& answer) {
  const auto& codec = s.codec();
  if (asked.what == verb::find) {
    const auto seen = s.engine.find(s.at, p);
    if (!seen.found) return outcome::absent;
    answer.value.emplace(codec.value(seen.word));
    return outcome::done;
  }
  if (asked.what == verb::erase) {
    return extract_into(s, p, answer.value) ? outcome::done : outcome::absent;
  }
  using V = value_of<Engine>;
  if (!has_value<V>(asked.value)) return outcome::not_executed;
  const V& value = given_value<V>(asked.value);
  if constexpr (Engine::policy::has_values) {
    if (asked.what == verb::assign) return outcome_of(assign_value(s, p, asked.key, value));
  } else {
    // a set's key has nothing to assign: it is enough that it is there
    if (asked.what == verb::assign) return s.engine.find(s.at, p).found ? outcome::done : outcome::absent;
  }
  if (!codec.is_legal(p)) {
    fail::with_bad_namespace();
    return outcome::full;
  }
  if (asked.what == verb::insert) return outcome_of(place(s, p, asked.key, value));
  insert_outcome how = insert_outcome::exists;
  if constexpr (Engine::policy::has_values) {
    how = assign_or_insert(s, p, asked.key, value).how;
  } else {
    // nothing to assign: it is enough that the key is there, and not merely reserved
    how = change_or_insert(
              s, p, [&] { return s.engine.find(s.at, p).found ? changed::done : changed::absent; },
              [&] { return place(s, p, asked.key); })
              .how;
  }
  return how == insert_outcome::exists ? outcome::done : outcome_of(how);
}

/// Makes the replies from `executed` on say that their requests were not carried out, however the batch ends.
template <class V> struct unanswered {
  std::span<reply<V>> answers;
  std::size_t executed = 0;
  explicit unanswered(std::span<reply<V>> all) noexcept : answers(all) {}
  unanswered(const unanswered&) = delete;
  unanswered& operator=(const unanswered&) = delete;
  ~unanswered() {
    for (std::size_t i = executed; i < answers.size(); ++i) answers[i] = {};
  }
};

template <class Engine>
std::size_t run_batch(context<Engine> s,
                      std::span<const request<typename Engine::policy::key_type, value_of<Engine>>> asked,
                      std::span<reply<value_of<Engine>>> answers, batch_policy policy) {
  const auto& codec = s.codec();
  const std::size_t n = asked.size() < answers.size() ? asked.size() : answers.size();
  unanswered<value_of<Engine>> rest(answers);
  const auto make = [&](std::size_t i) { return codec.probe_of(asked[i].key); };
  const auto act = [&](std::size_t i, const typename Engine::probe& p) CUBBY_INLINED {
    answers[i] = {}; // whether the old one has a value is not worth a branch: no predictor knows
    const outcome how = run_request(s, p, asked[i], answers[i]);
    answers[i].result = how;
    rest.executed = i + 1;
    return policy == batch_policy::run_all || how == outcome::done;
  };
  return in_order(s, n, make, act);
}

} // namespace cubby::inline v0::detail
