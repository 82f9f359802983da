// SPDX-License-Identifier: Apache-2.0
// The verbs on one key that maps and sets share, and reservations.
#pragma once

#include "run.hpp"

namespace cubby_fuzz {

template <class R> void contains(R& r) {
  const auto k = r.key();
  require(r.api([&](auto& f) { return f.contains(k); }) == r.has(k), "contains");
}

template <class R> void try_insert(R& r) {
  const auto k = r.key();
  const auto v = r.value();
  const auto how = r.api([&](auto& f) {
    if constexpr (R::has_values) return f.try_insert(k, v);
    else return f.try_insert(k);
  });
  r.judge_insert(k, v, how);
}

template <class R> void insert_or_throw(R& r) {
  const auto k = r.key();
  const auto v = r.value();
  const bool emplace = r.in.byte() % 2 == 0;
  const auto how = outcome_of_throwing([&] {
    return r.api([&](auto& f) {
      if constexpr (!R::has_values) return f.insert(k);
      else return emplace ? f.try_emplace(k, v) : f.insert(k, v);
    });
  });
  r.judge_insert(k, v, how);
}

template <class R> void erase(R& r) {
  const auto k = r.key();
  require(r.api([&](auto& f) { return f.erase(k); }) == (r.model.erase(k) != 0), "erase");
}

/// Neighbouring numbers, so that a short input makes a table grow.
template <class R> void insert_range(R& r) {
  const std::uint16_t first = r.in.two_bytes();
  const unsigned count = r.in.byte();
  for (unsigned i = 0; i < count; ++i) {
    const auto n = static_cast<std::uint16_t>(first + i);
    const auto k = R::kind::key(n);
    const auto v = R::kind::value(n);
    const auto how = r.api([&](auto& f) {
      if constexpr (R::has_values) return f.try_insert(k, v);
      else return f.try_insert(k);
    });
    r.judge_insert(k, v, how);
  }
}
template <class R> void erase_range(R& r) {
  const std::uint16_t first = r.in.two_bytes();
  const unsigned count = r.in.byte();
  for (unsigned i = 0; i < count; ++i) {
    const auto k = R::kind::key(static_cast<std::uint16_t>(first + i));
    require(r.api([&](auto& f) { return f.erase(k); }) == (r.model.erase(k) != 0), "erase of a range");
  }
}

/// Hints have no effect; a hash is a function of the key.
template <class R> void ask_ahead(R& r) {
  const auto k = r.key();
  if constexpr (R::capabilities.prefetch) r.api([&](auto& f) { f.prefetch(k); });
  require(r.table.hash_for(k) == r.handle.hash_for(k), "two hashes for one key");
}

template <class R> void reserve_key(R& r) {
  if constexpr (R::capabilities.shadow_insert) {
    const auto k = r.key();
    const auto v = r.value();
    if (r.held.size() >= 4) return;
    auto ticket = r.api([&](auto& f) {
      if constexpr (R::has_values) return f.shadow_insert(k, v);
      else return f.shadow_insert(k);
    });
    require(static_cast<bool>(ticket) == (ticket.how() == cubby::outcome::inserted), "a ticket and its outcome");
    if (r.has(k) || r.hides(k)) {
      require(ticket.how() == cubby::outcome::exists, "a key was reserved that is there");
    } else if (ticket.how() == cubby::outcome::full) {
      require(r.may_be_full(), "full for no reason");
    } else if (ticket.how() == cubby::outcome::crowded) {
      require(r.may_be_crowded(), "crowded for no reason");
    } else {
      require(ticket.how() == cubby::outcome::inserted, "an absent key was not reserved");
      r.held.push_back({std::move(ticket), k, v});
    }
  }
}

template <class R> void end_reservation(R& r) {
  if constexpr (R::capabilities.shadow_insert) {
    if (r.held.empty()) return;
    const unsigned dice = r.in.byte();
    const auto at = r.held.begin() + static_cast<std::ptrdiff_t>(dice / 4 % r.held.size());
    auto entry = std::move(*at);
    r.held.erase(at);
    if (dice % 4 == 0) return; // the destructor aborts
    if (dice % 4 == 1) {
      entry.ticket.abort();
    } else {
      entry.ticket.commit();
      r.model.emplace(entry.key, entry.value);
    }
  }
}

} // namespace cubby_fuzz
