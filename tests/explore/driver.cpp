// SPDX-License-Identifier: Apache-2.0
#include "explore/driver.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace cubby_test {
namespace {

constexpr std::uint64_t most_steps = 100000; // the longest scenario takes some thousand
constexpr unsigned most_rounds = 20;         // of all threads waiting, without a change

constexpr std::uint8_t mover = most_threads - 1;

std::uint8_t bit(std::uint8_t t) { return static_cast<std::uint8_t>(1u << t); }

/// The next ready thread behind `t`, in a circle; `t` itself comes last.
std::uint8_t after(std::uint8_t t, std::uint8_t ready) {
  for (unsigned i = 1; i <= most_threads; ++i) {
    const auto next = static_cast<std::uint8_t>((t == nobody ? i - 1 : t + i) % most_threads);
    if ((ready & bit(next)) != 0) return next;
  }
  return nobody;
}

std::uintptr_t granule(const void* address) { return reinterpret_cast<std::uintptr_t>(address) & ~std::uintptr_t{7}; }

/// The word at an address that the table uses; the rest of the granule may be any thread's, so no sanitizer looks on.
__attribute__((no_sanitize("address", "undefined"), noinline)) std::uint64_t peek(std::uintptr_t word) {
  return *reinterpret_cast<const volatile std::uint64_t*>(word);
}

} // namespace

driver& driver::instance() {
  static driver only;
  return only;
}

driver::driver() {
  hooked_ = this;
  cubby::detail::sync::install_hook(&driver::hook);
  static constexpr cubby::detail::worker_host here{&driver::start_mover, &driver::sleep, &driver::join_mover};
  cubby::detail::install_worker_host(&here);
}

void driver::hook(step kind, const void* address) {
  if (hooked_->running_ != nobody) hooked_->before(kind, address);
}

void driver::enter(void* argument) {
  auto& self = *static_cast<driver*>(argument);
  const std::uint8_t mine = self.starting_;
  for (;;) {
    if (mine == mover && self.has_mover()) self.run_mover();
    else (*self.body_)(mine);
    self.end_of_thread();
  }
}

bool driver::start_mover(void* (*run)(void*), void* worker) {
  auto& own = hooked_->mover_;
  if (own.run != nullptr) return false;
  own.run = run;
  own.argument = worker;
  own.notices = nullptr;
  own.ended.store(0, cubby::detail::sync::release);
  hooked_->threads_[mover].seen.clear();
  return true;
}

void driver::run_mover() {
  (void)mover_.run(mover_.argument);
  mover_.ended.store(1, cubby::detail::sync::release);
}

void driver::sleep(const void* notices) {
  driver& self = *hooked_;
  self.mover_.notices = notices;
  self.mover_.slept_on = peek(granule(notices));
  self.before(step::wait, notices);
  self.mover_.notices = nullptr;
}

/// A thread of the scenario waits as it would for any word. Outside, the mover goes on alone.
void driver::join_mover(void* worker) {
  driver& self = *hooked_;
  if (self.mover_.argument != worker) return; // lost with a schedule that had no end
  if (self.running_ == nobody) (void)self.rest();
  for (cubby::detail::sync::backoff wait;
       self.mover_.ended.load(cubby::detail::sync::acquire) == 0 && self.has_mover();)
    wait.pause();
  self.mover_.run = nullptr;
  self.mover_.argument = nullptr;
}

/// Nothing has been told to it since it went to sleep.
bool driver::mover_is_asleep() const {
  return mover_.notices != nullptr && peek(granule(mover_.notices)) == mover_.slept_on;
}

/// No thread is left, but perhaps the mover, which has nothing to do.
bool driver::all_is_done() const {
  return alive_ == 0 || (alive_ == bit(mover) && (asleep_ & alive_) != 0 && mover_is_asleep());
}

ending driver::run(unsigned count, const body_function& body, chooser& who) {
  body_ = &body;
  points_.clear();
  changes_.clear();
  done_.clear();
  steps_ = 0;
  for (unsigned i = 0; i < most_threads; ++i) {
    threads_[i].steps = threads_[i].call = threads_[i].stamps = 0;
    if (i < count) threads_[i].seen.clear();
  }
  return go(count, who);
}

ending driver::rest() {
  if (!has_mover() || mover_is_asleep()) return ending::finished;
  const schedule usual;
  follower along(usual);
  const listener unheard = std::exchange(listener_, nullptr);
  const std::size_t so_far = done_.size();
  const std::uint8_t count = count_;
  const ending how = go(0, along);
  count_ = count;
  done_.resize(so_far);
  listener_ = unheard;
  return how;
}

ending driver::go(unsigned count, chooser& who) {
  chooser_ = &who;
  rounds_ = 0;
  last_step_ = steps_ + most_steps;
  how_ = ending::finished;
  alive_ = static_cast<std::uint8_t>((1u << count) - 1);
  if (has_mover()) alive_ |= bit(mover);
  count_ = static_cast<std::uint8_t>(std::popcount(alive_));
  asleep_ = has_mover() && mover_is_asleep() ? bit(mover) : 0;
  for (std::uint8_t i = 0; i < most_threads; ++i) {
    thread& t = threads_[i];
    if ((alive_ & bit(i)) == 0) continue;
    if (!t.own) t.own = std::make_unique<fiber>(&driver::enter, this);
    t.target_words = 0;
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
    mover_.run = nullptr;
    mover_.argument = nullptr;
    mover_.notices = nullptr;
  }
  return how_;
}

void driver::before(step kind, const void* address) {
  if (kind == step::fence) return; // schedules are sequentially consistent here: it changes nothing, and has no address
  thread& t = threads_[running_];
  end_step(t);
  ++t.steps;
  if (++steps_ > last_step_) return stop(ending::endless);
  const bool waits = kind == step::wait;
  if (waits && falls_asleep(t)) asleep_ |= bit(running_);
  const std::uint8_t me = running_;
  if (all_is_done()) {
    fiber::change(*t.own, main_); // until the next run
  } else {
    const std::uint8_t next = decide(waits);
    if (next == nobody) return stop(ending::livelock);
    if (next != me) pass_turn(next);
  }
  note(t, kind, address);
}

void driver::end_of_thread() {
  thread& t = threads_[running_];
  end_step(t);
  ++t.steps;
  alive_ &= static_cast<std::uint8_t>(~bit(running_));
  if (all_is_done()) return fiber::change(*t.own, main_);
  const std::uint8_t next = decide(true);
  if (next == nobody) return stop(ending::livelock);
  pass_turn(next);
}

/// Who goes on; nobody when all wait in vain.
std::uint8_t driver::decide(bool forced) {
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

void driver::pass_turn(std::uint8_t next) {
  thread& from = threads_[running_];
  running_ = starting_ = next;
  fiber::change(*from.own, *threads_[next].own);
}

void driver::stop(ending how) {
  how_ = how;
  fiber::change(*threads_[running_].own, main_);
}

/// Writes down the step that is about to be carried out.
void driver::note(thread& t, step kind, const void* address) {
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
  const std::uintptr_t word = granule(address);
  const unsigned words = kind == step::rmw16 ? 2 : 1;
  done_.push_back({word, t.steps, t.stamps, running_, words == 2, kind != step::load});
  for (unsigned i = 0; i < words; ++i) t.seen.push_back({word + 8 * i, steps_});
  if (kind == step::load) return;
  t.target = word;
  t.target_words = words;
  t.always_changes = kind == step::store;
  for (unsigned i = 0; i < words && !t.always_changes; ++i) t.before[i] = peek(word + 8 * i);
}

bool driver::last_departure_was_idle() const {
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

/// The thread's last step is done: if it changed a word, a thread that waits for that word is ready again.
void driver::end_step(thread& t) {
  for (unsigned i = 0; i < t.target_words; ++i) {
    const std::uintptr_t word = t.target + 8 * i;
    if (t.always_changes || peek(word) != t.before[i]) changed(word);
  }
  t.target_words = 0;
}

void driver::changed(std::uintptr_t word) {
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
bool driver::falls_asleep(thread& t) {
  bool stale = false;
  for (auto c = changes_.rbegin(); c != changes_.rend() && !stale; ++c) {
    if (t.seen.empty() || (c->time >> 3) < t.seen.front().time) break;
    if ((c->time & 7) == running_) continue;
    for (const access& a : t.seen) stale |= a.word == c->word && a.time < (c->time >> 3);
  }
  return !stale;
}

} // namespace cubby_test
