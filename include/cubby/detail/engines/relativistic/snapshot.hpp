// SPDX-License-Identifier: Apache-2.0
// The strong snapshot, with every stripe locked.
#pragma once

#include <cubby/detail/engines/relativistic/scan.hpp>

namespace cubby::inline v0::detail::engines::relativistic {

/// Every stripe's lock, in order.
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

/// Strong snapshot, inside a pin: `begin(count)` may refuse; then `sink(key_word, value_word)` receives each entry. Both
/// run while updates wait, lookups go on: they must not call the table. The locks are the point in time.
template <class Policy, class Begin, class Sink> bool snapshot(table<Policy>& t, Begin& begin, Sink& sink) {
  const every_stripe hold(t);
  if (!begin(static_cast<std::size_t>(live_entries(t)))) return false;
  for_each(t, sink);
  return true;
}

} // namespace cubby::inline v0::detail::engines::relativistic
