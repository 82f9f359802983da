// SPDX-License-Identifier: Apache-2.0
// Read-copy-update alone, for structures of one's own: read sections, `synchronize`, grace periods, and the bag
// into which a writer retires what it has unlinked.
#pragma once

#include <cubby/detail/core/epoch.hpp>
#include <cubby/detail/core/rcu.hpp>

namespace cubby::inline v0::rcu {

using detail::domain_ref;
using detail::registry;
using detail::thread_pin;
using detail::thread_record;

/// What has been retired of one structure that many threads use, until no reader can see it.
template <class Policy> using retire_bag = detail::retire_bag<Policy, detail::sync::shared>;

} // namespace cubby::inline v0::rcu
