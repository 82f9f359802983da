// SPDX-License-Identifier: Apache-2.0
// Batches (DLHT section 3.3): requests are carried out in the order given, inside one pin; their bins are asked for
// some requests ahead and, in record mode, their records half as far ahead, so that memory works while we do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <cubby/place.hpp>

namespace cubby::inline v0::detail {

/// How many requests ahead a bin is asked for: as many lines as a core of today can have under way (10 to 20), with a
/// little to spare. docs/performance.md has the measurement over other distances.
inline constexpr std::size_t batch_distance = 16;

constexpr std::size_t least_of(std::size_t a, std::size_t b, std::size_t c) noexcept {
  const std::size_t least = a < b ? a : b;
  return least < c ? least : c;
}

/// `act(i, probe) -> bool` for i in [0, n), in order, until it answers false. The number of calls made.
template <class Engine, class Make, class Act>
std::size_t in_order(site<Engine> s, std::size_t n, Make make, Act act) {
  constexpr std::size_t ahead = batch_distance;
  constexpr bool records = Engine::policy::in_records;
  typename Engine::probe ring[ahead];
  const auto ask = [&](std::size_t i) {
    ring[i % ahead] = make(i);
    s.engine.prefetch(ring[i % ahead]);
  };
  const auto ask_record = [&](std::size_t i) {
    if constexpr (records) {
      if (i < n) s.engine.prefetch_record(ring[i % ahead]);
    }
  };
  for (std::size_t i = 0; i < n && i < ahead; ++i) ask(i);
  for (std::size_t i = 0; i < ahead / 2; ++i) ask_record(i);
  for (std::size_t i = 0; i < n; ++i) {
    ask_record(i + ahead / 2);
    if (!act(i, ring[i % ahead])) return i + 1;
    if (i + ahead < n) ask(i + ahead);
  }
  return n;
}

/// `take(i, found_word)` once for each key, in no promised order.
template <class Engine, class K, class Take> void find_keys(site<Engine> s, std::span<const K> keys, Take take) {
  const auto& codec = s.codec();
  s.engine.find_many(s.at, keys.size(), [&](std::size_t i) { return codec.probe_of(keys[i]); }, take);
}

constexpr outcome outcome_of(changed how) noexcept {
  if (how == changed::done) return outcome::done;
  return how == changed::absent ? outcome::absent : outcome::no_memory;
}

template <class Engine>
outcome run_request(site<Engine> s, const typename Engine::probe& p,
                    const request<typename Engine::policy::key_type, value_of<Engine>>& asked,
                    reply<value_of<Engine>>& answer) {
  const auto& codec = s.codec();
  if (asked.what == verb::find) {
    const found_word seen = s.engine.find(s.at, p);
    if (!seen.found) return outcome::absent;
    answer.value.emplace(codec.value(seen.word));
    return outcome::done;
  }
  if (asked.what == verb::erase) {
    answer.value = extract_value(s, p);
    return answer.value ? outcome::done : outcome::absent;
  }
  if constexpr (Engine::policy::has_values) {
    if (asked.what == verb::assign) return outcome_of(assign_value(s, p, asked.key, asked.value));
  } else {
    // a set's key has nothing to assign: it is enough that it is there
    if (asked.what == verb::assign) return s.engine.find(s.at, p).found ? outcome::done : outcome::absent;
  }
  if (!codec.is_legal(p)) {
    fail::with_bad_namespace();
    return outcome::full;
  }
  if (asked.what == verb::insert) return outcome_of(place(s, p, asked.key, asked.value));
  insert_outcome how = insert_outcome::exists;
  if constexpr (Engine::policy::has_values) {
    how = assign_or_insert(s, p, asked.key, asked.value).how;
  } else {
    how = place(s, p, asked.key);
  }
  return how == insert_outcome::exists ? outcome::done : outcome_of(how);
}

template <class Engine>
std::size_t run_batch(site<Engine> s,
                      std::span<const request<typename Engine::policy::key_type, value_of<Engine>>> asked,
                      std::span<reply<value_of<Engine>>> answers, batch_policy policy) {
  const auto& codec = s.codec();
  const std::size_t n = asked.size() < answers.size() ? asked.size() : answers.size();
  for (auto& answer : answers) answer = {};
  return in_order(
      s, n, [&](std::size_t i) { return codec.probe_of(asked[i].key); },
      [&](std::size_t i, const typename Engine::probe& p) {
        answers[i].result = run_request(s, p, asked[i], answers[i]);
        return policy == batch_policy::run_all || answers[i].result == outcome::done;
      });
}

} // namespace cubby::inline v0::detail
