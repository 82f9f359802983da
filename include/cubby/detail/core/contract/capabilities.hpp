// SPDX-License-Identifier: Apache-2.0
// The capabilities of a table, for users, tests and the table of docs/choose.md. They come from the claims of its engine and from the
// concepts that the engine models.
#pragma once

#include <cubby/detail/core/contract/engine.hpp>

namespace cubby::inline v0 {

/// The capabilities of a table. The engine states those of `engine_claims`; all others follow from its members. An operation whose
/// capability is false does not compile.
struct capability_set {
  bool lock_free_find = false;
  bool lock_free_insert = false;
  bool slots_freed_at_once = false;
  bool bounded_bins = false; ///< the answer is `crowded` if one bin gets more keys of one hash than it holds
  bool ordered_batch = false;
  bool prefetch = false;
  bool pipelined = false; ///< requests may be pending: see pipeline.hpp
  bool grows = false;
  bool grows_without_blocking = false;
  bool shrinks = false;
  bool scans_once = false; ///< a scan meets no entry twice, also while entries move
  bool snapshot = false;
  bool shadow_insert = false;
  bool exclusive_modify = false; ///< `modify`: the user's function runs once, while no other thread changes the entry
  bool one_thread_only = false;
  bool delegates = false; ///< writes are sent to another thread and not answered: see delegated_map.hpp
};

namespace detail {

namespace contract {

/// The capabilities of a table with engine `E`.
template <class E>
inline constexpr capability_set capabilities_of{
    .lock_free_find = E::claims.lock_free_find,
    .lock_free_insert = E::claims.lock_free_insert,
    .slots_freed_at_once = E::claims.slots_freed_at_once,
    .bounded_bins = E::claims.bounded_bins,
    .ordered_batch = batched<E>,
    .prefetch = prefetching<E>,
    .pipelined = pipelined<E>,
    .grows = growable<E>,
    .grows_without_blocking = E::claims.grows_without_blocking,
    .shrinks = shrinkable<E>,
    .scans_once = E::claims.scans_once,
    .snapshot = snapshotting<E>,
    .shadow_insert = reserving<E>,
    .exclusive_modify = exclusive<E>,
    .one_thread_only = E::claims.one_thread_only,
    .delegates = delegating<E>,
};

} // namespace contract

} // namespace detail

} // namespace cubby::inline v0
