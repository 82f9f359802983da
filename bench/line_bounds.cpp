// SPDX-License-Identifier: Apache-2.0
// What a table with a line of tags and a slot elsewhere cannot do without, for text keys of the bench: the loads and the locked
// instructions alone. There is no comparison, no wrong tag, no record, no guard and no counter. No such table is faster.
//   bench_line_bounds [keys [words|12-40 [slot bytes [threads [rounds]]]]]
#include <cubby/iceberg.hpp>

#include <atomic>
#include <cstdio>
#include <string>
#include <vector>

#include "made_texts.hpp"
#include "rounds.hpp"

namespace {

using word = std::uint64_t;
constexpr unsigned slots_of_line = 56;

/// Lines of 64 bytes, each with 56 slots, in huge pages.
struct lines_and_slots {
  lines_and_slots(std::size_t keys, std::size_t bytes_of_slot)
      : count(keys / 47 + 1), slot_words(bytes_of_slot / 8), // three quarters of 63 slots
        lines(cubby::detail::memory::allocate(count * 64)),
        slots(cubby::detail::memory::allocate(count * slots_of_line * bytes_of_slot)) {
    for (std::size_t at = 0; at < lines.bytes; at += 64) *reinterpret_cast<word*>(lines.address + at) = 2;
    for (std::size_t at = 0; at < slots.bytes; at += 4096) *reinterpret_cast<word*>(slots.address + at) = 2;
  }
  ~lines_and_slots() {
    cubby::detail::memory::release(lines);
    cubby::detail::memory::release(slots);
  }
  lines_and_slots(const lines_and_slots&) = delete;
  lines_and_slots& operator=(const lines_and_slots&) = delete;
  std::uint64_t count;
  std::size_t slot_words;
  cubby::detail::memory::region lines;
  cubby::detail::memory::region slots;
};

enum class work { hash, tags, slot, change };

/// One operation. The result depends on what was read, so that nothing is left out.
template <work What> word one(const lines_and_slots& in, const std::string& key) {
  const word hash = cubby::hash_bytes(key.data(), key.size(), 1);
  if constexpr (What == work::hash) return hash;
  const auto place = cubby::detail::cpu::multiply(hash, in.count);
  auto* const line = reinterpret_cast<word*>(in.lines.address) + place.high * 8;
  std::atomic_ref<word> state(*line);
  word seen = state.load(std::memory_order_acquire);
  if constexpr (What == work::tags) return seen;
  // The slot depends on the line, as it does on its tags.
  const word number = place.high * slots_of_line + (place.low >> 32) * slots_of_line / 4294967296 + (seen & 1);
  std::atomic_ref<word> slot(reinterpret_cast<word*>(in.slots.address)[number * in.slot_words]);
  if constexpr (What == work::slot) return slot.load(std::memory_order_acquire);
  while (!state.compare_exchange_weak(seen, seen | 4, std::memory_order_acquire)) seen = 2;
  slot.store(hash, std::memory_order_release);
  state.store(2, std::memory_order_seq_cst);
  return seen;
}

template <work What>
double million_a_second(const lines_and_slots& in, const std::vector<std::string>& keys, unsigned threads) {
  std::atomic<word> sum{0};
  const double seconds = bench::together(threads, [&](unsigned t) {
    word mine = 0;
    const std::size_t end = keys.size() * (t + 1) / threads;
    for (std::size_t i = keys.size() * t / threads; i < end; ++i) mine += one<What>(in, keys[i]);
    sum += mine; // else the compiler would leave the loads out
  });
  return static_cast<double>(keys.size()) / seconds * 1e-6;
}

} // namespace

int main(int count, char** words) {
  const std::size_t keys = bench::number(count, words, 1, 500'000);
  const char* const kind = count > 2 ? words[2] : "words";
  const std::size_t bytes = bench::number(count, words, 3, 32);
  const auto threads = static_cast<unsigned>(bench::number(count, words, 4, 2));
  const std::uint64_t turns = bench::number(count, words, 5, 5);
  const bench::text_of_number text = bench::text_of_kind(kind);
  if (text == nullptr || keys == 0 || bytes < 8 || threads == 0) {
    std::fputs("usage: bench_line_bounds [keys [words|12-40 [slot bytes [threads [rounds]]]]]\n", stderr);
    return 2;
  }
  const lines_and_slots in(keys, bytes);
  if (in.lines.address == nullptr || in.slots.address == nullptr) {
    std::fputs("bench_line_bounds: no memory\n", stderr);
    return 2;
  }
  std::vector<std::string> asked(std::size_t{1} << 20);
  bench::random_numbers random(1, keys);
  for (auto& key : asked) key = text(random.next(), 1);
  bench::rounds rates[4];
  for (std::uint64_t turn = 0; turn < turns; ++turn) {
    rates[0].add(million_a_second<work::hash>(in, asked, threads));
    rates[1].add(million_a_second<work::tags>(in, asked, threads));
    rates[2].add(million_a_second<work::slot>(in, asked, threads));
    rates[3].add(million_a_second<work::change>(in, asked, threads));
  }
  const char* const names[] = {"the hash", "and a line of tags", "and a slot", "and a lock around a store to the slot"};
  std::printf("%zu keys (%s), slots of %zu bytes, %u threads, million a second, medians of %llu rounds\n", keys, kind,
              bytes, threads, static_cast<unsigned long long>(turns));
  for (int i = 0; i < 4; ++i) std::printf("%-40s %8.2f %4.0f%%\n", names[i], rates[i].median(), rates[i].spread());
  return 0;
}
