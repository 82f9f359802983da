// SPDX-License-Identifier: Apache-2.0
// What a schedule is: where it departs from the usual one, in which each thread runs on until it waits or ends and the
// next one then takes its turn. A departure is named by the thread's own count of steps, so that it still means the same
// when another departure is taken away.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <cubby/detail/platform/sync.hpp>

namespace cubby_test {

using cubby::detail::sync::step;

inline constexpr unsigned most_threads = 4;
inline constexpr std::uint8_t nobody = 9; ///< stands for the start, where no thread has run yet

/// Before step `at` of thread `from`, thread `to` goes on instead of the usual one.
struct departure {
  std::uint8_t from = nobody;
  std::uint8_t to = 0;
  std::uint32_t at = 0;
  bool operator==(const departure&) const = default;
};
using schedule = std::vector<departure>;

/// A place where a schedule could have gone on otherwise.
struct decision_point {
  std::uint8_t from = nobody;
  std::uint8_t ready = 0; ///< a bit for each thread that could go on
  std::uint8_t usual = 0;
  std::uint8_t chosen = 0;
  bool forced = false; ///< `from` waits or has ended: a switch is no preemption
  std::uint32_t at = 0;
};

/// One step that was carried out.
struct taken_step {
  const void* address = nullptr;
  std::uint32_t call = 0;
  std::uint8_t thread = 0;
  step kind = step::load;
};

enum class ending : std::uint8_t {
  finished,
  livelock, ///< every thread waits, round after round, and no word changes
  endless   ///< one schedule took more steps than any that ends
};

/// Chooses who goes on. Must be one of `ready`.
class chooser {
public:
  virtual ~chooser() = default;
  virtual std::uint8_t choose(const decision_point& here) = 0;
};

/// The usual choice but for the given departures; those that never come to pass are ignored.
class follower final : public chooser {
public:
  explicit follower(const schedule& wanted) : wanted_(wanted), used_(wanted.size(), false) {}
  std::uint8_t choose(const decision_point& here) override {
    for (std::size_t i = 0; i < wanted_.size(); ++i) {
      const departure& d = wanted_[i];
      if (used_[i] || d.at != here.at || d.from != here.from || (here.ready >> d.to & 1) == 0) continue;
      used_[i] = true;
      return d.to;
    }
    return here.usual;
  }

private:
  const schedule& wanted_;
  std::vector<bool> used_;
};

/// Random priorities: the ready thread of the highest one goes on; at `changes` steps drawn beforehand, and when it
/// waits, a thread falls behind all others. (Burckhardt et al., "A randomized scheduler with probabilistic guarantees
/// of finding bugs", ASPLOS 2010.)
class prioritizer final : public chooser {
public:
  prioritizer(std::uint64_t seed, unsigned threads, unsigned changes, std::uint64_t expected_steps);
  std::uint8_t choose(const decision_point& here) override;

private:
  std::int64_t priority_[most_threads] = {};
  std::vector<std::uint64_t> change_at_;
  std::uint64_t steps_ = 0;
  std::int64_t lowest_ = 0;
};

/// `n.9>1,0.12>1`: one after another, with a comma between; `n` stands for nobody.
std::string write(const schedule& s);
/// False when the text is not one.
bool read(const std::string& text, schedule& out);
/// Where a run departed from the usual.
schedule departures_of(const std::vector<decision_point>& points);
/// How many departures took the turn from a thread that could have gone on.
unsigned preemptions_in(const std::vector<decision_point>& points);

} // namespace cubby_test
