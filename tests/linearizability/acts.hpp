// SPDX-License-Identifier: Apache-2.0
// What the threads of recorded histories do. They draw every verb of a map's API at random, single and in batches,
// under pauses at random atomic steps. Another thread may make the table grow and shrink meanwhile.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <vector>

#include "engines.hpp"
#include "linearizability/client.hpp"
#include "linearizability/set_client.hpp"
#include "support/act.hpp"
#include "support/failing_memory.hpp"
#include "support/hooks.hpp"

namespace cubby_test {

/// The hash under which an engine's hot keys share what they contend for, and the one for its other histories.
template <class Engine>
struct hashes_of {
  using hot = clustered_hash;
  using usual = cubby::hash<std::uint64_t>;
};
template <>
struct hashes_of<cubby::relativistic> {
  using hot = zipping_hash;
  using usual = zipping_hash;
};

inline constexpr std::uint64_t first_noise_key = 1000;
inline constexpr std::size_t longest_batch = 6;

struct plan {
  table_options options = tiny_options();
  unsigned threads = 3;
  std::uint64_t keys = 1;
  std::uint64_t calls = 1500; // of each thread, in each round
  std::uint64_t rounds = 1;   // with all threads joined between
  std::uint64_t rarity = 20;  // of pauses; 0: none
  bool resize = true;         // one thread more grows and shrinks the table
  bool scarce = false;        // two requests of three for index memory are refused
  std::uint64_t values = 0;   // 0: every value is new; else so many come back again and again
  std::vector<act> favoured;  // three calls of four; any other verb is drawn for the fourth
  bool favoured_only = false;
};

/// Some different keys of the plan.
inline std::vector<std::uint64_t> draw_keys(random_source& random, std::uint64_t keys) {
  std::vector<std::uint64_t> drawn;
  for (std::uint64_t n = 1 + random.below(longest_batch); n > 0; --n) {
    const std::uint64_t k = random.below(keys);
    if (std::find(drawn.begin(), drawn.end(), k) == drawn.end()) drawn.push_back(k);
  }
  return drawn;
}

inline act draw_act(random_source& random, const plan& p) {
  const auto any = static_cast<act>(random.below(recorded_acts));
  if (p.favoured.empty() || (!p.favoured_only && random.one_in(4))) return any;
  return p.favoured[random.below(p.favoured.size())];
}

/// One thread's draw of what to do next.
template <class Coding>
class actor {
public:
  actor(typename Coding::map& m, trace& t, const plan& p, std::uint64_t salt)
      : client_(m, t), trace_(t), plan_(p), random_(salt) {}

  void look(std::uint64_t key) { client_.call(verb::find, key, 0); }
  static void add(typename Coding::map& m, std::uint64_t key) {
    (void)m.try_insert(key_of<Coding>(key), Coding::encode(key));
  }

  void act_once() {
    const act what = draw_act(random_, plan_);
    const std::uint64_t key = random_.below(plan_.keys), number = fresh();
    switch (what) {
    case act::upsert: return client_.upsert(key, number);
    case act::toggle: return client_.toggle(key, number);
    case act::commit: return client_.reserve_then(true, key, number);
    case act::abort: return client_.reserve_then(false, key, number);
    case act::contains: return client_.call(verb::contains, key, number);
    case act::add: return client_.call(verb::add, key, number);
    case act::visit: return client_.visit(key);
    case act::find_ref: return client_.find_ref(key);
    case act::try_emplace: return client_.try_emplace(key, number);
    case act::try_insert: return client_.try_insert(key, number);
    case act::compute: return client_.compute(key, number, draw_action(), draw_action());
    case act::erase_if: return client_.erase_if_even(key);
    case act::find_batch: return client_.look_up(false, draw_keys(random_, plan_.keys));
    case act::visit_batch: return client_.look_up(true, draw_keys(random_, plan_.keys));
    case act::execute: return execute(false);
    case act::execute_stopping: return execute(true);
    default: return client_.call(static_cast<verb>(what), key, number);
    }
  }

private:
  std::uint64_t fresh() { return plan_.values == 0 ? trace_.fresh_value() : random_.below(plan_.values); }
  cubby::action draw_action() { return static_cast<cubby::action>(random_.below(3)); }
  void execute(bool stopping) {
    constexpr verb verbs[] = {verb::find, verb::insert, verb::assign, verb::put, verb::extract};
    std::vector<record> batch(2 + random_.below(longest_batch - 1));
    for (record& r : batch) {
      r.what = verbs[random_.below(5)];
      r.key = random_.below(plan_.keys);
      if (r.what != verb::find && r.what != verb::extract) r.argument = fresh();
    }
    client_.execute(batch, stopping);
  }

  client<Coding> client_;
  trace& trace_;
  const plan& plan_;
  random_source random_;
};

/// The same over a set, which has fewer verbs: what a map would do to a value is an insert here.
template <class Engine, class Hash>
class actor<set_coding<Engine, Hash>> {
public:
  using set = typename set_coding<Engine, Hash>::map;
  actor(set& s, trace& t, const plan& p, std::uint64_t salt) : client_(s, t), plan_(p), random_(salt) {}

  void look(std::uint64_t key) { client_.contains(key); }
  static void add(set& s, std::uint64_t key) { (void)s.try_insert(key); }

  void act_once() {
    const std::uint64_t key = random_.below(plan_.keys);
    switch (draw_act(random_, plan_)) {
    case act::find:
    case act::contains:
    case act::visit:
    case act::find_ref: return client_.contains(key);
    case act::erase:
    case act::extract:
    case act::erase_if: return client_.erase(key);
    case act::find_batch:
    case act::visit_batch: return client_.look_up(draw_keys(random_, plan_.keys));
    case act::commit: return client_.reserve_then(true, key);
    case act::abort: return client_.reserve_then(false, key);
    case act::execute: return execute(false);
    case act::execute_stopping: return execute(true);
    case act::try_insert: return client_.insert(key);
    default: return client_.insert_or_throw(key);
    }
  }

private:
  void execute(bool stopping) {
    constexpr cubby::verb verbs[] = {cubby::verb::find, cubby::verb::insert, cubby::verb::assign,
                                     cubby::verb::insert_or_assign, cubby::verb::erase};
    std::vector<typename set::request_type> batch(2 + random_.below(longest_batch - 1));
    for (auto& r : batch) {
      r.what = verbs[random_.below(5)];
      r.key = random_.below(plan_.keys);
    }
    client_.execute(batch, stopping);
  }

  set_client<set> client_;
  const plan& plan_;
  random_source random_;
};

/// Other keys come and go, so that the bins of the hot keys move, chain and fill up.
template <class Coding>
void make_noise(typename Coding::map& m, const std::atomic<unsigned>& working, std::uint64_t salt) {
  perturber pauses(salt, 50);
  random_source random(salt + 1);
  while (working.load() != 0) {
    const std::uint64_t burst = 20 + random.below(200);
    for (std::uint64_t k = 0; k < burst; ++k) actor<Coding>::add(m, first_noise_key + k);
    for (std::uint64_t k = 0; k < burst; ++k) m.erase(key_of<Coding>(first_noise_key + k));
    m.shrink_to_fit();
  }
}

/// Index memory is scarce while it lives, if so told.
class scarcity {
public:
  explicit scarcity(bool wanted) { set_index_memory(wanted ? index_memory::scarce : index_memory::plenty); }
  ~scarcity() { set_index_memory(index_memory::plenty); }
  scarcity(const scarcity&) = delete;
  scarcity& operator=(const scarcity&) = delete;
};

/// Records a history as `p` says, over a table of its own; ends with a look at every key. Empty: a trace overflowed.
template <class Coding>
std::vector<record> record_history(const plan& p, std::uint64_t salt) {
  const auto m = std::make_unique<typename Coding::map>(p.options);
  std::vector<std::unique_ptr<trace>> traces;
  for (unsigned t = 0; t < p.threads; ++t) {
    const std::size_t most = p.calls * p.rounds * longest_batch + p.keys;
    traces.push_back(std::make_unique<trace>(static_cast<std::uint16_t>(t), most));
  }
  const scarcity hunger(p.scarce);
  for (std::uint64_t round = 0; round < p.rounds; ++round) {
    const std::uint64_t own = salt * 64 + round * 1000003;
    std::atomic<unsigned> working{p.threads};
    run_threads(p.threads + (p.resize ? 1 : 0), [&](unsigned t) {
      if (t == p.threads) return make_noise<Coding>(*m, working, own + 60);
      std::unique_ptr<perturber> pauses;
      if (p.rarity != 0) pauses = std::make_unique<perturber>(own + t * 2, p.rarity);
      actor<Coding> a(*m, *traces[t], p, own + t * 2 + 1);
      for (std::uint64_t i = 0; i < p.calls; ++i) a.act_once();
      working.fetch_sub(1);
    });
  }
  actor<Coding> last(*m, *traces[0], p, 0);
  for (std::uint64_t k = 0; k < p.keys; ++k) last.look(k);
  std::vector<record> history;
  for (const auto& t : traces) {
    if (t->overflowed()) return {};
    history.insert(history.end(), t->records().begin(), t->records().end());
  }
  return history;
}

} // namespace cubby_test
