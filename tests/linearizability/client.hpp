// SPDX-License-Identifier: Apache-2.0
// A thread of a recorded history. It calls verbs of a map and writes down what they did, as one verb of the model each. Where
// the API tells which one it was only afterwards, so does the record. The codings: words in slots, wide values in records, and
// texts for keys. A torn value becomes a number that nobody wrote, so that the checker refuses it.
#pragma once

#include <array>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <cubby/map.hpp>

#include "linearizability/history.hpp"
#include "modes.hpp"
#include "support/random.hpp"

namespace cubby_test {

/// Sends all hot keys (below 16) to one bin, so that they share slots and the header; the rest are spread.
struct clustered_hash {
  using is_avalanching = void;
  std::uint64_t operator()(std::uint64_t key) const noexcept { return key < 16 ? 5 : splitmix(key); }
};

/// Sends them to buckets that are one in the smallest relativistic table: resizes zip and unzip them.
struct zipping_hash {
  using is_avalanching = void;
  std::uint64_t operator()(std::uint64_t key) const noexcept { return key < 16 ? key << 6 : splitmix(key); }
};

/// For insert_or_add; torn when one of the two is.
inline wide_value operator+(const wide_value& a, const wide_value& b) {
  return {a.number + b.number, ~(~a.inverse + ~b.inverse), a.triple + b.triple};
}

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

/// Keys as `slot_text_mode` has them, under the hash that a table of words would use for their numbers.
template <class NumberHash>
struct hash_of_text_keys {
  using is_avalanching = void;
  using is_transparent = void;
  std::uint64_t operator()(std::string_view text) const noexcept {
    std::uint64_t n = 0;
    for (const char c : text.substr(slot_text_mode<cubby::dlht>::before)) {
      if (c < '0' || c > '9') break;
      n = n * 10 + static_cast<std::uint64_t>(c - '0');
    }
    return NumberHash()(n);
  }
};
template <class Engine, class NumberHash>
struct text_coding {
  using value = std::uint64_t;
  using map = cubby::map<std::string, value, Engine, hash_of_text_keys<NumberHash>>;
  static std::string encode_key(std::uint64_t n) { return slot_text_mode<Engine>::key(n); }
  static value encode(std::uint64_t n) { return n; }
  static std::uint64_t decode(const value& v) { return v; }
};
/// The key of a table that stands for a number.
template <class Coding>
auto key_of(std::uint64_t n) {
  if constexpr (requires { Coding::encode_key(n); }) return Coding::encode_key(n);
  else return n;
}

template <class Coding>
class client {
public:
  using value = typename Coding::value;
  using map = typename Coding::map;
  client(map& m, trace& t) : handle_(m.handle()), trace_(t) {}

  void call(verb what, std::uint64_t key, std::uint64_t number) {
    const auto named = key_of<Coding>(key);
    take(what, key, number, [&](record& r) {
      switch (what) {
      case verb::find: return show(r, handle_.find(named));
      case verb::insert: r.ok = handle_.insert(named, Coding::encode(number)); return;
      case verb::assign: r.ok = handle_.assign(named, Coding::encode(number)); return;
      case verb::erase: r.ok = handle_.erase(named); return;
      case verb::extract: return show(r, handle_.extract(named));
      case verb::insert_or_assign: r.ok = handle_.insert_or_assign(named, Coding::encode(number)); return;
      case verb::update: return update(r, named);
      case verb::contains: r.ok = handle_.contains(named); return;
      case verb::add: r.ok = handle_.insert_or_add(named, Coding::encode(number)); return;
      default: return;
      }
    });
  }

  void visit(std::uint64_t key) {
    const auto named = key_of<Coding>(key);
    take(verb::find, key, 0,
         [&](record& r) { r.ok = handle_.visit(named, [&](const value& v) { r.result = Coding::decode(v); }) == 1; });
  }

  /// In tables without references, a visit. A reference into a slot says that the key is there; the value may change under it.
  void find_ref(std::uint64_t key) {
    constexpr bool in_slots = cubby::detail::contract::stable<typename map::engine_type>;
    if constexpr (map::mode == cubby::storage_mode::records || in_slots) {
      const auto named = key_of<Coding>(key);
      take(in_slots ? verb::contains : verb::find, key, 0, [&](record& r) {
        const value* const v = handle_.find_ref(named);
        r.ok = v != nullptr;
        if (r.ok && !in_slots) r.result = Coding::decode(*v);
        handle_.unpin();
      });
    } else {
      visit(key);
    }
  }

  void try_emplace(std::uint64_t key, std::uint64_t number) {
    const auto named = key_of<Coding>(key);
    take(verb::insert, key, number, [&](record& r) { r.ok = handle_.try_emplace(named, Coding::encode(number)); });
  }

  void try_insert(std::uint64_t key, std::uint64_t number) {
    const auto named = key_of<Coding>(key);
    take(verb::insert, key, number, [&](record& r) { say_how(r, handle_.try_insert(named, Coding::encode(number))); });
  }

  void upsert(std::uint64_t key, std::uint64_t number) {
    const auto named = key_of<Coding>(key);
    take(verb::insert, key, number, [&](record& r) {
      std::uint64_t before = 0;
      const auto replace = [&](const value& v) {
        before = Coding::decode(v);
        return Coding::encode(number);
      };
      const bool inserted = handle_.insert_or_update(named, replace, Coding::encode(number));
      r.ok = true;
      if (inserted) return;
      r.what = verb::update;
      r.result = before;
    });
  }

  /// compute that erases what it finds, or else inserts.
  void toggle(std::uint64_t key, std::uint64_t number) {
    compute(key, number, cubby::action::erase, cubby::action::replace);
  }

  /// compute that wants one thing when the key is there and another when it is not.
  void compute(std::uint64_t key, std::uint64_t number, cubby::action there, cubby::action not_there) {
    const auto named = key_of<Coding>(key);
    take(verb::insert, key, number, [&](record& r) {
      bool found = false;
      std::uint64_t before = 0;
      const cubby::change did = handle_.compute(named, [&](const value* v) -> cubby::computed<value> {
        found = v != nullptr;
        if (found) before = Coding::decode(*v);
        const cubby::action wanted = found ? there : not_there;
        if (wanted == cubby::action::replace) return Coding::encode(number);
        return wanted;
      });
      r.ok = found || did == cubby::change::inserted;
      r.result = before;
      if (did == cubby::change::none) r.what = verb::find;
      if (did == cubby::change::replaced) r.what = verb::update;
      if (did == cubby::change::erased) r.what = verb::extract;
    });
  }

  /// Erases what is there if its number is even: a find of the value that stayed, or an extract of the one that left.
  void erase_if_even(std::uint64_t key) {
    const auto named = key_of<Coding>(key);
    take(verb::extract, key, 0, [&](record& r) {
      bool asked = false;
      const bool erased = handle_.erase_if(named, [&](const value& v) {
        asked = true;
        r.result = Coding::decode(v);
        return r.result % 2 == 0;
      });
      r.ok = erased;
      if (erased || !asked) return;
      if (r.result % 2 == 0) return; // it was to go and another thread was faster: the key was absent
      r.what = verb::find;
      r.ok = true;
    });
  }

  /// Without shadow inserts: an insert.
  void reserve_then(bool, std::uint64_t key, std::uint64_t number)
    requires(!map::capabilities.shadow_insert)
  {
    call(verb::insert, key, number);
  }
  void reserve_then(bool commit, std::uint64_t key, std::uint64_t number)
    requires(map::capabilities.shadow_insert)
  {
    const auto named = key_of<Coding>(key);
    auto reservation = decltype(handle_.shadow_insert(named, Coding::encode(number))){};
    bool got = false;
    take(verb::shadow_insert, key, number, [&](record& r) {
      reservation = handle_.shadow_insert(named, Coding::encode(number));
      got = static_cast<bool>(reservation);
      say_how(r, reservation.how());
    });
    if (!got) return;
    take(commit ? verb::shadow_commit : verb::shadow_abort, key, number, [&](record& r) {
      commit ? reservation.commit() : reservation.abort();
      r.ok = true;
    });
  }

  /// Looks different keys up in one call.
  void look_up(bool visit, std::span<const std::uint64_t> keys) {
    std::vector<record> all(keys.size());
    std::vector<typename map::key_type> named;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      all[i].key = keys[i];
      named.push_back(key_of<Coding>(keys[i]));
    }
    trace_.take_group(grouping::unordered, all, [&] { visit ? visit_batch(all, named) : find_batch(all, named); });
  }

  /// `execute`: the records carry verbs (put, not insert_or_assign; extract, not erase), keys and arguments.
  void execute(std::span<record> wanted, bool stop_at_first_failure) {
    std::vector<typename map::request_type> requests;
    for (const record& r : wanted)
      requests.push_back({request_verb(r.what), key_of<Coding>(r.key), Coding::encode(r.argument)});
    std::vector<typename map::reply_type> replies(wanted.size());
    trace_.take_group(stop_at_first_failure ? grouping::stopping : grouping::ordered, wanted, [&] {
      handle_.execute(requests, replies,
                      stop_at_first_failure ? cubby::batch_policy::stop_at_first_failure
                                            : cubby::batch_policy::run_all);
      for (std::size_t i = 0; i < wanted.size(); ++i) write_down(wanted[i], replies[i]);
    });
  }

  /// The same verbs, each by a call of its own, with nothing between them: a stamp would give stores the time to be seen.
  void one_by_one(std::span<record> wanted) {
    trace_.take_group(grouping::ordered, wanted, [&] {
      for (record& r : wanted) {
        const auto named = key_of<Coding>(r.key);
        switch (r.what) {
        case verb::find: show(r, handle_.find(named)); break;
        case verb::insert: r.ok = handle_.insert(named, Coding::encode(r.argument)); break;
        case verb::assign: r.ok = handle_.assign(named, Coding::encode(r.argument)); break;
        case verb::extract: show(r, handle_.extract(named)); break;
        default: (void)handle_.insert_or_assign(named, Coding::encode(r.argument)); r.ok = true;
        }
      }
    });
  }

private:
  /// A verb that lacked memory or space says so by an exception; the record says what it was.
  template <class Call>
  void take(verb what, std::uint64_t key, std::uint64_t number, Call call) {
    trace_.take(what, key, number, [&](record& r) {
      try {
        call(r);
      } catch (const cubby::table_full&) {
        r.how = status::full;
      } catch (const std::bad_alloc&) {
        r.how = status::no_memory;
      }
    });
  }

  static void say_how(record& r, cubby::outcome how) {
    r.ok = how == cubby::outcome::inserted;
    if (how == cubby::outcome::full || how == cubby::outcome::crowded) r.how = status::full;
    if (how == cubby::outcome::no_memory) r.how = status::no_memory;
  }
  static void show(record& r, const std::optional<value>& got) {
    r.ok = got.has_value();
    if (got) r.result = Coding::decode(*got);
  }
  template <class Key>
  void update(record& r, const Key& named) {
    r.ok = handle_.update(named, [&](const value& v) {
      r.result = Coding::decode(v);
      return Coding::encode(r.argument);
    });
  }

  void find_batch(std::span<record> all, std::span<const typename map::key_type> keys) {
    std::vector<value> values(keys.size());
    const auto found = std::make_unique<bool[]>(keys.size());
    handle_.find_batch(keys, values, {found.get(), keys.size()});
    for (std::size_t i = 0; i < keys.size(); ++i) {
      all[i].ok = found[i];
      if (found[i]) all[i].result = Coding::decode(values[i]);
    }
  }
  void visit_batch(std::span<record> all, std::span<const typename map::key_type> keys) {
    handle_.visit_batch(keys, [&](std::size_t i, const value* v) {
      all[i].ok = v != nullptr;
      if (v != nullptr) all[i].result = Coding::decode(*v);
    });
  }

  static cubby::verb request_verb(verb what) {
    switch (what) {
    case verb::insert: return cubby::verb::insert;
    case verb::assign: return cubby::verb::assign;
    case verb::put: return cubby::verb::insert_or_assign;
    case verb::extract: return cubby::verb::erase;
    default: return cubby::verb::find;
    }
  }
  static void write_down(record& r, const typename map::reply_type& answer) {
    r.ok = answer.result == cubby::outcome::done;
    if (answer.result == cubby::outcome::not_executed) r.how = status::not_executed;
    if (answer.result == cubby::outcome::full || answer.result == cubby::outcome::crowded) r.how = status::full;
    if (answer.result == cubby::outcome::no_memory) r.how = status::no_memory;
    if (answer.value) r.result = Coding::decode(*answer.value);
  }

  decltype(std::declval<map&>().handle()) handle_;
  trace& trace_;
};

} // namespace cubby_test
