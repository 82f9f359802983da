// SPDX-License-Identifier: Apache-2.0
// What a table with a line of tags and a slot elsewhere cannot do without, for keys of the bench: the loads and the locked
// instructions alone. There is no comparison, no wrong tag, no record, no guard and no counter. One key a call, and calls of 32. A
// table that guesses the slot from the hash can look an entry up sooner. `8` are keys of 8 bytes.
//   bench_line_bounds [keys [8|words|12-40 [slot bytes [threads [rounds]]]]]
#include <cubby/iceberg.hpp>

#include <atomic>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "made_texts.hpp"
#include "rounds.hpp"

namespace {

using word = std::uint64_t;
constexpr unsigned slots_of_line = 56;
constexpr std::size_t in_call = 32;

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

enum class work { hash, tags, slot, change, written };

word hash_of(const std::string& key) { return cubby::hash_bytes(key.data(), key.size(), 1); }
word hash_of(word key) { return cubby::mix(key); }

/// Where an operation reads. The slot depends on the line, as it does on its tags.
struct position {
  word hash = 0;
  word* line = nullptr;
  word slot_of_line = 0; // the number of the slot if the line were not read
};
position position_of(const lines_and_slots& in, word hash) {
  const auto at = cubby::detail::cpu::multiply(hash, in.count);
  return {hash, reinterpret_cast<word*>(in.lines.address) + at.high * 8,
          at.high * slots_of_line + (at.low >> 32) * slots_of_line / 4294967296};
}
word* slot_at(const lines_and_slots& in, const position& p, word seen) {
  return reinterpret_cast<word*>(in.slots.address) + (p.slot_of_line + (seen & 1)) * in.slot_words;
}
word look(word* at) { return std::atomic_ref(*at).load(std::memory_order_acquire); }
/// `written`: the line of the slot is written back before others see the change, as in a file on directly mapped memory.
template <work What> word change(const position& p, word* slot, word seen) {
  std::atomic_ref<word> state(*p.line);
  while (!state.compare_exchange_weak(seen, seen | 4, std::memory_order_acquire)) seen = 2;
  std::atomic_ref<word>(*slot).store(p.hash, std::memory_order_release);
  if constexpr (What == work::written) {
    static const cubby::detail::persist::medium medium(cubby::persistence::line);
    medium.write_back(slot, sizeof(word));
    medium.drain();
  }
  state.store(2, std::memory_order_seq_cst);
  return seen;
}

/// One operation. The result depends on what was read, so that nothing is left out.
template <work What, class Key> word one(const lines_and_slots& in, const Key& key) {
  const word hash = hash_of(key);
  if constexpr (What == work::hash) return hash;
  const position p = position_of(in, hash);
  const word seen = look(p.line);
  if constexpr (What == work::tags) return seen;
  word* const slot = slot_at(in, p, seen);
  return What == work::slot ? look(slot) : change<What>(p, slot, seen);
}
/// A call of several operations: all lines are asked for, then all slots.
template <work What, class Key> word several(const lines_and_slots& in, const Key* keys, std::size_t count) {
  position positions[in_call];
  word* slots[in_call];
  word seen[in_call];
  word sum = 0;
  for (std::size_t i = 0; i < count; ++i) {
    positions[i] = position_of(in, hash_of(keys[i]));
    cubby::detail::prefetch_line(positions[i].line);
  }
  for (std::size_t i = 0; i < count; ++i) {
    sum += seen[i] = look(positions[i].line);
    if constexpr (What != work::tags) cubby::detail::prefetch_line(slots[i] = slot_at(in, positions[i], seen[i]));
  }
  for (std::size_t i = 0; What != work::tags && i < count; ++i)
    sum += What == work::slot ? look(slots[i]) : change<What>(positions[i], slots[i], seen[i]);
  return sum;
}

constexpr const char* ways[] = {"the hash",
                                "and a line of tags",
                                "and a slot",
                                "and a lock around a store to the slot",
                                "and a write-back of that store",
                                "32 a call: a line of tags",
                                "and a slot",
                                "and a lock around a store to the slot",
                                "and a write-back of that store"};

template <class Key>
void measure(const lines_and_slots& in, const std::vector<Key>& asked, unsigned threads, std::uint64_t turns) {
  bench::rounds rates[std::size(ways)];
  const auto single = [&]<work What>(bench::rounds& out) {
    out.add(
        bench::million_a_second(asked, 1, threads, [&](const Key* key, std::size_t) { return one<What>(in, *key); }));
  };
  const auto batch = [&]<work What>(bench::rounds& out) {
    out.add(bench::million_a_second(asked, in_call, threads,
                                    [&](const Key* keys, std::size_t n) { return several<What>(in, keys, n); }));
  };
  for (std::uint64_t turn = 0; turn < turns; ++turn) {
    single.template operator()<work::hash>(rates[0]);
    single.template operator()<work::tags>(rates[1]);
    single.template operator()<work::slot>(rates[2]);
    single.template operator()<work::change>(rates[3]);
    single.template operator()<work::written>(rates[4]);
    batch.template operator()<work::tags>(rates[5]);
    batch.template operator()<work::slot>(rates[6]);
    batch.template operator()<work::change>(rates[7]);
    batch.template operator()<work::written>(rates[8]);
  }
  for (std::size_t i = 0; i < std::size(ways); ++i)
    std::printf("%-40s %8.2f %4.0f%%\n", ways[i], rates[i].median(), rates[i].spread());
}

} // namespace

int main(int count, char** words) {
  const std::size_t keys = bench::number(count, words, 1, 500'000);
  const char* const kind = count > 2 ? words[2] : "words";
  const std::size_t bytes = bench::number(count, words, 3, 32);
  const auto threads = static_cast<unsigned>(bench::number(count, words, 4, 2));
  const std::uint64_t turns = bench::number(count, words, 5, 5);
  const bool numbers = std::string_view(kind) == "8";
  const bench::text_of_number text = numbers ? nullptr : bench::text_of_kind(kind);
  if ((!numbers && text == nullptr) || keys == 0 || bytes < 8 || threads == 0) {
    std::fputs("usage: bench_line_bounds [keys [8|words|12-40 [slot bytes [threads [rounds]]]]]\n", stderr);
    return 2;
  }
  const lines_and_slots in(keys, bytes);
  if (in.lines.address == nullptr || in.slots.address == nullptr) {
    std::fputs("bench_line_bounds: no memory\n", stderr);
    return 2;
  }
  std::printf("%zu keys (%s), slots of %zu bytes, %u threads, million a second, medians of %llu rounds\n", keys, kind,
              bytes, threads, static_cast<unsigned long long>(turns));
  constexpr std::size_t asked = std::size_t{1} << 22;
  bench::random_numbers random(1, keys);
  if (numbers) {
    std::vector<word> all(asked);
    for (word& key : all) key = random.next();
    measure(in, all, threads, turns);
  } else {
    std::vector<std::string> all(asked);
    for (std::string& key : all) key = text(random.next(), 1);
    measure(in, all, threads, turns);
  }
  return 0;
}
