// SPDX-License-Identifier: Apache-2.0
// A handle: one thread's seat at one table. It saves the look at the thread's own seat on every call, and can hold a
// pin of its own, so that a reference into the table stays good (DLHT section 3.2.1, pointer API).
#pragma once

#include <cstddef>
#include <new>
#include <utility>

#include <cubby/core/registry.hpp>
#include <cubby/face.hpp>

namespace cubby::inline v0 {

namespace detail {

/// A seat of its own, given back at the end; of a one-thread engine the table's only seat.
template <class Engine> class owned_seat {
public:
  explicit owned_seat(Engine& e) : engine_(&e) {
    if constexpr (!Engine::claims.one_thread_only) {
      mine_ = e.claim_seat();
      if (mine_ == nullptr) fail::with_no_memory();
    }
  }
  owned_seat(owned_seat&& other) noexcept
      : engine_(std::exchange(other.engine_, nullptr)), mine_(std::exchange(other.mine_, nullptr)) {}
  owned_seat& operator=(owned_seat&& other) noexcept {
    std::swap(engine_, other.engine_);
    std::swap(mine_, other.mine_);
    return *this;
  }
  ~owned_seat() {
    if (mine_ != nullptr) registry::release_after_guards(mine_);
  }

  [[nodiscard]] Engine& engine() const noexcept { return *engine_; }
  [[nodiscard]] seat* own() const noexcept { return mine_; }
  [[nodiscard]] CUBBY_ALWAYS_INLINE seat& at() const {
    if constexpr (Engine::claims.one_thread_only) return thread_seat(*engine_);
    // without exceptions a claim may have failed: the thread's seat does as well, only slower
    seat* const mine = mine_;
    if (!fail::throws && mine == nullptr) return thread_seat(*engine_);
    if constexpr (!Engine::claims.one_thread_only) registry::use(*mine);
    return *mine;
  }

private:
  Engine* engine_;
  seat* mine_ = nullptr;
};

/// A guard of a thread's or a handle's seat, which stays claimed as long as the guard lives. See `handle::guard`.
template <class Engine> class [[nodiscard]] table_guard {
  class claim {
  public:
    explicit claim(seat& s) noexcept : seat_(s) { registry::begin_guard(seat_); }
    ~claim() { registry::end_guard(seat_); }
    claim(const claim&) = delete;
    claim& operator=(const claim&) = delete;

  private:
    seat& seat_;
  };

public:
  table_guard(Engine& e, seat& s) noexcept : claim_(s), pin_(e.pin(s)) {}
  table_guard(const table_guard&) = delete;
  table_guard& operator=(const table_guard&) = delete;

private:
  claim claim_; // ends after the pin
  decltype(std::declval<Engine&>().pin(std::declval<seat&>())) pin_;
};

/// A pin that may or may not be held, whatever its type.
template <class Engine> class held_pin {
  using pin_type = decltype(std::declval<Engine&>().pin(std::declval<seat&>()));

public:
  held_pin() noexcept = default;
  held_pin(const held_pin&) = delete;
  held_pin& operator=(const held_pin&) = delete;
  ~held_pin() { drop(); }
  [[nodiscard]] bool holds() const noexcept { return held_; }
  void hold(Engine& e, seat& s) noexcept {
    if (held_) return;
    ::new (static_cast<void*>(room_)) pin_type(e.pin(s));
    held_ = true;
  }
  void drop() noexcept {
    if (!held_) return;
    held_ = false;
    std::launder(reinterpret_cast<pin_type*>(room_))->~pin_type();
  }

private:
  alignas(pin_type) unsigned char room_[sizeof(pin_type)];
  bool held_ = false;
};

} // namespace detail

struct pipeline_options;
template <class Engine, class Sink> class sink_pipeline;

namespace detail {

template <class T> concept complete_type = requires { sizeof(T); };

} // namespace detail

/// Move-only; used by one thread at a time; must not outlive its table. Every verb of the table, and `find_ref`.
/// A handle that lingers delays the freeing of memory only while it is pinned.
template <template <class, class> class Face, class Engine> class handle : public Face<handle<Face, Engine>, Engine> {
  using base = Face<handle<Face, Engine>, Engine>;
  using codec_type = typename Engine::policy;
  static_assert(contract::engine<Engine>, "this engine lacks something that each table needs: see contract::engine");

public:
  using key_type = typename base::key_type;

  explicit handle(Engine& e) : seat_(e) {}
  handle(handle&& other) noexcept : base(other), seat_(std::move(other.seat_)) { take_pin(other); }
  handle& operator=(handle&& other) noexcept {
    if (this == &other) return *this;
    unpin();
    seat_ = std::move(other.seat_);
    take_pin(other);
    return *this;
  }
  ~handle() { unpin(); }

  /// The value's place in its record, or null; good until `unpin`, although others may replace or erase the entry
  /// meanwhile. The first call pins the handle: from then on nothing that this table retires is freed. Of maps in record
  /// mode (`mode`); with others it does not compile.
  [[nodiscard]] const typename codec_type::mapped_type* find_ref(const key_type& k) { return ref_of(k); }
  template <lookup_key<codec_type> Q> [[nodiscard]] const typename codec_type::mapped_type* find_ref(const Q& k) {
    return ref_of(k);
  }
  /// Ends what `find_ref` began; its references are void. No effect when not pinned.
  void unpin() noexcept { pin_.drop(); }
  [[nodiscard]] bool pinned() const noexcept { return pin_.holds(); }

  /// While the guard lives, nothing is freed that this table, or another of the same program or shared library, retires: memory waits
  /// for its end, so end it soon. It keeps what `visit` and `find_ref` of this handle have shown, also after `unpin`. Calls
  /// through this handle need not enter the table, and cost less. A guard never blocks; guards nest; a guard is neither copied nor moved. It is of
  /// the handle's seat: it stays when the handle is moved, and when the handle ends before it. End it in the thread that uses
  /// the handle, outside all functions that calls through it run, and before the table ends.
  [[nodiscard]] auto guard() { return detail::table_guard<Engine>(seat_.engine(), seat_.at()); }

  /// Requests that are answered later, each with its caller's tag, by `sink(tagged_reply<V>&&)`: `p.find(k, tag)`, ...,
  /// `p.drain()`. A `sink_pipeline<Engine, Sink>`: include <cubby/sink_pipeline.hpp>. Of engines that claim `pipelined`.
  template <class Sink> [[nodiscard]] auto pipeline(Sink sink) { return pipeline_to<Sink>(sink); }
  template <class Sink> [[nodiscard]] auto pipeline(Sink sink, const pipeline_options& chosen) {
    return pipeline_to<Sink>(sink, chosen);
  }

  [[nodiscard]] CUBBY_ALWAYS_INLINE detail::site<Engine> site() const { return {seat_.engine(), seat_.at()}; }
  [[nodiscard]] seat* own_seat() const noexcept { return seat_.own(); }
  static constexpr bool has_own_seat = true;

private:
  template <class Sink, class... Chosen> auto pipeline_to(Sink& sink, const Chosen&... chosen) {
    constexpr bool pipelined = contract::pipelined<Engine>;
    static_assert(pipelined, "this engine has no pipeline; cubby::dramhit and cubby::dramhit_tuples do");
    if constexpr (pipelined) {
      constexpr bool included = detail::complete_type<sink_pipeline<Engine, Sink>>;
      static_assert(included, "handle.pipeline needs #include <cubby/sink_pipeline.hpp>");
      if constexpr (included) return sink_pipeline<Engine, Sink>(seat_.engine(), std::move(sink), chosen...);
      else return nullptr;
    } else {
      return nullptr;
    }
  }
  // Asserted and not demanded by a constraint, which a compiler would explain overload by overload.
  template <class Q> const typename codec_type::mapped_type* ref_of(const Q& k) {
    constexpr bool has_place = codec_type::in_records && codec_type::has_values;
    static_assert(has_place, "find_ref needs a map in record mode: values in the table itself have no address to keep; "
                             "use find or visit");
    if constexpr (has_place) {
      const auto s = site();
      pin_.hold(s.engine, s.at);
      const auto seen = s.engine.find(s.at, s.codec().probe_of(k));
      return seen.found ? &s.codec().value(seen.word) : nullptr;
    }
    return nullptr;
  }
  /// Pins nest: the seat is pinned here before it is let go there.
  void take_pin(handle& other) noexcept {
    if (!other.pinned()) return;
    pin_.hold(seat_.engine(), seat_.at());
    other.unpin();
  }

  detail::owned_seat<Engine> seat_;
  detail::held_pin<Engine> pin_;
};

} // namespace cubby::inline v0
