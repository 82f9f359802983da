// SPDX-License-Identifier: Apache-2.0
// A handle: one thread's record at one table. It saves the look at the thread's own record on every call, and can hold a
// pin of its own, so that a reference into the table stays good (DLHT section 3.2.1, pointer API).
#pragma once

#include <concepts>
#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

#include <cubby/detail/api/table_api.hpp>
#include <cubby/detail/core/registry.hpp>

namespace cubby::inline v0 {

namespace detail {

/// A thread record of its own, given back at the end; of a one-thread engine the table's only thread record.
template <class Engine> class owned_thread_record {
public:
  explicit owned_thread_record(Engine& e) : engine_(&e) {
    if constexpr (!Engine::claims.one_thread_only) {
      mine_ = e.claim_thread_record();
      if (mine_ == nullptr) fail::with_no_memory();
    }
  }
  owned_thread_record(owned_thread_record&& other) noexcept
      : engine_(std::exchange(other.engine_, nullptr)), mine_(std::exchange(other.mine_, nullptr)) {}
  owned_thread_record& operator=(owned_thread_record&& other) noexcept {
    std::swap(engine_, other.engine_);
    std::swap(mine_, other.mine_);
    return *this;
  }
  ~owned_thread_record() {
    if (mine_ != nullptr) registry::release_after_guards(mine_);
  }

  [[nodiscard]] Engine& engine() const noexcept { return *engine_; }
  [[nodiscard]] thread_record* own() const noexcept { return mine_; }
  [[nodiscard]] CUBBY_ALWAYS_INLINE thread_record& at() const {
    if constexpr (Engine::claims.one_thread_only) return caller_thread_record(*engine_);
    // without exceptions a claim may have failed: the thread's record does as well, only slower
    thread_record* const mine = mine_;
    if (!fail::throws && mine == nullptr) return caller_thread_record(*engine_);
    if constexpr (!Engine::claims.one_thread_only) registry::use(*mine);
    return *mine;
  }

private:
  Engine* engine_;
  thread_record* mine_ = nullptr;
};

/// Keeps a thread's or a handle's record claimed, also when the handle ends before it.
class record_claim {
public:
  explicit record_claim(thread_record& s) noexcept : thread_record_(s) { registry::begin_guard(thread_record_); }
  ~record_claim() { registry::end_guard(thread_record_); }
  record_claim(const record_claim&) = delete;
  record_claim& operator=(const record_claim&) = delete;
  [[nodiscard]] thread_record& at() const noexcept { return thread_record_; }

private:
  thread_record& thread_record_;
};

/// A guard of a thread's or a handle's record, which stays claimed as long as the guard lives. See `handle::guard`.
template <class Engine> class [[nodiscard]] table_guard {
public:
  table_guard(Engine& e, thread_record& s) noexcept : claim_(s), pin_(e.pin(s)) {}
  table_guard(const table_guard&) = delete;
  table_guard& operator=(const table_guard&) = delete;

private:
  record_claim claim_; // ends after the pin
  decltype(std::declval<Engine&>().pin(std::declval<thread_record&>())) pin_;
};

/// A pin that may or may not be held, whatever its type.
template <class Engine> class held_pin {
  using pin_type = decltype(std::declval<Engine&>().pin(std::declval<thread_record&>()));

public:
  held_pin() noexcept = default;
  held_pin(const held_pin&) = delete;
  held_pin& operator=(const held_pin&) = delete;
  ~held_pin() { drop(); }
  [[nodiscard]] bool holds() const noexcept { return held_; }
  void hold(Engine& e, thread_record& s) noexcept {
    if (held_) return;
    ::new (static_cast<void*>(space_)) pin_type(e.pin(s));
    held_ = true;
  }
  void drop() noexcept {
    if (!held_) return;
    held_ = false;
    std::launder(reinterpret_cast<pin_type*>(space_))->~pin_type();
  }

private:
  alignas(pin_type) unsigned char space_[sizeof(pin_type)];
  bool held_ = false;
};

template <class T> concept complete_type = requires { sizeof(T); };

template <class Engine> struct key_in {
  using type = void;
};
template <class Engine>
  requires requires { typename Engine::policy::key_type; }
struct key_in<Engine> {
  using type = typename Engine::policy::key_type;
};

} // namespace detail

struct pipeline_options;

namespace detail {

/// The sink of a pipeline that has none: each call says where its answers go.
struct no_sink {};

} // namespace detail

/// Include <cubby/pipeline.hpp>.
template <class Engine, class Sink = detail::no_sink, class Key = typename detail::key_in<Engine>::type> class pipeline;

/// Move-only; used by one thread at a time; must not outlive its table. Every verb of the table, and `find_ref`.
/// A handle that lingers delays the freeing of memory only while it is pinned.
template <template <class, class> class Api, class Engine> class handle : public Api<handle<Api, Engine>, Engine> {
  using base = Api<handle<Api, Engine>, Engine>;
  using codec_type = typename Engine::policy;
  static_assert(detail::contract::engine<Engine>,
                "this engine lacks something that each table needs: see contract::engine");

public:
  using key_type = typename base::key_type;

  explicit handle(Engine& e) : thread_record_(e) {}
  handle(handle&& other) noexcept : base(other), thread_record_(std::move(other.thread_record_)) { take_pin(other); }
  handle& operator=(handle&& other) noexcept {
    if (this == &other) return *this;
    unpin();
    thread_record_ = std::move(other.thread_record_);
    take_pin(other);
    return *this;
  }
  ~handle() { unpin(); }

  /// The value's place in its record, or null; good until `unpin`, although others may replace or erase the entry
  /// meanwhile. The first call pins the handle: from then on nothing that this table retires is freed. Of maps in record
  /// mode (`mode`); with others it does not compile.
  [[nodiscard]] const typename codec_type::mapped_type* find_ref(const key_type& k) { return ref_of(k); }
  template <detail::lookup_key<codec_type> Q> [[nodiscard]] const typename codec_type::mapped_type*
  find_ref(const Q& k) {
    return ref_of(k);
  }
  /// Ends what `find_ref` began; its references are void. No effect when not pinned.
  void unpin() noexcept { pin_.drop(); }
  [[nodiscard]] bool pinned() const noexcept { return pin_.holds(); }

  /// While the guard lives, nothing is freed that this table, or another of the same program or shared library, retires: memory
  /// waits for its end, so end it soon. It keeps what `visit` and `find_ref` of this handle have shown, also after `unpin`. Calls
  /// through this handle need not enter the table, and cost less. A guard never blocks; guards nest; a guard is neither copied nor
  /// moved. It is of the handle's record: it stays when the handle is moved, and when the handle ends before it. End it in the
  /// thread that uses the handle, outside all functions that calls through it run, and before the table ends.
  [[nodiscard]] auto guard() { return detail::table_guard<Engine>(thread_record_.engine(), thread_record_.at()); }

  template <class Sink = detail::no_sink, class Key = key_type> using pipeline_type =
      cubby::pipeline<Engine, Sink, Key>;
  /// Requests that are answered later, each with its caller's tag, by `sink(reply<V>&&)`: `p.find(k, tag)`, ..., `p.drain()`; or,
  /// without a sink, into the caller's space. Include <cubby/pipeline.hpp>. The pipeline uses this handle's record. Key: what its
  /// requests carry, `h.pipeline<std::string_view>(sink)`; the text then stays where it is until it is answered. Of engines that
  /// claim `pipelined`.
  template <class Key = key_type, class Sink>
    requires(!std::same_as<Sink, pipeline_options>)
  [[nodiscard]] auto pipeline(Sink sink) {
    return pipeline_to<Key>(sink);
  }
  template <class Key = key_type, class Sink>
  [[nodiscard]] auto pipeline(Sink sink, const pipeline_options& chosen) {
    return pipeline_to<Key>(sink, chosen);
  }
  template <class Key = key_type> [[nodiscard]] auto pipeline() {
    detail::no_sink none;
    return pipeline_to<Key>(none);
  }
  template <class Key = key_type> [[nodiscard]] auto pipeline(const pipeline_options& chosen) {
    detail::no_sink none;
    return pipeline_to<Key>(none, chosen);
  }

  [[nodiscard]] CUBBY_ALWAYS_INLINE detail::context<Engine> context() const {
    return {thread_record_.engine(), thread_record_.at()};
  }
  [[nodiscard]] detail::thread_record* own_thread_record() const noexcept { return thread_record_.own(); }
  static constexpr bool has_own_thread_record = true;

private:
  template <class Key, class Sink, class... Chosen> auto pipeline_to(Sink& sink, const Chosen&... chosen) {
    constexpr bool pipelined = detail::contract::pipelined<Engine>;
    static_assert(pipelined, "this engine has no pipeline; cubby::dramhit and cubby::dramhit_tuples do");
    if constexpr (pipelined) {
      constexpr bool included = detail::complete_type<pipeline_type<Sink, Key>>;
      static_assert(included, "handle.pipeline needs #include <cubby/pipeline.hpp>");
      if constexpr (included) return pipeline_type<Sink, Key>(context(), std::move(sink), chosen...);
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
      const auto s = context();
      pin_.hold(s.engine, s.at);
      const auto seen = s.engine.find(s.at, s.codec().probe_of(k));
      return seen.found ? &s.codec().value(seen.word) : nullptr;
    }
    return nullptr;
  }
  /// Pins nest: the thread record is pinned here before it is let go there.
  void take_pin(handle& other) noexcept {
    if (!other.pinned()) return;
    pin_.hold(thread_record_.engine(), thread_record_.at());
    other.unpin();
  }

  detail::owned_thread_record<Engine> thread_record_;
  detail::held_pin<Engine> pin_;
};

} // namespace cubby::inline v0
