// SPDX-License-Identifier: Apache-2.0
// Requests that are answered later, in any order, each with the tag that its caller gave it (DRAMHiT section 3.1): a ring
// of pending requests, whose memory is asked for when they come in and read when they have waited for a window of
// others. More throughput for more latency; `execute` keeps the order, and `find` answers at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <cubby/core/ring.hpp>
#include <cubby/handle.hpp>

namespace cubby::inline v0 {

/// What a pipelined request asks for: those of `verb`, and to add.
enum class pipeline_verb : std::uint8_t { find, insert, assign, insert_or_assign, insert_or_add, erase };

/// A request with its caller's tag; `value` matters to all but find and erase.
template <class K, class V = no_value> struct tagged_request {
  pipeline_verb what = pipeline_verb::find;
  std::uint64_t tag = 0;
  K key{};
  V value{};
};

/// The answer to the request with this tag. `insert_or_assign` and `insert_or_add` are `done` whether the key was there or
/// not.
template <class V = no_value> struct tagged_reply {
  std::uint64_t tag = 0;
  outcome result = outcome::not_executed;
  std::optional<V> value{};
};

/// Requests that wait while memory works for them.
struct pipeline_options {
  std::size_t window = 32; ///< docs/performance.md has the figures for other sizes
};

/// One thread's pipeline into a table of an engine that claims `pipelined`. While requests are pending, nothing that the
/// table retires is freed. Every request that was taken is answered exactly once, at the latest by `drain`; what the
/// destructor finds pending is carried out without an answer. Not movable.
template <class Engine> class pipeline {
  static_assert(Engine::capabilities.pipelined, "this engine has no pipeline");
  using codec_type = typename Engine::policy;

public:
  using key_type = typename codec_type::key_type;
  using mapped_type = typename codec_type::mapped_type;
  using request_type = tagged_request<key_type, mapped_type>;
  using reply_type = tagged_reply<mapped_type>;
  /// How many requests were taken and how many answers were written.
  struct progress {
    std::size_t taken = 0;
    std::size_t answered = 0;
  };

  /// Throws std::bad_alloc without memory for the ring or a seat (without exceptions: `ok`).
  explicit pipeline(Engine& e, pipeline_options chosen = {})
      : seat_(e), window_(chosen.window < 1 ? 1 : chosen.window), pending_(window_) {}
  pipeline(const pipeline&) = delete;
  pipeline& operator=(const pipeline&) = delete;
  ~pipeline() {
    const auto forget = [](reply_type&&) {};
    while (!pending_.empty()) turn_oldest(forget);
  }

  [[nodiscard]] bool ok() const noexcept { return pending_.ok(); }
  /// Requests that were taken and are not answered.
  [[nodiscard]] std::size_t pending() const noexcept { return pending_.size(); }

  /// Takes one request and hands what is ready to `sink(reply_type&&)`, which may be called for any pending request, or not
  /// at all. A user's constructor that throws leaves its own request unanswered and the others pending.
  template <class Sink> CUBBY_ALWAYS_INLINE void submit(const request_type& r, Sink&& sink) {
    while (pending_.size() >= window_) turn_oldest(sink);
    take(r);
  }
  /// Takes requests in order, and writes answers as long as there is room for them; without room it takes no more than
  /// the window holds. Answers may be to earlier requests.
  progress submit(std::span<const request_type> requests, std::span<reply_type> replies) {
    progress so_far;
    const auto write = [&](reply_type&& r) { replies[so_far.answered++] = std::move(r); };
    for (; so_far.taken < requests.size(); ++so_far.taken) {
      while (pending_.size() >= window_ && so_far.answered < replies.size()) turn_oldest(write);
      if (pending_.size() >= window_) break;
      take(requests[so_far.taken]);
    }
    return so_far;
  }
  /// Gives each pending request one turn and writes the answers of those that were ready, as many as fit; their number.
  std::size_t poll(std::span<reply_type> replies) {
    std::size_t answered = 0;
    const auto write = [&](reply_type&& r) { replies[answered++] = std::move(r); };
    for (std::size_t turns = pending_.size(); turns != 0 && answered < replies.size(); --turns) turn_oldest(write);
    return answered;
  }
  /// Carries out pending requests and writes their answers, as many as fit; their number. The paper's flush().
  std::size_t drain(std::span<reply_type> replies) {
    std::size_t answered = 0;
    const auto write = [&](reply_type&& r) { replies[answered++] = std::move(r); };
    while (!pending_.empty() && answered < replies.size()) turn_oldest(write);
    return answered;
  }
  /// All of them, to `sink`.
  template <class Sink> void drain(Sink&& sink)
    requires std::invocable<Sink&, reply_type>
  {
    while (!pending_.empty()) turn_oldest(sink);
  }

private:
  using probe = typename Engine::probe;
  using course = typename Engine::course;
  static constexpr bool in_records = codec_type::in_records;
  struct nothing {};
  struct waiting {
    course at;
    // Kept where the words are all that there is to a key; of records it would point into the request, which moves.
    [[no_unique_address]] std::conditional_t<in_records, nothing, probe> where;
    request_type asked;
  };

  static decltype(auto) probe_of(detail::site<Engine> s, const waiting& w) {
    if constexpr (in_records) return s.codec().probe_of(w.asked.key);
    else return static_cast<const probe&>(w.where);
  }
  static void aim(detail::site<Engine> s, waiting& w) {
    const probe p = s.codec().probe_of(w.asked.key);
    if constexpr (!in_records) w.where = p;
    w.at = s.engine.aim(p);
  }

  [[nodiscard]] detail::site<Engine> site() const { return {seat_.engine(), seat_.at()}; }

  /// Requests between two ends of the pin: with the pin held for good, nothing retired would ever be freed.
  static constexpr std::uint32_t most_in_a_pin = 4096;

  CUBBY_ALWAYS_INLINE void take(const request_type& r) {
    const auto s = site();
    if (!pin_.holds()) {
      pin_.hold(s.engine, s.at);
      taken_in_pin_ = 0;
    }
    waiting& w = pending_.place();
    w.asked = r;
    aim(s, w);
    pending_.put();
    ++taken_in_pin_;
  }

  template <class Sink> CUBBY_ALWAYS_INLINE void turn_oldest(Sink& sink) {
    const auto s = site();
    waiting& w = pending_.oldest();
    reply_type answer;
    if (!try_to_answer(s, w, answer)) {
      pending_.requeue();
      return;
    }
    answer.tag = w.asked.tag;
    pending_.drop();
    if (pending_.empty()) {
      pin_.drop();
    } else if (taken_in_pin_ >= most_in_a_pin) {
      renew_pin(s);
    }
    sink(std::move(answer));
  }

  /// False: it wants another turn.
  CUBBY_ALWAYS_INLINE static bool try_to_answer(detail::site<Engine> s, waiting& w, reply_type& answer) {
    const probe& p = probe_of(s, w);
    if constexpr (!in_records) {
      if (w.asked.what == pipeline_verb::find) {
        decltype(s.engine.find(s.at, p)) seen;
        if (!s.engine.find_along(w.at, p, seen)) return false;
        answer.result = seen.found ? outcome::done : outcome::absent;
        if (seen.found) answer.value.emplace(s.codec().value(seen.word));
        return true;
      }
    }
    if (!s.engine.advance(w.at, p)) return false;
    answer.result = carry_out(s, p, w.asked, answer.value);
    return true;
  }

  /// Lets go and begins again: what is pending is aimed anew.
  void renew_pin(detail::site<Engine> s) {
    pin_.drop();
    pin_.hold(s.engine, s.at);
    taken_in_pin_ = 0;
    for (std::size_t n = pending_.size(); n != 0; --n) {
      waiting& w = pending_.oldest();
      aim(s, w);
      pending_.requeue();
    }
  }

  static outcome settled(detail::upserted u) {
    return u.how == insert_outcome::exists ? outcome::done : detail::outcome_of(u.how);
  }
  static outcome carry_out(detail::site<Engine> s, const probe& p, request_type& asked,
                           std::optional<mapped_type>& value) {
    if (asked.what == pipeline_verb::find) {
      const auto seen = s.engine.find(s.at, p);
      if (!seen.found) return outcome::absent;
      value.emplace(s.codec().value(seen.word));
      return outcome::done;
    }
    if (asked.what == pipeline_verb::erase) return detail::extract_into(s, p, value) ? outcome::done : outcome::absent;
    if (asked.what == pipeline_verb::assign)
      return detail::outcome_of(detail::assign_value(s, p, asked.key, std::move(asked.value)));
    if (!s.codec().is_legal(p)) return outcome::full;
    if (asked.what == pipeline_verb::insert)
      return detail::outcome_of(detail::place(s, p, asked.key, std::move(asked.value)));
    if (asked.what == pipeline_verb::insert_or_assign)
      return settled(detail::assign_or_insert(s, p, asked.key, std::move(asked.value)));
    if constexpr (requires(const mapped_type& v) { static_cast<mapped_type>(v + v); }) {
      const auto more = [&](const mapped_type& v) { return static_cast<mapped_type>(v + asked.value); };
      return settled(detail::update_or_insert(s, p, asked.key, more, asked.value));
    }
    return outcome::not_executed; // values that cannot be added
  }

  detail::owned_seat<Engine> seat_;
  detail::held_pin<Engine> pin_;
  std::uint32_t taken_in_pin_ = 0;
  std::size_t window_;
  ring<waiting> pending_;
};

} // namespace cubby::inline v0
