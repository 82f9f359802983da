// SPDX-License-Identifier: Apache-2.0
/// @file
/// cubby::durable_map and cubby::durable_set: tables in a file, which survive the end of their process, and with `survive::power_cut` that of the
/// machine as well (docs/durability.md, docs/format.md). The paper: IcebergHT, SIGMOD 2023, section 6.
#pragma once

#include <cubby/detail/api/durable_api.hpp>
#include <cubby/iceberg.hpp>

namespace cubby::inline v0 {

/// A map in a file. K: text (std::string), or trivially copyable without padding. V: the same, padding allowed. Hash: one with an identity
/// (`hash_is_stable`). Engine: `cubby::iceberg`, or `cubby::seph` of `cubby/seph.hpp`. Calls are those of `cubby::map` with this engine; beside them `sync`, `close` and `check`.
template <class K, class V, class Hash = hash<K>, class Engine = iceberg>
class durable_map : public detail::durable_table<detail::map_api, durable_map<K, V, Hash, Engine>, K, V, Hash,
                                                 detail::file_engine<Engine, iceberg>> {
  using base = detail::durable_table<detail::map_api, durable_map, K, V, Hash, detail::file_engine<Engine, iceberg>>;

  static_assert(detail::keeps_files<Engine>, "this engine keeps no tables in files: use cubby::iceberg or cubby::seph");

public:
  using base::base;
  durable_map() = delete; // it is in a file: use durable_map::open(path)
  template <class Path>
  explicit durable_map(const Path&, durable_options = {}) = delete; // it is in a file: use durable_map::open(path)
};

/// A set in a file.
template <class K, class Hash = hash<K>, class Engine = iceberg>
class durable_set : public detail::durable_table<detail::set_api, durable_set<K, Hash, Engine>, K, detail::no_value,
                                                 Hash, detail::file_engine<Engine, iceberg>> {
  using base = detail::durable_table<detail::set_api, durable_set, K, detail::no_value, Hash,
                                     detail::file_engine<Engine, iceberg>>;

  static_assert(detail::keeps_files<Engine>, "this engine keeps no tables in files: use cubby::iceberg or cubby::seph");

public:
  using base::base;
  durable_set() = delete; // it is in a file: use durable_set::open(path)
  template <class Path>
  explicit durable_set(const Path&, durable_options = {}) = delete; // it is in a file: use durable_set::open(path)
};

} // namespace cubby::inline v0
