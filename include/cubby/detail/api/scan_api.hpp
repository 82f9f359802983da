// SPDX-License-Identifier: Apache-2.0
// What all tables do with all of their entries: scans by one thread or several, erases of many, snapshots. No lock is held while the
// user's code runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <cubby/detail/api/callbacks.hpp>
#include <cubby/detail/api/engine_access.hpp>
#include <cubby/detail/api/erase.hpp>
#include <cubby/detail/api/refused_calls.hpp>
#include <cubby/detail/api/scan_ahead.hpp>
#include <cubby/detail/api/shared_scan.hpp>
#include <cubby/detail/api/snapshot.hpp>

namespace cubby::inline v0::detail {

/// `Derived` has `context() const`.
template <class Derived, class Engine> class scan_api : public refused_calls<Derived, Engine::policy::has_values> {
  using codec_type = typename Engine::policy;
  using key_type = typename codec_type::key_type;

public:
  /// Calls `f(const K&, const V&)`, for a set `f(const K&)`, for each entry. O(capacity). Weak (DLHT section 3.4.4): an entry that is
  /// present throughout is seen at least once; one that is inserted or erased meanwhile may be seen or not. In `dramhit` and
  /// `dramhit_tuples` an entry that is moved during the scan may be seen twice, also if the table's own thread moves it. That ends
  /// when `stats()` says that nothing is `migrating`. `f` may use the table.
  template <class F> void visit_all(F f) const {
    static_assert(contract::iterable<Engine>, "this engine shows no entries but those that it is asked for");
    const auto s = here();
    [[maybe_unused]] const auto pin = s.engine.pin(s.at);
    auto& shown = scanned(f);
    each(s, [&](const auto& key, const auto& value) { show(s.codec(), shown, key, value); });
  }

  /// The same in several threads, the caller included: `visit_all(cubby::threads(4), f)` makes them, `visit_all(cubby::on(pool, 4), f)`
  /// finds them in a pool, `visit_all(std::execution::par, f)` needs <cubby/execution.hpp>. Returns when they have ended. They call `f` at
  /// the same time. The first exception of `f` ends the call, and passes on then. Not in `dlht_single`. In `iceberg`, `dramhit` and
  /// `dramhit_tuples` the threads wait for each other at the end of each part of the table.
  template <class By, class F> void visit_all(const By& by, F f) const {
    [[maybe_unused]] auto& shown = scanned(f);
    if constexpr (splits<Engine, By>())
      detail::scan_together(here(), by, [&](const auto& s, const auto& key, const auto& value) {
        show(s.codec(), shown, key, value);
        return true;
      });
  }

  /// Calls `f` as `visit_all(f)` does, until it returns false: whether it never did. Most engines end soon then,
  /// with the part of the table that a thread takes at a time; docs/api/scans.md says which part.
  template <class F> bool visit_while(F f) const {
    static_assert(contract::iterable<Engine>, "this engine shows no entries but those that it is asked for");
    const auto s = here();
    [[maybe_unused]] const auto pin = s.engine.pin(s.at);
    auto& goes_on = selected(f);
    return detail::scan_while(
        s, [&](const auto& key, const auto& value) -> bool { return show(s.codec(), goes_on, key, value); });
  }

  /// The same in several threads, as `visit_all(by, f)`. They end soon after the first false answer.
  template <class By, class F> bool visit_while(const By& by, F f) const {
    [[maybe_unused]] auto& goes_on = selected(f);
    if constexpr (splits<Engine, By>())
      return detail::scan_together(here(), by, [&](const auto& s, const auto& key, const auto& value) -> bool {
        return show(s.codec(), goes_on, key, value);
      });
    else return false;
  }

  /// Erases each entry that visit_all would see and for which `p` holds, and returns their number. O(capacity). `p` takes the
  /// arguments of visit_all's function. It may run several times for an entry; it has always seen the value that leaves.
  template <class P> std::size_t erase_if(P p) {
    static_assert(contract::iterable<Engine>, "this engine shows no entries but those that it is asked for");
    const auto s = here();
    [[maybe_unused]] const auto pin = s.engine.pin(s.at);
    auto& leaves = selected(p);
    std::size_t count = 0;
    each(s, [&](const auto& key, const auto& value) {
      if (erase_shown(s, leaves, key, value)) ++count;
    });
    return count;
  }
  /// The same in several threads, as `visit_all(by, f)`.
  template <workers By, class P> std::size_t erase_if(const By& by, P p) {
    [[maybe_unused]] auto& leaves = selected(p);
    sync::word<std::uint64_t> count;
    if constexpr (splits<Engine, By>())
      detail::scan_together(here(), by, [&](const auto& s, const auto& key, const auto& value) {
        if (erase_shown(s, leaves, key, value)) count.fetch_add(1, sync::relaxed); // relaxed: read after their end
        return true;
      });
    return count.load(sync::relaxed); // relaxed: as above
  }

  /// Erases each entry that is present throughout. Keeps the space of the index. Records without objects of yours that no guard holds are free then,
  /// others as after any erase. O(capacity).
  template <class E = Engine> void clear() {
    static_assert(contract::iterable<E>, "this engine shows no entries but those that it is asked for");
    const auto s = here();
    {
      [[maybe_unused]] const auto pin = s.engine.pin(s.at);
      each<detail::scan_to::erase>(s, [&](const auto& key, const auto& value) {
        detail::erase_word(s, s.codec().probe_of_slot(key, value), [](const auto&) { return true; });
      });
    }
    if constexpr (requires { s.engine.collect_records(); }) s.engine.collect_records();
  }

  /// The contents of the table at one point in time: a list of pairs, or of keys for a set. Updates wait while the words are
  /// copied; lookups do not (DLHT section 3.4.4). O(capacity), with memory for a copy of all entries. Throws std::bad_alloc if there is
  /// none; without exceptions, `ok()` of the list is then false.
  template <class E = Engine> [[nodiscard]] auto snapshot() const { return snapshot<threads, E>(threads(1)); }
  /// The same; keys and values are copied in several threads, as in `visit_all(by, f)`. The words are copied by the caller.
  template <class By, class E = Engine> [[nodiscard]] auto snapshot(const By& by) const {
    static_assert(contract::snapshotting<E>, "this engine has no snapshot of one point in time; use visit_all");
    constexpr bool copied = std::is_copy_constructible_v<key_type> && snapshot_copies_values;
    static_assert(copied, "a snapshot copies every key and value: this type cannot be copied; use visit_all");
    if constexpr (is_team<By>() && copied && contract::snapshotting<E>) {
      const auto s = here();
      [[maybe_unused]] const auto pin = s.engine.pin(s.at);
      return detail::take_snapshot(s, by);
    }
  }

protected:
  scan_api() = default;
  ~scan_api() = default;
  scan_api(const scan_api&) = default;
  scan_api& operator=(const scan_api&) = default;

private:
  [[nodiscard]] CUBBY_ALWAYS_INLINE context<Engine> here() const {
    return engine_access::context_of(static_cast<const Derived&>(*this));
  }
  template <detail::scan_to What = detail::scan_to::show, class F> static void each(const auto& s, F f) {
    detail::scan_ahead<What>(s.codec(), [&s](auto& shown) { s.engine.for_each(s.at, shown); }, f);
  }
  static constexpr bool snapshot_copies_values = std::is_copy_constructible_v<typename codec_type::mapped_type>;
  template <class F> static constexpr auto& scanned(F& f) noexcept {
    return detail::that_scans<key_type, const typename codec_type::mapped_type, codec_type::has_values>(f);
  }
  template <class P> static constexpr auto& selected(P& p) noexcept {
    return detail::that_selects<key_type, const typename codec_type::mapped_type, codec_type::has_values>(p);
  }
  /// Erases an entry that a scan has shown, if `p` holds for the value that leaves.
  template <class P> static bool erase_shown(const auto& s, P& p, const auto& key, const auto& value) {
    if (!show(s.codec(), p, key, value)) return false;
    const auto agrees = [&](const auto& now) { return now == value || show(s.codec(), p, key, now); };
    return detail::erase_word(s, s.codec().probe_of_slot(key, value), agrees);
  }
  template <class F> static decltype(auto) show(const codec_type& codec, F& f, const auto& key, const auto& value) {
    const key_type& k = codec.key(key, value);
    if constexpr (codec_type::has_values) {
      const typename codec_type::mapped_type& v = codec.value(value);
      return f(k, v);
    } else {
      return f(k);
    }
  }
};

} // namespace cubby::inline v0::detail
