// SPDX-License-Identifier: Apache-2.0
// A thread of a recorded history over a set, whose keys are all that its slots hold. In the model a key that is there
// has the value 0, and a batch's assign, which changes nothing, is a look.
#pragma once

#include <memory>
#include <new>
#include <span>
#include <vector>

#include <cubby/set.hpp>

#include "linearizability/history.hpp"

namespace cubby_test {

template <class Engine, class Hash = cubby::hash<std::uint64_t>>
struct set_coding {
  using map = cubby::set<std::uint64_t, Engine, Hash>;
};

template <class Set>
class set_client {
public:
  set_client(Set& s, trace& t) : handle_(s.handle()), trace_(t) {}

  void contains(std::uint64_t key) {
    trace_.take(verb::contains, key, 0, [&](record& r) { r.ok = handle_.contains(key); });
  }
  void erase(std::uint64_t key) {
    trace_.take(verb::erase, key, 0, [&](record& r) { r.ok = handle_.erase(key); });
  }
  void insert(std::uint64_t key) {
    trace_.take(verb::insert, key, 0, [&](record& r) { say_how(r, handle_.try_insert(key)); });
  }
  void insert_or_throw(std::uint64_t key) {
    trace_.take(verb::insert, key, 0, [&](record& r) {
      try {
        r.ok = handle_.insert(key);
      } catch (const cubby::table_full&) {
        r.how = status::full;
      } catch (const std::bad_alloc&) {
        r.how = status::no_memory;
      }
    });
  }

  void reserve_then(bool commit, std::uint64_t key) {
    auto reservation = decltype(handle_.shadow_insert(key)){};
    trace_.take(verb::shadow_insert, key, 0, [&](record& r) {
      reservation = handle_.shadow_insert(key);
      say_how(r, reservation.how());
    });
    if (!reservation) return;
    trace_.take(commit ? verb::shadow_commit : verb::shadow_abort, key, 0, [&](record& r) {
      commit ? reservation.commit() : reservation.abort();
      r.ok = true;
    });
  }

  /// Looks different keys up in one call.
  void look_up(std::span<const std::uint64_t> keys) {
    std::vector<record> all(keys.size());
    trace_.take_group(grouping::unordered, all, [&] {
      const auto found = std::make_unique<bool[]>(keys.size());
      handle_.contains_batch(keys, {found.get(), keys.size()});
      for (std::size_t i = 0; i < keys.size(); ++i) {
        all[i].what = verb::contains;
        all[i].key = keys[i];
        all[i].ok = found[i];
      }
    });
  }

  /// `execute` of these verbs of the API on these keys.
  void execute(std::span<const typename Set::request_type> wanted, bool stop_at_first_failure) {
    std::vector<record> all(wanted.size());
    std::vector<typename Set::reply_type> replies(wanted.size());
    trace_.take_group(stop_at_first_failure ? grouping::stopping : grouping::ordered, all, [&] {
      handle_.execute(wanted, replies,
                      stop_at_first_failure ? cubby::batch_policy::stop_at_first_failure
                                            : cubby::batch_policy::run_all);
      for (std::size_t i = 0; i < wanted.size(); ++i) write_down(all[i], wanted[i], replies[i].result);
    });
  }

private:
  static void say_how(record& r, cubby::outcome how) {
    r.ok = how == cubby::outcome::inserted;
    if (how == cubby::outcome::full || how == cubby::outcome::crowded) r.how = status::full;
    if (how == cubby::outcome::no_memory) r.how = status::no_memory;
  }
  static void write_down(record& r, const typename Set::request_type& asked, cubby::outcome how) {
    r.key = asked.key;
    r.ok = how == cubby::outcome::done;
    if (how == cubby::outcome::not_executed) r.how = status::not_executed;
    if (how == cubby::outcome::full || how == cubby::outcome::crowded) r.how = status::full;
    if (how == cubby::outcome::no_memory) r.how = status::no_memory;
    switch (asked.what) {
    case cubby::verb::insert: r.what = verb::insert; return;
    case cubby::verb::insert_or_assign: r.what = verb::put; return;
    case cubby::verb::erase: r.what = verb::erase; return;
    default: r.what = verb::contains; return;
    }
  }

  decltype(std::declval<Set&>().handle()) handle_;
  trace& trace_;
};

} // namespace cubby_test
