// SPDX-License-Identifier: Apache-2.0
// Requests that are answered later, in any order, each with the tag that its caller gave it (DRAMHiT section 3.1): a ring
// of pending requests, whose memory is asked for when they come in and read when they have waited for a window of
// others. More throughput for more latency; `execute` keeps the order, and `find` answers at once.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include <cubby/detail/api/handle.hpp>
#include <cubby/detail/core/ring.hpp>

namespace cubby::inline v0 {

/// What a pipelined request asks for: those of `verb`, and to add.
enum class pipeline_verb : std::uint8_t { find, insert, assign, insert_or_assign, insert_or_add, erase };

/// A request with its caller's tag; `value` matters to all but find and erase.
template <class K, class V = no_value> struct tagged_request {
  pipeline_verb what = pipeline_verb::find;
  std::uint64_t tag = 0;
  K key{};
  requested<V> value{};
};

/// The answer to the request with this tag; `value` is what a `find` found or an `erase` took out. `insert_or_add` of
/// values that cannot be added is `not_executed`. `insert_or_assign` and `insert_or_add` are `done` whether the key was
/// there or not.
template <class V = no_value> struct tagged_reply {
  std::uint64_t tag = 0;
  outcome result = outcome::not_executed;
  std::optional<V> value{};
};

/// Requests that wait while memory works for them.
struct pipeline_options {
  std::size_t window = 64; ///< requests that may be pending; docs/performance.md has the figures for other sizes
  /// Requests whose memory is asked for together, at most the window; 0: half of the window, but no more than 32.
  std::size_t batch = 0;
};

/// A map or a set, of which a pipeline takes the engine.
template <class T>
concept table_with_engine = requires(T& table) {
  { table.engine() } -> std::same_as<typename T::engine_type&>;
};

/// Of whatever is no such engine, and of a map's own type: says so, and has nothing that could say more.
template <class Engine> class pipeline {
  static_assert(!table_with_engine<Engine>, "write cubby::pipeline<map_type::engine_type>, or cubby::pipeline p(map)");
  static_assert(table_with_engine<Engine>, "this engine has no pipeline; cubby::dramhit and cubby::dramhit_tuples do");

public:
  explicit pipeline(Engine&, pipeline_options = {}) {}
  template <table_with_engine Table> explicit pipeline(Table&, pipeline_options = {}) {}
};

/// One thread's pipeline into a table of an engine that claims `pipelined`: `cubby::pipeline pending(map)`. While
/// requests are pending, nothing that the table retires is freed. Every request that was taken is answered exactly
/// once, at the latest by `drain`; what the destructor finds pending is carried out without an answer. Not movable.
///
/// What a user's code throws (a hash, a constructor, a sum, a sink) passes through the call in which it happens, and that
/// call has not taken the request which it would have taken next. A pending request that throws is dropped without an
/// answer, in the state in which its verb alone leaves the table (G.5); the others stay pending.
template <contract::pipelined Engine> class pipeline<Engine> {
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

  /// Throws std::bad_alloc without memory for the ring or a thread record (without exceptions: `ok`).
  explicit pipeline(Engine& e, pipeline_options chosen = {})
      : thread_record_(e), window_(chosen.window < 1 ? 1 : chosen.window), batch_(batch_of(chosen.batch, window_)),
        pending_(window_) {}
  template <table_with_engine Table>
    requires std::same_as<typename Table::engine_type, Engine>
  explicit pipeline(Table& t, pipeline_options chosen = {}) : pipeline(t.engine(), chosen) {}
  pipeline(const pipeline&) = delete;
  pipeline& operator=(const pipeline&) = delete;
  ~pipeline() {
    const auto forget = [](reply_type&&) {};
    while (!pending_.empty()) fail::regardless([&] { turn_oldest(forget); });
  }

  [[nodiscard]] bool ok() const noexcept { return pending_.ok(); }
  /// Requests that were taken and are not answered.
  [[nodiscard]] std::size_t pending() const noexcept { return pending_.size(); }

  /// What the latest call with space for replies came to; also when it has thrown.
  [[nodiscard]] progress latest() const noexcept { return latest_; }

  /// Takes one request and hands what is ready to `sink(reply_type&&)`, which may be called for any pending request, or not
  /// at all.
  template <class Sink> CUBBY_ALWAYS_INLINE void submit(const request_type& r, Sink&& sink) {
    while (pending_.size() >= window_) turn_oldest(sink);
    take(r);
  }
  /// Takes requests in order, and writes answers as long as there is space for them; without space it takes no more than
  /// the window holds. Answers may be to earlier requests.
  progress submit(std::span<const request_type> requests, std::span<reply_type> replies) {
    progress so_far;
    const report at_end{so_far, latest_};
    const auto write = writer_to(replies, so_far);
    for (; so_far.taken < requests.size(); ++so_far.taken) {
      while (pending_.size() >= window_ && so_far.answered < replies.size()) turn_oldest(write);
      if (pending_.size() >= window_) break;
      take(requests[so_far.taken]);
    }
    return so_far;
  }
  /// Gives each pending request one turn and writes the answers of those that were ready, as many as fit; their number.
  std::size_t poll(std::span<reply_type> replies) {
    progress so_far;
    const report at_end{so_far, latest_};
    const auto write = writer_to(replies, so_far);
    for (std::size_t turns = pending_.size(); turns != 0 && so_far.answered < replies.size(); --turns)
      turn_oldest(write);
    return so_far.answered;
  }
  /// Carries out pending requests and writes their answers, as many as fit; their number. The paper's flush().
  std::size_t drain(std::span<reply_type> replies) {
    progress so_far;
    const report at_end{so_far, latest_};
    const auto write = writer_to(replies, so_far);
    while (!pending_.empty() && so_far.answered < replies.size()) turn_oldest(write);
    return so_far.answered;
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
    std::uint32_t aimed_in; // number of the pin in which `at` is good
    // Kept where the words are all that there is to a key; of records it would point into the request, which moves.
    [[no_unique_address]] std::conditional_t<in_records, nothing, probe> where;
    request_type asked;
  };

  static decltype(auto) probe_of(detail::context<Engine> s, const waiting& w) {
    if constexpr (in_records) return s.codec().probe_of(w.asked.key);
    else return static_cast<const probe&>(w.where);
  }
  static auto kept(const probe& p) {
    if constexpr (in_records) return nothing{};
    else return p;
  }
  /// Answers go to the caller's space; one that cannot be moved there is not counted.
  static auto writer_to(std::span<reply_type> replies, progress& so_far) {
    return [replies, &so_far](reply_type&& r) {
      replies[so_far.answered] = std::move(r);
      ++so_far.answered;
    };
  }
  struct report {
    const progress& from;
    progress& to;
    ~report() { to = from; }
  };
  /// What comes after a turn, however it ends: its request leaves, unless it wants another one.
  struct departure {
    pipeline& from;
    bool stays = false;
    ~departure() {
      if (stays) return;
      from.pending_.drop();
      if (from.pending_.empty()) from.pin_.drop();
      else if (from.taken_in_pin_ >= most_in_a_pin) from.renew_pin();
    }
  };
  /// A pin is held while something is pending, and no longer.
  struct idle_end {
    pipeline& of;
    ~idle_end() {
      if (of.pending_.empty()) of.pin_.drop();
    }
  };

  [[nodiscard]] detail::context<Engine> context() const { return {thread_record_.engine(), thread_record_.at()}; }

  /// docs/performance.md has the figures for other sizes.
  static std::size_t batch_of(std::size_t chosen, std::size_t window) noexcept {
    constexpr std::size_t most_unless_told = 32;
    if (chosen != 0) return chosen < window ? chosen : window;
    if (window < 2) return 1;
    return window / 2 < most_unless_told ? window / 2 : most_unless_told;
  }
  /// Requests between two ends of the pin: with the pin held for good, nothing retired would ever be freed.
  static constexpr std::uint32_t most_in_a_pin = 4096;

  CUBBY_ALWAYS_INLINE void take(const request_type& r) {
    const auto s = context();
    const idle_end at_end{*this};
    if (!pin_.holds()) {
      pin_.hold(s.engine, s.at);
      taken_in_pin_ = 0;
    }
    const probe p = s.codec().probe_of(r.key);
    pending_.put(s.engine.aim(p), pin_number_, kept(p), r);
    ++taken_in_pin_;
    if (pending_.end_number() - asked_ >= batch_) ask(s);
  }
  /// Asks memory for the lines of all requests that came since the last time. Many at once: a prefetch that has to scan the
  /// page tables holds up what comes behind it, so those that follow each other closely scan together.
  CUBBY_ALWAYS_INLINE void ask(detail::context<Engine> s) noexcept {
    for (; asked_ != pending_.end_number(); ++asked_) s.engine.ask(pending_.numbered(asked_).at);
  }

  template <class Sink> CUBBY_ALWAYS_INLINE void turn_oldest(Sink& sink) {
    const auto s = context();
    if (pending_.first_number() == asked_) [[unlikely]]
      ask(s);
    waiting& w = pending_.oldest();
    reply_type answer;
    {
      departure end{*this};
      answer.tag = w.asked.tag;
      if constexpr (std::is_nothrow_move_constructible_v<waiting>) {
        if (!try_to_answer(s, w, answer)) {
          end.stays = true;
          pending_.requeue();
          return;
        }
      } else { // one that may not survive a move to the end of the queue is not moved there
        while (!try_to_answer(s, w, answer)) continue;
      }
    }
    sink(std::move(answer));
  }

  /// False: it wants another turn.
  CUBBY_ALWAYS_INLINE bool try_to_answer(detail::context<Engine> s, waiting& w, reply_type& answer) {
    const probe& p = probe_of(s, w);
    if (w.aimed_in != pin_number_) [[unlikely]] {
      w.at = s.engine.aim(p);
      s.engine.ask(w.at);
      w.aimed_in = pin_number_;
      return false;
    }
    if constexpr (!in_records) {
      if (w.asked.what == pipeline_verb::find) {
        decltype(s.engine.find(s.at, p)) seen;
        if (!s.engine.find_along(w.at, p, seen)) return false;
        answer.result = seen.found ? outcome::done : outcome::absent;
        if (seen.found) answer.value.emplace(s.codec().value(seen.word));
        return true;
      }
    }
    if constexpr (changes_along) {
      if (w.asked.what != pipeline_verb::insert) return change_along(s, w, p, answer);
    }
    if (!s.engine.advance(w.at, p)) return false;
    answer.result = carry_out(s, p, w.asked, answer.value);
    return true;
  }

  /// The engine changes entries that are their own words on the way to them, without a second search.
  static constexpr bool changes_along = contract::mutating_along<Engine>;
  static constexpr bool adds = requires(const mapped_type& v) { static_cast<mapped_type>(v + v); };

  /// What the request does to an entry that is there.
  static decision change_of(detail::context<Engine> s, const probe& p, const request_type& asked, std::uint64_t word) {
    if (asked.what == pipeline_verb::erase) return {action::erase};
    if constexpr (adds) {
      if (asked.what == pipeline_verb::insert_or_add) {
        const mapped_type old = s.codec().value(word);
        return {action::replace, s.codec().make(p, asked.key, static_cast<mapped_type>(old + value_in(asked))).word};
      }
    }
    return {action::replace, s.codec().make(p, asked.key, value_in(asked)).word};
  }
  /// False: it wants another turn. What needs an entry that is not there goes on as any other.
  CUBBY_ALWAYS_INLINE bool change_along(detail::context<Engine> s, waiting& w, const probe& p, reply_type& answer) {
    if constexpr (!adds) {
      if (w.asked.what == pipeline_verb::insert_or_add) return true; // not_executed
    }
    if (lacks_value(w.asked)) return true; // as above
    detail::refuse_shown(s.engine, p, w.asked.what == pipeline_verb::erase);
    const auto change = [&](std::uint64_t word) { return change_of(s, p, w.asked, word); };
    mutated done;
    if (!s.engine.mutate_along(s.at, w.at, p, change, done)) return false;
    if (done.found) {
      answer.result = outcome::done;
      if (w.asked.what == pipeline_verb::erase) answer.value.emplace(s.codec().value(done.before));
    } else if (w.asked.what == pipeline_verb::erase || w.asked.what == pipeline_verb::assign) {
      answer.result = outcome::absent;
    } else {
      answer.result = carry_out(s, p, w.asked, answer.value);
    }
    return true;
  }

  /// Lets go and begins again: what is pending is aimed anew, each at its next turn.
  void renew_pin() noexcept {
    const auto s = context();
    pin_.drop();
    pin_.hold(s.engine, s.at);
    taken_in_pin_ = 0;
    ++pin_number_;
  }

  static bool lacks_value(const request_type& asked) noexcept {
    return asked.what != pipeline_verb::erase && !detail::has_value<mapped_type>(asked.value);
  }
  template <class Request> static auto& value_in(Request& asked) noexcept {
    return detail::given_value<mapped_type>(asked.value);
  }

  static outcome settled(detail::upserted u) {
    return u.how == insert_outcome::exists ? outcome::done : detail::outcome_of(u.how);
  }
  static outcome carry_out(detail::context<Engine> s, const probe& p, request_type& asked,
                           std::optional<mapped_type>& value) {
    if (asked.what == pipeline_verb::find) {
      const auto seen = s.engine.find(s.at, p);
      if (!seen.found) return outcome::absent;
      value.emplace(s.codec().value(seen.word));
      return outcome::done;
    }
    if (asked.what == pipeline_verb::erase) return detail::extract_into(s, p, value) ? outcome::done : outcome::absent;
    if (lacks_value(asked)) return outcome::not_executed;
    if (asked.what == pipeline_verb::assign)
      return detail::outcome_of(detail::assign_value(s, p, asked.key, std::move(value_in(asked))));
    if (!s.codec().is_legal(p)) return outcome::full;
    if (asked.what == pipeline_verb::insert)
      return detail::outcome_of(detail::place(s, p, asked.key, std::move(value_in(asked))));
    if (asked.what == pipeline_verb::insert_or_assign)
      return settled(detail::assign_or_insert(s, p, asked.key, std::move(value_in(asked))));
    if constexpr (adds) {
      const auto more = [&](const mapped_type& v) { return static_cast<mapped_type>(v + value_in(asked)); };
      return settled(detail::update_or_insert(s, p, asked.key, more, value_in(asked)));
    }
    return outcome::not_executed; // values that cannot be added
  }

  detail::owned_thread_record<Engine> thread_record_;
  detail::held_pin<Engine> pin_;
  std::uint32_t taken_in_pin_ = 0;
  std::uint32_t pin_number_ = 0;
  progress latest_;
  std::size_t window_;
  std::size_t batch_;
  std::size_t asked_ = 0; // number in `pending_` of the first whose memory has not been asked for
  ring<waiting> pending_;
};

template <table_with_engine Table>
pipeline(Table&, pipeline_options = {}) -> pipeline<typename std::remove_const_t<Table>::engine_type>;

} // namespace cubby::inline v0
