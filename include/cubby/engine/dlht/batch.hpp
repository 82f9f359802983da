// SPDX-License-Identifier: Apache-2.0
// Many finds with their memory latencies overlapped (section 3.3): a window of located, prefetched requests slides
// over the batch. Replies come in the order of the requests.
#pragma once

#include <cubby/engine/dlht/find.hpp>

namespace cubby::inline v0::engines::dlht {

/// Requests in flight. docs/performance.md has the figures for 8 to 64.
inline constexpr std::size_t window = 32;

/// Fetches the record that a request will want, as far as its bin is already here. A hint only: nothing is verified.
template <class Policy, class Threads>
CUBBY_ALWAYS_INLINE void prefetch_record_at(const Policy& policy, const bin<Threads>& b, std::uint64_t word) noexcept {
  if constexpr (Policy::unique_words) {
    for (const auto& s : b.slots) {
      // relaxed: a stale word costs a useless prefetch
      if (s.first.load(sync::relaxed) != word) continue;
      prefetch_line(policy.record_of(s.second.load(sync::relaxed))); // relaxed: as above
    }
  }
}

/// `take(i, found_word)` for each i in [0, count), of the probe that `make(i)` gives; `make` is called in order too.
template <class Policy, class Threads, class Make, class Take>
CUBBY_ALWAYS_INLINE void find_many(const table<Policy, Threads>& t, std::size_t count, Make& make, Take& take) {
  using probe_type = decltype(make(std::size_t{}));
  struct request {
    located<Threads> here;
    probe_type probe;
  };
  alignas(cpu::cache_line) std::byte storage[sizeof(request) * window];
  auto* const ring = reinterpret_cast<request*>(storage);
  index<Threads>* const at = first_index(t);
  const auto start = [&](std::size_t i) {
    auto* const r = new (&ring[i % window]) request{{at, nullptr}, make(i)};
    r->here.b = &bin_of<Policy>(*at, r->probe);
    prefetch_line(r->here.b);
  };
  static_assert(std::is_trivially_destructible_v<probe_type>);
  const std::size_t ahead = count < window ? count : window;
  for (std::size_t i = 0; i < ahead; ++i) start(i);
  if constexpr (Policy::unique_words) {
    for (std::size_t i = 0; i < ahead / 2; ++i) {
      prefetch_record_at(t.policy, *ring[i].here.b, stored_word(ring[i].probe.word));
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    if constexpr (Policy::unique_words) {
      const std::size_t later = i + ahead / 2;
      if (later < count) {
        const request& r = ring[later % window];
        prefetch_record_at(t.policy, *r.here.b, stored_word(r.probe.word));
      }
    }
    const request& r = ring[i % window];
    take(i, find_at(t.policy, r.here, r.probe));
    if (i + window < count) start(i + window);
  }
}

} // namespace cubby::inline v0::engines::dlht
