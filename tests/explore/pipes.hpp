// SPDX-License-Identifier: Apache-2.0
// Pipelines of the threads of a scenario: each hands in the requests of its call, and takes the answers in whatever order
// they come. A request lasts from its submit to its answer, and has no order with the others.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include <cubby/pipeline.hpp>

#include "explore/driver.hpp"
#include "explore/scenario.hpp"

namespace cubby_test {

/// Whether an insert was refused for want of space: how it ended, or how a request did.
template <class Outcome>
bool found_no_space(Outcome how) {
  return how == Outcome::full || how == Outcome::crowded || how == Outcome::no_memory;
}

inline bool is_piped(const script& calls) {
  for (const call& c : calls) {
    if (c.what == act::pipeline) return true;
  }
  return false;
}

template <class Coding, class Map, bool = Map::capabilities.pipelined>
class pipes_of {
public:
  pipes_of(Map&, const scenario&) {}
  void clear() {}
  template <class Take>
  std::string perform(unsigned, const call&, const event&, Take) {
    return "this engine has no pipelines";
  }
};

template <class Coding, class Map>
class pipes_of<Coding, Map, true> {
  using pipe = typename Map::handle_type::template pipeline_type<>;
  static constexpr std::size_t window = 2;

public:
  /// Made before the threads run, so that their thread records are the same in every schedule.
  pipes_of(Map& m, const scenario& s) : pipes_(s.threads.size() + 1) {
    for (std::size_t i = 0; i < s.threads.size(); ++i) {
      if (is_piped(s.threads[i])) pipes_[i + 1].reset(new pipe(m.handle().pipeline({.window = window})));
    }
  }
  void clear() { pipes_.clear(); }

  /// `take(event)` for each answer but those that found no space; what is wrong otherwise.
  template <class Take>
  std::string perform(unsigned at, const call& c, const event& like, Take take) {
    std::vector<std::uint64_t> called;
    std::vector<unsigned> answers(c.inner.size(), 0);
    std::string wrong;
    const auto sink = [&](typename pipe::reply_type&& r) {
      ++answers[r.tag];
      if (found_no_space(r.result)) {
        wrong = "a piped request found no space";
        return;
      }
      event e = event_of(c.inner[r.tag], r, like);
      e.r.called = called[r.tag];
      e.r.returned = driver::instance().stamp();
      take(e);
    };
    for (const call& one : c.inner) {
      called.push_back(driver::instance().stamp());
      pipes_[at]->submit(
          {asked_by(one.what), Coding::encode_key(one.key), Coding::encode(one.value), called.size() - 1}, sink);
    }
    pipes_[at]->drain(sink);
    for (const unsigned n : answers) {
      if (n != 1) wrong = "a piped request was answered " + std::to_string(n) + " times";
    }
    return wrong;
  }

private:
  static cubby::verb asked_by(act what) {
    using verbs = cubby::verb;
    constexpr std::array same = {verbs::find,  verbs::insert, verbs::assign,
                                 verbs::erase, verbs::erase,  verbs::insert_or_assign};
    return same[static_cast<std::size_t>(what)];
  }
  static event event_of(const call& one, const typename pipe::reply_type& r, event e) {
    constexpr std::array same = {verb::find,    verb::insert,  verb::assign,
                                 verb::extract, verb::extract, verb::insert_or_assign};
    e.r.key = one.key;
    e.r.argument = one.value;
    e.r.what = same[static_cast<std::size_t>(one.what)];
    e.r.ok = r.result == cubby::outcome::done;
    e.r.result = r.value ? Coding::decode(*r.value) : 0;
    e.either = one.what == act::insert_or_assign;
    return e;
  }
  std::vector<std::unique_ptr<pipe>> pipes_;
};

} // namespace cubby_test
