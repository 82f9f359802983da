// SPDX-License-Identifier: Apache-2.0
// A cubby::map as an adapter: performs calls through a handle for each lane and writes down what they did.
#pragma once

#include <algorithm>
#include <array>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <tuple>

#include "explore/codings.hpp"
#include "explore/driver.hpp"
#include "explore/parts.hpp"
#include "explore/pipes.hpp"
#include "explore/scenario.hpp"

namespace cubby_test {

template <class Coding>
class map_adapter final : public adapter {
  using value = typename Coding::value;
  using key_type = typename Coding::key_type;
  using map = explored_map<Coding>;
  using request = typename map::request_type;
  using reply = typename map::reply_type;
  static constexpr std::uint64_t first_gone = 1000;
  static constexpr bool in_records = Coding::in_records;

public:
  map_adapter(const scenario& s, arena& home)
      : still_(s.still), may_refuse_(s.may_refuse), own_mover_(s.options.growth == cubby::growth_policy::background),
        map_(std::make_unique<map>(s.options, typename Coding::hash(), arena_allocator<std::byte>(&home))),
        named_(map_.get()), pipes_(*map_, s) {
    lanes.resize(s.threads.size() + 1);
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      handles_.push_back(map_->handle());
      thread_records.push_back(handles_.back().own_thread_record());
    }
    held_.resize(lanes.size());
    ready_ = prepare(s);
    if (ready_) resizes_before_ = all_resizes();
  }
  [[nodiscard]] bool is_ready() const override { return ready_; }

  void perform(unsigned at, const call& c) override {
    event e;
    e.r.thread = static_cast<std::uint16_t>(at);
    e.r.key = c.key;
    e.r.argument = c.value;
    e.r.called = now();
    try {
      carry_out(at, c, e);
    } catch (const std::exception& thrown) {
      complain(std::string("a call threw: ") + thrown.what());
    }
  }

  void close() override {
    resizes_at_end_ = all_resizes();
    pipes_.clear();
    handles_.clear();
    map_.reset();
  }

  void inspect() override {
    if (!map_) return; // what it left behind is looked at elsewhere
    if (own_mover_ && !may_refuse_ && map_->stats().migrating) complain("the mover sleeps, and there is more to move");
    std::vector<entry> there;
    for (const std::uint64_t key : touched_keys(lanes)) {
      perform(0, {act::find, key});
      if (lanes[0].back().r.ok) there.emplace_back(key, lanes[0].back().r.result);
    }
    for (const auto& [key, number] : still_) {
      const auto got = handles_[0].find(Coding::encode_key(key));
      if (!got || Coding::decode(*got) != number)
        complain("key " + std::to_string(key) + ", untouched, is not as it was");
    }
    const std::size_t size = there.size() + still_.size();
    if (map_->size() != size)
      complain("size() is " + std::to_string(map_->size()) + "; " + std::to_string(size) + " keys are found");
    auto shown = scan(0);
    std::sort(shown.begin(), shown.end());
    std::sort(there.begin(), there.end());
    if (shown != there) complain("a scan at the end does not show what finds do");
  }

  [[nodiscard]] std::uint64_t resizes() const override { return all_resizes() - resizes_before_; }

  std::string name_of(const void* address) override {
    for (std::size_t i = 0; i < handles_.size(); ++i) {
      if (handles_[i].own_thread_record() == address)
        return "thread record of " + std::to_string(static_cast<int>(i) - 1);
    }
    if (!map_ && !driver::instance().has_mover()) return {}; // it is being taken apart
    return Coding::name(*named_, address);
  }

private:
  [[nodiscard]] std::uint64_t all_resizes() const {
    if (!map_) return resizes_at_end_;
    const auto now = map_->stats();
    return now.growths + now.shrinks + now.rebuilds;
  }
  /// False: its mover has stopped inside it for ever, and no verb may be called any more.
  bool prepare(const scenario& s) {
    if (!let_mover_finish()) return false;
    for (const auto& [key, number] : still_) map_->insert(Coding::encode_key(key), Coding::encode(number));
    for (const auto& [key, number] : s.passing) map_->insert(Coding::encode_key(key), Coding::encode(number));
    for (std::size_t i = 0; i < s.before.size(); ++i) {
      if (!let_mover_finish()) return false;
      perform(0, s.before[i]);
    }
    for (std::uint64_t n = 0; n < s.gone; ++n) {
      const key_type key = Coding::encode_key(key_at(0, first_gone + n));
      map_->insert(key, Coding::encode(n));
      map_->erase(key);
    }
    for (const auto& [key, number] : s.passing) map_->erase(Coding::encode_key(key));
    for (const call& c : s.at_last) perform(0, c);
    if (!s.under_way && !let_mover_finish()) return false;
    if (s.under_way && !map_->stats().migrating) complain("no migration was left to the mover");
    return true;
  }
  bool let_mover_finish() {
    if (driver::instance().rest() == ending::finished) return true;
    complain("the mover does not come to rest");
    return false;
  }
  static std::uint64_t now() { return driver::instance().stamp(); }
  void done(unsigned at, event& e, verb what, bool ok) {
    e.r.what = what;
    e.r.ok = ok;
    e.r.returned = now();
    lanes[at].push_back(e);
  }

  void carry_out(unsigned at, const call& c, event& e) {
    auto& h = handles_[at];
    const value given = Coding::encode(c.value);
    const key_type key = Coding::encode_key(c.key);
    switch (c.what) {
    case act::find: return found(at, e, verb::find, h.find(key));
    case act::extract: return found(at, e, verb::extract, h.extract(key));
    case act::insert: return insert(at, e, h.try_insert(key, given));
    case act::assign: return done(at, e, verb::assign, h.assign(key, given));
    case act::erase: return done(at, e, verb::erase, h.erase(key));
    case act::insert_or_assign: return done(at, e, verb::insert_or_assign, h.insert_or_assign(key, given));
    case act::update:
    case act::modify: return update(at, c, e);
    case act::upsert: return upsert(at, c, e);
    case act::toggle: return toggle(at, c, e);
    case act::commit:
    case act::abort: return reserve_key(at, c, e);
    case act::find_batch:
    case act::visit_batch: return look_up(at, c, e);
    case act::execute:
    case act::execute_stopping: return batch(at, c, e);
    case act::pipeline: return piped(at, c, e);
    case act::reserve: return (void)h.reserve(c.value);
    case act::shrink: return (void)h.shrink_to_fit();
    case act::snapshot: return snapshot(at, e);
    case act::scan: return (void)scan(at);
    case act::hold: return hold(at, c, e);
    case act::look: return look(at);
    case act::resize:
    case act::pass:
    case act::collect: return complain(drive<Coding>(*map_, c, *h.own_thread_record()));
    default: return complain("no scenario may ask for this");
    }
  }

  void found(unsigned at, event& e, verb what, const std::optional<value>& got) {
    if (got) e.r.result = Coding::decode(*got);
    done(at, e, what, got.has_value());
  }
  void insert(unsigned at, event& e, cubby::outcome how) {
    if (!found_no_space(how)) return done(at, e, verb::insert, how == cubby::outcome::inserted);
    if (!may_refuse_) complain("an insert found no space");
  }
  void update(unsigned at, const call& c, event& e) {
    const bool ok = renew(handles_[at], c, Coding::encode_key(c.key), [&](const value& v) {
      e.r.result = Coding::decode(v);
      return Coding::encode(c.value);
    });
    done(at, e, verb::update, ok);
  }
  void upsert(unsigned at, const call& c, event& e) {
    const auto replace = [&](const value& v) {
      e.r.result = Coding::decode(v);
      return Coding::encode(c.value);
    };
    const bool inserted = handles_[at].insert_or_update(Coding::encode_key(c.key), replace, Coding::encode(c.value));
    if (inserted) e.r.result = 0;
    done(at, e, inserted ? verb::insert : verb::update, true);
  }
  void toggle(unsigned at, const call& c, event& e) {
    bool was_there = false;
    handles_[at].compute(Coding::encode_key(c.key), [&](const value* v) -> cubby::computed<value> {
      was_there = v != nullptr;
      if (!was_there) return Coding::encode(c.value);
      e.r.result = Coding::decode(*v);
      return cubby::computed<value>::erase();
    });
    if (!was_there) e.r.result = 0;
    done(at, e, was_there ? verb::extract : verb::insert, true);
  }
  void reserve_key(unsigned at, const call& c, event& e) {
    if constexpr (map::capabilities.shadow_insert) {
      auto kept = handles_[at].shadow_insert(Coding::encode_key(c.key), Coding::encode(c.value));
      if (!kept && kept.how() != cubby::outcome::exists) return insert(at, e, kept.how());
      done(at, e, verb::shadow_insert, static_cast<bool>(kept));
      if (!kept) return;
      event second = e;
      second.r.called = now();
      c.what == act::commit ? kept.commit() : kept.abort();
      done(at, second, c.what == act::commit ? verb::shadow_commit : verb::shadow_abort, true);
    } else {
      (void)at, (void)c, (void)e, complain("this engine has no reservations");
    }
  }

  void look_up(unsigned at, const call& c, event& e) {
    std::vector<std::uint64_t> keys;
    for (const call& one : c.inner) keys.push_back(one.key);
    std::vector<key_type> asked;
    for (const std::uint64_t key : keys) asked.push_back(Coding::encode_key(key));
    std::vector<std::optional<std::uint64_t>> answers(keys.size());
    std::vector<unsigned> given(keys.size(), 0);
    std::size_t count = 0;
    if (c.what == act::visit_batch) {
      count = handles_[at].visit_batch(asked, [&](std::size_t i, const value* v) {
        ++given[i];
        if (v != nullptr) answers[i] = Coding::decode(*v);
      });
    } else {
      std::vector<value> values(keys.size());
      const auto found = std::make_unique<bool[]>(keys.size());
      count = handles_[at].find_batch(asked, values, std::span(found.get(), keys.size()));
      for (std::size_t i = 0; i < keys.size(); ++i) {
        given[i] = 1;
        if (found[i]) answers[i] = Coding::decode(values[i]);
      }
    }
    e.r.returned = now();
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (given[i] != 1) complain("a batch of lookups did not answer each key once");
      count -= answers[i] ? 1 : 0;
      // The checker by keys takes a thread's lookups of one key for one behind the other.
      const auto again = std::count(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(i), keys[i]);
      e.r.thread = static_cast<std::uint16_t>(at + static_cast<std::size_t>(again) * handles_.size());
      looked_up(keys[i], answers[i], e);
    }
    if (count != 0) complain("a batch of lookups counted what it did not find, or not all that it found");
  }
  /// A lookup of a batch is a call that lasts as long as the batch. They have no order among themselves: each gets a
  /// lane of its own.
  void looked_up(std::uint64_t key, const std::optional<std::uint64_t>& answer, event e) {
    const auto same = [key](const entry& one) { return one.first == key; };
    if (const auto one = std::find_if(still_.begin(), still_.end(), same); one != still_.end()) {
      if (answer != one->second) complain("a batch of lookups misses an entry that was there throughout");
      return;
    }
    e.r.key = key;
    e.r.what = verb::find;
    e.r.ok = answer.has_value();
    e.r.result = answer.value_or(0);
    lanes.push_back({e});
  }

  void batch(unsigned at, const call& c, const event& e) {
    constexpr std::array verbs = {cubby::verb::find, cubby::verb::insert, cubby::verb::assign, cubby::verb::erase};
    std::vector<request> asked;
    for (const call& one : c.inner) {
      const bool upsert = one.what == act::insert_or_assign;
      asked.push_back({upsert ? cubby::verb::insert_or_assign : verbs[static_cast<std::size_t>(one.what)],
                       Coding::encode_key(one.key), Coding::encode(one.value)});
    }
    std::vector<reply> answers(asked.size());
    const auto policy =
        c.what == act::execute_stopping ? cubby::batch_policy::stop_at_first_failure : cubby::batch_policy::run_all;
    (void)handles_[at].execute(asked, answers, policy);
    const std::uint64_t returned = now();
    bool stopped = false;
    for (std::size_t i = 0; i < answers.size(); ++i) {
      if (stopped != (answers[i].result == cubby::outcome::not_executed))
        complain("a batch stopped at the wrong place");
      if (stopped) continue;
      answered(at, c.inner[i], answers[i], e, i, returned);
      stopped = c.what == act::execute_stopping && answers[i].result != cubby::outcome::done;
    }
  }
  void answered(unsigned at, const call& one, const reply& answer, event e, std::size_t i, std::uint64_t returned) {
    if (found_no_space(answer.result)) {
      if (!may_refuse_) complain("a request of a batch found no space");
      return;
    }
    e.in_batch = i != 0;
    e.r.key = one.key;
    e.r.argument = one.value;
    e.r.ok = answer.result == cubby::outcome::done;
    e.r.what = one.what == act::erase ? verb::extract : verb_of(one.what);
    e.either = one.what == act::insert_or_assign;
    if (answer.value) e.r.result = Coding::decode(*answer.value);
    e.r.returned = returned;
    lanes[at].push_back(e);
  }

  /// Requests in a pipeline have no order among themselves: each gets a lane of its own.
  void piped(unsigned at, const call& c, const event& like) {
    std::vector<std::uint64_t> keys;
    const auto wrong = pipes_.perform(at, c, like, [&](event e) {
      const auto again = static_cast<std::size_t>(std::count(keys.begin(), keys.end(), e.r.key));
      e.r.thread = static_cast<std::uint16_t>(at + again * (handles_.size() - 1)); // lane 0 has no pipeline
      keys.push_back(e.r.key);
      lanes.push_back({e});
    });
    if (!wrong.empty()) complain(wrong);
  }

  void snapshot(unsigned at, event& e) {
    if constexpr (map::capabilities.snapshot) {
      const auto list = handles_[at].snapshot();
      e.is_snapshot = true;
      std::vector<entry> shown;
      for (const auto& [key, v] : list) shown.emplace_back(Coding::decode_key(key), Coding::decode(v));
      e.shown = without_still(shown, "a snapshot", false);
      done(at, e, verb::find, true);
    } else {
      (void)at, (void)e, complain("this engine has no snapshots");
    }
  }
  /// Each entry that a scan shows was there at some moment of it, like what a find answers.
  std::vector<entry> scan(unsigned at) {
    std::vector<entry> shown;
    event e;
    e.r.thread = static_cast<std::uint16_t>(at);
    e.r.called = now();
    handles_[at].visit_all(
        [&](const key_type& key, const value& v) { shown.emplace_back(Coding::decode_key(key), Coding::decode(v)); });
    e.r.returned = now();
    shown = without_still(shown, "a scan", Coding::scans_may_repeat && at != 0);
    e.r.ok = true;
    for (std::size_t i = 0; i < shown.size(); ++i) {
      std::tie(e.r.key, e.r.result) = shown[i];
      const auto again = std::count_if(shown.begin(), shown.begin() + static_cast<std::ptrdiff_t>(i),
                                       [&](const entry& one) { return one.first == e.r.key; });
      e.r.thread = static_cast<std::uint16_t>(at + static_cast<std::size_t>(again) * handles_.size());
      if (again == 0) lanes[at].push_back(e);
      else lanes.push_back({e}); // met twice: two looks that last as long as the scan
    }
    return shown;
  }
  std::vector<entry> without_still(const std::vector<entry>& all, const std::string& what, bool may_repeat) {
    return others_in(all, still_, may_repeat, [&](const std::string& wrong) { complain(what + wrong); });
  }

  void hold(unsigned at, const call& c, event& e) {
    if constexpr (in_records) {
      const value* const seen = handles_[at].find_ref(Coding::encode_key(c.key));
      if (seen != nullptr) e.r.result = Coding::decode(*seen);
      held_[at] = {seen, e.r.result};
      done(at, e, verb::find, seen != nullptr);
    } else {
      (void)e, (void)c, complain("only tables of records give references");
    }
  }
  void look(unsigned at) {
    if constexpr (in_records) {
      const auto& [seen, number] = held_[at];
      if (seen != nullptr && Coding::decode(*seen) != number) complain("what find_ref showed has changed");
      handles_[at].unpin();
    }
  }

  std::vector<entry> still_;
  bool may_refuse_;
  bool own_mover_;
  bool ready_ = false;
  std::uint64_t resizes_before_ = 0;
  std::uint64_t resizes_at_end_ = 0;
  std::unique_ptr<map> map_;
  const map* named_; // the same, and while it is being destroyed
  pipes_of<Coding, map> pipes_;
  std::vector<decltype(std::declval<map&>().handle())> handles_;
  std::vector<std::pair<const value*, std::uint64_t>> held_;
};

template <class Coding>
run_state make_map(const scenario& s) {
  const auto home = std::make_shared<arena>();
  return {std::make_unique<map_adapter<Coding>>(s, *home), home,
          [](void* a) { return static_cast<arena*>(a)->account(); }};
}

} // namespace cubby_test
