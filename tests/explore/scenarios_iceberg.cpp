// SPDX-License-Identifier: Apache-2.0
// Scenarios over iceberg tables of one or two front buckets: slots of the back yard that are filled again, buckets that split and
// merge, and entries that come to the front from the back yard or a chain. Each scenario chooses its keys by the buckets of their hashes.
#include <functional>

#include <cubby/detail/engines/iceberg/layout.hpp>

#include "explore/parts.hpp"
#include "explore/scenarios.hpp"

namespace cubby_test {
namespace {

namespace yards = cubby::detail::engines::iceberg;

/// Where a key goes.
struct key_facts {
  std::uint64_t residue = 0;    // of its front bucket
  std::uint64_t up = 0;         // 1: to the upper bucket, when the front buckets split
  std::uint64_t again = 0;      // the same for the second doubling
  std::uint64_t back[2] = {};   // residues of its back buckets
  std::uint64_t back_up[2] = {};
  std::uint8_t tag = 0;
  std::uint64_t chain = 0; // of 16
};
key_facts facts_of(std::uint64_t key, std::uint64_t fronts) {
  const std::uint64_t hash = scattered_hash()(key);
  const auto h = yards::hashed_for(hash, fronts);
  key_facts out{h.residue, h.copies & 1, h.copies >> 1 & 1, {}, {}, h.tag, yards::back_hash(hash, 0) >> 7 & 15};
  for (unsigned which = 0; which < 2; ++which) {
    const std::uint64_t one = yards::back_hash(hash, which);
    out.back[which] = cubby::detail::cpu::multiply(one, fronts).high;
    out.back_up[which] = one & 1;
  }
  return out;
}

/// Chooses keys, each once, and no two with the same tag or the same part of a filter, up to the tags there are.
class key_chooser {
public:
  explicit key_chooser(std::uint64_t fronts) : fronts_(fronts) {}
  std::uint64_t next(const std::function<bool(const key_facts&)>& suits) {
    for (;;) {
      const key_facts f = facts_of(++last_, fronts_);
      if (!suits(f) || (hot_ & 1ULL << (f.tag & 63)) != 0) continue;
      hot_ |= 1ULL << (f.tag & 63);
      return last_;
    }
  }
  /// Entries that fill a front bucket; no tag is that of a key chosen by `next`.
  void fill(std::uint64_t residue, std::uint64_t count, std::vector<entry>& out) {
    for (std::uint64_t key = first_filler; count != 0; ++key) {
      const key_facts f = facts_of(key, fronts_);
      if (f.residue != residue || (hot_ & 1ULL << (f.tag & 63)) != 0) continue;
      out.emplace_back(key, 50 + count);
      --count;
    }
  }

private:
  static constexpr std::uint64_t first_filler = 40000;
  std::uint64_t fronts_;
  std::uint64_t last_ = 0;
  std::uint64_t hot_ = 0; // tags, modulo 64
};

/// A table of one front bucket and one back bucket, or of two each, in which one share of a resize is one pair.
scenario yard(table_kind table, std::uint64_t fronts) {
  scenario s = tiny(table, {});
  s.options.capacity = fronts == 1 ? 1 : 100;
  s.options.grow_at = 97;
  return s;
}

/// Entry a of front 0 and a key b of front 1 whose only back bucket is the same; both fronts are full.
struct reuse {
  scenario s;
  std::uint64_t a, b;
};
reuse back_slot(table_kind table) {
  key_chooser keys(2);
  const auto in_first_back = [](std::uint64_t residue) {
    return [=](const key_facts& f) { return f.residue == residue && f.back[0] == 0 && f.back[1] == 0; };
  };
  reuse out{yard(table, 2), keys.next(in_first_back(0)), keys.next(in_first_back(1))};
  keys.fill(0, yards::front_slots, out.s.still);
  keys.fill(1, yards::front_slots, out.s.still);
  out.s.before = {{act::insert, out.a, 5}};
  return out;
}

} // namespace

/// An entry of the back yard leaves, and its slot is filled with an entry of another front bucket.
std::vector<scenario> iceberg_reuse() {
  std::vector<scenario> all;
  for (const table_kind table : iceberg_tables) {
    const reuse r = back_slot(table);
    const std::vector<std::vector<script>> casts = {
        {{{act::erase, r.a}, {act::insert, r.b, 6}}, {{act::find, r.a}}},
        {{{act::erase, r.a}}, {{act::insert, r.b, 6}}, {{act::find, r.a}}},
        {{{act::erase, r.a}, {act::insert, r.b, 6}}, {{act::assign, r.a, 7}}},
        {{{act::erase, r.a}, {act::insert, r.b, 6}}, {{act::extract, r.a}}},
        {{{act::erase, r.a}, {act::insert, r.b, 6}}, {{act::update, r.a, 7}}},
        {{{act::erase, r.a}, {act::insert, r.b, 6}}, {{act::find, r.b}, {act::find, r.a}}},
        {{{act::extract, r.a}, {act::insert, r.a, 6}}, {{act::assign, r.a, 7}, {act::find, r.a}}},
        {{{act::insert, r.b, 6}}, {{act::insert, r.b, 7}}, {{act::erase, r.a}}},
    };
    for (const auto& cast : casts) {
      scenario s = r.s;
      s.threads = cast;
      add(all, "back slot", std::move(s));
    }
  }
  return all;
}

std::vector<scenario> iceberg_growth() { return {}; }
std::vector<scenario> iceberg_merges() { return {}; }
std::vector<scenario> iceberg_fronts() { return {}; }
std::vector<scenario> iceberg_modifies() { return {}; }

} // namespace cubby_test
