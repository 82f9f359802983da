// SPDX-License-Identifier: Apache-2.0
// Tables in files: what a domain asks for, and what the user is told when the file cannot grow.
#include "engine_durable.hpp"

namespace bench {

namespace {

cubby::persistence wanted_domain(engine_id engine) {
  switch (engine) {
  case engine_id::durable_line:
  case engine_id::durable_seph_line: return cubby::persistence::line;
  case engine_id::durable_page: return cubby::persistence::page;
  default: return cubby::persistence::process;
  }
}

} // namespace

cubby::durable_options durable_options_for(const table_spec& spec) {
  cubby::durable_options o;
  o.capacity = spec.capacity;
  if (spec.shrinks) o.shrink = cubby::shrink_policy::automatic;
  o.how = cubby::opening::only_new;
  o.survives =
      wanted_domain(spec.engine) == cubby::persistence::process ? cubby::survive::process : cubby::survive::power_cut;
  o.write_lines_back = wanted_domain(spec.engine) == cubby::persistence::line;
  if (spec.engine == engine_id::durable_page) o.sync_every = sync_pause;
  return o;
}

std::string_view domain_name(cubby::persistence domain) {
  constexpr std::string_view names[] = {"process", "page", "line", "byte"};
  return names[static_cast<std::size_t>(domain)];
}

void check_domain(const table_spec& spec, cubby::persistence found) {
  const cubby::persistence wanted = wanted_domain(spec.engine);
  if (found != wanted)
    throw bad_request(fmt::format("--engine {}: a file in '{}' has the domain {}, and this engine measures {}; give "
                                  "--dir a folder of another file system",
                                  name_of(spec.engine), folder_of(spec.engine, spec.dir), domain_name(found),
                                  domain_name(wanted)));
}

namespace {

// A table whose file may not find the space to grow.
class table_in_file final : public table {
public:
  table_in_file(const table_spec& spec, std::unique_ptr<table> inner) : spec_(spec), inner_(std::move(inner)) {}

  void fill(worker_threads& workers, const key_source& keys, std::size_t count) override {
    try {
      inner_->fill(workers, keys, count);
    } catch (const std::bad_alloc&) {
      refuse();
    }
  }
  outcome run(worker_threads& workers, const job& j) override {
    try {
      return inner_->run(workers, j);
    } catch (const std::bad_alloc&) {
      refuse();
    }
  }
  std::size_t own_bytes() const override { return inner_->own_bytes(); }
  std::string_view domain() const override { return inner_->domain(); }
  std::size_t most_threads() const override { return inner_->most_threads(); }

private:
  [[noreturn]] void refuse() const {
    throw bad_request(fmt::format("--engine {}: '{}' has no more space, or memory ran out; give fewer --keys, or "
                                  "another --dir",
                                  name_of(spec_.engine), folder_of(spec_.engine, spec_.dir)));
  }

  table_spec spec_;
  std::unique_ptr<table> inner_;
};

std::unique_ptr<table> make_inner(const table_spec& spec) {
  if (spec.key_size > 8) return make_durable_keys(spec);
  return spec.value_size > 8 ? make_durable_values(spec) : build_small<durable_adapter>(spec);
}

} // namespace

std::unique_ptr<table> in_file(const table_spec& spec, std::unique_ptr<table> inner) {
  return std::make_unique<table_in_file>(spec, std::move(inner));
}
std::unique_ptr<table> make_durable(const table_spec& spec) { return in_file(spec, make_inner(spec)); }

} // namespace bench
