// SPDX-License-Identifier: Apache-2.0
// The cases. Each verb runs once, alone, on keys of a bin of its own, so that no case sees what another left. The table
// is made before, and the thread has its thread record.
#include "counting/cases.hpp"

#include <array>
#include <cstdlib>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>

#include <cubby/pipeline.hpp>

#include "counting/kinds.hpp"
#include "engine_headers.hpp"
#include "engine_list.hpp"

namespace cubby_counting {
namespace {

range clock_of_image() {
  const auto& clock = cubby::detail::registry::own_domain()->clock;
  return {reinterpret_cast<const std::byte*>(&clock), sizeof clock};
}

/// Tables lie in memory of `operator new`, never on the stack, which is not counted.
template <class Kind> class desk {
public:
  using map = typename Kind::map;

  desk(std::string name, std::vector<row>& out, std::size_t capacity = 4 * groups) : name_(std::move(name)), out_(out) {
    cubby::options o;
    o.capacity = capacity;
    table_ = std::make_unique<map>(o);
    constexpr std::size_t buckets_of_segment = 32; // of seph, whose bins are segments
    const std::size_t bins = table_->stats().bins * (name_.starts_with("seph") ? buckets_of_segment : 1);
    const bool parts = capacity < groups || name_.starts_with("reference") || bins >= groups;
    require(parts);                       // else groups would share bins
    (void)table_->contains(Kind::key(0)); // claims the thread's record
  }

  map& table() { return *table_; }
  /// A fresh bin with `entries` entries, and the number of its first key.
  std::uint64_t bin(unsigned entries) {
    const std::uint64_t first = ++group_ * keys_a_bin;
    if (group_ == groups) std::abort();
    for (unsigned i = 0; i < entries; ++i) put(first + i);
    return first;
  }
  void put(std::uint64_t n) {
    if constexpr (requires { Kind::value(n); }) require(table_->insert(Kind::key(n), Kind::value(n)));
    else require(table_->insert(Kind::key(n)));
  }
  /// Counts `f(table) -> bool`, which must be true: a verb that did not do its work would be counted cheap.
  template <class F> void count(const char* verb, F f) {
    const cubby::detail::thread_record& mine = cubby::detail::engine_access::context_of(*table_).at;
    start({reinterpret_cast<const std::byte*>(table_.get()), sizeof(map)},
          {reinterpret_cast<const std::byte*>(&mine), sizeof mine}, clock_of_image());
    const bool done = f(*table_);
    const tally counts = stop();
    out_.push_back({name_, verb, counts});
    require(done);
  }
  static void require(bool holds) {
    if (!holds) std::abort();
  }

private:
  std::string name_;
  std::vector<row>& out_;
  std::unique_ptr<map> table_;
  std::uint64_t group_ = 0;
};

/// What maps and sets share. `with_chains`: bins have three slots, and more in link buckets.
template <class Kind> void count_lookups(desk<Kind>& d, bool with_chains) {
  const auto look = [&](const char* name, unsigned entries, unsigned asked, bool there) {
    const auto k = Kind::key(d.bin(entries) + asked);
    d.count(name, [&](auto& t) { return t.contains(k) == there; });
  };
  look("contains, first slot", 1, 0, true);
  look("contains, third slot", 3, 2, true);
  look("contains, absent, bin empty", 0, 0, false);
  look("contains, absent, slots full", 3, 50, false);
  if (!with_chains) return;
  look("contains, in a link bucket", 4, 3, true);
  look("contains, absent, one link bucket", 4, 50, false);
  look("contains, in the last slot", 15, 14, true);
}

template <class Kind> void count_inserts(desk<Kind>& d, bool with_chains) {
  const auto insert = [&](const char* name, std::uint64_t n, bool done) {
    const auto k = Kind::key(n);
    if constexpr (requires { Kind::value(n); }) {
      const auto v = Kind::value(n);
      d.count(name, [&](auto& t) { return t.insert(k, v) == done; });
    } else {
      d.count(name, [&](auto& t) { return t.insert(k) == done; });
    }
  };
  insert("insert", d.bin(0), true);
  insert("insert, third slot", d.bin(2) + 2, true);
  insert("insert, key is there", d.bin(1), false);
  const std::uint64_t reused = d.bin(3);
  desk<Kind>::require(d.table().erase(Kind::key(reused + 1)));
  insert("insert, slot of an erased entry", reused + 50, true);
  if (!with_chains) return;
  insert("insert, chains a link bucket", d.bin(3) + 3, true);
  insert("insert, in a link bucket", d.bin(4) + 4, true);
}

template <class Kind> void count_erases(desk<Kind>& d, bool with_chains) {
  const auto erase = [&](const char* name, std::uint64_t n, bool done) {
    const auto k = Kind::key(n);
    d.count(name, [&](auto& t) { return t.erase(k) == done; });
  };
  erase("erase", d.bin(1), true);
  erase("erase, third slot", d.bin(3) + 2, true);
  erase("erase, absent", d.bin(1) + 50, false);
  if (with_chains) erase("erase, in a link bucket", d.bin(4) + 3, true);
}

template <class Kind> void count_reservations(desk<Kind>& d) {
  std::optional<cubby::reservation<typename Kind::map::engine_type>> ticket;
  const auto reserve = [&](const char* name) {
    const std::uint64_t n = d.bin(0);
    const auto k = Kind::key(n);
    d.count(name, [&](auto& t) {
      if constexpr (requires { Kind::value(n); }) ticket.emplace(t.shadow_insert(k, Kind::value(n)));
      else ticket.emplace(t.shadow_insert(k));
      return static_cast<bool>(*ticket);
    });
  };
  reserve("shadow_insert");
  d.count("commit", [&](auto&) { return ticket->commit(), true; });
  reserve("shadow_insert, again");
  d.count("abort", [&](auto&) { return ticket->abort(), true; });
}

/// What lies beyond its home line, in the next one.
template <class Kind> void count_overflow(desk<Kind>& d, unsigned in_line) {
  const std::uint64_t first = d.bin(in_line + 1);
  const auto there = Kind::key(first + in_line), absent = Kind::key(first + 50);
  d.count("find, in the next line", [&](auto& t) { return t.find(there).has_value(); });
  d.count("find, absent, line full", [&](auto& t) { return !t.find(absent).has_value(); });
  d.count("assign, in the next line", [&](auto& t) { return t.assign(there, Kind::value(7)); });
}

/// Of iceberg: what lies behind a front bucket that is full, in the back yard.
template <class Kind> void count_behind(desk<Kind>& d) {
  namespace yards = cubby::detail::engines::iceberg;
  const bool wide = sizeof(Kind::key(0)) > sizeof(std::uint64_t);
  const unsigned front =
      wide ? yards::front_slots<yards::slot<3, 1, std::uint16_t>> : yards::front_slots<yards::slot<1, 1>>;
  constexpr unsigned behind = 61,
                     asked = 65; // the tags of these numbers have the same filter
  static_assert(yards::state::filter_of(behind + 1) == yards::state::filter_of(asked + 1));
  const std::uint64_t found = d.bin(front), full = d.bin(front), left = d.bin(front + 1);
  d.put(found + behind);
  const auto there = Kind::key(found + behind), same_filter = Kind::key(found + asked), other = Kind::key(full + 90);
  const auto fresh = Kind::key(full + front), leaves = Kind::key(left + front);
  d.count("find, in the back yard", [&](auto& t) { return t.find(there).has_value(); });
  d.count("find, absent, filter in doubt", [&](auto& t) { return !t.find(same_filter).has_value(); });
  d.count("find, absent, bucket full", [&](auto& t) { return !t.find(other).has_value(); });
  d.count("assign, in the back yard", [&](auto& t) { return t.assign(there, Kind::value(7)); });
  d.count("insert, in the back yard", [&](auto& t) { return t.insert(fresh, Kind::value(7)); });
  d.count("erase, in the back yard", [&](auto& t) { return t.erase(leaves); });
}

/// Verbs that have to do with values.
template <class Kind> void count_changes(desk<Kind>& d, bool with_chains) {
  const auto at = [&](unsigned entries, unsigned asked) { return Kind::key(d.bin(entries) + asked); };
  const auto v = Kind::value(12345);
  using value_type = typename Kind::map::mapped_type;
  using computed = cubby::computed<value_type>;
  auto k = at(1, 0);
  d.count("find", [&](auto& t) { return t.find(k).has_value(); });
  k = at(1, 50);
  d.count("find, absent", [&](auto& t) { return !t.find(k).has_value(); });
  k = at(1, 0);
  d.count("visit", [&](auto& t) { return t.visit(k, [](const value_type&) {}) == 1; });
  k = at(1, 0);
  d.count("assign", [&](auto& t) { return t.assign(k, v); });
  k = at(1, 50);
  d.count("assign, absent", [&](auto& t) { return !t.assign(k, v); });
  if (with_chains) {
    k = at(4, 3);
    d.count("assign, in a link bucket", [&](auto& t) { return t.assign(k, v); });
  }
  k = at(1, 0);
  d.count("insert_or_assign, key is there", [&](auto& t) { return !t.insert_or_assign(k, v); });
  k = at(0, 0);
  d.count("insert_or_assign, absent", [&](auto& t) { return t.insert_or_assign(k, v); });
  k = at(1, 0);
  d.count("update", [&](auto& t) { return t.update(k, [&](const value_type&) { return v; }); });
  k = at(1, 0);
  d.count("insert_or_add, key is there", [&](auto& t) { return !t.insert_or_add(k, v); });
  k = at(1, 0);
  d.count("compute, replaces", [&](auto& t) {
    return t.compute(k, [&](const value_type*) { return computed::value(v); }) == cubby::change::replaced;
  });
  k = at(1, 0);
  d.count("compute, erases", [&](auto& t) {
    return t.compute(k, [](const value_type*) { return computed::erase(); }) == cubby::change::erased;
  });
  k = at(1, 0);
  d.count("extract", [&](auto& t) { return t.extract(k).has_value(); });
}

template <class Kind> void count_batches(desk<Kind>& d) {
  using request = typename Kind::map::request_type;
  std::vector<typename Kind::map::key_type> keys;
  for (unsigned i = 0; i < 32; ++i) keys.push_back(Kind::key(d.bin(1)));
  std::array<typename Kind::map::mapped_type, 32> values{};
  std::array<bool, 32> found{};
  d.count("find_batch, 32 bins", [&](auto& t) { return t.find_batch(std::span(keys), values, found) == 32; });
  const auto fresh = Kind::key(d.bin(0));
  std::vector<request> asked;
  asked.push_back({cubby::verb::find, keys[0], {}});
  asked.push_back({cubby::verb::insert, fresh, Kind::value(1)});
  asked.push_back({cubby::verb::assign, keys[1], Kind::value(2)});
  asked.push_back({cubby::verb::erase, keys[2], {}});
  std::vector<typename Kind::map::reply_type> replies(asked.size());
  d.count("execute: find, insert, assign, erase", [&](auto& t) {
    const bool all = t.execute(asked, replies) == 4;
    return all && replies[3].result == cubby::outcome::done;
  });
}

/// One verb for each of 32 bins, all pending together. The handle's thread record counts as `index`.
template <class Kind> void count_pipelined(desk<Kind>& d) {
  using request = typename Kind::map::request_type;
  auto pending = d.table().handle().pipeline({.window = 32});
  std::vector<typename Kind::map::reply_type> replies(32);
  const auto submit = [&](const char* name, cubby::verb verb, unsigned entries) {
    std::vector<request> asked;
    for (std::uint64_t i = 0; i < 32; ++i)
      asked.push_back({verb, Kind::key(d.bin(entries)), Kind::value(i + 1), i}); // to add 0 changes nothing
    d.count(name, [&](auto&) {
      const auto went = pending.submit(std::span<const request>(asked), replies);
      return went.taken == 32 && went.answered + pending.drain(std::span(replies).subspan(went.answered)) == 32;
    });
    for (const auto& r : replies) desk<Kind>::require(r.result == cubby::outcome::done);
  };
  submit("pipelined find, 32 bins", cubby::verb::find, 1);
  submit("pipelined insert, 32 bins", cubby::verb::insert, 0);
  submit("pipelined assign, 32 bins", cubby::verb::assign, 1);
  submit("pipelined insert_or_add, 32 bins", cubby::verb::insert_or_add, 1);
  submit("pipelined erase, 32 bins", cubby::verb::erase, 1);
}

/// Verbs about a whole table, in one of its own with 8 entries.
template <class Kind> void count_whole(std::string name, std::vector<row>& out) {
  desk<Kind> d(std::move(name), out, 1);
  d.bin(8);
  if constexpr (Kind::map::capabilities.snapshot) {
    d.count("snapshot of 8", [](auto& t) { return t.snapshot().size() == 8; });
  }
  d.count("reserve 1000", [](auto& t) { return t.reserve(1000); });
  d.count("shrink_to_fit", [](auto& t) { return t.shrink_to_fit(); });
  d.count("clear", [](auto& t) { return t.clear(), t.empty(); });
  d.bin(8);
  d.count("size", [](auto& t) { return t.size() == 8; });
}

/// Tuples get the space in which the lines of a group reach no other group's, and iceberg a bucket for each group.
std::size_t capacity_of(const std::string& name) {
  // 63 slots for each bucket, up to 91 %; half as many if they are wide, up to 75 % for texts and 85 % for tuples
  if (name.starts_with("iceberg") && name.ends_with("texts")) return groups * 63 * 75 / 200;
  if (name == "iceberg tuples") return groups * 63 * 85 / 200;
  if (name.starts_with("iceberg")) return groups * 63 * 91 / 100;
  if (name.starts_with("seph")) return 64 * groups; // a bucket of its lower halves for each group
  return (name.starts_with("tuple") ? 16 : 4) * groups;
}

/// `in_line`: entries of a line, of an engine in which others lie in the next line; 0: of no such engine.
template <class Kind> void count_kind(const std::string& name, std::vector<row>& out, unsigned in_line = 0) {
  desk<Kind> d(name, out, capacity_of(name));
  const bool with_chains = name.starts_with("dlht");
  count_lookups(d, with_chains);
  count_inserts(d, with_chains);
  count_erases(d, with_chains);
  if constexpr (Kind::map::capabilities.shadow_insert) count_reservations(d);
  if constexpr (requires { Kind::value(0); }) {
    count_changes(d, with_chains);
    count_batches(d);
    if (in_line != 0) count_overflow(d, in_line);
    if (name.starts_with("iceberg")) count_behind(d);
    if constexpr (Kind::map::capabilities.pipelined) count_pipelined(d);
  }
  count_whole<Kind>(name, out);
}

/// What records cost beyond their verbs: who retires pays for a look at all thread records now and then.
void count_retirement(std::vector<row>& out) {
  using kind = records<cubby::dlht>;
  desk<kind> d("dlht records", out);
  const auto k = kind::key(d.bin(1));
  const auto times = [&](unsigned n) {
    return [&, n](auto& t) {
      for (unsigned i = 0; i < n; ++i) desk<kind>::require(t.assign(k, kind::value(i)));
      return true;
    };
  };
  d.count("assign, 2047 times", times(2047));
  d.count("assign, the 2048th", times(1));
  d.count("assign, 2047 more", times(2047));
  d.count("assign, the 4096th", times(1));
}

/// Pipelines take a thread record beside the thread's. It is there from the start, so that a thread that looks at all thread
/// records sees as many in each case and in each run.
void claim_second_thread_record() {
  words<cubby::dlht>::map table;
  (void)table.contains(0); // claims the thread's
  (void)table.handle();
}

/// An engine of the list. A new one has these rows; those below have others.
template <class Engine> void count_engine(Engine, const std::string& name, std::vector<row>& out) {
  count_kind<words<Engine>>(name + " words", out);
  count_kind<records<Engine>>(name + " records", out);
}
void count_engine(cubby::dlht engine, const std::string& name, std::vector<row>& out) {
  count_engine<cubby::dlht>(engine, name, out);
  count_retirement(out);
  count_kind<keys_alone<cubby::dlht>>("dlht set", out);
}
void count_engine(cubby::dramhit, const std::string&, std::vector<row>& out) {
  count_kind<words<cubby::dramhit>>("dramhit words", out, 4);
  count_kind<records<cubby::dramhit>>("dramhit records", out, 4);
}
void count_engine(cubby::dramhit_tuples, const std::string&, std::vector<row>& out) {
  count_kind<words<cubby::dramhit_tuples>>("tuple words", out, 2);
  count_kind<lines<cubby::dramhit_tuples>>("tuple lines", out, 1);
}
void count_engine(cubby::iceberg, const std::string&, std::vector<row>& out) {
  count_kind<words<cubby::iceberg>>("iceberg words", out);
  count_kind<texts<cubby::iceberg>>("iceberg texts", out);
  count_kind<records<cubby::iceberg>>("iceberg wide texts", out);
  count_kind<lines<cubby::iceberg>>("iceberg tuples", out);
  count_kind<text_values<cubby::iceberg>>("iceberg records", out);
  count_kind<keys_alone<cubby::iceberg>>("iceberg set", out);
}
/// The code of `dlht`, without the atomic steps that are counted.
void count_engine(cubby::dlht_single, const std::string&, std::vector<row>&) {}
/// A write of a delegated table is carried out by another thread, and one thread is counted.
void count_engine(cubby::partitioned, const std::string&, std::vector<row>&) {}

} // namespace

std::vector<row> count_all() {
  claim_second_thread_record();
  std::vector<row> out;
  out.reserve(1000); // nothing is allocated for the rows while a case is counted
#define CUBBY_COUNTED(tag, ...) count_engine(cubby::tag{}, #tag, out);
  CUBBY_FOR_EACH_ENGINE(CUBBY_COUNTED)
#undef CUBBY_COUNTED
  return out;
}

} // namespace cubby_counting
