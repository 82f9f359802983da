// SPDX-License-Identifier: Apache-2.0
// The strong snapshot, with the locks of all stripes.
#pragma once

#include <cubby/detail/engines/relativistic/scan.hpp>

namespace cubby::inline v0::detail::engines::relativistic {

/// Holds the locks of all stripes, taken in order.
template <class Policy> class every_stripe {
public:
  explicit every_stripe(table<Policy>& t) noexcept : table_(t) {
    for (stripe& s : table_.stripes) s.lock.lock();
  }
  ~every_stripe() {
    for (stripe& s : table_.stripes) s.lock.unlock();
  }
  every_stripe(const every_stripe&) = delete;
  every_stripe& operator=(const every_stripe&) = delete;

private:
  table<Policy>& table_;
};

/// A strong snapshot, inside a pin: `begin(count)` may refuse it; then `sink(key_word, value_word)` gets each entry. Updates wait while
/// both run, so they must not call the table. Lookups go on. The point in time is that at which all locks are held.
template <class Policy, class Begin, class Sink> bool snapshot(table<Policy>& t, Begin& begin, Sink& sink) {
  const every_stripe hold(t);
  if (!begin(static_cast<std::size_t>(live_entries(t)))) return false;
  for_each(t, sink);
  return true;
}

} // namespace cubby::inline v0::detail::engines::relativistic
