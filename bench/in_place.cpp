// SPDX-License-Identifier: Apache-2.0
// Values that are changed in place, beside the maps that are known for it: Boost's node and flat maps, libcuckoo and oneTBB. A value is
// eight counters (64 bytes), or a vector that gets one more number. All tables are filled to the same entries, without space asked for.
//   bench_in_place [million entries] [threads] [rounds]
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include <libcuckoo/cuckoohash_map.hh>
#include <oneapi/tbb/concurrent_hash_map.h>

#include <cubby/in_place_map.hpp>

#include "rounds.hpp"

#if __has_include(<boost/unordered/concurrent_node_map.hpp>)
#include <boost/unordered/concurrent_flat_map.hpp>
#include <boost/unordered/concurrent_node_map.hpp>
#endif

namespace {

using word = std::uint64_t;
using counters = std::array<word, 8>;
using list = std::vector<word>;

void touch(counters& v, word n) {
  for (word& one : v) one += n;
}
void touch(list& v, word n) {
  if (v.size() < 16) v.push_back(n); // a list of 16 numbers begins anew
  else v.resize(1);
}
word look(const counters& v) { return v[0] + v[7]; }
word look(const list& v) { return v.size(); }

/// The same hash for all: one that spreads well, so that no table mixes it again.
struct spread {
  using is_avalanching = void;
  std::size_t operator()(word key) const noexcept { return cubby::mix(key); }
};

template <class V> struct in_place {
  static constexpr const char* name = "in_place_map";
  cubby::in_place_map<word, V, cubby::dlht, spread> map;
  void insert(word k) {
    map.insert_or_modify(k, [](V& v) { touch(v, 1); });
  }
  bool change(word k) {
    return map.modify(k, [k](V& v) { touch(v, k); });
  }
  word read(word k) {
    word sum = 0;
    map.visit(k, [&](const V& v) { sum = look(v); });
    return sum;
  }
};
/// The same, 32 keys a call.
template <class V> struct in_place_batch : in_place<V> {
  static constexpr const char* name = "in_place_map, 32 keys a call";
};
/// A map whose change makes a new value.
template <class V> struct copied {
  static constexpr const char* name = "map, update copies";
  cubby::map<word, V, cubby::dlht, spread> map;
  static V changed(const V& old, word n) {
    V v(old);
    touch(v, n);
    return v;
  }
  void insert(word k) {
    map.insert_or_update(k, [](const V& v) { return changed(v, 1); });
  }
  bool change(word k) {
    return map.update(k, [k](const V& v) { return changed(v, k); });
  }
  word read(word k) {
    word sum = 0;
    map.visit(k, [&](const V& v) { sum = look(v); });
    return sum;
  }
};
template <class V> struct cuckoo {
  static constexpr const char* name = "libcuckoo";
  libcuckoo::cuckoohash_map<word, V, spread> map;
  void insert(word k) {
    map.upsert(k, [](V& v) { touch(v, 1); });
  }
  bool change(word k) {
    return map.update_fn(k, [k](V& v) { touch(v, k); });
  }
  word read(word k) {
    word sum = 0;
    map.find_fn(k, [&](const V& v) { sum = look(v); });
    return sum;
  }
};
struct tbb_hash {
  static std::size_t hash(word k) { return cubby::mix(k); }
  static bool equal(word a, word b) { return a == b; }
};
template <class V> struct tbb_map {
  static constexpr const char* name = "oneTBB";
  tbb::concurrent_hash_map<word, V, tbb_hash> map;
  using table = decltype(map);
  void insert(word k) {
    typename table::accessor a;
    if (!map.insert(a, k)) touch(a->second, 1);
  }
  bool change(word k) {
    typename table::accessor a;
    if (!map.find(a, k)) return false;
    touch(a->second, k);
    return true;
  }
  word read(word k) {
    typename table::const_accessor a;
    return map.find(a, k) ? look(a->second) : 0;
  }
};
#ifdef BOOST_UNORDERED_CONCURRENT_NODE_MAP_HPP
template <class Map, class V> struct boost_map {
  Map map;
  void insert(word k) {
    map.try_emplace_or_visit(k, [](auto& e) { touch(e.second, 1); });
  }
  bool change(word k) {
    return map.visit(k, [k](auto& e) { touch(e.second, k); }) != 0;
  }
  word read(word k) {
    word sum = 0;
    map.cvisit(k, [&](const auto& e) { sum = look(e.second); });
    return sum;
  }
};
template <class V> struct boost_flat : boost_map<boost::concurrent_flat_map<word, V, spread>, V> {
  static constexpr const char* name = "Boost, flat";
};
template <class V> struct boost_node : boost_map<boost::concurrent_node_map<word, V, spread>, V> {
  static constexpr const char* name = "Boost, node";
};
#endif

struct figures {
  bench::rounds fill, change, read, mixed, hot;
};
struct wanted {
  std::uint64_t entries;
  unsigned threads;
};

template <class Table, class Pick, class Call> double mops(const wanted& w, Table& t, Pick pick, Call call) {
  const std::uint64_t each = std::max<std::uint64_t>(w.entries / 2, 200'000);
  const double seconds = bench::together(w.threads, [&](unsigned me) {
    bench::random_numbers keys(me * 77 + 5, w.entries);
    word sum = 0;
    for (std::uint64_t n = 0; n < each; ++n) sum += call(t, pick(keys), n);
    asm volatile("" ::"r"(sum));
  });
  return static_cast<double>(each * w.threads) / seconds / 1e6;
}

template <class V, class Table> void take_turn(const wanted& w, figures& out) {
  const auto t = std::make_unique<Table>();
  out.fill.add(static_cast<double>(w.entries) / 1e6 / bench::together(w.threads, [&](unsigned me) {
                 for (std::uint64_t k = me; k < w.entries; k += w.threads) t->insert(k * 0x9e3779b97f4a7c15U);
               }));
  const auto any = [](bench::random_numbers& keys) { return keys.next() * 0x9e3779b97f4a7c15U; };
  const auto few = [](bench::random_numbers& keys) { return keys.next() % 64 * 0x9e3779b97f4a7c15U; };
  const auto change = [](Table& in, word k, std::uint64_t) { return word{in.change(k)}; };
  const auto read = [](Table& in, word k, std::uint64_t) { return in.read(k); };
  const auto both = [&](Table& in, word k, std::uint64_t n) { return n % 10 == 0 ? word{in.change(k)} : in.read(k); };
  out.change.add(mops(w, *t, any, change));
  out.read.add(mops(w, *t, any, read));
  out.mixed.add(mops(w, *t, any, both));
  out.hot.add(mops(w, *t, few, change));
}

/// Changes and reads of 32 keys a call; no other map here has such calls that change.
template <class V> void take_batches(const wanted& w, figures& out) {
  const auto t = std::make_unique<in_place<V>>();
  bench::together(w.threads, [&](unsigned me) {
    for (std::uint64_t k = me; k < w.entries; k += w.threads) t->insert(k * 0x9e3779b97f4a7c15U);
  });
  const auto run = [&](auto call) {
    const std::uint64_t each = std::max<std::uint64_t>(w.entries / 2, 200'000) / 32;
    const double seconds = bench::together(w.threads, [&](unsigned me) {
      bench::random_numbers keys(me * 77 + 5, w.entries);
      std::array<word, 32> asked;
      for (std::uint64_t n = 0; n < each; ++n) {
        for (word& k : asked) k = keys.next() * 0x9e3779b97f4a7c15U;
        call(asked);
      }
    });
    return static_cast<double>(each * 32 * w.threads) / seconds / 1e6;
  };
  out.change.add(run([&](const std::array<word, 32>& asked) {
    t->map.modify_batch(asked, [](std::size_t i, V* v) {
      if (v != nullptr) touch(*v, i);
    });
  }));
  out.read.add(run([&](const std::array<word, 32>& asked) {
    word sum = 0;
    t->map.visit_batch(asked, [&](std::size_t, const V* v) { sum += v != nullptr ? look(*v) : 0; });
    asm volatile("" ::"r"(sum));
  }));
}

void print(const bench::rounds& r) {
  if (r.count() == 0) std::printf(" %8s %4s", "-", "");
  else std::printf(" %8.2f %3.0f%%", r.median(), r.spread());
}
void print(const char* name, const figures& f) {
  std::printf("%-30s", name);
  for (const bench::rounds* r : {&f.fill, &f.change, &f.read, &f.mixed, &f.hot}) print(*r);
  std::printf("\n");
}

template <class V> void measure(const char* what, const wanted& w, std::uint64_t rounds) {
  figures ours, batches, copies, cuckoos, tbbs;
  [[maybe_unused]] figures flat, node;
  for (std::uint64_t r = 0; r < rounds; ++r) {
    take_turn<V, in_place<V>>(w, ours);
    take_turn<V, cuckoo<V>>(w, cuckoos);
    take_turn<V, tbb_map<V>>(w, tbbs);
#ifdef BOOST_UNORDERED_CONCURRENT_NODE_MAP_HPP
    take_turn<V, boost_flat<V>>(w, flat);
    take_turn<V, boost_node<V>>(w, node);
#endif
    take_turn<V, copied<V>>(w, copies);
    take_batches<V>(w, batches);
  }
  std::printf("\n%s\n%-30s %8s %4s %8s %4s %8s %4s %8s %4s %8s\n", what, "Mops/s, +-", "fill", "", "change", "", "read",
              "", "1:9", "", "64 keys");
  print(in_place<V>::name, ours);
  print(in_place_batch<V>::name, batches);
  print(copied<V>::name, copies);
#ifdef BOOST_UNORDERED_CONCURRENT_NODE_MAP_HPP
  print(boost_flat<V>::name, flat);
  print(boost_node<V>::name, node);
#endif
  print(cuckoo<V>::name, cuckoos);
  print(tbb_map<V>::name, tbbs);
}

} // namespace

int main(int count, char** words) {
  const wanted w{bench::number(count, words, 1, 5) * 1'000'000,
                 static_cast<unsigned>(bench::number(count, words, 2, 2))};
  const std::uint64_t rounds = bench::number(count, words, 3, 5);
  std::printf("%llu entries, %u threads, medians of %llu rounds\n"
              "fill: an empty table; change, read: keys at random; 1:9: a change for nine reads; 64 keys: changes of "
              "64 keys alone\n",
              static_cast<unsigned long long>(w.entries), w.threads, static_cast<unsigned long long>(rounds));
  measure<counters>("eight counters", w, rounds);
  measure<list>("a vector of up to 16 numbers", w, rounds);
  return 0;
}
