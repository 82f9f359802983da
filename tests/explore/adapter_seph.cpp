// SPDX-License-Identifier: Apache-2.0
// Tables of the seph engine as adapters, and names for their words. `segment 0:2.next` is of the level segment of all hashes that begin
// with 0; the second digit is its level in the tree. `half 01.slot[1]` is of the half of the hashes that begin with 01. A half has one
// bucket, of two slots for words and of four for records.
#include <string>

#include <cubby/seph.hpp>

#include "explore/name_words.hpp"

namespace cubby_test {
namespace {

struct two_slots_hash : placed_hash {};
struct four_slots_hash : placed_hash {};

} // namespace
} // namespace cubby_test
template <> inline constexpr unsigned cubby::detail::engines::seph::bucket_slots<cubby_test::two_slots_hash> = 2;
template <> inline constexpr unsigned cubby::detail::engines::seph::bucket_slots<cubby_test::four_slots_hash> = 4;
namespace cubby_test {
namespace {

namespace seph = cubby::detail::engines::seph;
namespace sync = cubby::detail::sync;
template <class Engine>
using seph_table = seph::table<typename Engine::policy>;

std::string bits_of(std::uint64_t prefix, unsigned count) {
  std::string text;
  for (unsigned i = 0; i < count; ++i) text += (prefix >> (63 - i) & 1) != 0 ? '1' : '0';
  return text.empty() ? "all" : text;
}

template <class Table>
class namer {
public:
  namer(const Table& t, const void* address) : table_(t), address_(address) {}
  std::string name() {
    if (address_ == &table_.root) return "table.root";
    if (address_ == &table_.structure_lock) return "table.structure_lock";
    if (address_ == &table_.ended) return "table.ended";
    if (address_ == &table_.leaves) return "table.leaves";
    if (address_ == &table_.erases) return "table.erases";
    if (address_ >= &table_.halves && address_ < &table_.halves + 1) return "table.halves";
    if (address_ >= &table_.worker && address_ < &table_.worker + 1) return "table.worker";
    for (std::uint64_t i = 0; out_.empty() && i < std::uint64_t{1} << table_.base_level; ++i) {
      if (address_ == &table_.base[i]) return "table.base[" + std::to_string(i) + "]";
      in_node(*table_.base[i].load(sync::relaxed));
    }
    return out_.empty() ? in_directory() : out_;
  }

private:
  std::string in_directory() const {
    const auto* const d = table_.root.load(sync::relaxed);
    for (std::uint64_t i = 0; i < std::uint64_t{1} << d->bits; ++i)
      if (address_ == &d->entries[i]) return "directory[" + std::to_string(i) + "]";
    return {};
  }
  void in_half(const seph::slot* half, const std::string& which) {
    const std::uint64_t slots = seph::buckets_of_half(table_) * Table::slots_a_bucket;
    for (std::uint64_t i = 0; half != nullptr && i < slots; ++i)
      if (address_ == half + i) out_ = "half " + which + ".slot[" + std::to_string(i) + "]";
  }
  void in_work(const seph::reorganisation& r, const std::string& of) {
    if (address_ == &r.cursor) out_ = of + "cursor";
    for (std::uint64_t i = 0; i < r.buckets; ++i)
      if (address_ == &r.moved[i]) out_ = of + "moved[" + std::to_string(i) + "]";
    for (unsigned i = 0; i < r.targets; ++i) in_half(r.target[i], "to " + std::to_string(i));
  }
  void in_node(const seph::level_segment& x) {
    const std::string path = bits_of(x.prefix, x.level);
    const std::string of = "segment " + path + ".";
    if (address_ == &x.next) out_ = of + "next";
    for (unsigned i = 0; i < 2; ++i)
      if (address_ == &x.child[i]) out_ = of + "child[" + std::to_string(i) + "]";
    const std::uint64_t next = x.next.load(sync::relaxed);
    if (seph::next_word::is_done(next)) {
      const auto* const low = x.child[0].load(sync::relaxed);
      const auto* const high = x.child[1].load(sync::relaxed);
      if (out_.empty()) in_node(*low);
      if (out_.empty() && high != low) in_node(*high);
    } else if (next != seph::next_word::leaf && next != seph::next_word::held) {
      in_work(*seph::work_of(next), of);
    }
    if (!out_.empty()) return;
    in_half(x.lower, path);
    for (unsigned i = 0; i < 2; ++i)
      in_half(x.higher[i], bits_of(x.prefix | static_cast<std::uint64_t>(i) << (63 - x.level), x.level + 1));
  }

  const Table& table_;
  const void* address_;
  std::string out_;
};

template <class Key>
struct of_seph {
  template <class Map>
  static std::string name(const Map& m, const void* address) {
    const auto& t = cubby::detail::engine_access::of(m).*table_member(Key{});
    return namer(t, address).name();
  }
  /// Installs a split (1) or a rewrite (2) in the leaf of the least hash, and does none of it: so another thread stands that did no more. False:
  /// no memory.
  template <class Map>
  static bool resize(const Map& m, std::uint64_t what) {
    auto& t = cubby::detail::engine_access::of(m).*table_member(Key{});
    seph::level_segment& x = *seph::leaf_of(t, 0);
    auto* const made =
        seph::make_reorganisation(t, x, what == 1 ? seph::kind_of_work::split : seph::kind_of_work::rewrite);
    if (made == nullptr) return false;
    std::uint64_t leaf = seph::next_word::leaf;
    t.under_way.fetch_add(1, sync::relaxed);
    if (x.next.compare_exchange(leaf, std::bit_cast<std::uint64_t>(made), sync::acq_rel, sync::relaxed)) return true;
    t.under_way.fetch_add(~std::uint64_t{0}, sync::relaxed);
    seph::drop_reorganisation(t, made);
    return true;
  }
  /// Does the rest of it. False: there is none.
  template <class Map>
  static bool pass(const Map& m, cubby::detail::thread_record& mine) {
    auto& t = cubby::detail::engine_access::of(m).*table_member(Key{});
    const cubby::detail::thread_pin stay(mine);
    seph::level_segment& x = *seph::leaf_of(t, 0);
    if (x.next.load(sync::acquire) == seph::next_word::leaf) return false;
    sync::backoff wait;
    seph::resolve(t, x, wait);
    return true;
  }
};

} // namespace

struct seph_words_key;
struct seph_records_key;
struct seph_words_coding : explored_words<cubby::seph>, of_seph<seph_words_key> {
  using of_seph<seph_words_key>::name;
  using hash = two_slots_hash;
};
struct seph_records_coding : explored_records<cubby::seph>, of_seph<seph_records_key> {
  using of_seph<seph_records_key>::name;
  using hash = four_slots_hash;
};
using words_engine = explored_map<seph_words_coding>::engine_type;
using records_engine = explored_map<seph_records_coding>::engine_type;
static_assert(seph_table<words_engine>::slots_a_bucket == 2 && seph_table<records_engine>::slots_a_bucket == 4);
struct seph_words_key {
  friend constexpr seph_table<words_engine> words_engine::* table_member(seph_words_key);
};
struct seph_records_key {
  friend constexpr seph_table<records_engine> records_engine::* table_member(seph_records_key);
};
template struct open_door<seph_words_key, &words_engine::table_>;
template struct open_door<seph_records_key, &records_engine::table_>;

run_state make_seph_words(const scenario& s) { return make_map<seph_words_coding>(s); }
run_state make_seph_records(const scenario& s) { return make_map<seph_records_coding>(s); }

} // namespace cubby_test
