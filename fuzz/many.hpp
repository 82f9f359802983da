// SPDX-License-Identifier: Apache-2.0
// The verbs on many keys: batches, scans, snapshots, and those that change the table's size.
#pragma once

#include <array>
#include <memory>
#include <optional>

#include "run.hpp"

namespace cubby_fuzz {

inline constexpr std::size_t most_keys = 100; // more than three groups of a batch

template <class R> std::vector<typename R::key_type> draw_keys(R& r) {
  std::vector<typename R::key_type> keys(r.in.byte() % most_keys);
  const std::uint16_t first = r.in.two_bytes();
  const unsigned stride = 1 + r.in.byte() % 16;
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = R::kind::key(static_cast<std::uint16_t>(first + i * stride));
  return keys;
}

template <class R> void look_up_batch(R& r) {
  const auto keys = draw_keys(r);
  std::array<bool, most_keys> found{};
  std::vector<typename R::value_type> values(keys.size());
  const std::span<bool> answers(found.data(), keys.size());
  const std::size_t count = r.api([&](auto& f) {
    if constexpr (R::has_values) return f.find_batch(keys, values, answers);
    else return f.contains_batch(keys, answers);
  });
  std::size_t expected = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto at = r.model.find(keys[i]);
    require(found[i] == (at != r.model.end()), "a batch's answer");
    if (!found[i]) continue;
    ++expected;
    require(values[i] == at->second, "a batch's value");
  }
  require(count == expected, "a batch's count");
}

template <class R> void visit_batch(R& r) {
  if constexpr (R::has_values) {
    const auto keys = draw_keys(r);
    std::array<unsigned, most_keys> met{};
    r.api([&](auto& f) {
      f.visit_batch(std::span(keys), [&](std::size_t i, const auto* v) {
        ++met[i];
        const auto at = r.model.find(keys[i]);
        require((v != nullptr) == (at != r.model.end()), "visit_batch");
        if (v != nullptr) require(*v == at->second, "visit_batch showed another value");
      });
    });
    for (std::size_t i = 0; i < keys.size(); ++i) require(met[i] == 1, "visit_batch calls once for each key");
  }
}

/// What one request of a batch should have answered; the model follows.
template <class R, class Request, class Reply> void judge_reply(R& r, const Request& asked, const Reply& got) {
  using cubby::outcome;
  const auto at = r.model.find(asked.key);
  const bool there = at != r.model.end();
  const auto expected = there ? outcome::done : outcome::absent;
  switch (asked.what) {
  case cubby::verb::find:
  case cubby::verb::erase:
    require(got.result == expected && got.value.has_value() == there, "find or erase in a batch");
    if (there) require(*got.value == at->second, "the value of a find or erase in a batch");
    if (there && asked.what == cubby::verb::erase) r.model.erase(at);
    return;
  case cubby::verb::assign:
    require(got.result == expected, "assign in a batch");
    if (there) at->second = asked.value;
    return;
  case cubby::verb::insert:
    if (there || r.hides(asked.key)) return require(got.result == outcome::exists, "insert in a batch");
    break;
  case cubby::verb::insert_or_assign:
    if (there) {
      at->second = asked.value;
      return require(got.result == outcome::done, "insert_or_assign in a batch");
    }
    break;
  case cubby::verb::insert_or_add:
    if constexpr (requires { asked.value + asked.value; }) {
      if (!there) break;
      at->second = static_cast<std::remove_cvref_t<decltype(asked.value)>>(at->second + asked.value);
      return require(got.result == outcome::done, "insert_or_add in a batch");
    } else {
      return require(got.result == outcome::not_executed, "a sum of values that have none, in a batch");
    }
  }
  if (got.result == outcome::full) return require(r.may_be_full(), "full for no reason");
  if (got.result == outcome::crowded) return require(r.may_be_crowded(), "crowded for no reason");
  require(got.result == outcome::done, "an absent key was not inserted by a batch");
  r.model.emplace(asked.key, asked.value);
}

template <class R> void execute(R& r) {
  using request = typename R::table_type::request_type;
  const auto keys = draw_keys(r);
  const unsigned dice = r.in.byte();
  std::vector<request> asked;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    auto what = static_cast<cubby::verb>((dice + i * (1 + dice / 16)) % 6);
    // these would wait for the end of the reservation
    const bool waits = what == cubby::verb::insert_or_assign || what == cubby::verb::insert_or_add;
    if (waits && r.hides(keys[i])) what = cubby::verb::insert;
    asked.push_back({what, keys[i % (1 + dice % 64)], R::kind::value(static_cast<std::uint16_t>(i * dice)), i});
    if (r.hides(asked.back().key) && waits) asked.back().what = cubby::verb::find;
  }
  std::vector<typename R::table_type::reply_type> got(asked.size());
  const bool stops = dice % 2 != 0;
  const auto policy = stops ? cubby::batch_policy::stop_at_first_failure : cubby::batch_policy::run_all;
  const std::size_t done = r.api([&](auto& f) { return f.execute(asked, got, policy); });
  for (std::size_t i = 0; i < asked.size(); ++i) {
    if (i >= done) {
      require(stops && done != 0 && got[done - 1].result != cubby::outcome::done, "a batch stopped for no reason");
      require(got[i].result == cubby::outcome::not_executed && !got[i].value, "a reply behind the end");
      continue;
    }
    if (stops && i + 1 < done) require(got[i].result == cubby::outcome::done, "a batch went on after a failure");
    require(got[i].tag == i, "the tag of a reply");
    judge_reply(r, asked[i], got[i]);
  }
}

/// Takes an entry that was met out of `left`; it must be there, with its value.
template <class Left, class K, class... V> void strike_out(Left& left, const K& k, const V&... v) {
  const auto at = left.find(k);
  require(at != left.end(), "an entry was met that is not there, or twice");
  if constexpr (sizeof...(V) != 0) require(((at->second == v) && ...), "a scan's value");
  left.erase(at);
}

/// What a scan shows: the same, but an engine may say that it meets again what moves behind the scan (F.1).
template <class R, class Left, class K, class... V> void strike_met(R& r, Left& left, const K& k, const V&... v) {
  if (R::capabilities.scans_once || left.contains(k)) strike_out(left, k, v...);
  else require(r.has(k), "an entry was met that is not there");
}

template <class R> void scan(R& r) {
  auto left = r.model;
  r.api([&](auto& f) { f.visit_all([&](const auto&... entry) { strike_met(r, left, entry...); }); });
  require(left.empty(), "a scan missed an entry");
}

template <class R> void take_snapshot(R& r) {
  if constexpr (R::capabilities.snapshot) {
    auto left = r.model;
    const auto list = r.api([&](auto& f) { return f.snapshot(); });
    require(list.ok() && list.size() == left.size(), "a snapshot's size");
    for (const auto& item : list) {
      if constexpr (R::has_values) strike_out(left, item.first, item.second);
      else strike_out(left, item);
    }
  }
}

/// About half of the entries, told by their keys alone.
template <class K> bool is_chosen(const K& k, unsigned dice) { return (std::hash<K>()(k) >> (dice % 8) & 1) != 0; }

template <class R> void erase_chosen(R& r) {
  const unsigned dice = r.in.byte();
  const auto chosen = [dice](const auto& k, const auto&...) { return is_chosen(k, dice); };
  const std::size_t count = r.api([&](auto& f) { return f.erase_if(chosen); });
  require(count == std::erase_if(r.model, [&](const auto& e) { return is_chosen(e.first, dice); }), "erase_if of all");
}

/// A scan whose function erases what it is shown. What is not erased is there throughout and must be met.
template <class R> void scan_and_erase(R& r) {
  const unsigned dice = r.in.byte();
  auto left = r.model;
  r.api([&](auto& f) {
    f.visit_all([&](const auto& k, const auto&... v) {
      const bool is_first = left.contains(k);
      strike_met(r, left, k, v...);
      if (is_chosen(k, dice)) require(f.erase(k) == is_first, "erase inside a scan");
    });
  });
  require(left.empty(), "a scan that erases missed an entry");
  std::erase_if(r.model, [&](const auto& e) { return is_chosen(e.first, dice); });
}

template <class R> void clear(R& r) {
  r.api([](auto& f) { f.clear(); });
  r.model.clear();
  require(r.table.empty(), "clear");
}
template <class R> void clear_and_release(R& r) {
  require(r.api([](auto& f) { return f.clear_and_release(); }), "clear_and_release");
  r.model.clear();
}

template <class R> void reserve_space(R& r) {
  const std::size_t wanted = r.in.two_bytes() % 4096u;
  const bool had = r.api([&](auto& f) { return f.reserve(wanted); });
  require(had || r.chosen.options.growth == cubby::growth_policy::fixed, "reserve");
}
/// More than there can be is refused, and no space is lost by it but what a shrink that is under way gives back.
template <class R> void reserve_too_much(R& r) {
  const std::size_t wanted = ~std::size_t{0} >> (r.in.byte() % 2);
  const std::size_t before = r.table.capacity();
  require(!r.api([&](auto& f) { return f.reserve(wanted); }), "reserve of more than there is");
  const bool shrinks = r.chosen.options.shrink == cubby::shrink_policy::automatic;
  require(shrinks || r.table.capacity() >= before, "a refused reserve");
}
template <class R> void shrink(R& r) {
  require(r.api([](auto& f) { return f.shrink_to_fit(); }), "shrink_to_fit");
}

template <class R> void figures(R& r) {
  const auto now = r.table.stats();
  require(now.size == r.model.size() && r.table.empty() == r.model.empty(), "stats");
  if constexpr (requires { now.links; }) require(now.links_used <= now.links, "stats of links");
  // Where keys crowd in a bin, it doubles twice at most.
  if (r.chosen.options.growth == cubby::growth_policy::fixed) require(now.growths <= 2, "a fixed table grew");
}

} // namespace cubby_fuzz
