// SPDX-License-Identifier: Apache-2.0
// durable_map of `iceberg` and of `seph`, in the domain that was asked for.
#include "record_store.hpp"

#include <array>
#include <cstring>

#include <cubby/durable_map.hpp>
#include <cubby/seph.hpp>

namespace bench::stores {
namespace {

using sixteen = std::array<std::uint64_t, 2>;
constexpr std::size_t log_bytes = std::size_t{256} << 20; // of a table in `page`, where the engine has one

sixteen words_of(std::string_view from) {
  sixteen out{};
  if (from.size() != sizeof out) give_up("a record does not have 16 bytes");
  std::memcpy(&out, from.data(), sizeof out);
  return out;
}

cubby::durable_options options_for(surviving what, bool logs) {
  cubby::durable_options o;
  o.how = cubby::opening::only_new;
  o.survives = what == surviving::process ? cubby::survive::process : cubby::survive::power_cut;
  o.write_lines_back = what == surviving::line;
  o.log_bytes = logs ? log_bytes : 0;
  return o;
}

template <class Engine, surviving What> class record_store final : public store {
  using map = cubby::durable_map<sixteen, sixteen, cubby::hash<sixteen>, Engine>;

public:
  explicit record_store(const settings& s) {
    constexpr bool logs = What == surviving::page && std::is_same_v<Engine, cubby::iceberg>; // seph has none
    auto opened = map::open(s.folder + "/table", options_for(What, logs));
    if (!opened) give_up(opened.message());
    map_ = opened.take();
    constexpr cubby::persistence wanted = What == surviving::process ? cubby::persistence::process
                                          : What == surviving::line  ? cubby::persistence::line
                                                                     : cubby::persistence::page;
    if (map_->domain() != wanted) give_up("the file has another domain than the one to measure");
  }
  ~record_store() override { (void)map_->close(); }
  void put(std::string_view key, std::string_view value) override {
    (void)map_->insert_or_assign(words_of(key), words_of(value));
  }
  bool get(std::string_view key, std::string& value) override {
    const auto found = map_->find(words_of(key));
    if (found) value.assign(reinterpret_cast<const char*>(&*found), sizeof *found);
    return found.has_value();
  }
  void sync() override {
    if (!map_->sync()) give_up("cubby cannot write its file");
  }

private:
  std::unique_ptr<map> map_;
};

template <class Engine, surviving What> std::unique_ptr<store> open_as(const settings& s) {
  return std::make_unique<record_store<Engine, What>>(s);
}
template <surviving What> std::vector<kind> kinds_in(const char* promise) {
  return {{"seph", promise, open_as<cubby::seph, What>}, {"iceberg", promise, open_as<cubby::iceberg, What>}};
}

} // namespace

std::vector<kind> record_kinds(surviving what) {
  switch (what) {
  case surviving::process: return kinds_in<surviving::process>("a killed process loses nothing");
  case surviving::line: return kinds_in<surviving::line>("a power cut takes no change that has returned");
  case surviving::page: break;
  }
  return kinds_in<surviving::page>("a killed process loses nothing; each unsynced change is there whole or not at all");
}

} // namespace bench::stores
