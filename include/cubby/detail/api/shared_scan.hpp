// SPDX-License-Identifier: Apache-2.0
// Scans by several threads, which the call makes and waits for.
#pragma once

#include <cstddef>
#include <type_traits>

#include <cubby/detail/api/outcome.hpp>
#include <cubby/detail/core/contract/engine.hpp>
#include <cubby/detail/platform/fail.hpp>
#include <cubby/detail/platform/parallel.hpp>

namespace cubby::inline v0 {

/// In how many threads a call does its work, the caller included: at least 1, at most 64.
class threads {
public:
  constexpr explicit threads(std::size_t count) noexcept : count_(count) {}
  [[nodiscard]] constexpr unsigned count() const noexcept {
    return static_cast<unsigned>(count_ < most ? count_ : most);
  }

private:
  static constexpr std::size_t most = 64;
  std::size_t count_;
};

namespace detail {

/// Calls `f(context, key words, value words)` for each entry that a scan shows, in at most so many threads, the caller included. Each thread has
/// a guard of its own; that of the caller keeps the index of the scan. The first exception ends the scan, and passes when all have ended.
template <class Context, class F> void scan_together(const Context& s, threads by, F f) {
  [[maybe_unused]] const auto pin = s.engine.pin(s.at);
  auto shared = s.engine.begin_shared_scan();
  fail::kept_exception error;
  in_parallel(by.count(), [&](unsigned number) {
    thread_record* const mine = number == 0 ? &s.at : s.engine.local_thread_record();
    if (mine == nullptr) return; // no memory: the others show its part
    const Context own{s.engine, *mine};
    [[maybe_unused]] const auto own_pin = s.engine.pin(*mine);
    const bool done = error.run(
        [&] { s.engine.for_each_of(shared, *mine, [&](const auto& key, const auto& value) { f(own, key, value); }); });
    if (!done) s.engine.end_shared_scan(shared);
  });
  error.rethrow();
}

/// Calls `f(key words, value words) -> bool` for each entry that a scan shows, until it returns false: whether it never did. An engine that
/// splits a scan is asked to end the part that the caller has taken. Under a guard.
template <class Context, class F> bool scan_while(const Context& s, F f) {
  bool all = true;
  if constexpr (contract::splittable<std::remove_reference_t<decltype(s.engine)>>) {
    auto shared = s.engine.begin_shared_scan();
    s.engine.for_each_of(shared, s.at, [&](const auto& key, const auto& value) {
      if (!all) return;
      all = f(key, value);
      if (!all) s.engine.end_shared_scan(shared);
    });
  } else {
    s.engine.for_each(s.at, [&](const auto& key, const auto& value) { all = all && f(key, value); });
  }
  return all;
}

} // namespace detail

} // namespace cubby::inline v0
