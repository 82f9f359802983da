// SPDX-License-Identifier: Apache-2.0
// A durable table on a medium of its own. It notes the moments at which a power cut matters: before each drain and each sync, and when a
// call has returned. For each it makes the states that the cut may leave, recovers them, cuts some recoveries short as well, and asks the
// oracle.
#pragma once

#include <deque>
#include <memory>
#include <unordered_set>
#include <utility>

#include <gtest/gtest.h>

#include "crash/recovery.hpp"
#include "crash/states.hpp"

namespace cubby_test::crash {

using cubby::growth_policy;

/// How many states are tried of each moment; of each moment of a recovery that is cut short; and one in how many recoveries is, of those
/// that have something to repair. CUBBY_TEST_LONG raises the numbers.
struct effort {
  std::uint64_t states;
  std::uint64_t of_recovery = scaled(4);
  std::uint64_t cut_one_in;
};
/// All states of calls, which have few: of those that have more, so many.
inline effort all_states() { return {.states = scaled(1) > 1 ? std::uint64_t{16384} : scaled(1024), .cut_one_in = 8}; }
/// For moves of many entries, of which nobody can try all states.
inline effort sample(std::uint64_t states) {
  return {.states = scaled(states) < 16384 ? scaled(states) : 16384, .cut_one_in = 60};
}

/// What the tests have tried so far.
struct tally {
  std::uint64_t moments = 0;
  std::uint64_t whole = 0; ///< moments of which all states were tried
  std::uint64_t states = 0;
  std::uint64_t recoveries = 0; ///< in all
  std::uint64_t cut_recoveries = 0;
};
tally& tried();

std::string describe(const call& c);

template <class Coding> class rig {
public:
  using table = typename Coding::table;

  explicit rig(cubby::durable_options wanted, effort how = all_states())
      : wanted_(wanted), effort_(how), random_(std::uint64_t{0x6372617368}) {}
  ~rig() {
    if (table_ != nullptr) abandon();
  }
  rig(const rig&) = delete;
  rig& operator=(const rig&) = delete;

  /// From here on, or no longer, crash states are tried.
  void watch(bool on = true) { watching_ = on; }
  [[nodiscard]] bool failed() const { return failed_; }
  [[nodiscard]] table& map() { return *table_; }
  [[nodiscard]] medium& domain() { return *medium_; }
  [[nodiscard]] oracle& knowledge() { return oracle_; }

  /// Makes the table, or opens the file that `cut_power` has left.
  void open() {
    const bool made = !std::filesystem::exists(path());
    phase_ = made ? phase::making : phase::opening;
    doing_ = made ? "create" : "open";
    medium_.reset(); // before the next one is installed
    medium_ = std::make_unique<medium>(path(), [this](moment) { note(); });
    {
      const recording all(*medium_);
      auto opened = table::open(path().c_str(), wanted_, own_options_of<Coding>());
      if (!opened) return fail(opened.message());
      table_ = opened.take();
    }
    medium_->attach(cubby::detail::engine_access::of(*table_).slots().home().base());
    phase_ = phase::open;
    note();
    flush();
  }
  /// One call in the thread of the test.
  answer act(const call& c) {
    const recording all(*medium_);
    return act_on(*table_, 0, c);
  }
  /// The same, on a handle perhaps, in a fiber perhaps: `flush` is left to the caller then.
  template <class Api> answer act_on(Api& m, unsigned actor, call c, bool flushed = true) {
    if (!Coding::has_values) c.value = 1;
    doing_ = describe(c);
    oracle_.begin(actor, c);
    const answer got = Coding::run(m, c);
    if (!oracle_.end(actor, got)) fail("no order of the calls explains the answer of " + describe(c));
    doing_ = "after " + describe(c);
    note();
    if (flushed) flush();
    return got;
  }
  /// Something that changes no entry: growth, shrink.
  template <class F> void work(const char* name, F f) {
    doing_ = name;
    {
      const recording all(*medium_);
      f(*table_);
    }
    note();
    flush();
  }
  void close() {
    doing_ = "close";
    phase_ = phase::closing;
    const recording all(*medium_);
    if (!table_->close()) fail("close has failed");
    phase_ = phase::closed;
    note();
    doing_ = "the end of the table";
    table_.reset();
    medium_->detach();
    flush();
    check_notes();
  }
  /// A power cut now: one of its states is the file from here on, and the oracle knows what it has.
  void cut_power() {
    const snapshot now = medium_->take();
    abandon();
    image left = now.durable;
    for (const pending_unit& unit : now.units) {
      std::uint64_t count = random_.below(unit.size() + 1);
      for (const group& words : unit)
        for (const placed_word& w : words)
          if (count != 0) left[w.at] = w.value, --count;
    }
    restart_machine(left);
    write_file(path(), left);
    const unrecorded rest;
    const found got = recover(left, nullptr);
    if (!got.trouble.empty()) return fail(got.trouble);
    oracle_.restart(got.contents);
  }
  /// Tries the states of all moments noted since the last call.
  void flush() {
    for (; !noted_.empty(); noted_.pop_front())
      if (!failed_) try_states(noted_.front());
  }

private:
  struct noted {
    snapshot what;
    std::shared_ptr<const allowed_values> allowed;
    phase when;
    std::string doing;
  };

  void note() {
    if (watching_ && !failed_) noted_.push_back({medium_->take(), oracle_.allowed(), phase_, doing_});
  }
  void fail(const std::string& why) {
    if (!failed_) ADD_FAILURE() << doing_ << ": " << why;
    failed_ = true;
  }
  void check_notes() {
    if (!medium_->unnoted().empty()) fail(medium_->unnoted());
  }
  void abandon() {
    check_notes();
    noted_.clear();
    medium_->detach();
    const unrecorded rest;
    table_.reset();
  }
  [[nodiscard]] std::string path() const { return folder_.file("table"); }
  [[nodiscard]] std::string scratch() const { return folder_.file("state"); }

  void try_states(const noted& at) {
    const unrecorded rest;
    crash_states states(at.what, effort_.states, random_);
    tried().moments += 1;
    tried().whole += states.exhaustive() ? 1 : 0;
    if (at.allowed != seen_for_) seen_.clear();
    seen_for_ = at.allowed;
    image words;
    std::vector<std::uint32_t> choice;
    while (!failed_ && states.next(choice)) {
      words = at.what.durable;
      for (std::size_t unit = 0; unit < choice.size(); ++unit)
        for (const placed_word& w : states.at(unit, choice[unit])) words[w.at] = w.value;
      try_state(at, words, [&] { return describe_choice(states, choice); });
    }
    if (failed_ || at.what.shortest == at.what.durable.size() * 8) return;
    words = at.what.durable;
    words.resize(at.what.shortest / 8);
    try_state(at, words, [] { return "the file has its older size"; });
  }
  template <class Describe> void try_state(const noted& at, image& words, Describe text) {
    if (!seen_.insert(hash_of(words) + static_cast<std::uint64_t>(at.when)).second) return;
    tried().states += 1;
    restart_machine(words);
    const bool drawn = random_.one_in(24);
    const found got = recover(words, drawn ? "exercised" : nullptr);
    std::string why = judge(got, *at.allowed, at.when);
    const bool repaired = got.report.finished + got.report.duplicates != 0;
    if (why.empty() && random_.one_in(repaired ? effort_.cut_one_in : 300)) why = cut_recovery(words, got, 1);
    if (why.empty()) return;
    doing_ = at.doing;
    fail(why + "\n  state: " + text());
  }

  /// Recovers a state. `exercised`: and works with the table.
  found recover(const image& words, const char* exercised) {
    tried().recoveries += 1;
    write_file(scratch(), words);
    auto opened = table::open(scratch().c_str(), wanted_, own_options_of<Coding>());
    found out = look_at_recovered<Coding>(opened);
    if (!out.trouble.empty() || exercised == nullptr) return out;
    out.trouble = exercise<Coding>(*opened, out.contents);
    if (out.trouble.empty() && !opened->close()) out.trouble = "close has failed";
    opened.take().reset();
    if (!out.trouble.empty()) return out;
    const found again = look_at_recovered<Coding>(table::open(scratch().c_str(), wanted_, own_options_of<Coding>()));
    if (!again.trouble.empty()) out.trouble = "opened again: " + again.trouble;
    else if (!again.report.clean || again.contents != out.contents) out.trouble = "opened again: not what was closed";
    return out;
  }
  /// Recovers a state again, cuts that short at each of its moments, and recovers what is left: it is the same.
  std::string cut_recovery(const image& words, const found& first, unsigned depth) {
    tried().cut_recoveries += 1;
    std::deque<snapshot> moments;
    write_file(scratch(), words);
    {
      medium inner(scratch(), [&](moment) { moments.push_back(medium_of_recovery_->take()); });
      medium_of_recovery_ = &inner;
      const recording all(inner);
      auto opened = table::open(scratch().c_str(), wanted_, own_options_of<Coding>());
      if (!opened) return std::string("the second open: ") + opened.message();
      moments.push_back(inner.take());
      inner.detach();
      const unrecorded rest;
      opened.take().reset();
      if (!inner.unnoted().empty()) return inner.unnoted();
    }
    for (const snapshot& one : moments) {
      crash_states states(one, depth == 1 ? effort_.of_recovery : effort_.of_recovery / 4 + 1, random_);
      std::vector<std::uint32_t> choice;
      image left;
      while (states.next(choice)) {
        left = one.durable;
        for (std::size_t unit = 0; unit < choice.size(); ++unit)
          for (const placed_word& w : states.at(unit, choice[unit])) left[w.at] = w.value;
        restart_machine(left);
        const found second = recover(left, nullptr);
        const std::string where = "after a crash in recovery, with " + describe_choice(states, choice) + ": ";
        if (!second.trouble.empty()) return where + second.trouble;
        if (second.contents != first.contents) return where + "other contents than before";
        if (depth == 1 && random_.one_in(64)) {
          const std::string why = cut_recovery(left, second, 2);
          if (!why.empty()) return where + why;
        }
      }
    }
    return {};
  }

  static std::string describe_choice(const crash_states& states, const std::vector<std::uint32_t>& choice) {
    std::string out;
    for (std::size_t unit = 0; unit < choice.size(); ++unit) {
      const remnant& left = states.at(unit, choice[unit]);
      if (!left.empty())
        out += "byte " + std::to_string(left[0].at * 8) + " and " + std::to_string(left.size() - 1) + " more; ";
    }
    return out.empty() ? "nothing that was pending" : out;
  }

  temporary_folder folder_;
  cubby::durable_options wanted_;
  effort effort_;
  random_source random_;
  oracle oracle_;
  std::unique_ptr<medium> medium_;
  std::unique_ptr<table> table_;
  medium* medium_of_recovery_ = nullptr;
  std::deque<noted> noted_;
  std::unordered_set<std::uint64_t> seen_;
  std::shared_ptr<const allowed_values> seen_for_;
  phase phase_ = phase::making;
  std::string doing_;
  bool watching_ = false;
  bool failed_ = false;
};

} // namespace cubby_test::crash
