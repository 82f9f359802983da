// SPDX-License-Identifier: Apache-2.0
// The only unit that sees the library. The messages about files are the library's.
#include "table.hpp"

#include <cerrno>
#include <cstring>
#include <cubby/durable_map.hpp>
#include <fcntl.h>
#include <fmt/core.h>
#include <optional>
#include <unistd.h>
#include <utility>

#include "../console.hpp"
#include "counted.hpp"
#include "error.hpp"

namespace store {

namespace {

using map = cubby::durable_map<std::string, std::string>;

// The message, with what helps, where that is known.
template <class Opened> [[noreturn]] void refuse(const Opened& tried) {
  std::string text = tried.message();
  const cubby::open_error why = tried.error();
  if (why == cubby::open_error::truncated || why == cubby::open_error::damaged) throw broken_file(text);
  if (why == cubby::open_error::not_found) text += ", or make the table with `cubby store create`";
  throw refused(text);
}
template <class Opened> [[noreturn]] void refuse_new(const Opened& tried) {
  std::string text = tried.message();
  if (tried.error() == cubby::open_error::not_found) text += ", or make its folder";
  throw refused(text);
}

} // namespace

struct table::opened_table {
  std::unique_ptr<map> writer; // or
  std::unique_ptr<const map> reader;
  cubby::recovered found;

  const map& any() const { return writer ? *writer : *reader; }
};

table::table(std::string path) : path_(std::move(path)), is_(std::make_unique<opened_table>()) {}

table::table(const std::string& path, access how) : table(path) {
  if (how == access::write) {
    cubby::durable_options options;
    options.how = cubby::opening::only_existing;
    auto tried = map::open(path.c_str(), options);
    if (!tried) refuse(tried);
    is_->found = tried.recovered();
    is_->writer = tried.take();
  } else {
    auto tried = map::open_read_only(path.c_str());
    if (!tried) refuse(tried);
    is_->found = tried.recovered();
    is_->reader = tried.take();
  }
  warn_of_losses();
}

table table::create(const std::string& path, const table_shape& shape) {
  cubby::durable_options options;
  options.how = cubby::opening::only_new;
  options.capacity = shape.capacity;
  if (shape.fixed) options.growth = cubby::growth_policy::fixed;
  options.survives = shape.survives_power_cut ? cubby::survive::power_cut : cubby::survive::process;
  auto tried = map::open(path.c_str(), options);
  if (!tried) refuse_new(tried);
  table out(path);
  out.is_->found = tried.recovered();
  out.is_->writer = tried.take();
  return out;
}

table::~table() = default;
table::table(table&&) noexcept = default;

void table::warn_of_losses() const {
  if (is_->found.damaged != 0)
    console::say("cubby store: warning: {}: {} damaged and left out; restore a copy of the file\n", path_,
                 counted(is_->found.damaged, "entry is", "entries are"));
  if (is_->found.torn != 0)
    console::say("cubby store: warning: {}: a power cut took {} of the time since the last sync\n", path_,
                 counted(is_->found.torn, "entry", "entries"));
}

// Both copies of the superblock have the identity; the higher sequence number is the newer one.
table_identity table::identity() const {
  struct fields {
    char magic[8];
    std::uint32_t version, size;
    std::uint64_t identity;
    char between[64];
    std::uint64_t capacity;
    std::uint32_t promise, reserved;
    std::uint64_t sequence;
  };
  static_assert(sizeof(fields) == 112);
  const int fd = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) throw refused(fmt::format("{}: cannot be read: {}", path_, std::strerror(errno)));
  std::optional<table_identity> out;
  for (const off_t copy : {0, 4096}) {
    fields read{};
    if (::pread(fd, &read, sizeof read, copy) != sizeof read || std::memcmp(read.magic, "cubbydur", 8) != 0) continue;
    if (!out || read.sequence > out->sequence) out = {read.identity, read.sequence, read.capacity, read.promise == 1};
  }
  ::close(fd);
  if (!out) throw refused(fmt::format("{}: was replaced by another file meanwhile", path_));
  return *out;
}

bool table::get(std::string_view key, const std::function<void(std::string_view)>& see) const {
  return is_->any().visit(key, [&](const std::string& value) { see(value); }) != 0;
}

void table::refuse_entry(bool is_full) const {
  if (is_full)
    throw refused(fmt::format("{}: full: it was made with --fixed for {}; make a larger one and load it from a "
                              "dump of this one",
                              path_, counted(identity().fixed_capacity, "entry", "entries")));
  throw refused(fmt::format("{}: no space for the entry: the disk is full, the file may not grow, or memory ran out; "
                            "free disk space and try again",
                            path_));
}

bool table::put(const std::string& key, const std::string& value) {
  try {
    return is_->writer->insert_or_assign(key, value);
  } catch (const cubby::table_full&) {
    refuse_entry(true);
  } catch (const std::bad_alloc&) {
    refuse_entry(false);
  }
}

bool table::add(const std::string& key, const std::string& value) {
  const cubby::outcome how = is_->writer->try_insert(key, value);
  if (how != cubby::outcome::done && how != cubby::outcome::exists) refuse_entry(how == cubby::outcome::full);
  return how == cubby::outcome::done;
}

bool table::erase(const std::string& key) { return is_->writer->erase(key); }

void table::each(const std::function<void(std::string_view key, std::string_view value)>& see) const {
  is_->any().visit_all([&](const std::string& key, const std::string& value) { see(key, value); });
}

void table::sync() {
  if (is_->writer->sync()) return;
  throw refused(fmt::format("{}: cannot be synced: the system could not write it; look at the disk, then run "
                            "`cubby store check`",
                            path_));
}

void table::close() {
  if (is_->writer->close()) return;
  throw refused(fmt::format("{}: cannot be closed: the system could not write it; look at the disk, then run "
                            "`cubby store check`",
                            path_));
}

check_result table::check() const {
  const cubby::checked seen = is_->any().check();
  return {seen.entries, seen.lost, seen.damaged + is_->found.damaged};
}

table_figures table::figures() const {
  const auto now = is_->any().stats();
  const cubby::recovered& found = is_->found;
  table_figures out;
  out.entries = now.size;
  out.slots = now.capacity;
  out.chained = now.chained;
  out.file_bytes = now.file_bytes;
  out.block_bytes = now.block_bytes;
  out.finished = found.finished;
  out.duplicates = found.duplicates;
  out.torn = is_->found.torn;
  out.damaged = is_->found.damaged;
  out.clean = found.clean;
  out.power_cut = found.power_cut;
  out.seconds_to_open = std::chrono::duration<double>(found.time).count();
  return out;
}

const char* table::domain() const {
  switch (is_->any().domain()) {
  case cubby::persistence::process: return "process";
  case cubby::persistence::page: return "page";
  case cubby::persistence::line: return "line";
  case cubby::persistence::byte: return "byte";
  }
  return "unknown";
}

} // namespace store
