// SPDX-License-Identifier: Apache-2.0
// What a plain lookup by tags costs: a line of tags for each bucket, slots elsewhere, as `iceberg` has them, and nothing else. A key is
// its hash. There is no version, no guard, no back yard, no growth and no count, and what finds no slot is left out. A text of more than 23 bytes
// has a record, which is never freed. A change locks the line of its key as `iceberg` does; only keys for which the plain table has a slot are changed. Beside
// it `iceberg`, `dlht`, Boost's map if its headers are unpacked, and a line alone, in the same loops. All lookups are before all changes.
//   bench_tag_bounds [keys [8|words|12-40 [percent of the slots [threads [rounds]]]]]
#include <cubby/dlht.hpp>
#include <cubby/iceberg.hpp>
#include <cubby/map.hpp>

#if __has_include(<boost/unordered/concurrent_flat_map.hpp>)
#include <boost/unordered/concurrent_flat_map.hpp>
#define BENCH_HAS_BOOST 1
#else
#define BENCH_HAS_BOOST 0
#endif

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "made_texts.hpp"
#include "rounds.hpp"

namespace {

namespace yards = cubby::detail::engines::iceberg;
namespace memory = cubby::detail::memory;
using cubby::detail::prefetch_line;
using word = std::uint64_t;
constexpr std::size_t in_call = 32;
constexpr std::size_t asked = std::size_t{1} << 20;

word hash_of(const std::string& key) { return cubby::hash_bytes(key.data(), key.size(), 1); }
word hash_of(word key) { return cubby::mix(key); }
bool has_record(const std::string& key) { return key.size() > 23; }
bool has_record(word) { return false; }

/// Slots of so many words, of which the first is the hash of the key, and the second its value.
template <std::size_t Words> struct alignas(Words * 8) slot {
  using tag = std::conditional_t<Words == 2, std::uint8_t, std::uint16_t>;
  word of[Words];
};
template <class Key> using slot_for = slot<std::is_same_v<Key, word> ? 2 : 4>;

template <class Key> class plain {
  using slot_type = slot_for<Key>;

public:
  static constexpr const char* name = "tags and slots alone";
  plain(std::size_t keys, unsigned percent)
      : fronts_(keys * 800 / percent / (9 * yards::front_slots<slot_type>)+1),
        lines_(memory::allocate(fronts_ * sizeof(yards::front_line))),
        slots_(memory::allocate(fronts_ * yards::front_slots<slot_type> * sizeof(slot_type))),
        records_(memory::allocate(std::is_same_v<Key, word> ? 64 : (keys + asked) * 64)) {
    if (lines_.address == nullptr || slots_.address == nullptr || records_.address == nullptr) std::abort();
  }
  ~plain() {
    for (memory::region* const one : {&lines_, &slots_, &records_}) memory::release(*one);
  }
  plain(const plain&) = delete;
  plain& operator=(const plain&) = delete;

  bool insert(const Key& key, word value) {
    const yards::hashed h = asked_for(key);
    yards::front_line& line = line_of(h);
    const word state = yards::lock_line(line);
    const word empty = yards::empty_slots<slot_type>(line, unit_);
    const bool is_new = among(key, h, yards::tagged_slots<slot_type>(line, h.tag, unit_)) == nullptr && empty != 0;
    if (is_new) {
      const unsigned at = yards::best_slot<slot_type>(h, [&](word some) { return empty & some; });
      slot_type& s = slots_of(h)[at];
      s.of[0] = h.hash;
      s.of[1] = value;
      if (has_record(key)) record(value) = h.hash;
      yards::show_tag<slot_type>(line, at, h.tag);
    }
    yards::unlock_changed(line, state);
    return is_new;
  }
  [[nodiscard]] word find(const Key& key) const {
    const yards::hashed h = asked_for(key);
    const slot_type* const s = among(key, h, yards::tagged_slots<slot_type>(line_of(h), h.tag, unit_));
    return s == nullptr ? 0 : s->of[1];
  }
  /// Gives a key that is there a value. No other key takes its slot meanwhile.
  bool assign(const Key& key, word value) {
    const yards::hashed h = asked_for(key);
    yards::front_line& line = line_of(h);
    slot_type* const s = among(key, h, yards::tagged_slots<slot_type>(line, h.tag, unit_));
    if (s == nullptr) return false;
    const word state = yards::lock_line(line);
    s->of[3 % slot_words] = value; // not the number of its record
    yards::unlock_changed(line, state);
    return true;
  }
  bool erase(const Key& key) {
    const yards::hashed h = asked_for(key);
    yards::front_line& line = line_of(h);
    slot_type* const s = among(key, h, yards::tagged_slots<slot_type>(line, h.tag, unit_));
    if (s == nullptr) return false;
    const word state = yards::lock_line(line);
    yards::hide_tag<slot_type>(line, static_cast<unsigned>(s - slots_of(h)));
    yards::unlock_changed(line, state);
    return true;
  }
  word find_many(const Key* keys, std::size_t count) const {
    yards::hashed h[in_call];
    word masks[in_call];
    word sum = 0;
    for (std::size_t i = 0; i < count; ++i) {
      h[i] = yards::hashed_for<slot_type>(hash_of(keys[i]), fronts_);
      prefetch_line(&line_of(h[i]));
    }
    for (std::size_t i = 0; i < count; ++i) {
      masks[i] = yards::tagged_slots<slot_type>(line_of(h[i]), h[i].tag, unit_);
      if (masks[i] != 0) prefetch_line(&slots_of(h[i])[cubby::detail::cpu::lowest_bit(masks[i])]);
    }
    for (std::size_t i = 0; i < count; ++i) {
      const slot_type* const s = among(keys[i], h[i], masks[i]);
      if (s != nullptr) sum += s->of[1];
    }
    return sum;
  }

private:
  static constexpr std::size_t slot_words = sizeof(slot_type) / sizeof(word);
  yards::hashed asked_for(const Key& key) const {
    const yards::hashed h = yards::hashed_for<slot_type>(hash_of(key), fronts_);
    prefetch_line(&slots_of(h)[yards::preferred_slot<slot_type>(h)]);
    return h;
  }
  slot_type* among(const Key& key, const yards::hashed& h, word mask) const {
    for (; mask != 0; mask &= mask - 1) {
      slot_type& s = slots_of(h)[cubby::detail::cpu::lowest_bit(mask)];
      if (s.of[0] != h.hash) continue;
      return has_record(key) && record(s.of[1]) != h.hash ? nullptr : &s;
    }
    return nullptr;
  }
  yards::front_line& line_of(const yards::hashed& h) const {
    return reinterpret_cast<yards::front_line*>(lines_.address)[h.residue];
  }
  slot_type* slots_of(const yards::hashed& h) const {
    return reinterpret_cast<slot_type*>(slots_.address) + h.residue * yards::front_slots<slot_type>;
  }
  word& record(word number) const { return *reinterpret_cast<word*>(records_.address + number * 64); }

  word fronts_;
  cubby::detail::tags::unit unit_ = cubby::detail::tags::widest();
  memory::region lines_, slots_, records_;
};

/// One line for each key, as the engine `limit` of `cubby bench`.
template <class Key> class line_alone {
public:
  static constexpr const char* name = "a line alone";
  line_alone(std::size_t keys, unsigned) : count_(keys), lines_(memory::allocate(keys * 64)) {
    if (lines_.address == nullptr) std::abort();
  }
  ~line_alone() { memory::release(lines_); }
  line_alone(const line_alone&) = delete;
  line_alone& operator=(const line_alone&) = delete;
  bool insert(const Key& key, word value) { return change(key, 1, value); }
  [[nodiscard]] word find(const Key& key) const { return line_of(key)[1]; }
  bool assign(const Key& key, word value) { return change(key, 1, value); }
  bool erase(const Key& key) { return change(key, 2, 0); }
  word find_many(const Key* keys, std::size_t count) const {
    word sum = 0;
    const word* lines[in_call];
    for (std::size_t i = 0; i < count; ++i) prefetch_line(lines[i] = line_of(keys[i]));
    for (std::size_t i = 0; i < count; ++i) sum += lines[i][1];
    return sum;
  }

private:
  bool change(const Key& key, unsigned at, word value) {
    word* const line = line_of(key);
    auto& lock = *reinterpret_cast<yards::front_line*>(line);
    const word state = yards::lock_line(lock);
    line[at] = value;
    yards::unlock_changed(lock, state);
    return true;
  }
  word* line_of(const Key& key) const {
    return reinterpret_cast<word*>(lines_.address + cubby::detail::cpu::multiply(hash_of(key), count_).high * 64);
  }
  word count_;
  memory::region lines_;
};

template <class Key, class Engine> class ours {
public:
  static constexpr const char* name = std::is_same_v<Engine, cubby::iceberg> ? "iceberg" : "dlht";
  ours(std::size_t keys, unsigned percent) : map_(options_for(keys, percent)) {}
  bool insert(const Key& key, word value) { return map_.insert(key, value); }
  [[nodiscard]] word find(const Key& key) const { return map_.find(key).value_or(0); }
  bool assign(const Key& key, word value) { return !map_.insert_or_assign(key, value); }
  bool erase(const Key& key) { return map_.erase(key); }
  word find_many(const Key* keys, std::size_t count) const {
    word values[in_call];
    bool found[in_call];
    return map_.find_batch(std::span<const Key>(keys, count), std::span<word>(values), std::span<bool>(found));
  }

private:
  using map_type = cubby::map<Key, word, Engine>;
  static auto options_for(std::size_t keys, unsigned percent) {
    typename Engine::options o;
    o.capacity = keys;
    if constexpr (std::is_same_v<Engine, cubby::iceberg>) o.grow_at = percent;
    return o;
  }
  map_type map_;
};

#if BENCH_HAS_BOOST
struct boost_hash {
  using is_avalanching = void;
  template <class Key> std::size_t operator()(const Key& key) const { return hash_of(key); }
};
template <class Key> class boosts {
public:
  static constexpr const char* name = "boost::concurrent_flat_map";
  boosts(std::size_t keys, unsigned) { map_.reserve(keys); }
  bool insert(const Key& key, word value) { return map_.emplace(key, value); }
  bool assign(const Key& key, word value) { return !map_.insert_or_assign(key, value); }
  bool erase(const Key& key) { return map_.erase(key) != 0; }
  [[nodiscard]] word find(const Key& key) const {
    word out = 0;
    map_.cvisit(key, [&](const auto& entry) { out = entry.second; });
    return out;
  }
  word find_many(const Key* keys, std::size_t count) const {
    word sum = 0;
    map_.cvisit(keys, keys + count, [&](const auto& entry) { sum += entry.second; });
    return sum;
  }

private:
  boost::concurrent_flat_map<Key, word, boost_hash> map_;
};
#endif

/// The keys that are asked for.
template <class Key> struct questions {
  std::vector<Key> present, absent;
  std::vector<Key> kept, fresh; // of the former and the latter, those that each table can assign, or insert and erase
  std::size_t keys = 0;         // of the table
};

struct figures {
  bench::rounds find, miss, find_many, miss_many, upsert, insert_erase;
};

template <class Table, class Key>
void look(const Table& table, const questions<Key>& q, unsigned threads, figures& out) {
  const auto one = [&](const Key* key, std::size_t) { return table.find(*key); };
  const auto many = [&](const Key* keys, std::size_t n) { return table.find_many(keys, n); };
  out.find.add(bench::million_a_second(q.present, 1, threads, one));
  out.miss.add(bench::million_a_second(q.absent, 1, threads, one));
  out.find_many.add(bench::million_a_second(q.present, in_call, threads, many));
  out.miss_many.add(bench::million_a_second(q.absent, in_call, threads, many));
}
template <class Table, class Key>
void change(Table& table, const questions<Key>& q, unsigned threads, figures& out) {
  const auto number_of = [&](const Key* key, const std::vector<Key>& of) { return static_cast<word>(key - of.data()); };
  const auto assign = [&](const Key* key, std::size_t) -> word { return table.assign(*key, number_of(key, q.kept)); };
  const auto insert_and_erase = [&](const Key* key, std::size_t) -> word {
    return table.insert(*key, q.keys + number_of(key, q.fresh)) && table.erase(*key);
  };
  out.upsert.add(bench::million_a_second(q.kept, 1, threads, assign));
  out.insert_erase.add(2 * bench::million_a_second(q.fresh, 1, threads, insert_and_erase)); // two changes a key
}
void print(const char* name, const figures& f) {
  std::printf("%-27s", name);
  for (const bench::rounds* one : {&f.find, &f.miss, &f.find_many, &f.miss_many, &f.upsert, &f.insert_erase})
    std::printf(" %6.2f %3.0f%%", one->median(), one->spread());
  std::printf("\n");
}

struct plan {
  std::size_t keys;
  unsigned percent;
  unsigned threads;
  word turns;
};

/// Chooses the keys that each table can change. The tables have the same keys afterwards.
template <class Key, class Make, class... Tables>
void choose_keys_to_change(questions<Key>& q, const Make& make, Tables&... tables) {
  for (const Key& key : q.present)
    if ((tables.assign(key, 1) && ...)) q.kept.push_back(key);
  for (word i = 0; i < 16 * asked && q.fresh.size() < asked; ++i) {
    const Key key = make(q.keys + i);
    const word value = q.keys + q.fresh.size();
    if (((tables.insert(key, value) && tables.erase(key)) && ...)) q.fresh.push_back(key);
  }
}

/// All tables are there at the same time, and take turns.
template <class Key, class Make, template <class> class... Tables> void run(const plan& p, const Make& make) {
  const std::tuple tables{std::make_unique<Tables<Key>>(p.keys, p.percent)...};
  questions<Key> q;
  q.keys = p.keys;
  bench::random_numbers random(1, p.keys);
  for (std::size_t i = 0; i < asked; ++i) {
    q.present.push_back(make(random.next()));
    q.absent.push_back(make(p.keys + i));
  }
  figures all[sizeof...(Tables)];
  std::apply(
      [&](auto&... one) {
        for (word i = 0; i < p.keys; ++i) {
          const Key key = make(i);
          (one->insert(key, i), ...);
        }
        const auto in_turns = [&](const auto& f) {
          for (word turn = 0; turn < p.turns; ++turn) {
            std::size_t number = 0;
            (f(*one, all[number++]), ...);
          }
        };
        in_turns([&](auto& table, figures& out) { look(table, q, p.threads, out); });
        choose_keys_to_change(q, make, *one...);
        in_turns([&](auto& table, figures& out) { change(table, q, p.threads, out); });
        std::size_t number = 0;
        (print(one->name, all[number++]), ...);
      },
      tables);
}

template <class Key> using icebergs = ours<Key, cubby::iceberg>;
template <class Key> using dlhts = ours<Key, cubby::dlht>;

template <class Key, class Make> void run_all(const plan& p, const Make& make) {
#if BENCH_HAS_BOOST
  run<Key, Make, line_alone, plain, icebergs, dlhts, boosts>(p, make);
#else
  run<Key, Make, line_alone, plain, icebergs, dlhts>(p, make);
#endif
}

} // namespace

int main(int count, char** words) {
  const char* const kind = count > 2 ? words[2] : "words";
  const plan p{bench::number(count, words, 1, 500'000), static_cast<unsigned>(bench::number(count, words, 3, 75)),
               static_cast<unsigned>(bench::number(count, words, 4, 2)), bench::number(count, words, 5, 5)};
  const bool numbers = std::string_view(kind) == "8";
  const bench::text_of_number text = numbers ? nullptr : bench::text_of_kind(kind);
  if ((!numbers && text == nullptr) || p.keys == 0 || p.percent == 0 || p.percent > 97 || p.threads == 0) {
    std::fputs("usage: bench_tag_bounds [keys [8|words|12-40 [percent of the slots [threads [rounds]]]]]\n", stderr);
    return 2;
  }
  std::printf("%zu keys (%s), %u %% of the slots, %u threads, million a second, medians of %llu rounds\n", p.keys, kind,
              p.percent, p.threads, static_cast<unsigned long long>(p.turns));
  std::printf("%-27s", "");
  for (const char* const column : {"find", "miss", "find, 32", "miss, 32", "upsert", "insdel"})
    std::printf("%12s", column);
  std::printf("\n");
  if (numbers) run_all<word>(p, [](word i) { return cubby::mix(i + 1); });
  else run_all<std::string>(p, [&](word i) { return std::string(text(i, 1)); });
  return 0;
}
