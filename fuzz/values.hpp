// SPDX-License-Identifier: Apache-2.0
// The verbs on one key that have to do with values: maps only.
#pragma once

#include <optional>
#include <stdexcept>

#include "run.hpp"

namespace cubby_fuzz {

/// What the model holds under the key.
template <class R> auto expected_value(R& r, const typename R::key_type& k) {
  const auto at = r.model.find(k);
  return at == r.model.end() ? std::nullopt : std::optional<typename R::value_type>(at->second);
}

template <class R> void find(R& r) {
  const auto k = r.key();
  require(r.api([&](auto& f) { return f.find(k); }) == expected_value(r, k), "find");
}

/// What a visitor was shown stays as it is, although the entry is erased and its memory could be given back.
template <class R> void visit_and_change(R& r) {
  const auto k = r.key();
  const auto other = r.key();
  const auto what = r.in.byte();
  const auto before = expected_value(r, k);
  const std::size_t met = r.api([&](auto& f) {
    return f.visit(k, [&](const auto& v) {
      require(v == *before, "visit showed another value");
      if (what % 2 != 0) {
        require(f.erase(k), "erase inside a visit");
        r.model.erase(k);
      }
      if (what % 4 >= 2) r.judge_insert(other, *before, f.try_insert(other, v));
      if (what % 8 >= 4) require(f.shrink_to_fit(), "shrink_to_fit inside a visit");
      require(v == *before, "a visited value changed");
    });
  });
  require(met == (before ? 1u : 0u), "visit");
}

template <class R> void assign(R& r) {
  const auto k = r.key();
  const auto v = r.value();
  require(r.api([&](auto& f) { return f.assign(k, v); }) == r.has(k), "assign");
  if (r.has(k)) r.model[k] = v;
}

template <class R> void insert_or_assign(R& r) {
  const auto k = r.key();
  const auto v = r.value();
  if (r.hides(k)) return; // it would wait for the end of the reservation
  const auto how = outcome_of_throwing([&] { return r.api([&](auto& f) { return f.insert_or_assign(k, v); }); });
  if (!r.has(k)) return r.expect_insert(k, v, how);
  require(how == cubby::outcome::exists, "insert_or_assign of a key that is there");
  r.model[k] = v;
}

/// A value made of the old one, bounded in size.
inline std::uint64_t changed(std::uint64_t old) { return old * 3 + 1; }
inline std::string changed(const std::string& old) {
  return old.size() > 200 ? old.substr(0, 5) : old + std::to_string(old.size());
}

template <class R> void update(R& r) {
  const auto k = r.key();
  require(r.api([&](auto& f) { return f.update(k, [](const auto& v) { return changed(v); }); }) == r.has(k), "update");
  if (r.has(k)) r.model[k] = changed(r.model[k]);
}

/// What a function throws passes and leaves the table as it was.
template <class R> void update_that_throws(R& r) {
  const auto k = r.key();
  bool thrown = false;
  using value_type = typename R::value_type;
  try {
    r.api(
        [&](auto& f) { return f.update(k, [](const value_type&) -> value_type { throw std::runtime_error("no"); }); });
  } catch (const std::runtime_error&) {
    thrown = true;
  }
  require(thrown == r.has(k), "an exception of the user's");
  require(r.table.find(k) == expected_value(r, k), "find after an exception");
}

template <class R> void insert_or_update(R& r) {
  const auto k = r.key();
  const auto v = r.value();
  if (r.hides(k)) return; // as above
  const auto how = outcome_of_throwing([&] {
    return r.api([&](auto& f) { return f.insert_or_update(k, [](const auto& old) { return changed(old); }, v); });
  });
  if (!r.has(k)) return r.expect_insert(k, v, how);
  require(how == cubby::outcome::exists, "insert_or_update of a key that is there");
  r.model[k] = changed(r.model[k]);
}

template <class R> void insert_or_add(R& r) {
  const auto k = r.key();
  const auto v = r.value();
  if (r.hides(k)) return;                          // as above
  if constexpr (requires { r.model[k].size(); }) { // sums of texts become long
    if (r.has(k) && r.model[k].size() > 400) return;
  }
  const auto how = outcome_of_throwing([&] { return r.api([&](auto& f) { return f.insert_or_add(k, v); }); });
  if (!r.has(k)) return r.expect_insert(k, v, how);
  require(how == cubby::outcome::exists, "insert_or_add of a key that is there");
  r.model[k] = r.model[k] + v;
}

/// What `compute` should have done, from what its function wanted; the model follows.
template <class R>
void judge_compute(R& r, const typename R::key_type& k, const typename R::value_type& v, unsigned wanted,
                   cubby::change how) {
  const bool there = r.has(k);
  if (wanted == 0 || (wanted == 1 && !there)) {
    require(how == cubby::change::none, "compute that keeps");
  } else if (wanted == 1) {
    require(how == cubby::change::erased, "compute that erases");
    r.model.erase(k);
  } else if (there) {
    require(how == cubby::change::replaced, "compute that replaces");
    r.model[k] = v;
  } else {
    require(how == cubby::change::inserted, "compute that inserts");
    r.model.emplace(k, v);
  }
}

template <class R> void compute(R& r) {
  using value_type = typename R::value_type;
  using answer = cubby::computed<value_type>;
  const auto k = r.key();
  const auto v = r.value();
  const unsigned wanted = r.in.byte() % 3;
  if (r.hides(k)) return; // as above
  const auto before = expected_value(r, k);
  try {
    const cubby::change how = r.api([&](auto& f) {
      return f.compute(k, [&](const value_type* old) {
        require((old != nullptr) == before.has_value() && (old == nullptr || *old == *before), "compute was shown");
        return wanted == 0 ? answer::keep() : wanted == 1 ? answer::erase() : answer::value(v);
      });
    });
    judge_compute(r, k, v, wanted, how);
  } catch (const cubby::table_crowded&) {
    require(wanted == 2 && !before && r.may_be_crowded(), "crowded for no reason");
  } catch (const cubby::table_full&) {
    require(wanted == 2 && !before && r.may_be_full(), "full for no reason");
  }
}

template <class R> void erase_if_agreed(R& r) {
  const auto k = r.key();
  const bool agreed = r.in.byte() % 2 == 0;
  const auto before = expected_value(r, k);
  const bool gone = r.api([&](auto& f) {
    return f.erase_if(k, [&](const auto& v) {
      require(before && v == *before, "erase_if was shown another value");
      return agreed;
    });
  });
  require(gone == (agreed && before), "erase_if");
  if (gone) r.model.erase(k);
}

template <class R> void extract(R& r) {
  const auto k = r.key();
  require(r.api([&](auto& f) { return f.extract(k); }) == expected_value(r, k), "extract");
  r.model.erase(k);
}

/// A reference stays good while its handle is pinned, whatever becomes of the entry.
template <class R> void refer(R& r) {
  if constexpr (R::in_records) {
    const auto k = r.key();
    const unsigned what = r.in.byte();
    const auto before = expected_value(r, k);
    const auto* const seen = r.handle.find_ref(k);
    require((seen != nullptr) == before.has_value(), "find_ref");
    if (seen != nullptr && what % 2 == 0) {
      require(r.table.erase(k), "erase under a reference");
      r.model.erase(k);
    }
    if (what % 4 >= 2) require(r.table.shrink_to_fit(), "shrink_to_fit under a reference");
    if (seen != nullptr) require(*seen == *before, "a referred value changed");
    r.handle.unpin();
  }
}

} // namespace cubby_fuzz
