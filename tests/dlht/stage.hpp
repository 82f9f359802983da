// SPDX-License-Identifier: Apache-2.0
// For tests that drive an exact schedule: a table, its threads, and the history that they record. A table gives
// `caller(trace) -> function(request_line)`, made before the threads start, so that a thread's first step is its verb's.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include <cubby/map.hpp>

#include "engines.hpp"
#include "linearizability/checker.hpp"
#include "linearizability/client.hpp"
#include "support/fiber_scheduler.hpp"

namespace cubby_test {

struct request_line {
  verb what;
  std::uint64_t argument = 0;
  std::uint64_t k = 7;
};
using script = std::vector<request_line>;
using caller_function = std::function<void(const request_line&)>;

/// DLHT; every key below 16 goes to one bin, as in the schedules. Other entries leave one slot in its first line, so that a key that
/// comes takes the place of one that has gone.
struct engine_table {
  using coding = word_coding<cubby::dlht, clustered_hash>;
  coding::map map{tiny_options()};
  engine_table() {
    for (const std::uint64_t other : {9u, 10u}) EXPECT_TRUE(map.insert(other, coding::encode(0)));
  }

  caller_function caller(trace& t) {
    auto c = std::make_shared<client<coding>>(map, t);
    return [c](const request_line& r) { c->call(r.what, r.k, r.argument); };
  }
};

/// A table, the threads of a schedule, and what they recorded.
template <class Table>
class stage {
public:
  explicit stage(Table& table) : table_(table) {}

  void before(const script& s) { play(table_.caller(lane()), s); }
  std::size_t thread(script s) {
    return turns.start([call = table_.caller(lane()), s = std::move(s)] { play(call, s); });
  }
  judgement end() {
    EXPECT_TRUE(turns.finish_all());
    before({{verb::find}, {verb::find, 0, 8}});
    std::vector<record> history;
    for (const auto& t : traces_) history.insert(history.end(), t->records().begin(), t->records().end());
    found = check_history(history);
    return found.what;
  }

  fiber_scheduler turns;
  finding found;

private:
  trace& lane() {
    traces_.push_back(std::make_unique<trace>(static_cast<std::uint16_t>(traces_.size()), 100));
    return *traces_.back();
  }
  static void play(const caller_function& call, const script& s) {
    for (const request_line& r : s) call(r);
  }
  Table& table_;
  std::vector<std::unique_ptr<trace>> traces_;
};

/// Stops before the `n`th 8-byte compare-and-swap (from 1) from here.
inline scheduler::predicate before_header_swap(unsigned n) {
  return [n](step kind, const void*) mutable { return kind == step::rmw8 && --n == 0; };
}
/// Stops before the `n`th step (from 1) from here that may change something.
inline scheduler::predicate before_change(unsigned n) {
  return [n](step kind, const void*) mutable { return kind != step::load && kind != step::wait && --n == 0; };
}

} // namespace cubby_test
