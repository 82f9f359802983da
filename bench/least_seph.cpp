// SPDX-License-Identifier: Apache-2.0
// What the layout of `seph` allows, with as few instructions as it takes: a directory, nodes, two candidate buckets, tags, records. Nothing grows, and nobody
// waits or is in a guard. A key has only the first parts of its buckets: those that find no space there are not asked for. So no
// table with this layout does more. Records of changes are as in a file, where each change is written back (`line`).
//   bench_least_seph words|files [keys [threads [rounds]]]
#include <cubby/seph.hpp>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "rounds.hpp"

namespace {

using word = std::uint64_t;
namespace detail = cubby::detail;
namespace slots = detail::slots;
using slot = detail::sync::word<word>;
constexpr std::size_t in_call = 32;
constexpr unsigned part = 8; // slots of a line
constexpr unsigned bucket_bits = 5;
constexpr word half_slots = word{32} << bucket_bits;
constexpr word address_bits = (word{1} << 48) - 8;
constexpr word dirty = 4;

/// Key and value of a word each, as in memory.
struct word_record {
  using key_type = word;
  word link, key, unused, value;
};
/// Those of 16 bytes each, behind a header, as in a file.
struct file_record {
  using key_type = std::array<word, 2>;
  word checksum, sizes;
  std::atomic<word> state;
  word link, epoch;
  key_type key, value;
  word unused;
};
static_assert(sizeof(word_record) == 32 && sizeof(file_record) == 80);

word key_for(word number, const word_record*) { return cubby::mix(number); }
std::array<word, 2> key_for(word number, const file_record*) { return {cubby::mix(number), number}; }

/// A level segment: a lower half, and two halves that a bit more of the hash chooses.
struct alignas(64) node {
  slot* lower;
  slot* higher[2];
};
/// The parts of both buckets with which a key begins.
struct place {
  slot* lower;
  slot* higher;
  word tag;
};

template <class Record> class least_table {
public:
  using key_type = typename Record::key_type;
  /// 52 % of the slots are for the keys: the mean of a table that grows.
  explicit least_table(word keys) : count_(keys * 100 / (52 * 3 * half_slots) + 1) {
    const word nodes = count_;
    slots_ = detail::memory::allocate(nodes * 3 * half_slots * sizeof(slot));
    nodes_ = detail::memory::allocate(nodes * sizeof(node));
    directory_ = detail::memory::allocate(nodes * sizeof(node*));
    records_ = detail::memory::allocate(keys * sizeof(Record));
    if (!ok()) return;
    for (word i = 0; i < nodes; ++i) {
      slot* const first = reinterpret_cast<slot*>(slots_.address) + i * 3 * half_slots;
      auto& made = reinterpret_cast<node*>(nodes_.address)[i] = {first, {first + half_slots, first + 2 * half_slots}};
      reinterpret_cast<node**>(directory_.address)[i] = &made;
    }
    std::memset(records_.address, 1, keys * sizeof(Record)); // its pages are mapped
  }
  ~least_table() {
    for (auto* one : {&slots_, &nodes_, &directory_, &records_}) detail::memory::release(*one);
  }
  least_table(const least_table&) = delete;
  least_table& operator=(const least_table&) = delete;
  [[nodiscard]] bool ok() const {
    return slots_.address != nullptr && nodes_.address != nullptr && directory_.address != nullptr &&
           records_.address != nullptr;
  }

  static word hash(const key_type& key) { return cubby::hash<key_type>()(key); }
  [[nodiscard]] place at(word hash) const {
    const auto product = detail::cpu::multiply(hash, count_);
    const word rest = product.low;
    const node& in = *reinterpret_cast<node**>(directory_.address)[product.high];
    constexpr unsigned behind = 64 - bucket_bits - 2;
    return {in.lower + (rest >> behind) * part, in.higher[rest >> 63] + (rest << 1 >> behind) * part,
            (hash & 0xffff) | 1}; // so that an empty slot agrees with no key
  }
  static void prefetch(const place& p) {
    detail::prefetch_line(p.lower);
    detail::prefetch_line(p.higher);
  }
  /// The slot whose tag agrees, or null.
  [[nodiscard]] slot* match(const place& p) const {
    const auto seen = look(p);
    if (seen.agree == 0) return nullptr;
    const unsigned i = slots::seen_two::slot_of(detail::cpu::lowest_bit(seen.agree));
    return (i < part ? p.lower : p.higher) + i % part;
  }
  static Record* record_in(word seen) { return std::bit_cast<Record*>(seen & address_bits); }
  static word value_of(const Record& r) {
    word first;
    std::memcpy(&first, &r.value, sizeof first);
    return first;
  }
  word find(const key_type& key) const {
    const slot* const seen = match(at(hash(key)));
    if (seen == nullptr) return 0;
    const Record& r = *record_in(seen->load(detail::sync::acquire)); // acquire: as in a table
    return r.key == key ? value_of(r) : 0;
  }
  word find_many(const key_type* keys, std::size_t count) const {
    place places[in_call];
    slot* found[in_call];
    for (std::size_t i = 0; i < count; ++i) prefetch(places[i] = at(hash(keys[i])));
    for (std::size_t i = 0; i < count; ++i) {
      found[i] = match(places[i]);
      if (found[i] == nullptr) continue;
      const Record* const r = record_in(found[i]->load(detail::sync::relaxed)); // relaxed: a hint
      detail::prefetch_line(&r->key);
      if constexpr (in_file) detail::prefetch_line(&r->value);
    }
    word sum = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (found[i] == nullptr) continue;
      const Record& r = *record_in(found[i]->load(detail::sync::acquire)); // acquire: as in a table
      if (r.key == keys[i]) sum += value_of(r);
    }
    return sum;
  }
  /// Whether there was space. `number`: of the record to use.
  bool insert(const key_type& key, word number) {
    const place p = at(hash(key));
    const auto seen = look(p);
    const unsigned lower = seen.empty(0);
    const unsigned free = lower != 0 ? lower : seen.empty(1);
    if (free == 0) return false;
    auto& r = reinterpret_cast<Record*>(records_.address)[number];
    r.key = key;
    std::memcpy(&r.value, &key, sizeof r.value);
    if constexpr (in_file) r.state.store(1, std::memory_order_relaxed); // relaxed: the slot publishes it
    slot& to = (lower != 0 ? p.lower : p.higher)[detail::cpu::lowest_bit(free)];
    const word made = p.tag << 48 | std::bit_cast<word>(&r);
    if constexpr (!in_file) return swap(to, 0, made);
    if (!swap(to, 0, made | dirty)) return false;
    line_.persist(&r, sizeof r - sizeof r.unused);
    return swap(to, made | dirty, made);
  }
  /// Marks the record, waits until that is written back, and leaves a tombstone. `More` additions that nothing waits for come behind the wait.
  template <unsigned More>
  bool erase(const key_type& key, word& retired)
    requires std::same_as<Record, file_record>
  {
    slot* const there = match(at(hash(key)));
    if (there == nullptr) return false;
    const word seen = there->load(detail::sync::acquire); // acquire: as in a table
    Record& r = *record_in(seen);
    if (r.key != key || !swap(*there, seen, seen | dirty)) return false;
    word live = 1;
    (void)r.state.compare_exchange_strong(live, 2, std::memory_order_relaxed); // relaxed: as in records.hpp
    line_.persist(&r.state, sizeof r.state);
    word spent = seen;
#pragma GCC unroll 200
    for (unsigned i = 0; i < More; ++i) {
      ++spent;
      asm volatile("" : "+r"(spent)); // so that each one is carried out
    }
    r.link = retired;
    retired = std::bit_cast<word>(&r);
    return swap(*there, seen | dirty, address_bits);
  }

private:
  static constexpr bool in_file = std::same_as<Record, file_record>;
  [[nodiscard]] slots::seen_two look(const place& p) const {
    const slots::wanted tags{static_cast<std::uint32_t>(p.tag), static_cast<std::uint32_t>(p.tag)};
    return slots::read_two<32>(p.lower, tags, p.higher, tags, unit_);
  }
  static bool swap(slot& at, word from, word to) {
    // seq_cst, relaxed: as those of a table
    return at.compare_exchange(from, to, detail::sync::seq_cst, detail::sync::relaxed);
  }

  word count_; // of nodes
  const slots::unit unit_ = slots::widest();
  const detail::persist::medium line_{cubby::persistence::line};
  detail::memory::region slots_, nodes_, directory_, records_;
};

/// Additions in an erase, as if it had more to do.
constexpr unsigned more[] = {0, 50, 100, 200};
struct figures {
  bench::rounds insert, batch, single, erase[std::size(more)];
};

template <class Record> using keys_of = std::vector<typename Record::key_type>;
template <class Record> double fill(least_table<Record>& t, const keys_of<Record>& all, unsigned threads) {
  return bench::million_a_second(all, 1, threads, [&](const auto* key, std::size_t) {
    return static_cast<word>(t.insert(*key, static_cast<word>(key - all.data())));
  });
}
template <unsigned More> double erase_all(least_table<file_record>& t, const keys_of<file_record>& all,
                                          unsigned threads) {
  return bench::million_a_second(all, 1, threads, [&](const auto* key, std::size_t) {
    thread_local word retired = 0;
    return static_cast<word>(t.template erase<More>(*key, retired));
  });
}
/// A new table for each number of instructions.
template <std::size_t At = 0> bool time_erases(const keys_of<file_record>& all, unsigned threads, figures& out) {
  if constexpr (At != std::size(more)) {
    {
      least_table<file_record> t(all.size());
      if (!t.ok()) return false;
      (void)fill(t, all, threads);
      out.erase[At].add(erase_all<more[At]>(t, all, threads));
    }
    return time_erases<At + 1>(all, threads, out);
  }
  return true;
}

template <class Record> bool take_turn(word keys, unsigned threads, figures& out) {
  using key_type = typename Record::key_type;
  keys_of<Record> all(keys);
  for (word i = 0; i < keys; ++i) all[i] = key_for(i, static_cast<const Record*>(nullptr));
  if constexpr (std::same_as<Record, file_record>) {
    if (!time_erases(all, threads, out)) return false;
  }
  least_table<Record> t(keys);
  if (!t.ok()) return false;
  out.insert.add(fill(t, all, threads));
  std::vector<key_type> asked;
  bench::random_numbers random(1, keys);
  while (asked.size() < std::min<word>(keys, word{1} << 21)) {
    const key_type& one = all[random.next()];
    if (t.find(one) != 0) asked.push_back(one);
  }
  out.batch.add(bench::million_a_second(asked, in_call, threads,
                                        [&](const key_type* some, std::size_t n) { return t.find_many(some, n); }));
  out.single.add(
      bench::million_a_second(asked, 1, threads, [&](const key_type* one, std::size_t) { return t.find(*one); }));
  return true;
}

void print(const std::string& what, const bench::rounds& rates) {
  std::printf("%-26s %8.2f %4.0f%%\n", what.c_str(), rates.median(), rates.spread());
}

} // namespace

int main(int count, char** words) {
  const std::string_view what = count > 1 ? words[1] : "";
  const bool files = what == "files";
  const word keys = bench::number(count, words, 2, files ? 2'000'000 : 5'000'000);
  const auto threads = static_cast<unsigned>(bench::number(count, words, 3, 2));
  const word turns = bench::number(count, words, 4, 5);
  if ((!files && what != "words") || keys < 1000 || threads == 0 || turns == 0) {
    std::fputs("usage: bench_least_seph words|files [keys, 1000 or more [threads [rounds]]]\n", stderr);
    return 2;
  }
  figures all;
  for (word turn = 0; turn < turns; ++turn) {
    if (files ? take_turn<file_record>(keys, threads, all) : take_turn<word_record>(keys, threads, all)) continue;
    std::fputs("bench_least_seph: no memory\n", stderr);
    return 2;
  }
  std::printf("%llu keys, %.*s, %u threads, million a second, medians of %llu rounds\n",
              static_cast<unsigned long long>(keys), static_cast<int>(what.size()), what.data(), threads,
              static_cast<unsigned long long>(turns));
  print(files ? "an insert in `line`" : "an insert", all.insert);
  print("a find, 32 a call", all.batch);
  print("a find, one a call", all.single);
  for (std::size_t i = 0; files && i < std::size(more); ++i)
    print(i == 0 ? std::string("an erase in `line`") : "and " + std::to_string(more[i]) + " additions", all.erase[i]);
  return 0;
}
