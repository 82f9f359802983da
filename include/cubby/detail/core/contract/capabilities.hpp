// SPDX-License-Identifier: Apache-2.0
// What a table can do, as users, tests and the README's table read it: what the engine claims, and which concepts it models.
#pragma once

#include <cubby/detail/core/contract/engine.hpp>

namespace cubby::inline v0 {

/// What a table of an engine can do. Those of `engine_claims` are said by the engine, all others follow from the members that it
/// has: an operation whose capability is false does not compile.
struct capability_set {
  bool lock_free_find = false;
  bool lock_free_insert = false;
  bool slots_freed_at_once = false;
  bool bounded_bins = false; ///< more keys with one hash than a bin holds are refused as `crowded`
  bool ordered_batch = false;
  bool prefetch = false;
  bool pipelined = false; ///< requests may be pending: see pipeline.hpp
  bool grows = false;
  bool grows_without_blocking = false;
  bool shrinks = false;
  bool scans_once = false; ///< a scan meets no entry twice, whatever moves meanwhile
  bool snapshot = false;
  bool shadow_insert = false;
  bool exclusive_modify = false; ///< `modify`: the caller's function once, while nobody else changes the entry
  bool one_thread_only = false;
  bool delegates = false; ///< writes are sent to who carries them out, and not answered: see delegated_map.hpp
};

namespace detail {

namespace contract {

/// What a table of engine `E` can do.
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
