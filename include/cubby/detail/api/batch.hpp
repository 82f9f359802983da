// SPDX-License-Identifier: Apache-2.0
// Batches (DLHT section 3.3): requests are carried out in the given order, inside one pin. Their bins are prefetched some requests
// ahead; what the bins lead to is prefetched less far ahead. So memory accesses overlap.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include <cubby/detail/api/erase.hpp>
#include <cubby/detail/api/operations.hpp>
#include <cubby/detail/api/upserts.hpp>
#include <cubby/detail/core/prefetch_group.hpp>
#include <cubby/detail/core/record_codec.hpp>

namespace cubby::inline v0::detail {

/// How many requests ahead a record is prefetched. What leads to it must be in the cache by then: its bin, or its slot, which is prefetched
/// twice as far ahead.
inline constexpr std::size_t record_distance = 8;

constexpr std::size_t least_of(std::size_t a, std::size_t b, std::size_t c) noexcept {
  const std::size_t least = a < b ? a : b;
  return least < c ? least : c;
}

/// Which lines a call asks for ahead. Mixed requests ask `dlht` for no link bucket: that raised `insdel` by 15 % and lowered `put` by 12 %
/// (docs/dead-ends.md).
enum class ahead : std::uint8_t { of_requests, of_inserts };

/// Whether a request's first line leads to a second one that is asked for ...
template <class Engine, ahead Lines>
inline constexpr bool asks_second =
    contract::entries_behind_line<Engine> ||
    (Lines == ahead::of_inserts && !Engine::policy::in_records && contract::prefetching_second<Engine>);
/// ... and how far ahead.
template <class Engine>
inline constexpr std::size_t second_distance =
    contract::prefetching_record<Engine> ? 2 * record_distance : record_distance;
// What is asked for further has been asked for before.
static_assert(2 * record_distance <= prefetch_group::evenly.ahead - prefetch_group::evenly.run);
static_assert(2 * record_distance <= prefetch_group::by_groups.ahead - prefetch_group::by_groups.run);

/// Asks for what the request behind `i` by a distance leads to, if there is one.
template <ahead Lines, class Engine, class Ring>
CUBBY_ALWAYS_INLINE void ask_further(context<Engine> s, Ring& at, std::size_t i, std::size_t n) {
  if constexpr (asks_second<Engine, Lines>) {
    if (i + second_distance<Engine> < n) s.engine.prefetch_second(at[i + second_distance<Engine>]);
  }
  if constexpr (contract::prefetching_record<Engine>) {
    if (i + record_distance < n) s.engine.prefetch_record(at[i + record_distance]);
  }
}
/// The same for the first requests, which nothing comes before.
template <ahead Lines, class Engine, class Ring>
CUBBY_ALWAYS_INLINE void ask_at_first(context<Engine> s, Ring& at, std::size_t n) {
  if constexpr (asks_second<Engine, Lines>) {
    for (std::size_t i = 0; i < n && i < second_distance<Engine>; ++i) s.engine.prefetch_second(at[i]);
  }
  if constexpr (contract::prefetching_record<Engine>) {
    for (std::size_t i = 0; i < n && i < record_distance; ++i) s.engine.prefetch_record(at[i]);
  }
}

/// Calls `act(i, probe) -> bool` for each i in [0, n), in order, until it answers false. Returns the number of calls.
template <ahead Lines = ahead::of_requests, class Engine, class Make, class Act>
  requires(!contract::prefetching<Engine>)
std::size_t in_order(context<Engine>, std::size_t n, Make make, Act act) {
  for (std::size_t i = 0; i < n; ++i) {
    if (!act(i, make(i))) return i + 1;
  }
  return n;
}
template <ahead Lines = ahead::of_requests, class Engine, class Make, class Act>
  requires contract::prefetching<Engine>
CUBBY_ALWAYS_INLINE std::size_t in_order(context<Engine> s, std::size_t n, Make make, Act act) {
  using probe = typename Engine::probe;
  prefetch_group::ring<probe> at;
  const auto ask = [&](std::size_t first, std::size_t last) CUBBY_INLINED {
    std::size_t lines = 0;
    std::uint64_t before = 0;
    for (std::size_t i = first; i < last; ++i) {
      const probe p = make(i);
      s.engine.prefetch(p);
      at[i] = p;
      lines += i == first || p.hash != before ? 1 : 0;
      before = p.hash;
    }
    if (first == 0) ask_at_first<Lines>(s, at, last);
    return lines;
  };
  const auto answer = [&](std::size_t i) CUBBY_INLINED {
    ask_further<Lines>(s, at, i, n);
    return act(i, at[i]);
  };
  constexpr bool evenly = contract::ending_in_asked_lines<Engine>;
  return prefetch_group::in_order(n, evenly ? prefetch_group::pace_here() : prefetch_group::by_groups, ask, answer);
}

/// Calls `take(i, found_word)` once for each key. Equal keys come in their order, other keys in any order.
template <class Engine, class Q, class Take> void find_keys(context<Engine> s, std::span<const Q> keys, Take take) {
  const auto& codec = s.codec();
  using probe = typename Engine::probe;
  if constexpr (!Engine::policy::in_records) {
    s.engine.find_many(s.at, keys.size(), [&](std::size_t i) { return query_of(codec, keys[i]); }, take);
  } else { // hashing twice costs more than keeping the probes of two groups
    prefetch_group::ring<probe> kept;
    std::size_t end = 0;
    const auto make = [&](std::size_t i) CUBBY_INLINED -> const probe& {
      if (i != end) return kept[i];
      ++end;
      return kept[i] = codec.probe_of(keys[i]);
    };
    s.engine.find_many(s.at, keys.size(), make, take);
  }
}

constexpr outcome outcome_of(changed how) noexcept {
  if (how == changed::done) return outcome::done;
  return how == changed::absent ? outcome::absent : outcome::no_memory;
}
/// The outcome of verbs that end in `done` whether the key was there or not.
constexpr outcome outcome_of(upserted u) noexcept { return u.how == outcome::exists ? outcome::done : u.how; }

/// Whether the request needs a value and has none.
template <class V, class Request> constexpr bool lacks_value(const Request& asked) noexcept {
  return asked.what != verb::find && asked.what != verb::erase && !has_value<V>(asked.value);
}

/// insert_or_assign and the like for a set: the key must be present at the end.
template <class Engine, class Request>
outcome run_set_request(context<Engine> s, const typename Engine::probe& p, const Request& asked) {
  const auto look = [&] { return s.engine.find(s.at, p).found ? changed::done : changed::absent; };
  if (asked.what == verb::assign) return outcome_of(look());
  if (asked.what == verb::insert_or_add) return outcome::not_executed;
  return outcome_of(
      change_or_insert(s, p, look, [&] { return insert_entry(s, p, asked.key); })); // waits for reservations
}

/// Carries out a request that writes a value. The request has its value.
template <class Engine, class Request>
CUBBY_ALWAYS_INLINE outcome run_write(context<Engine> s, const typename Engine::probe& p, Request& asked) {
  using V = value_of<Engine>;
  auto& value = given_value<V>(asked.value);
  if constexpr (Engine::policy::has_values) {
    if (asked.what == verb::assign) return outcome_of(assign_value(s, p, asked.key, std::move(value)));
  }
  if (asked.what != verb::assign && !s.codec().is_legal(p)) {
    fail::with_bad_namespace();
    return outcome::full;
  }
  if (asked.what == verb::insert) return insert_entry(s, p, asked.key, std::move(value));
  if constexpr (!Engine::policy::has_values) {
    return run_set_request(s, p, asked);
  } else {
    if (asked.what == verb::insert_or_assign) return outcome_of(assign_or_insert(s, p, asked.key, std::move(value)));
    if constexpr (addable<V>) {
      const auto more = [&](const V& v) { return static_cast<V>(v + value); };
      return outcome_of(update_or_insert(s, p, asked.key, more, value));
    }
    return outcome::not_executed;
  }
}

/// Carries out one request of a batch or a pipeline. Moves the value out of a request that is not const.
template <class Engine, class Request>
CUBBY_ALWAYS_INLINE outcome run_request(context<Engine> s, const typename Engine::probe& p, Request& asked,
                                        std::optional<value_of<Engine>>& out) {
  if (asked.what == verb::find) {
    const auto seen = s.engine.find(s.at, p);
    if (!seen.found) return outcome::absent;
    out.emplace(s.codec().value(seen.word));
    return outcome::done;
  }
  if (asked.what == verb::erase) return extract_into(s, p, out) ? outcome::done : outcome::absent;
  if (lacks_value<value_of<Engine>>(asked)) return outcome::not_executed;
  return run_write(s, p, asked);
}

/// Sets the replies from `executed` on to `not_executed`, also if the batch ends by an exception.
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

template <class Engine, class Q>
std::size_t run_batch(context<Engine> s, std::span<const request<Q, value_of<Engine>>> asked,
                      std::span<reply<value_of<Engine>>> answers, batch_policy policy) {
  const auto& codec = s.codec();
  const std::size_t n = asked.size() < answers.size() ? asked.size() : answers.size();
  unanswered<value_of<Engine>> rest(answers);
  const auto make = [&](std::size_t i) { return codec.probe_of(asked[i].key); };
  const auto act = [&](std::size_t i, const typename Engine::probe& p) CUBBY_INLINED {
    answers[i] = {}; // also if the old one has no value: a branch on that could not be predicted
    answers[i].tag = asked[i].tag;
    const outcome how = run_request(s, p, asked[i], answers[i].value);
    answers[i].result = how;
    rest.executed = i + 1;
    return policy == batch_policy::run_all || how == outcome::done;
  };
  return in_order(s, n, make, act);
}

} // namespace cubby::inline v0::detail
