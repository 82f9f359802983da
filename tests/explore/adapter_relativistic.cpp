// SPDX-License-Identifier: Apache-2.0
// Tables of the relativistic engine as adapters, and names for their words: `A.head[64]`, `node 3.next`, `stripe[0].lock`.
#include <algorithm>

#include <cubby/relativistic.hpp>

#include "explore/name_words.hpp"

namespace cubby_test {
namespace {

namespace relativistic = cubby::detail::engines::relativistic;
template <class Engine>
using relativistic_table = relativistic::table<typename Engine::policy>;

/// Of a node that a path leads to, by its key; others have left.
std::string name_on_a_path(std::uint64_t link, const void* address) {
  for (const relativistic::node* n = relativistic::node_at(link); n != nullptr;) {
    const std::string key = "node " + std::to_string(n->key >> 16) + " at " + std::to_string(n->key & 0xffff);
    if (address == &n->next) return key + ".next";
    if (address == &n->value) return key + ".value";
    n = relativistic::node_at(n->next.load(cubby::detail::sync::relaxed));
  }
  return {};
}

std::string name_in_buckets(const relativistic::bucket_array& at, const void* address) {
  if (address == &at.next) return "next";
  if (address == &at.family_mask) return "family_mask";
  for (std::uint64_t b = 0; b <= at.mask; ++b) {
    if (address == &at.heads[b]) return "head[" + std::to_string(b) + "]";
  }
  return {};
}
std::string name_in_chains(const relativistic::bucket_array& at, const void* address) {
  for (std::uint64_t b = 0; b <= at.mask; ++b) {
    const std::uint64_t head = at.heads[b].load(cubby::detail::sync::relaxed);
    if ((head & relativistic::head_mark::moved) != 0) continue;
    if (std::string name = name_on_a_path(head, address); !name.empty()) return name;
  }
  return {};
}

template <class Table>
std::string name_of_stripe(const Table& t, const void* address) {
  const auto from = reinterpret_cast<std::uintptr_t>(&t.stripes);
  const auto word = reinterpret_cast<std::uintptr_t>(address);
  if (word < from || word >= from + sizeof t.stripes) return {};
  const std::size_t i = (word - from) / sizeof(relativistic::stripe);
  const relativistic::stripe& s = t.stripes[i];
  return "stripe[" + std::to_string(i) + "]." +
         (address == &s.inserts ? "inserts"
          : address == &s.live  ? "live"
                                : "lock");
}

template <class Table>
std::string name_in_relativistic(const Table& t, const void* address) {
  if (address == &t.root) return "table.root";
  if (address == &t.buckets) return "table.buckets";
  if (address == &t.busy) return "table.busy";
  if (address == &t.resize_lock) return "table.resize_lock";
  if (address == &t.ticks) return "table.ticks";
  if (address >= &t.worker && address < &t.worker + 1) return "table.worker";
  if (std::string name = name_of_stripe(t, address); !name.empty()) return name;
  const bool resizes = t.work.at != relativistic::stage::idle;
  const relativistic::bucket_array* const first = resizes ? t.work.from : t.root.load(cubby::detail::sync::relaxed);
  const std::uint64_t begun =
      t.growths.load(cubby::detail::sync::relaxed) + t.shrinks.load(cubby::detail::sync::relaxed);
  const auto letter = static_cast<char>('A' + (begun - (resizes ? 1 : 0)) % 26);
  if (std::string name = first != nullptr ? name_in_buckets(*first, address) : ""; !name.empty())
    return std::string(1, letter) + "." + name;
  if (resizes) {
    const std::string name = name_in_buckets(*t.work.to, address);
    if (!name.empty()) return std::string(1, static_cast<char>(letter == 'Z' ? 'A' : letter + 1)) + "." + name;
    if (std::string node = name_in_chains(*t.work.to, address); !node.empty()) return node;
  }
  return first != nullptr ? name_in_chains(*first, address) : std::string(); // null: freed before the cuts
}

/// Families below the first one of each stripe have no keys in any scenario that passes by itself. They are done as one
/// step, but for the last family of a pass, which ends it. False: another thread is in the stripe.
template <class Table>
bool next_piece(Table& t) {
  const relativistic::resize_work& w = t.work;
  const std::uint64_t stop = std::min(
      w.families - 1, w.cursor / relativistic::stripe_count * relativistic::stripe_count + relativistic::stripe_count);
  auto how = relativistic::progress::more;
  if (w.waiting || w.cursor % relativistic::stripe_count == 0 || w.cursor >= stop) how = relativistic::work_on(t, 1);
  else driver::instance().unseen([&] { how = relativistic::work_on(t, stop - w.cursor); });
  return how != relativistic::progress::shut_out;
}

/// For a coding: names, and resizes by hand, by way of the door of `Key`.
template <class Key>
struct with_a_door {
  template <class Map>
  static std::string name(const Map& m, const void* address) {
    return name_in_relativistic(cubby::detail::engine_access::of(m).*table_member(Key{}), address);
  }
  /// Unless one is under way. False: no memory.
  template <class Map>
  static bool resize(const Map& m, std::uint64_t buckets) {
    auto& t = cubby::detail::engine_access::of(m).*table_member(Key{});
    cubby::detail::lock_scope hold(t.resize_lock);
    const std::uint64_t now = t.root.load(cubby::detail::sync::relaxed)->mask + 1;
    return t.work.at != relativistic::stage::idle || now == buckets || relativistic::begin_resize(t, buckets);
  }
  /// Waits for readers if it has to, and does a pass. False: there is none to do.
  template <class Map>
  static bool pass(const Map& m, cubby::detail::thread_record&) {
    auto& t = cubby::detail::engine_access::of(m).*table_member(Key{});
    for (cubby::detail::sync::backoff wait;; wait.pause()) {
      cubby::detail::lock_scope hold(t.resize_lock);
      if (t.work.at == relativistic::stage::idle) return false;
      if (t.work.waiting && relativistic::work_on(t, 0) == relativistic::progress::blocked) continue;
      while (t.work.at != relativistic::stage::idle && !t.work.waiting) {
        if (!next_piece(t)) wait.pause();
      }
      return true;
    }
  }
};

} // namespace

struct relativistic_words_key;
struct relativistic_records_key;
struct relativistic_words_coding : explored_words<cubby::relativistic>, with_a_door<relativistic_words_key> {
  using hash = low_placed_hash;
  using with_a_door<relativistic_words_key>::name;
};
struct relativistic_records_coding : explored_records<cubby::relativistic>, with_a_door<relativistic_records_key> {
  using hash = low_placed_hash;
  using with_a_door<relativistic_records_key>::name;
};
using words_engine = explored_map<relativistic_words_coding>::engine_type;
using records_engine = explored_map<relativistic_records_coding>::engine_type;
struct relativistic_words_key {
  friend constexpr relativistic_table<words_engine> words_engine::* table_member(relativistic_words_key);
};
struct relativistic_records_key {
  friend constexpr relativistic_table<records_engine> records_engine::* table_member(relativistic_records_key);
};
template struct open_door<relativistic_words_key, &words_engine::table_>;
template struct open_door<relativistic_records_key, &records_engine::table_>;

run_state make_relativistic_words(const scenario& s) { return make_map<relativistic_words_coding>(s); }
run_state make_relativistic_records(const scenario& s) { return make_map<relativistic_records_coding>(s); }

} // namespace cubby_test
