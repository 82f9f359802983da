// SPDX-License-Identifier: Apache-2.0
/// @file
/// Pipelines (DRAMHiT section 3.1): requests that are answered later, in any order, each with the tag of its caller. A ring holds
/// the pending requests. The line of a request is prefetched when the request comes in, and read when a window of other requests
/// has come behind it. That gives more throughput and more latency. `execute` keeps the order; `find` answers at once.
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

/// The sizes of a pipeline, in requests.
struct pipeline_options {
  std::size_t window = 64; ///< requests that may be pending; figures: docs/performance/dramhit.md
  /// Requests whose lines are prefetched together, at most the window; 0: half of the window, but no more than 16.
  std::size_t batch = 0;
};

/// For types that are no engine with pipelines, a map for example: the error says what makes a pipeline.
template <class Engine, class Sink, class Key> class pipeline {
  static constexpr bool made_by_a_handle = detail::contract::pipelined<Engine>;
  static_assert(made_by_a_handle, "a pipeline is made by a handle: auto p = handle.pipeline(sink)");

public:
  template <class... A> explicit pipeline(A&&...) {}
};
template <class Table, class... A> pipeline(Table&, const A&...) -> pipeline<Table>;

/// One thread's pipeline into a table whose engine claims `pipelined`: `auto p = handle.pipeline(sink)`. Without a sink,
/// `handle.pipeline()`, each call says where its answers go. The pipeline uses the thread record of its handle, in the handle's
/// thread, and keeps that record claimed. It may outlive the handle, but not the table. While requests are pending, the table
/// frees nothing that it retires. Each request that was taken is answered exactly once, in any order, by any later call, at the
/// latest by `drain`. The destructor carries out pending requests without an answer. A pipeline cannot be moved. A sink may use
/// the table, but not this pipeline.
///
/// Requests of one key may overtake each other. An erase that is submitted while the insert of its key is pending may run first: it
/// answers `absent`, and the entry stays. Where the order matters, submit the second request after the first is answered: the sink
/// notes the tag of each answer, and the caller takes its erases from these notes (examples/pipeline.cpp). A `Key` that refers to
/// the caller's text, such as std::string_view, refers to it until its request is answered.
///
/// An exception of the user's code (a hash, a constructor, a sum, a sink) leaves the call in which it happens. That call has then
/// not taken its next request. A pending request that throws is dropped without an answer, and leaves the table as its verb
/// alone would (G.5). The other requests stay pending.
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

  /// `handle::pipeline` calls this. Throws std::bad_alloc if there is no memory for the ring; without exceptions, `ok` answers false.
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
  /// The number of requests that are taken and not answered.
  [[nodiscard]] std::size_t pending() const noexcept { return pending_.size(); }

  /// The progress of the latest call that had space for replies, also if that call has thrown.
  [[nodiscard]] progress latest() const noexcept { return latest_; }

  /// Each of these takes one request. While the window is full it hands answers to the pipeline's sink. At rest a request reads one
  /// cache line. Each waits only as its verb alone does (docs/guarantees.md, P).
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

  /// Takes one request, and hands ready answers to `sink(reply_type&&)`. It may call the sink for any pending request, several
  /// times, or not at all.
  template <class To> CUBBY_ALWAYS_INLINE void submit(const request_type& r, To&& sink) {
    while (pending_.size() >= window_) turn_oldest(sink);
    take(r);
  }
  /// Takes requests in order, and writes answers while there is space for them. Without space it takes no more requests than the
  /// window holds. The answers may belong to earlier requests.
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
  /// Gives each pending request one turn, writes the answers that are ready, as many as fit, and returns their number.
  std::size_t poll(std::span<reply_type> replies) {
    progress so_far;
    const report at_end{so_far, latest_};
    const auto write = writer_to(replies, so_far);
    for (std::size_t turns = pending_.size(); turns != 0 && so_far.answered < replies.size(); --turns)
      turn_oldest(write);
    return so_far.answered;
  }
  /// Carries out pending requests, writes their answers, as many as fit, and returns their number. The paper's flush().
  std::size_t drain(std::span<reply_type> replies) {
    progress so_far;
    const report at_end{so_far, latest_};
    const auto write = writer_to(replies, so_far);
    while (!pending_.empty() && so_far.answered < replies.size()) turn_oldest(write);
    return so_far.answered;
  }
  /// Carries out all pending requests and hands their answers to `sink`.
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

  /// The request's hashed key. It is made once, so that each key is hashed once. With records it may refer to the key, which moves
  /// with its request.
  static const probe& probe_of(waiting& w) {
    [[maybe_unused]] const auto& key = detail::name_split<Key>::key(w.asked.key);
    if constexpr (requires { w.where.data; }) w.where.data = static_cast<std::string_view>(key).data();
    else if constexpr (requires { w.where.asked; }) w.where.asked = std::addressof(key);
    return w.where;
  }
  /// Writes answers into the caller's space. An answer whose move throws is not counted.
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
  /// The end of a turn, also by an exception: the request leaves the ring, unless it needs another turn.
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
  /// Drops the pin if no request is pending.
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

  /// 16 at most: on one machine 32 do three fifths as much, on another a little less (docs/performance/dramhit.md).
  static std::size_t batch_of(std::size_t chosen, std::size_t window) noexcept {
    constexpr std::size_t most_unless_told = 16;
    if (chosen != 0) return chosen < window ? chosen : window;
    if (window < 2) return 1;
    return window / 2 < most_unless_told ? window / 2 : most_unless_told;
  }
  /// The most requests that one pin covers. A pin that never ended would keep everything that is retired.
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
  /// Prefetches the lines of all requests since the last call, many at once. A prefetch that misses the TLB delays the accesses
  /// behind it, so the page table reads of prefetches that follow each other closely overlap.
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
      } else { // a move to the end of the queue might throw, so the request stays where it is
        while (!try_to_answer(s, w, answer)) continue;
      }
    }
    sink(std::move(answer));
  }

  /// False: the request needs another turn.
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

  /// Whether the engine changes an entry of words as soon as the search meets it, without a second search.
  static constexpr bool changes_along = detail::contract::mutating_along<Engine>;
  static constexpr bool adds = codec_type::has_values && detail::addable<mapped_type>;

  /// The decision of the request about an entry that is present.
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
  /// False: the request needs another turn. If the key is absent, an insert_or_assign or insert_or_add runs as its verb alone.
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

  /// Ends the pin and begins another one. Each pending request begins its search again at its next turn.
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
