// SPDX-License-Identifier: Apache-2.0
// The adapter of tables in files: a file of its own for each table, in the domain that the engine's name promises.
#pragma once

#include <chrono>
#include <fmt/core.h>
#include <stdexcept>

#include <cubby/durable_map.hpp>
#include <cubby/seph.hpp>

#include "durable_files.hpp"
#include "engine_cubby.hpp"

// The files end with the program, so no later version can read them with another hash.
template <class K> inline constexpr std::uint64_t cubby::hash_is_stable<bench::key_hash<K>> = 1;

namespace bench {

inline constexpr std::chrono::milliseconds sync_pause{10}; // of `durable-page`

cubby::durable_options durable_options_for(const table_spec& spec);
// Throws bad_request unless the table is in the domain that the engine promises.
void check_domain(const table_spec& spec, cubby::persistence found);
std::string_view domain_name(cubby::persistence domain);

// A durable map with its file, as map_adapter wants it.
template <class K, class V, class Engine> class file_map {
  using map_type = cubby::durable_map<K, V, key_hash<K>, Engine>;

public:
  using key_type = K;
  using mapped_type = V;
  using handle_type = typename map_type::handle_type;
  using reply_type = typename map_type::reply_type;
  static constexpr cubby::capability_set capabilities = map_type::capabilities;

  explicit file_map(const table_spec& spec) : name_(folder_of(spec.engine, spec.dir)) {
    auto opened = map_type::open(name_.get(), durable_options_for(spec));
    if (!opened) throw bad_request(fmt::format("--engine {}: {}", name_of(spec.engine), opened.message()));
    map_ = opened.take();
    check_domain(spec, map_->stats().domain);
    // Some file systems sync a file without a name sooner than others.
    if (map_->domain() != cubby::persistence::page) name_.remove();
  }

  handle_type handle() { return map_->handle(); }
  auto stats() const {
    auto all = map_->stats();
    all.bytes += all.file_bytes;
    return all;
  }
  // Later syncs fail when one has failed.
  void check_syncs() {
    if (map_->domain() == cubby::persistence::page && !map_->sync())
      throw std::runtime_error("durable-page: the system could not sync the file; no figure of this run can be "
                               "trusted");
  }

private:
  file_name name_; // goes last
  std::unique_ptr<map_type> map_;
};

template <class K, class V, class Engine> class durable_adapter_of : public map_adapter<file_map<K, V, Engine>> {
  using base = map_adapter<file_map<K, V, Engine>>;

public:
  explicit durable_adapter_of(const table_spec& spec) : base(std::in_place, spec) {}
  std::string_view domain() const { return domain_name(this->map_.stats().domain); }
  void end_work() { this->map_.check_syncs(); }
};

template <class K, class V> using durable_adapter = durable_adapter_of<K, V, cubby::iceberg>;
template <class K, class V> using durable_seph_adapter = durable_adapter_of<K, V, cubby::seph>;

std::unique_ptr<table> make_durable_keys(const table_spec& spec);
std::unique_ptr<table> make_durable_values(const table_spec& spec);
std::unique_ptr<table> make_durable_seph_sizes(const table_spec& spec);
// `inner`, of which calls end the program with one line when its file finds no space to grow.
std::unique_ptr<table> in_file(const table_spec& spec, std::unique_ptr<table> inner);

} // namespace bench
