// SPDX-License-Identifier: Apache-2.0
// The parts of scenarios over iceberg tables. They are keys that are chosen by the buckets of their hashes, tables of one or two
// front buckets, and what threads do beside a thread that resizes. Pairs and texts have wide slots, so half as many in a bucket.
#pragma once

#include <functional>

#include <cubby/detail/engines/iceberg/layout.hpp>

#include "explore/parts.hpp"

namespace cubby_test {

namespace yards = cubby::detail::engines::iceberg;

/// Where a key goes.
struct key_facts {
  std::uint64_t residue = 0;  // of its front bucket
  std::uint64_t up = 0;       // 1: to the upper bucket, when the front buckets split
  std::uint64_t again = 0;    // the same for the second doubling
  std::uint64_t back[2] = {}; // residues of its back buckets
  std::uint64_t back_up[2] = {};
  std::uint16_t tag = 0;
  bool odd_chain = false; // the second unit of two empties it
  std::uint64_t slot = 0; // that it prefers, if a line has one; keys with the same one prefer the same line
};
inline bool is_wide(table_kind table) { return table != table_kind::iceberg_words; }
/// The slots of a front bucket.
inline std::uint64_t front_slots(table_kind table) {
  return is_wide(table) ? yards::front_slots<yards::slot<2, 3, std::uint16_t>> : yards::front_slots<yards::slot<1, 1>>;
}
inline key_facts facts_of(table_kind table, std::uint64_t key, std::uint64_t fronts) {
  const std::uint64_t hash = scattered_hash()(key);
  const auto h = is_wide(table) ? yards::hashed_for<yards::slot<2, 3, std::uint16_t>>(hash, fronts)
                                : yards::hashed_for<yards::slot<1, 1>>(hash, fronts);
  key_facts out{h.residue, h.copies & 1, h.copies >> 1 & 1, {}, {}, h.tag, false};
  out.slot = std::uint64_t{h.choice} * front_slots(table) >> 32;
  for (unsigned which = 0; which < 2; ++which) {
    const std::uint64_t one = yards::back_hash(hash, which);
    out.back[which] = cubby::detail::cpu::multiply(one, fronts).high;
    out.back_up[which] = one & 1;
  }
  out.odd_chain = (yards::back_hash(hash, 0) >> 7 & 1) != 0;
  return out;
}

/// Chooses keys, each once, and no two with the same tag or the same part of a filter, up to the tags there are.
class key_chooser {
public:
  key_chooser(table_kind table, std::uint64_t fronts) : table_(table), fronts_(fronts) {}
  std::uint64_t next(const std::function<bool(const key_facts&)>& suits) {
    for (;;) {
      const key_facts f = facts_of(table_, ++last_, fronts_);
      if (!suits(f) || (hot_ & 1ULL << (yards::short_tag(f.tag) & 63)) != 0) continue;
      hot_ |= 1ULL << (yards::short_tag(f.tag) & 63);
      return last_;
    }
  }
  /// Entries that fill a front bucket; no tag is that of a key chosen by `next`.
  void fill(std::uint64_t residue, std::uint64_t count, std::vector<entry>& out, std::uint64_t back = any) {
    for (; count != 0; ++filler_) {
      const std::uint64_t key = filler_;
      const key_facts f = facts_of(table_, key, fronts_);
      if (back != any && (f.back[0] != back || f.back[1] != back)) continue;
      if (f.residue != residue || (hot_ & 1ULL << (yards::short_tag(f.tag) & 63)) != 0) continue;
      out.emplace_back(key, 50 + count);
      --count;
    }
  }

private:
  static constexpr std::uint64_t any = ~std::uint64_t{0};
  table_kind table_;
  std::uint64_t filler_ = 40000;
  std::uint64_t fronts_;
  std::uint64_t last_ = 0;
  std::uint64_t hot_ = 0; // tags, modulo 64
};

/// Entries for which a table has two front buckets, or four.
inline std::uint64_t for_two(table_kind table) { return is_wide(table) ? 50 : 100; }
inline std::uint64_t for_four(table_kind table) { return 2 * for_two(table); }

/// A table of one front bucket and one back bucket, or of two each, in which one share of a resize is one pair.
inline scenario yard(table_kind table, std::uint64_t fronts) {
  scenario s = tiny(table, {});
  s.options.capacity = fronts == 1 ? 1 : for_two(table);
  s.options.grow_at = 97;
  return s;
}

inline script put(const std::vector<std::uint64_t>& those) {
  script all;
  for (const std::uint64_t key : those) all.push_back({act::insert, key, 5});
  return all;
}

/// Keys of one bucket: when it splits, `low` stays, and the other two go up.
struct trio {
  std::uint64_t low = 0, up = 0, more = 0;
};
/// Entries of the back yard, or of a chain (`in_chain`), whose front bucket has space again. One stays when buckets split, and one
/// goes up. A third key goes up, too. All their back buckets are the first one.
inline scenario left_behind(table_kind table, std::uint64_t fronts, bool in_chain, trio& out) {
  scenario s = yard(table, fronts);
  key_chooser keys(table, fronts);
  const auto goes = [&](std::uint64_t where) {
    return keys.next([=](const key_facts& f) {
      return f.residue == 0 && f.up == where && f.back[0] + f.back[1] == 0 && f.back_up[0] == where && !f.odd_chain;
    });
  };
  out.low = goes(0);
  out.up = goes(1);
  out.more = goes(1);
  keys.fill(0, front_slots(table), s.passing);
  if (in_chain) keys.fill(0, yards::back_slots, s.passing, 0);
  s.before = put({out.low, out.up});
  return s;
}

/// What threads do beside a thread that resizes.
inline std::vector<std::vector<script>> beside(std::uint64_t low, std::uint64_t up, std::uint64_t more) {
  return {
      {{{act::find, up}, {act::find, low}, {act::find, more}}},
      {{{act::scan}}},
      {{{act::insert, more, 6}, {act::find, more}}, {{act::find, more}, {act::insert, more, 7}}},
      {{{act::assign, up, 6}, {act::find, up}}, {{act::find, up}, {act::find, up}}},
      {{{act::erase, up}, {act::insert, up, 6}}, {{act::find, up}, {act::assign, up, 7}}},
      {{{act::extract, up}, {act::find, up}}, {{act::extract, up}}},
      {{{act::extract, low}, {act::insert, more, 6}}, {{act::assign, low, 7}, {act::find, low}}},
      {{{act::update, up, 6}}, {{act::toggle, up, 7}}},
      {{{act::insert_or_assign, more, 6}}, {{act::insert_or_assign, more, 7}, {act::erase, more}}},
  };
}
inline void add_beside(std::vector<scenario>& all, const std::string& name, const scenario& like,
                       const std::vector<std::vector<script>>& casts, const script& resizes) {
  for (const auto& cast : casts) {
    scenario s = like;
    s.threads = cast;
    s.threads.push_back(resizes);
    s.resizes = 1;
    add(all, name, std::move(s));
  }
}

} // namespace cubby_test
