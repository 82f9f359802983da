// SPDX-License-Identifier: Apache-2.0
// A handle: a thread record for one table. It saves each call the search for the thread's own record. It can hold a pin, so that a
// reference into the table stays valid (DLHT section 3.2.1, pointer API).
#pragma once

#include <concepts>
#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

#include <cubby/detail/api/engine_access.hpp>
#include <cubby/detail/api/table_api.hpp>
#include <cubby/detail/core/registry.hpp>

namespace cubby::inline v0 {

namespace detail {

/// A claimed thread record, which the destructor gives back. An engine for one thread has a single record for all.
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
    // without exceptions a claim may have failed; then the thread's record is used, which is slower
    thread_record* const mine = mine_;
    if (!fail::throws && mine == nullptr) return caller_thread_record(*engine_);
    if constexpr (!Engine::claims.one_thread_only) registry::use(*mine);
    return *mine;
  }

private:
  Engine* engine_;
  thread_record* mine_ = nullptr;
};

/// Keeps the record of a thread or a handle claimed, also after the end of the handle.
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

/// A guard with the record of a thread or a handle. The record stays claimed while the guard lives. See `handle::guard`.
template <class Engine> class [[nodiscard]] table_guard {
public:
  table_guard(Engine& e, thread_record& s) noexcept : claim_(s), pin_(e.pin(s)) {}
  table_guard(const table_guard&) = delete;
  table_guard& operator=(const table_guard&) = delete;

private:
  record_claim claim_; // ends after the pin
  decltype(std::declval<Engine&>().pin(std::declval<thread_record&>())) pin_;
};

/// A pin of any type that may be held or not.
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

/// Stands for a pipeline without a sink: each call says where its answers go.
struct no_sink {};

} // namespace detail

/// Include <cubby/pipeline.hpp>.
template <class Engine, class Sink = detail::no_sink, class Key = typename detail::key_in<Engine>::type> class pipeline;

/// A handle has every verb of its table, and `find_ref`. Move-only; one thread at a time uses it; it must not outlive its table. A
/// handle delays the freeing of memory only while it is pinned.
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

  /// The address of the value, or null if the key is absent. The first call pins the handle; from then on the table frees nothing
  /// that it retires. For maps in record mode (`mode`): valid until `unpin`, also if other threads replace or erase the entry.
  /// `iceberg` also has addresses of values in its slots. Such an address is valid until `unpin`, until the entry is erased, or
  /// until the table grows or shrinks. An assign changes the value in place, so no other thread may assign while it is read. Others
  /// do not compile.
  [[nodiscard]] const typename codec_type::mapped_type* find_ref(const key_type& k) { return ref_of(k); }
  template <detail::lookup_key<codec_type> Q> [[nodiscard]] const typename codec_type::mapped_type*
  find_ref(const Q& k) {
    return ref_of(k);
  }
  /// Ends the pin that `find_ref` began. References from `find_ref` are invalid from then on. No effect if the handle is not pinned.
  void unpin() noexcept { pin_.drop(); }
  [[nodiscard]] bool pinned() const noexcept { return pin_.holds(); }

  /// While the guard lives, no table of this program or shared library frees what it retires. Memory waits for the guard's end, so
  /// end it soon. The guard keeps valid what `visit` and `find_ref` of this handle have shown, also after `unpin`. Calls through this
  /// handle need no pin of their own then, and cost less. A guard never blocks. Guards nest. A guard cannot be copied or moved. It uses
  /// the handle's record, and keeps it if the handle is moved or ends first. End the guard in the thread that uses the handle,
  /// outside the functions that calls through it run, and before the table ends.
  [[nodiscard]] auto guard() { return detail::table_guard<Engine>(thread_record_.engine(), thread_record_.at()); }

  template <class Sink = detail::no_sink, class Key = key_type> using pipeline_type =
      cubby::pipeline<Engine, Sink, Key>;
  /// A pipeline: requests that are answered later, each with its caller's tag, by `sink(reply<V>&&)`: `p.find(k, tag)`, ...,
  /// `p.drain()`. Without a sink, answers go into the caller's space. Include <cubby/pipeline.hpp>. The pipeline uses this handle's
  /// record. Key: the key type of its requests, as in `h.pipeline<std::string_view>(sink)`; the text must then stay unchanged until
  /// its request is answered. Only for engines that claim `pipelined`.
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

  [[nodiscard]] detail::thread_record* own_thread_record() const noexcept { return thread_record_.own(); }
  static constexpr bool has_own_thread_record = true;

private:
  friend struct detail::engine_access;
  [[nodiscard]] CUBBY_ALWAYS_INLINE detail::context<Engine> context() const {
    return {thread_record_.engine(), thread_record_.at()};
  }
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
  // An assertion, because the error of a constraint would list all overloads.
  template <class Q> const typename codec_type::mapped_type* ref_of(const Q& k) {
    constexpr bool in_slots = detail::contract::stable<Engine>;
    constexpr bool has_address = (codec_type::in_records && codec_type::has_values) || in_slots;
    static_assert(has_address,
                  "find_ref needs a map in record mode, or cubby::iceberg: values in other tables have no address "
                  "to keep; use find or visit");
    if constexpr (in_slots) {
      const auto s = context();
      pin_.hold(s.engine, s.at);
      return static_cast<const typename codec_type::mapped_type*>(s.engine.address_of(s.codec().probe_of(k)));
    } else if constexpr (has_address) {
      const auto s = context();
      pin_.hold(s.engine, s.at);
      const auto seen = s.engine.find(s.at, s.codec().probe_of(k));
      return seen.found ? &s.codec().value(seen.word) : nullptr;
    }
    return nullptr;
  }
  /// Pins nest: this handle's pin begins before the other one's ends.
  void take_pin(handle& other) noexcept {
    if (!other.pinned()) return;
    pin_.hold(thread_record_.engine(), thread_record_.at());
    other.unpin();
  }

  detail::owned_thread_record<Engine> thread_record_;
  detail::held_pin<Engine> pin_;
};

} // namespace cubby::inline v0
