// SPDX-License-Identifier: Apache-2.0
// The verbs that maps and sets share, written once for the table itself (with the calling thread's record) and for a handle (with
// a thread record of its own). Each verb with a key is a pair. One takes `const K&`, so that types which convert to K work. The
// other is a template for types that only compare equal to a key (std::string_view for std::string), and builds no key. Unless
// its comment says otherwise, a verb is linearizable, costs O(1), and holds no lock while the user's code runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

#include <cubby/detail/api/batch.hpp>
#include <cubby/detail/api/callbacks.hpp>
#include <cubby/detail/api/engine_access.hpp>
#include <cubby/detail/api/erase.hpp>
#include <cubby/detail/api/operations.hpp>
#include <cubby/detail/api/reservation.hpp>
#include <cubby/detail/api/scan_api.hpp>
#include <cubby/detail/core/codec.hpp>

namespace cubby::inline v0 {

namespace detail {

/// The types with which a key can be looked up, beside `const K&`.
template <class Q, class Codec> concept lookup_key = Codec::template accepts<Q>;

/// A contiguous range: an array, a std::vector, a std::span.
template <class R>
concept contiguous = requires(const R& r) {
  requires std::is_pointer_v<decltype(std::data(r))>;
  { std::size(r) } -> std::convertible_to<std::size_t>;
};
template <class R> struct elements {
  using type = void;
};
template <contiguous R> struct elements<R> {
  using type = std::remove_cv_t<std::remove_pointer_t<decltype(std::data(std::declval<const R&>()))>>;
};
template <class R> using element_of = typename elements<R>::type;
template <class R>
using elements_of = std::span<const element_of<R>>;

/// What a batch of lookups answers into must be bools in memory, each with an address.
template <class Found> std::size_t answers_fit() {
  static_assert(std::convertible_to<Found&, std::span<bool>>,
                "found is a contiguous range of bool, and std::vector<bool> is none: use an array, or visit_batch");
  return 0;
}

template <class T, class Codec> inline constexpr bool is_lookup_request = false;
template <class Q, class Codec>
inline constexpr bool is_lookup_request<request<Q, typename Codec::mapped_type>, Codec> = lookup_key<Q, Codec>;

/// Contiguous ranges of such types, and of requests with such keys.
template <class R, class Codec> concept lookup_range = contiguous<R> && lookup_key<element_of<R>, Codec>;
template <class R, class Codec> concept request_range = contiguous<R> && is_lookup_request<element_of<R>, Codec>;
/// Whether a list in braces is one of keys. Not of keys that a pointer to keys converts to: two pointers in braces are the ends of an array.
template <class K> concept takes_lists = !std::convertible_to<const K*, K>;
/// What a batch cannot take: its error is one line.
template <class R, class Codec>
concept no_batch_of_keys =
    !lookup_range<R, Codec> && !std::convertible_to<const R&, std::span<const typename Codec::key_type>>;
template <class Keys> std::size_t keys_fit() {
  static_assert(
      std::is_void_v<Keys>,
      "a batch takes a contiguous range of keys, or of what a lookup takes: a std::vector, an "
      "array, a std::span; std::vector<bool> and std::deque are none, and pairs with values go to insert_range");
  return 0;
}

} // namespace detail

/// The awaitable of `async_find`; include <cubby/coro.hpp> to use it.
template <class Api> class async_lookup;

namespace detail {

struct in_place_access;

/// `Derived` has `context() const` (the engine and the thread record) for `engine_access`, and `own_thread_record() const`, which is null if the calling
/// thread's record is used.
template <class Derived, class Engine> class table_api : public scan_api<Derived, Engine> {
public:
  using codec_type = typename Engine::policy;
  using key_type = typename codec_type::key_type;
  using hasher = typename codec_type::hasher;
  using allocator_type = typename codec_type::allocator_type;
  using engine_type = Engine;
  using request_type = request<key_type, typename codec_type::mapped_type>;
  using reply_type = reply<typename codec_type::mapped_type>;
  /// What the engine can do. A verb that it does not claim does not compile.
  static constexpr capability_set capabilities = contract::capabilities_of<Engine>;
  friend struct in_place_access;

  /// Whether the key is in the table.
  [[nodiscard]] bool contains(const key_type& k) const { return has(k); }
  template <lookup_key<codec_type> Q> [[nodiscard]] bool contains(const Q& k) const { return has(k); }

  /// Removes the key; true if it was there. If the engine claims `slots_freed_at_once`, other keys can use its slot at once, else
  /// after the table is rebuilt.
  CUBBY_ALWAYS_INLINE bool erase(const key_type& k) { return take_out(k); }
  template <lookup_key<codec_type> Q> bool erase(const Q& k) { return take_out(k); }

  /// Carries out requests in order, inside one pin, and prefetches ahead (DLHT section 3.3). With `stop_at_first_failure` it stops
  /// after the first request that does not end in `done`. Each reply says how its request ended. Returns the number of requests
  /// that were carried out, the failed one included; the replies behind them are `not_executed`. It takes as many requests as the
  /// shorter span has. A table that is full or has no memory does not throw here. Keys may be of a type with which keys can be
  /// looked up: `request<std::string_view, V>`.
  template <class E = Engine>
  std::size_t execute(std::span<const request_type> requests, std::span<reply_type> replies,
                      batch_policy policy = batch_policy::run_all) {
    return run(requests, replies, policy);
  }
  template <request_range<codec_type> Requests>
  std::size_t execute(const Requests& requests, std::span<reply_type> replies,
                      batch_policy policy = batch_policy::run_all) {
    return run(detail::elements_of<Requests>(requests), replies, policy);
  }

  /// The hash that chooses the key's bin. Seed and namespace are mixed in.
  [[nodiscard]] std::uint64_t hash_for(const key_type& k) const { return here().codec().probe_of(k).hash; }
  template <lookup_key<codec_type> Q> [[nodiscard]] std::uint64_t hash_for(const Q& k) const {
    return here().codec().probe_of(k).hash;
  }
  /// Prefetches the key's bin and returns at once (DLHT section 3.3, coroutines). A hint without effect on results.
  template <class E = Engine> void prefetch(const key_type& k) const { ask_for(k); }
  template <lookup_key<codec_type> Q> void prefetch(const Q& k) const { ask_for(k); }

  /// `clear`, then `shrink_to_fit`, whose answer it returns.
  template <class E = Engine> bool clear_and_release() {
    this->clear();
    return shrink_to_fit();
  }

  /// The number of entries. Exact while no thread writes.
  [[nodiscard]] std::size_t size() const { return here().engine.size(); }
  [[nodiscard]] bool empty() const { return size() == 0; }
  /// The number of slots of the current index. A table grows before all of them are used; a `fixed` one takes at most
  /// `options.capacity` entries. The side slots that DRAMHiT has for a few key words are not counted.
  [[nodiscard]] std::size_t capacity() const { return here().engine.capacity(); }
  [[nodiscard]] typename Engine::stats_type stats() const { return here().engine.stats(); }
  /// How full the bins are, and how many link buckets they have. O(capacity). Only for engines that count this, such as
  /// cubby::dlht_counted.
  template <class E = Engine> [[nodiscard]] auto histogram() const {
    static_assert(contract::counting_bins<E>, "this engine does not count how full its bins are");
    if constexpr (contract::counting_bins<E>) return here().engine.histogram();
  }
  /// Makes space for this many entries, so that the table need not grow for them. Blocks while entries move. False: there is no memory
  /// for it, or the table is `fixed` and smaller; the table works on as before. True: the space is there. Exception: an engine
  /// that waits for readers (`relativistic`) may answer true while a reader still holds up its growth. The space is then there
  /// when the growth has ended (`stats().migrating`); the engine's page says how long it waits and which thread goes on.
  template <class E = Engine> bool reserve(std::size_t entries) {
    static_assert(contract::growable<E>, "this engine does not grow; give the capacity when the table is made");
    const auto s = here();
    return s.engine.reserve(s.at, entries);
  }
  /// Gives back space that the entries do not need, down to `options.capacity`. Blocks while entries move. Some unused space may
  /// remain, because engines have only certain sizes. With `shrink_policy::never` it does nothing and answers true. False: no memory
  /// for the new index. True may mean that the shrink ends later, as in `reserve`.
  template <class E = Engine> bool shrink_to_fit() {
    static_assert(contract::shrinkable<E>, "this engine gives no memory back before its end");
    const auto s = here();
    return s.engine.shrink_to_fit(s.at);
  }

  [[nodiscard]] hasher hash_function() const { return here().codec().hash_function(); }
  [[nodiscard]] allocator_type get_allocator() const { return here().codec().allocator(); }

protected:
  table_api() = default;
  ~table_api() = default;
  table_api(const table_api&) = default;
  table_api& operator=(const table_api&) = default;

  [[nodiscard]] CUBBY_ALWAYS_INLINE detail::context<Engine> here() const {
    return engine_access::context_of(static_cast<const Derived&>(*this));
  }

  template <class Q> [[nodiscard]] auto lookup_of(const Q& k) const {
    constexpr bool prefetches = contract::prefetching<Engine>;
    constexpr bool is_map = codec_type::has_values;
    static_assert(prefetches || !is_map, "this engine cannot ask memory for an entry ahead; use find");
    static_assert(prefetches || is_map, "this engine cannot ask memory for an entry ahead; use contains");
    constexpr bool is_included = requires { sizeof(async_lookup<Derived>); };
    static_assert(is_included, "async_find and async_contains need #include <cubby/coro.hpp>");
    if constexpr (is_included && prefetches) return async_lookup<Derived>(static_cast<const Derived&>(*this), k);
  }

  // Local variables of the next functions, and of an engine's usual paths, are not const: g++ 12 keeps const objects with several members in
  // memory, not in registers.
  /// Runs `f(context, probe)` inside a pin, for this key.
  template <class Q, class F> decltype(auto) about(const Q& k, F&& f) const {
    auto s = here();
    return pinned(s, s.codec().probe_of(k), f);
  }
  /// The same for a function that only looks.
  template <class Q, class F> decltype(auto) about_visit(const Q& k, F&& f) const {
    auto s = here();
    return pinned(s, detail::query_of(s.codec(), k), f);
  }
  /// What both do once the key is hashed.
  template <class Probe, class F>
  CUBBY_ALWAYS_INLINE static decltype(auto) pinned(detail::context<Engine> s, Probe p, F& f) {
    Engine& engine = s.engine; // g++ would keep the pair in memory
    thread_record& at = s.at;
    [[maybe_unused]] auto pin = engine.pin(at);
    return f(detail::context<Engine>{engine, at}, p);
  }
  /// Whether no other call can use the thread record during this call: the record belongs to a handle, and no function of the user
  /// runs between the hash and the answer. Without exceptions a handle may have to use the thread's record.
  static constexpr bool is_alone() noexcept {
    using pin_type = decltype(std::declval<Engine&>().pin(std::declval<thread_record&>()));
    return Derived::has_own_thread_record && fail::throws && !codec_type::in_records &&
           std::is_same_v<pin_type, thread_pin>;
  }
  /// `about` for a lookup, or for an erase, which needs no more of the key. If it `is_alone`, it need not count its pin; if the thread record is held, it needs no pin at all. Inlined,
  /// so that hash and key stay in registers.
  template <class Q, class F> CUBBY_ALWAYS_INLINE auto about_lookup(const Q& k, F f) const {
    auto s = here();
    auto p = detail::query_of(s.codec(), k);
    if constexpr (is_alone()) {
      if (registry::is_held(s.at)) return f(s, p);
      lone_pin pin(s.at);
      return f(s, p);
    } else {
      [[maybe_unused]] auto pin = s.engine.pin(s.at);
      return f(s, p);
    }
  }
  /// The same for a change of words: `f(context, probe, word)`. `make(context, probe)` makes the word before the pin, because it runs
  /// the constructor of the value, which is the user's code.
  template <class Q, class Make, class F>
  CUBBY_ALWAYS_INLINE auto about_change(const Q& k, const Make& make, F f) const {
    using context_type = detail::context<Engine>;
    auto s = here();
    typename Engine::probe p = s.codec().probe_of(k);
    auto word = make(s, p);
    Engine& engine = s.engine; // g++ would keep the pair in memory
    thread_record& at = s.at;
    if constexpr (is_alone()) {
      if (registry::is_held(at)) return f(context_type{engine, at}, p, word);
      lone_pin pin(at);
      return f(context_type{engine, at}, p, word);
    } else {
      [[maybe_unused]] auto pin = engine.pin(at);
      return f(context_type{engine, at}, p, word);
    }
  }
  /// `about` for a verb that may insert. Answers `otherwise` for a key that no table may hold.
  template <class Q, class R, class F> R about_new(const Q& k, R otherwise, F&& f) const {
    return about(k, [&](const auto& s, const auto& p) -> R {
      if (!s.codec().is_legal(p)) [[unlikely]] {
        fail::with_bad_namespace();
        return std::move(otherwise);
      }
      return f(s, p);
    });
  }
  template <class Q, class... A> CUBBY_ALWAYS_INLINE insert_outcome add(const Q& k, A&&... args) {
    if constexpr (codec_type::in_records) {
      return add_record(k, std::forward<A>(args)...);
    } else {
      return about_change(
          k,
          [&](const auto& s, const auto& p)
              CUBBY_INLINED { return s.codec().make(p, k, std::forward<A>(args)...).word; },
          [](const auto& s, const auto& p, const auto& word)
              CUBBY_INLINED { return s.engine.insert(s.at, p, word).outcome; });
    }
  }
  template <class Q, class... A> insert_outcome add_record(const Q& k, A&&... args) {
    return about_new(k, insert_outcome::full, [&](const auto& s, const auto& p) {
      return detail::insert_entry(s, p, k, std::forward<A>(args)...);
    });
  }
  template <class Q, class... A> reservation_of<Engine> add_hidden(Q&& k, A&&... args) {
    static_assert(contract::reserving<Engine>,
                  "this engine has no hidden entries; insert the key when it is ready to be found");
    if constexpr (contract::reserving<Engine>) {
      return about_new(k, reservation<Engine>(), [&](const auto& s, const auto& p) {
        return reservation<Engine>(s, static_cast<const Derived&>(*this).own_thread_record(), p, std::forward<Q>(k),
                                   std::forward<A>(args)...);
      });
    } else {
      return {};
    }
  }

private:
  template <class Q>
  std::size_t run(std::span<const request<Q, typename codec_type::mapped_type>> requests, std::span<reply_type> replies,
                  batch_policy policy) {
    static_assert(contract::batched<Engine>, "this engine takes no batches; ask it one by one");
    const auto s = here();
    [[maybe_unused]] const auto pin = s.engine.pin(s.at);
    return detail::run_batch(s, requests, replies, policy);
  }

  template <class Q> bool has(const Q& k) const {
    return about_lookup(k, [](const auto& s, const auto& p) CUBBY_INLINED { return s.engine.find(s.at, p).found; });
  }
  template <class Q> CUBBY_ALWAYS_INLINE bool take_out(const Q& k) {
    if constexpr (codec_type::in_records) return take_record_out(k);
    else return about_lookup(k, [](const auto& s, const auto& p) CUBBY_INLINED { return detail::erase_key(s, p); });
  }
  template <class Q> bool take_record_out(const Q& k) {
    return about(k, [](const auto& s, const auto& p) { return detail::erase_key(s, p); });
  }
  template <class Q> void ask_for(const Q& k) const {
    static_assert(contract::prefetching<Engine>, "this engine cannot ask memory for an entry ahead");
    about(k, [](const auto& s, const auto& p) { s.engine.prefetch(p); });
  }
};

} // namespace detail

} // namespace cubby::inline v0
