// SPDX-License-Identifier: Apache-2.0
// A thread of a recorded history: calls verbs of a map and writes down what they did. Two codings: words in slots and
// wide values in records. A torn value becomes a number that nobody wrote, so that the checker refuses it.
#pragma once

#include <cubby/map.hpp>

#include "linearizability/history.hpp"
#include "support/modes.hpp"
#include "support/random.hpp"

namespace cubby_test {

/// Sends all hot keys (below 16) to one bin, so that they share slots and the header; the rest are spread.
struct clustered_hash {
  using is_avalanching = void;
  std::uint64_t operator()(std::uint64_t key) const noexcept { return key < 16 ? 5 : splitmix(key); }
};

template <class Engine, class Hash = cubby::hash<std::uint64_t>>
struct word_coding {
  using value = std::uint64_t;
  using map = cubby::map<std::uint64_t, value, Engine, Hash>;
  static value encode(std::uint64_t n) { return n; }
  static std::uint64_t decode(const value& v) { return v; }
};

template <class Engine, class Hash = cubby::hash<std::uint64_t>>
struct record_coding {
  using value = wide_value;
  using map = cubby::map<std::uint64_t, value, Engine, Hash>;
  static value encode(std::uint64_t n) { return {n, ~n, n * 3}; }
  static std::uint64_t decode(const value& v) { return v == encode(v.number) ? v.number : torn; }
};

template <class Coding>
class client {
public:
  using value = typename Coding::value;
  client(typename Coding::map& m, trace& t) : handle_(m.handle()), trace_(t) {}

  void call(verb what, std::uint64_t key, std::uint64_t number) {
    trace_.take(what, key, number, [&](record& r) {
      switch (what) {
      case verb::find: return find(r);
      case verb::insert: r.ok = handle_.insert(r.key, Coding::encode(number)); return;
      case verb::assign: r.ok = handle_.assign(r.key, Coding::encode(number)); return;
      case verb::erase: r.ok = handle_.erase(r.key); return;
      case verb::extract: return extract(r);
      case verb::insert_or_assign: r.ok = handle_.insert_or_assign(r.key, Coding::encode(number)); return;
      case verb::update: return update(r);
      default: return;
      }
    });
  }

  /// insert_or_update ends as one of two verbs of the model; which one is known afterwards.
  void upsert(std::uint64_t key, std::uint64_t number) {
    trace_.take(verb::insert, key, number, [&](record& r) {
      std::uint64_t before = 0;
      const auto replace = [&](const value& v) {
        before = Coding::decode(v);
        return Coding::encode(number);
      };
      const bool inserted = handle_.insert_or_update(key, replace, Coding::encode(number));
      r.ok = true;
      if (inserted) return;
      r.what = verb::update;
      r.result = before;
    });
  }

  /// compute that erases what it finds, or else inserts.
  void toggle(std::uint64_t key, std::uint64_t number) {
    trace_.take(verb::insert, key, number, [&](record& r) {
      bool found = false;
      std::uint64_t before = 0;
      handle_.compute(key, [&](const value* v) -> cubby::computed<value> {
        found = v != nullptr;
        if (!found) return Coding::encode(number);
        before = Coding::decode(*v);
        return cubby::computed<value>::erase();
      });
      r.ok = true;
      if (!found) return;
      r.what = verb::extract;
      r.result = before;
    });
  }

  void reserve_then(bool commit, std::uint64_t key, std::uint64_t number) {
    auto reservation = decltype(handle_.shadow_insert(key, Coding::encode(number))){};
    bool got = false;
    trace_.take(verb::shadow_insert, key, number, [&](record& r) {
      reservation = handle_.shadow_insert(key, Coding::encode(number));
      r.ok = got = static_cast<bool>(reservation);
    });
    if (!got) return;
    trace_.take(commit ? verb::shadow_commit : verb::shadow_abort, key, number, [&](record& r) {
      commit ? reservation.commit() : reservation.abort();
      r.ok = true;
    });
  }

private:
  void find(record& r) {
    const auto got = handle_.find(r.key);
    r.ok = got.has_value();
    if (got) r.result = Coding::decode(*got);
  }
  void extract(record& r) {
    const auto got = handle_.extract(r.key);
    r.ok = got.has_value();
    if (got) r.result = Coding::decode(*got);
  }
  void update(record& r) {
    r.ok = handle_.update(r.key, [&](const value& v) {
      r.result = Coding::decode(v);
      return Coding::encode(r.argument);
    });
  }

  decltype(std::declval<typename Coding::map&>().handle()) handle_;
  trace& trace_;
};

} // namespace cubby_test
