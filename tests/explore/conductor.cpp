// SPDX-License-Identifier: Apache-2.0
#include "explore/conductor.hpp"

#include <algorithm>

namespace cubby_test {
namespace {

constexpr std::uint64_t most_steps = 100000; // the longest scenario takes some thousand
constexpr unsigned most_rounds = 20;         // of all threads waiting, without a change

std::uint8_t bit(std::uint8_t t) { return static_cast<std::uint8_t>(1u << t); }

/// The next ready thread behind `t`, in a circle; `t` itself comes last.
std::uint8_t after(std::uint8_t t, std::uint8_t ready) {
  for (unsigned i = 1; i <= most_threads; ++i) {
    const auto next = static_cast<std::uint8_t>((t == nobody ? i - 1 : t + i) % most_threads);
    if ((ready & bit(next)) != 0) return next;
  }
  return nobody;
}

/// The word at an address that the table uses; the rest of the granule may be anybody's, so no sanitizer looks on.
__attribute__((no_sanitize("address", "undefined"), noinline)) std::uint64_t peek(std::uintptr_t word) {
  return *reinterpret_cast<const volatile std::uint64_t*>(word);
}

} // namespace

conductor& conductor::instance() {
  static conductor only;
  return only;
}

conductor::conductor() {
  hooked_ = this;
  cubby::sync::install_hook(&conductor::hook);
}

void conductor::hook(step kind, const void* address) {
  if (hooked_->running_ != nobody) hooked_->before(kind, address);
}

void conductor::enter(void* argument) {
  auto& self = *static_cast<conductor*>(argument);
  const std::uint8_t mine = self.starting_;
  for (;;) {
    (*self.body_)(mine);
    self.end_of_thread();
  }
}

ending conductor::run(unsigned count, const body_function& body, chooser& who) {
  body_ = &body;
  chooser_ = &who;
  points_.clear();
  changes_.clear();
  done_.clear();
  count_ = static_cast<std::uint8_t>(count);
  steps_ = 0;
  rounds_ = 0;
  how_ = ending::finished;
  asleep_ = 0;
  alive_ = static_cast<std::uint8_t>((1u << count) - 1);
  for (unsigned i = 0; i < count; ++i) {
    thread& t = threads_[i];
    if (!t.own) t.own = std::make_unique<fiber>(&conductor::enter, this);
    t.steps = t.call = t.stamps = 0;
    t.target_words = 0;
    t.seen.clear();
  }
  running_ = nobody;
  const std::uint8_t first = decide(true);
  running_ = starting_ = first;
  fiber::change(main_, *threads_[first].own);
  running_ = nobody;
  if (how_ != ending::finished) {
    for (thread& t : threads_) {
      if (t.own) lost_.push_back(std::move(t.own));
    }
  }
  return how_;
}

void conductor::before(step kind, const void* address) {
  if (kind == step::fence) return; // schedules are sequentially consistent here: it changes nothing, and has no address
  thread& t = threads_[running_];
  settle(t);
  ++t.steps;
  if (++steps_ > most_steps) return stop(ending::endless);
  const bool waits = kind == step::wait;
  if (waits && falls_asleep(t)) asleep_ |= bit(running_);
  const std::uint8_t me = running_;
  const std::uint8_t next = decide(waits);
  if (next == nobody) return stop(ending::livelock);
  if (next != me) pass_turn(next);
  note(t, kind, address);
}

void conductor::end_of_thread() {
  thread& t = threads_[running_];
  settle(t);
  ++t.steps;
  alive_ &= static_cast<std::uint8_t>(~bit(running_));
  if (alive_ == 0) return fiber::change(*t.own, main_);
  const std::uint8_t next = decide(true);
  if (next == nobody) return stop(ending::livelock);
  pass_turn(next);
}

/// Who goes on; nobody when all wait in vain.
std::uint8_t conductor::decide(bool forced) {
  if ((alive_ & ~asleep_) == 0) {
    if (++rounds_ > most_rounds) return nobody;
    asleep_ = 0;
  }
  decision_point here;
  here.from = running_;
  here.ready = static_cast<std::uint8_t>(alive_ & ~asleep_);
  here.forced = forced;
  here.at = running_ == nobody ? 0 : threads_[running_].steps;
  here.usual = forced ? after(running_, here.ready) : running_;
  here.chosen = here.usual;
  if ((here.ready & (here.ready - 1)) != 0) {
    here.chosen = chooser_->choose(here);
    points_.push_back(here);
  }
  return here.chosen;
}

void conductor::pass_turn(std::uint8_t next) {
  thread& from = threads_[running_];
  running_ = starting_ = next;
  fiber::change(*from.own, *threads_[next].own);
}

void conductor::stop(ending how) {
  how_ = how;
  fiber::change(*threads_[running_].own, main_);
}

/// Writes down the step that is about to be carried out.
void conductor::note(thread& t, step kind, const void* address) {
  if (listener_) {
    const std::uint8_t me = running_;
    running_ = nobody; // it may read the table
    listener_({address, t.call, me, kind});
    running_ = me;
  }
  if (kind == step::wait) {
    t.seen.clear();
    done_.push_back({0, t.steps, t.stamps, running_, false, false});
    return;
  }
  const std::uintptr_t word = reinterpret_cast<std::uintptr_t>(address) & ~std::uintptr_t{7};
  const unsigned words = kind == step::rmw16 ? 2 : 1;
  done_.push_back({word, t.steps, t.stamps, running_, words == 2, kind != step::load});
  for (unsigned i = 0; i < words; ++i) t.seen.push_back({word + 8 * i, steps_});
  if (kind == step::load) return;
  t.target = word;
  t.target_words = words;
  t.always_changes = kind == step::store;
  for (unsigned i = 0; i < words && !t.always_changes; ++i) t.before[i] = peek(word + 8 * i);
}

bool conductor::last_departure_was_idle() const {
  const auto last = std::find_if(points_.rbegin(), points_.rend(), [](const auto& p) { return p.chosen != p.usual; });
  if (count_ != 2 || last == points_.rend() || last->forced) return false;
  const auto is_its = [&](const done_step& d) { return d.thread == last->from && d.number >= last->at; };
  const auto step = std::find_if(done_.begin(), done_.end(), is_its);
  if (step == done_.end() || step->word == 0) return false;
  const auto following = std::find_if(step + 1, done_.end(), is_its);
  if (following == done_.end() || following->stamps != step->stamps) return false;
  const auto covers = [](const done_step& d, std::uintptr_t word) {
    return d.word == word || (d.both_words && d.word + 8 == word);
  };
  for (auto other = step; other != done_.begin() && (other - 1)->thread != last->from;) {
    --other;
    const bool meet = covers(*other, step->word) || covers(*step, other->word);
    if (meet && (other->writes || step->writes)) return false;
  }
  return true;
}

/// The thread's last step is done: if it changed a word, whoever waits for that word is ready again.
void conductor::settle(thread& t) {
  for (unsigned i = 0; i < t.target_words; ++i) {
    const std::uintptr_t word = t.target + 8 * i;
    if (t.always_changes || peek(word) != t.before[i]) changed(word);
  }
  t.target_words = 0;
}

void conductor::changed(std::uintptr_t word) {
  rounds_ = 0;
  changes_.push_back({word, (steps_ << 3) | running_});
  for (std::uint8_t other = 0; asleep_ != 0 && other < most_threads; ++other) {
    if ((asleep_ & bit(other)) == 0) continue;
    const auto& seen = threads_[other].seen;
    if (std::any_of(seen.begin(), seen.end(), [word](const access& a) { return a.word == word; })) {
      asleep_ &= static_cast<std::uint8_t>(~bit(other));
    }
  }
}

/// Whether nothing that a waiting thread has read since its last wait has been changed by others since.
bool conductor::falls_asleep(thread& t) {
  bool stale = false;
  for (auto c = changes_.rbegin(); c != changes_.rend() && !stale; ++c) {
    if (t.seen.empty() || (c->time >> 3) < t.seen.front().time) break;
    if ((c->time & 7) == running_) continue;
    for (const access& a : t.seen) stale |= a.word == c->word && a.time < (c->time >> 3);
  }
  return !stale;
}

} // namespace cubby_test
