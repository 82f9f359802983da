// SPDX-License-Identifier: Apache-2.0
// durable_map: words, and texts in records.
#include "store.hpp"

#include <cstring>

#include <cubby/durable_map.hpp>

namespace bench::stores {
namespace {

// As the four write buffers of RocksDB may take here.
constexpr std::size_t log_bytes = std::size_t{1} << 30;

cubby::durable_options options_for(const settings& s) {
  cubby::durable_options o;
  o.capacity = s.space ? s.entries : 0;
  o.log_bytes = s.log ? log_bytes : 0;
  o.how = cubby::opening::only_new;
  return o;
}

template <class Map> class cubby_store : public store {
public:
  explicit cubby_store(const settings& s) {
    auto opened = Map::open(s.folder + "/table", options_for(s));
    if (!opened) give_up(opened.message());
    map_ = opened.take();
  }
  ~cubby_store() override { (void)map_->close(); }
  void sync() override {
    if (!map_->sync()) give_up("cubby cannot write its file");
  }

protected:
  Map& map() { return *map_; }

private:
  std::unique_ptr<Map> map_;
};

class word_store final : public cubby_store<cubby::durable_map<std::uint64_t, std::uint64_t>> {
public:
  using cubby_store::cubby_store;
  void put(std::string_view key, std::string_view value) override {
    (void)map().insert_or_assign(word(key), word(value));
  }
  bool get(std::string_view key, std::string& value) override {
    const auto found = map().find(word(key));
    if (found) value.assign(reinterpret_cast<const char*>(&*found), sizeof *found);
    return found.has_value();
  }

private:
  static std::uint64_t word(std::string_view from) {
    std::uint64_t out = 0;
    std::memcpy(&out, from.data(), sizeof out);
    return out;
  }
};

class text_store final : public cubby_store<cubby::durable_map<std::string, std::string>> {
public:
  using cubby_store::cubby_store;
  void put(std::string_view key, std::string_view value) override { (void)map().insert_or_assign(key, value); }
  bool get(std::string_view key, std::string& value) override {
    return map().visit(key, [&value](const auto& found) { value.assign(std::string_view(found)); });
  }
};

template <bool Log, bool Space> std::unique_ptr<store> open_as(const settings& s) {
  settings wanted = s;
  wanted.log = Log;
  wanted.space = Space;
  if (s.words) return std::make_unique<word_store>(wanted);
  return std::make_unique<text_store>(wanted);
}

constexpr const char* promise = "a killed process loses nothing; each unsynced change is there whole or not at all";

} // namespace

std::vector<kind> cubby_kinds() {
  return {{"cubby", promise, open_as<true, false>},
          {"cubby-space", promise, open_as<true, true>},
          {"cubby-pages", promise, open_as<false, false>}};
}

} // namespace bench::stores
