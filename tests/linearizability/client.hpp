// SPDX-License-Identifier: Apache-2.0
// A thread of a recorded history: calls verbs of a map and writes down what they did, as one verb of the model each;
// where the API tells which one it was only afterwards, so does the record. Two codings: words in slots and wide values
// in records. A torn value becomes a number that nobody wrote, so that the checker refuses it.
#pragma once

#include <array>
#include <memory>
#include <new>
#include <span>
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

template <class Coding>
class client {
public:
  using value = typename Coding::value;
  using map = typename Coding::map;
  client(map& m, trace& t) : handle_(m.handle()), trace_(t) {}

  void call(verb what, std::uint64_t key, std::uint64_t number) {
    take(what, key, number, [&](record& r) {
      switch (what) {
      case verb::find: return show(r, handle_.find(r.key));
      case verb::insert: r.ok = handle_.insert(r.key, Coding::encode(number)); return;
      case verb::assign: r.ok = handle_.assign(r.key, Coding::encode(number)); return;
      case verb::erase: r.ok = handle_.erase(r.key); return;
      case verb::extract: return show(r, handle_.extract(r.key));
      case verb::insert_or_assign: r.ok = handle_.insert_or_assign(r.key, Coding::encode(number)); return;
      case verb::update: return update(r);
      case verb::contains: r.ok = handle_.contains(r.key); return;
      case verb::add: r.ok = handle_.insert_or_add(r.key, Coding::encode(number)); return;
      default: return;
      }
    });
  }

  void visit(std::uint64_t key) {
    take(verb::find, key, 0,
         [&](record& r) { r.ok = handle_.visit(key, [&](const value& v) { r.result = Coding::decode(v); }) == 1; });
  }

  /// In tables without records, which have no references, a visit.
  void find_ref(std::uint64_t key) {
    if constexpr (map::mode == cubby::storage_mode::records) {
      take(verb::find, key, 0, [&](record& r) {
        const value* const v = handle_.find_ref(key);
        r.ok = v != nullptr;
        if (r.ok) r.result = Coding::decode(*v);
        handle_.unpin();
      });
    } else {
      visit(key);
    }
  }

  void try_emplace(std::uint64_t key, std::uint64_t number) {
    take(verb::insert, key, number, [&](record& r) { r.ok = handle_.try_emplace(key, Coding::encode(number)); });
  }

  void try_insert(std::uint64_t key, std::uint64_t number) {
    take(verb::insert, key, number, [&](record& r) { say_how(r, handle_.try_insert(key, Coding::encode(number))); });
  }

  void upsert(std::uint64_t key, std::uint64_t number) {
    take(verb::insert, key, number, [&](record& r) {
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
    compute(key, number, cubby::action::erase, cubby::action::replace);
  }

  /// compute that wants one thing when the key is there and another when it is not.
  void compute(std::uint64_t key, std::uint64_t number, cubby::action there, cubby::action not_there) {
    take(verb::insert, key, number, [&](record& r) {
      bool found = false;
      std::uint64_t before = 0;
      const cubby::change did = handle_.compute(key, [&](const value* v) -> cubby::computed<value> {
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
    take(verb::extract, key, 0, [&](record& r) {
      bool asked = false;
      const bool erased = handle_.erase_if(key, [&](const value& v) {
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
    auto reservation = decltype(handle_.shadow_insert(key, Coding::encode(number))){};
    bool got = false;
    take(verb::shadow_insert, key, number, [&](record& r) {
      reservation = handle_.shadow_insert(key, Coding::encode(number));
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
    for (std::size_t i = 0; i < keys.size(); ++i) all[i].key = keys[i];
    trace_.take_group(grouping::unordered, all, [&] { visit ? visit_batch(all, keys) : find_batch(all, keys); });
  }

  /// `execute`: the records carry verbs (put, not insert_or_assign; extract, not erase), keys and arguments.
  void execute(std::span<record> wanted, bool stop_at_first_failure) {
    std::vector<typename map::request_type> requests;
    for (const record& r : wanted) requests.push_back({request_verb(r.what), r.key, Coding::encode(r.argument)});
    std::vector<typename map::reply_type> replies(wanted.size());
    trace_.take_group(stop_at_first_failure ? grouping::stopping : grouping::ordered, wanted, [&] {
      handle_.execute(requests, replies,
                      stop_at_first_failure ? cubby::batch_policy::stop_at_first_failure
                                            : cubby::batch_policy::run_all);
      for (std::size_t i = 0; i < wanted.size(); ++i) settle(wanted[i], replies[i]);
    });
  }

  /// The same verbs, each by a call of its own, with nothing between them: a stamp would give stores the time to be seen.
  void one_by_one(std::span<record> wanted) {
    trace_.take_group(grouping::ordered, wanted, [&] {
      for (record& r : wanted) {
        switch (r.what) {
        case verb::find: show(r, handle_.find(r.key)); break;
        case verb::insert: r.ok = handle_.insert(r.key, Coding::encode(r.argument)); break;
        case verb::assign: r.ok = handle_.assign(r.key, Coding::encode(r.argument)); break;
        case verb::extract: show(r, handle_.extract(r.key)); break;
        default: (void)handle_.insert_or_assign(r.key, Coding::encode(r.argument)); r.ok = true;
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
  void update(record& r) {
    r.ok = handle_.update(r.key, [&](const value& v) {
      r.result = Coding::decode(v);
      return Coding::encode(r.argument);
    });
  }

  void find_batch(std::span<record> all, std::span<const std::uint64_t> keys) {
    std::vector<value> values(keys.size());
    const auto found = std::make_unique<bool[]>(keys.size());
    handle_.find_batch(keys, values, {found.get(), keys.size()});
    for (std::size_t i = 0; i < keys.size(); ++i) {
      all[i].ok = found[i];
      if (found[i]) all[i].result = Coding::decode(values[i]);
    }
  }
  void visit_batch(std::span<record> all, std::span<const std::uint64_t> keys) {
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
  static void settle(record& r, const typename map::reply_type& answer) {
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
