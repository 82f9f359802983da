// SPDX-License-Identifier: Apache-2.0
/// @file
/// Read-copy-update without a table, for your own data structures: read sections, `synchronize`, grace periods, and a bag into
/// which a writer retires the objects that it has unlinked.
#pragma once

#include <cubby/detail/core/epoch.hpp>
#include <cubby/detail/core/rcu.hpp>

namespace cubby::inline v0::rcu {

using detail::domain_ref;
using detail::registry;
using detail::thread_pin;
using detail::thread_record;

/// The retired objects of one structure that many threads use. It frees each when no reader can see it any more.
template <class Policy> using retire_bag = detail::retire_bag<Policy, detail::sync::shared>;

} // namespace cubby::inline v0::rcu
