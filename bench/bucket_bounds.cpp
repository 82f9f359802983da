// SPDX-License-Identifier: Apache-2.0
// What a table with two candidate buckets and records elsewhere cannot do without, for keys of 8 bytes: the lines alone. There is no directory, no
// tag, no comparison and no guard. A find reads a line of each bucket, and then the record to which one of them leads. A change in `line` also
// writes lines of the record back, and waits for that. Records of inserts lie one behind the other, in pages that were touched before. The lines have 64
// bytes a key, the buckets 16, as those of `seph`, and so the cache holds more of these.
//   bench_bucket_bounds [keys [bytes of a record [threads [rounds]]]]
#include <cubby/hash.hpp>
#include <cubby/iceberg.hpp>

#include <atomic>
#include <cstdio>
#include <vector>

#include "rounds.hpp"

namespace {

using word = std::uint64_t;
namespace memory = cubby::detail::memory;
using cubby::detail::prefetch_line;
constexpr std::size_t in_call = 32;

/// A line for each key, twice as many words as keys for the buckets, and the records.
struct lines_of {
  lines_of(std::size_t keys, std::size_t bytes)
      : count(keys), record_bytes(bytes), lines(memory::allocate(keys * 64)), slots(memory::allocate(keys * 16)),
        records(memory::allocate(keys * bytes + 64)) {
    for (const memory::region* one : {&lines, &slots, &records})
      for (std::size_t at = 0; at < one->bytes; at += 64) *reinterpret_cast<word*>(one->address + at) = 2;
  }
  ~lines_of() {
    for (memory::region* one : {&lines, &slots, &records}) memory::release(*one);
  }
  lines_of(const lines_of&) = delete;
  lines_of& operator=(const lines_of&) = delete;
  [[nodiscard]] bool ok() const {
    return lines.address != nullptr && slots.address != nullptr && records.address != nullptr;
  }
  word count;
  std::size_t record_bytes;
  memory::region lines, slots, records;
};

word look(const word* at) { return std::atomic_ref(*const_cast<word*>(at)).load(std::memory_order_acquire); }
word place_of(word hash, word count) { return cubby::detail::cpu::multiply(hash, count).high; }
word* line_at(const lines_of& in, word hash) {
  return reinterpret_cast<word*>(in.lines.address + place_of(hash, in.count) * 64);
}
/// The slot of a key in its first bucket, or in its second one.
word* slot_at(const lines_of& in, word hash, unsigned which) {
  return reinterpret_cast<word*>(in.slots.address) +
         place_of(which == 0 ? hash : hash << 32 | hash >> 32, in.count * 2);
}
/// The record depends on the slots, as it does where they have its address.
word* record_at(const lines_of& in, word hash, word seen) {
  return reinterpret_cast<word*>(in.records.address +
                                 (place_of(hash * 0x9e3779b97f4a7c15, in.count - 1) + (seen & 1)) * in.record_bytes);
}

/// One call of so many lookups of a line alone, of two lines, and of the record behind them.
enum class reads { line, buckets, record };
template <reads What> word find(const lines_of& in, const word* keys, std::size_t count) {
  word hashes[in_call];
  word seen[in_call];
  const word* records[in_call];
  word sum = 0;
  for (std::size_t i = 0; i < count; ++i) {
    hashes[i] = cubby::mix(keys[i]);
    if constexpr (What == reads::line) prefetch_line(line_at(in, hashes[i]));
    else
      for (unsigned which = 0; which < 2; ++which) prefetch_line(slot_at(in, hashes[i], which));
  }
  for (std::size_t i = 0; i < count; ++i) {
    if constexpr (What == reads::line) seen[i] = look(line_at(in, hashes[i]));
    else seen[i] = look(slot_at(in, hashes[i], 0)) | look(slot_at(in, hashes[i], 1));
    sum += seen[i];
    if constexpr (What == reads::record) prefetch_line(records[i] = record_at(in, hashes[i], seen[i]));
  }
  for (std::size_t i = 0; What == reads::record && i < count; ++i) sum += look(records[i]);
  return sum;
}

/// The changes of a table in a file on directly mapped memory.
enum class change { insert, erase };
struct writer {
  const cubby::detail::persist::medium medium{cubby::persistence::line};
  /// The record is written, and written back with one wait; then a slot of the two buckets leads to it. For an erase, the state of the record.
  template <change What> word run(const lines_of& in, word key, word mine) const {
    const word hash = cubby::mix(key);
    word* const slots[2] = {slot_at(in, hash, 0), slot_at(in, hash, 1)};
    prefetch_line(slots[1]);
    word seen = look(slots[0]);
    const word other = look(slots[1]);
    auto* const record = What == change::insert ? reinterpret_cast<word*>(in.records.address + mine * in.record_bytes)
                                                : record_at(in, hash, seen | other);
    for (std::size_t i = 1; What == change::insert && i < in.record_bytes / 8; ++i) record[i] = hash;
    std::atomic_ref(*record).store(2, std::memory_order_release);
    medium.write_back(record, What == change::insert ? in.record_bytes : 8);
    medium.drain();
    while (!std::atomic_ref(*slots[0]).compare_exchange_weak(seen, hash & ~word{1}, std::memory_order_acq_rel)) {
    }
    return other;
  }
};

struct row {
  const char* what;
  bench::rounds rates;
};

void measure(const lines_of& in, const std::vector<word>& asked, unsigned threads, std::uint64_t turns) {
  row rows[] = {{"a line, 32 a call", {}},
                {"a line of two buckets", {}},
                {"and a record", {}},
                {"a line, one a call", {}},
                {"a line of two buckets", {}},
                {"and a record", {}},
                {"an insert in `line`, one a call", {}},
                {"an erase in `line`, one a call", {}}};
  const writer w;
  const auto lookups = [&]<reads What>(std::size_t a_call) {
    return bench::million_a_second(asked, a_call, threads,
                                   [&](const word* keys, std::size_t n) { return find<What>(in, keys, n); });
  };
  const auto changes = [&]<change What> {
    return bench::million_a_second(asked, 1, threads, [&](const word* key, std::size_t) {
      return w.run<What>(in, *key, static_cast<word>(key - asked.data()));
    });
  };
  for (std::uint64_t turn = 0; turn < turns; ++turn) {
    row* to = rows;
    for (const std::size_t a_call : {in_call, std::size_t{1}}) {
      (to++)->rates.add(lookups.operator()<reads::line>(a_call));
      (to++)->rates.add(lookups.operator()<reads::buckets>(a_call));
      (to++)->rates.add(lookups.operator()<reads::record>(a_call));
    }
    (to++)->rates.add(changes.operator()<change::insert>());
    (to++)->rates.add(changes.operator()<change::erase>());
  }
  for (const row& one : rows) std::printf("%-36s %8.2f %4.0f%%\n", one.what, one.rates.median(), one.rates.spread());
  std::printf("finds of 32: a line of two buckets and a record over a line %.2f\n",
              rows[2].rates.median() / rows[0].rates.median());
}

} // namespace

int main(int count, char** words) {
  const std::size_t keys = bench::number(count, words, 1, 5'000'000);
  const std::size_t bytes = bench::number(count, words, 2, 16);
  const auto threads = static_cast<unsigned>(bench::number(count, words, 3, 2));
  const std::uint64_t turns = bench::number(count, words, 4, 5);
  constexpr std::size_t asked = std::size_t{1} << 20;
  if (keys < asked || bytes < 16 || bytes % 8 != 0 || threads == 0 || turns == 0) {
    std::fputs("usage: bench_bucket_bounds [keys, 1048576 or more [bytes of a record, by eights, 16 or more [threads "
               "[rounds]]]]\n",
               stderr);
    return 2;
  }
  const lines_of in(keys, bytes);
  if (!in.ok()) {
    std::fputs("bench_bucket_bounds: no memory\n", stderr);
    return 2;
  }
  std::printf("%zu keys, records of %zu bytes, %u threads, million a second, medians of %llu rounds\n", keys, bytes,
              threads, static_cast<unsigned long long>(turns));
  std::vector<word> all(asked);
  bench::random_numbers random(1, keys);
  for (word& key : all) key = random.next();
  measure(in, all, threads, turns);
  return 0;
}
