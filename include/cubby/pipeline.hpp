// SPDX-License-Identifier: Apache-2.0
// Requests that are answered later, in any order, each with the tag that its caller gave it (DRAMHiT section 3.1): a ring
// of pending requests, whose memory is asked for when they come in and read when they have waited for a window of
// others. More throughput for more latency; `execute` keeps the order, and `find` answers at once.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>

#include <cubby/detail/api/handle.hpp>
#include <cubby/detail/core/ring.hpp>

namespace cubby::inline v0 {

/// Requests that wait while memory works for them.
struct pipeline_options {
  std::size_t window = 64; ///< requests that may be pending; docs/performance.md has the figures for other sizes
  /// Requests whose memory is asked for together, at most the window; 0: half of the window, but no more than 32.
  std::size_t batch = 0;
};

/// Of what is no engine with pipelines, a map for example: says who makes one.
template <class Engine, class Sink, class Key> class pipeline {
  static constexpr bool made_by_a_handle = detail::contract::pipelined<Engine>;
  static_assert(made_by_a_handle, "a pipeline is made by a handle: auto p = handle.pipeline(sink)");

public:
  template <class... A> explicit pipeline(A&&...) {}
};
template <class Table, class... A> pipeline(Table&, const A&...) -> pipeline<Table>;

/// One thread's pipeline into a table of an engine that claims `pipelined`: `auto p = handle.pipeline(sink)`, or without a sink
/// `handle.pipeline()`, where each call says where its answers go. It uses the thread record of its handle, in the handle's thread,
/// and keeps the record claimed: it may outlive the handle, not the table. While requests are pending, nothing that the table
/// retires is freed. Every request that was taken is answered exactly once, at the latest by `drain`, inside any later call, in any
/// order; what the destructor finds pending is carried out without an answer. Not movable. A sink may use the table, not this
/// pipeline.
///
/// Requests on the same key may overtake each other: wait for the answer of the first where the order matters. A `Key` that
/// refers to the caller's text, such as std::string_view, keeps referring to it until its request is answered.
///
/// What a user's code throws (a hash, a constructor, a sum, a sink) passes through the call in which it happens, and that
/// call has not taken the request which it would have taken next. A pending request that throws is dropped without an
/// answer, in the state in which its verb alone leaves the table (G.5); the others stay pending.
template <detail::contract::pipelined Engine, class Sink, class Key> class pipeline<Engine, Sink, Key> {
  using codec_type = typename Engine::policy;
  static constexpr bool has_sink = !std::same_as<Sink, detail::no_sink>;

public:
  using key_type = Key;
  using mapped_type = typename codec_type::mapped_type;
  using request_type = request<key_type, mapped_type>;
  using reply_type = reply<mapped_type>;
  static_assert(!has_sink || std::is_invocable_v<Sink&, reply_type>,
                "a pipeline's sink is called with each answer: sink(reply<value type>&&)");
  static_assert(std::same_as<Key, typename codec_type::key_type> || detail::lookup_key<Key, codec_type>,
                "a pipeline's requests carry the table's keys, or what a lookup takes");
  /// How many requests were taken and how many answers were written.
  struct progress {
    std::size_t taken = 0;
    std::size_t answered = 0;
  };

  /// What `handle::pipeline` calls. Throws std::bad_alloc without memory for the ring (without exceptions: `ok`).
  pipeline(detail::context<Engine> s, Sink sink, pipeline_options chosen = {})
      : engine_(s.engine), record_(s.at), sink_(std::move(sink)), window_(chosen.window < 1 ? 1 : chosen.window),
        batch_(batch_of(chosen.batch, window_)), pending_(window_) {}
  pipeline(const pipeline&) = delete;
  pipeline& operator=(const pipeline&) = delete;
  ~pipeline() {
    const auto forget = [](reply_type&&) {};
    while (!pending_.empty()) detail::fail::regardless([&] { turn_oldest(forget); });
  }

  [[nodiscard]] bool ok() const noexcept { return pending_.ok(); }
  /// Requests that were taken and are not answered.
  [[nodiscard]] std::size_t pending() const noexcept { return pending_.size(); }

  /// What the latest call with space for replies came to; also when it has thrown.
  [[nodiscard]] progress latest() const noexcept { return latest_; }

  /// Each takes one request, and hands answers to the pipeline's sink while the window is full: one line of memory a request at
  /// rest. None waits but as its verb alone does (docs/guarantees.md, P).
  void submit(const request_type& r)
    requires has_sink
  {
    submit(r, sink_);
  }
  void find(const key_type& k, std::uint64_t tag)
    requires has_sink
  {
    ask_for(verb::find, k, tag);
  }
  void erase(const key_type& k, std::uint64_t tag)
    requires has_sink
  {
    ask_for(verb::erase, k, tag);
  }
  void insert(const key_type& k, const mapped_type& v, std::uint64_t tag)
    requires has_sink
  {
    submit({verb::insert, k, v, tag}, sink_);
  }
  void insert(const key_type& k, std::uint64_t tag)
    requires(has_sink && !codec_type::has_values)
  {
    ask_for(verb::insert, k, tag);
  }
  void assign(const key_type& k, const mapped_type& v, std::uint64_t tag)
    requires has_sink
  {
    submit({verb::assign, k, v, tag}, sink_);
  }
  void insert_or_assign(const key_type& k, const mapped_type& v, std::uint64_t tag)
    requires has_sink
  {
    submit({verb::insert_or_assign, k, v, tag}, sink_);
  }
  void insert_or_add(const key_type& k, const mapped_type& n, std::uint64_t tag)
    requires(has_sink && detail::addable<mapped_type>)
  {
    submit({verb::insert_or_add, k, n, tag}, sink_);
  }
  /// Answers all that is pending.
  void drain()
    requires has_sink
  {
    drain(sink_);
  }

  /// Takes one request and hands what is ready to `sink(reply_type&&)`, which may be called for any pending request, or not
  /// at all.
  template <class To> CUBBY_ALWAYS_INLINE void submit(const request_type& r, To&& sink) {
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
  template <class To> void drain(To&& sink)
    requires std::invocable<To&, reply_type>
  {
    while (!pending_.empty()) turn_oldest(sink);
  }

private:
  using probe = typename Engine::probe;
  using course = typename Engine::course;
  static constexpr bool in_records = codec_type::in_records;
  struct waiting {
    course at;
    std::uint32_t aimed_in; // number of the pin in which `at` is good
    probe where;
    request_type asked;
  };

  /// Made once, so that each key is hashed once. That of a key in a record may refer to the key, which moves with its request.
  static const probe& probe_of(waiting& w) {
    [[maybe_unused]] const auto& key = detail::name_split<Key>::key(w.asked.key);
    if constexpr (requires { w.where.data; }) w.where.data = static_cast<std::string_view>(key).data();
    else if constexpr (requires { w.where.asked; }) w.where.asked = std::addressof(key);
    return w.where;
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

  void ask_for(verb what, const key_type& k, std::uint64_t tag) {
    request_type r{what, k};
    r.tag = tag;
    submit(r, sink_);
  }

  [[nodiscard]] CUBBY_ALWAYS_INLINE detail::context<Engine> context() const {
    detail::registry::use(record_.at());
    return {engine_, record_.at()};
  }

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
    pending_.put(s.engine.aim(p), pin_number_, p, r);
    ++taken_in_pin_;
    if (pending_.end_number() - asked_ >= batch_) ask(s);
  }
  /// Asks memory for the lines of all requests that came since the last time. Many at once: a prefetch that has to walk the
  /// page tables delays what comes behind it, so prefetches that follow each other closely walk together.
  CUBBY_ALWAYS_INLINE void ask(detail::context<Engine> s) noexcept {
    for (; asked_ != pending_.end_number(); ++asked_) s.engine.ask(pending_.numbered(asked_).at);
  }

  template <class To> CUBBY_ALWAYS_INLINE void turn_oldest(To& sink) {
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
    const probe& p = probe_of(w);
    if (w.aimed_in != pin_number_) [[unlikely]] {
      w.at = s.engine.aim(p);
      s.engine.ask(w.at);
      w.aimed_in = pin_number_;
      return false;
    }
    if constexpr (!in_records) {
      if (w.asked.what == verb::find) {
        decltype(s.engine.find(s.at, p)) seen;
        if (!s.engine.find_along(w.at, p, seen)) return false;
        answer.result = seen.found ? outcome::done : outcome::absent;
        if (seen.found) answer.value.emplace(s.codec().value(seen.word));
        return true;
      }
    }
    if constexpr (changes_along) {
      if (w.asked.what != verb::insert) return change_along(s, w, p, answer);
    }
    if (!s.engine.advance(w.at, p)) return false;
    answer.result = detail::run_request(s, p, w.asked, answer.value);
    return true;
  }

  /// The engine changes entries that are their own words on the way to them, without a second search.
  static constexpr bool changes_along = detail::contract::mutating_along<Engine>;
  static constexpr bool adds = codec_type::has_values && detail::addable<mapped_type>;

  /// What the request does to an entry that is there.
  static detail::decision change_of(detail::context<Engine> s, const probe& p, const request_type& asked,
                                    std::uint64_t word) {
    if (asked.what == verb::erase) return {action::erase};
    if constexpr (adds) {
      if (asked.what == verb::insert_or_add) {
        const mapped_type old = s.codec().value(word);
        return {action::replace, s.codec().make(p, asked.key, static_cast<mapped_type>(old + value_in(asked))).word};
      }
    }
    return {action::replace, s.codec().make(p, asked.key, value_in(asked)).word};
  }
  /// False: it wants another turn. What needs an entry that is not there goes on as any other.
  CUBBY_ALWAYS_INLINE bool change_along(detail::context<Engine> s, waiting& w, const probe& p, reply_type& answer) {
    if constexpr (!adds) {
      if (w.asked.what == verb::insert_or_add) return true; // not_executed
    }
    if (detail::lacks_value<mapped_type>(w.asked)) return true; // as above
    detail::refuse_shown(s.engine, p, w.asked.what == verb::erase);
    const auto change = [&](std::uint64_t word) { return change_of(s, p, w.asked, word); };
    detail::mutated done;
    if (!s.engine.mutate_along(s.at, w.at, p, change, done)) return false;
    if (done.found) {
      answer.result = outcome::done;
      if (w.asked.what == verb::erase) answer.value.emplace(s.codec().value(done.before));
    } else if (w.asked.what == verb::erase || w.asked.what == verb::assign) {
      answer.result = outcome::absent;
    } else {
      answer.result = detail::run_request(s, p, w.asked, answer.value);
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

  static const mapped_type& value_in(const request_type& asked) noexcept {
    return detail::given_value<mapped_type>(asked.value);
  }

  Engine& engine_;
  detail::record_claim record_; // ends after the pin
  [[no_unique_address]] Sink sink_;
  detail::held_pin<Engine> pin_;
  std::uint32_t taken_in_pin_ = 0;
  std::uint32_t pin_number_ = 0;
  progress latest_;
  std::size_t window_;
  std::size_t batch_;
  std::size_t asked_ = 0; // number in `pending_` of the first whose memory has not been asked for
  detail::ring<waiting> pending_;
};

} // namespace cubby::inline v0
