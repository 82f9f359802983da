// SPDX-License-Identifier: Apache-2.0
// Fills the lists of operations, each thread's from a random sequence of its own.
#include "streams.hpp"

#include <algorithm>
#include <exception>
#include <thread>

#include "zipf.hpp"

namespace bench {

namespace {

// The share of operations that are not finds, in percent, and what they are.
struct mix {
  unsigned writes;
  verb write;
};

mix mix_of(kind what) {
  switch (what) {
  case kind::put:
  case kind::ycsb_a: return {50, verb::assign};
  case kind::ycsb_b: return {5, verb::assign};
  case kind::ycsb_d: return {5, verb::insert};
  case kind::ycsb_f: return {50, verb::modify};
  default: return {0, verb::find};
  }
}

template <class K> struct maker {
  const key_set<K>& keys;
  const stream_order& order;
  random_words random;
  std::size_t thread;
  stream<K> made{};

  void finds() {
    const std::size_t hot = std::min(hot_keys, keys.count);
    const auto share = static_cast<std::size_t>(order.of.hot_percent);
    for (std::size_t i = 0; i < order.operations; ++i) {
      if (order.of.what == kind::miss)
        made.keys.push_back(keys.absent(random.below(std::max(keys.count, order.operations))));
      else if (random.below(100) < share) made.keys.push_back(keys.present(random.below(hot)));
      else made.keys.push_back(keys.present(random.below(keys.count)));
    }
  }

  // An absent key goes in and out again; no two threads share one (paper, section 4).
  void pairs() {
    for (std::size_t i = 0; i < order.operations / 2; ++i) {
      const std::size_t number = thread * order.operations + i;
      made.keys.push_back(keys.absent(number));
      made.keys.push_back(keys.absent(number));
      made.verbs.push_back(verb::insert);
      made.verbs.push_back(verb::erase);
    }
  }

  void all_of(verb what) {
    for (std::size_t i = 0; i < order.operations; ++i) made.keys.push_back(keys.present(random.below(keys.count)));
    made.verbs.assign(order.operations, what);
  }

  // The paper's skewed writes (DRAMHiT, section 4.3): popular keys by Zipf over all keys of the table.
  void skewed_adds(const zipf& rank) {
    for (std::size_t i = 0; i < order.operations; ++i) made.keys.push_back(keys.present(rank.next(random)));
    made.verbs.assign(order.operations, verb::modify);
  }

  void alternate() {
    for (std::size_t i = 0; i < order.operations; ++i) {
      made.keys.push_back(keys.present(random.below(keys.count)));
      made.verbs.push_back(i % 2 == 0 ? verb::find : verb::assign);
    }
  }

  void popular(const scrambled_zipf& item) {
    const mix m = mix_of(order.of.what);
    for (std::size_t i = 0; i < order.operations; ++i) {
      made.keys.push_back(keys.present(item.next(random)));
      if (m.writes != 0) made.verbs.push_back(random.below(100) < m.writes ? m.write : verb::find);
    }
  }

  // Finds count back from the newest key: those this thread has inserted so far, then the table's from its last on.
  void latest(const zipf& rank) {
    const mix m = mix_of(order.of.what);
    std::size_t inserted = 0;
    for (std::size_t i = 0; i < order.operations; ++i) {
      if (random.below(100) < m.writes) {
        made.keys.push_back(keys.absent(thread * order.operations + inserted++));
        made.verbs.push_back(m.write);
        continue;
      }
      const std::size_t back = rank.next(random);
      made.keys.push_back(back < inserted ? keys.absent(thread * order.operations + inserted - 1 - back)
                                          : keys.present(keys.count - 1 - (back - inserted) % keys.count));
      made.verbs.push_back(verb::find);
    }
  }

  // This thread's share of all keys, in order of their number (which says nothing about their hash).
  void everything() {
    const std::size_t from = keys.count * thread / order.threads;
    const std::size_t to = keys.count * (thread + 1) / order.threads;
    for (std::size_t i = from; i < to; ++i) made.keys.push_back(keys.present(i));
    made.verbs.assign(to - from, verb::insert);
  }

  // An updater inserts its share of the keys that are not there at first, and erases it again if the table shall shrink;
  // the other threads find keys that stay.
  void beside_finds() {
    const std::size_t updaters = order.updaters;
    const std::size_t stay = keys_that_stay(order.of, keys.count);
    if (thread >= updaters) {
      for (std::size_t i = 0; i < order.operations; ++i) made.keys.push_back(keys.present(random.below(stay)));
      return;
    }
    const std::size_t from = stay + (keys.count - stay) * thread / updaters;
    const std::size_t to = stay + (keys.count - stay) * (thread + 1) / updaters;
    add_all(from, to, verb::insert);
    if (order.of.what == kind::grow_shrink) add_all(from, to, verb::erase);
  }

  void add_all(std::size_t from, std::size_t to, verb what) {
    for (std::size_t i = from; i < to; ++i) made.keys.push_back(keys.present(i));
    made.verbs.insert(made.verbs.end(), to - from, what);
  }

  void make() {
    if (!wants_fresh_table(order.of)) made.keys.reserve(order.operations);
    switch (order.of.what) {
    case kind::insdel: return pairs();
    case kind::put: return alternate();
    case kind::upsert: return all_of(verb::upsert);
    case kind::add: return all_of(verb::modify);
    case kind::add_zipf: return skewed_adds(zipf(keys.count, skewed_theta));
    case kind::populate: return everything();
    case kind::resize:
    case kind::grow_shrink: return beside_finds();
    case kind::ycsb_d: return latest(zipf(keys.count));
    case kind::ycsb_a:
    case kind::ycsb_b:
    case kind::ycsb_c:
    case kind::ycsb_f: return popular(scrambled_zipf(keys.count));
    default: return finds();
    }
  }
};

} // namespace

template <class K> std::unique_ptr<op_streams> make_streams(const key_set<K>& keys, const stream_order& order) {
  auto all = std::make_unique<typed_streams<K>>();
  all->of = order.of;
  all->threads.resize(order.threads);
  std::vector<std::jthread> makers;
  std::vector<std::exception_ptr> failed(order.threads);
  for (std::size_t t = 0; t < order.threads; ++t)
    makers.emplace_back([&, t] {
      try {
        maker<K> one{keys, order, random_words(scramble(order.seed + 1) + t), t};
        one.make();
        all->threads[t] = std::move(one.made);
      } catch (...) { // no memory, most likely
        failed[t] = std::current_exception();
      }
    });
  makers.clear();
  for (const std::exception_ptr& one : failed)
    if (one != nullptr) std::rethrow_exception(one);
  return all;
}

template std::unique_ptr<op_streams> make_streams(const key_set<std::uint64_t>&, const stream_order&);
template std::unique_ptr<op_streams> make_streams(const key_set<block<16>>&, const stream_order&);
template std::unique_ptr<op_streams> make_streams(const key_set<block<32>>&, const stream_order&);
template std::unique_ptr<op_streams> make_streams(const key_set<block<64>>&, const stream_order&);
template std::unique_ptr<op_streams> make_streams(const key_set<block<128>>&, const stream_order&);
template std::unique_ptr<op_streams> make_streams(const key_set<block<256>>&, const stream_order&);
template std::unique_ptr<op_streams> make_streams(const key_set<std::string>&, const stream_order&);

} // namespace bench
