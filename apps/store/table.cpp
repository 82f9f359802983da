// SPDX-License-Identifier: Apache-2.0
// The only unit that sees the library. The messages about files are the library's.
#include "table.hpp"

#include <cubby/durable_map.hpp>
#include <cubby/seph.hpp>
#include <fcntl.h>
#include <fmt/core.h>
#include <optional>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <variant>

#include "../console.hpp"
#include "../counted.hpp"
#include "error.hpp"

namespace store {

using console::counted;

namespace {

template <class Engine>
using map_in = cubby::durable_map<std::string, std::string, cubby::hash<std::string>, Engine>;

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

namespace layout = cubby::detail::pool_layout;

// Of the newest whole copy of the superblock. What is no table is none of seph, and the library says what is wrong with it. Opening a FIFO would wait
// for its other end.
bool is_of_seph(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  struct stat about{};
  const bool is_file = fd >= 0 && ::fstat(fd, &about) == 0 && S_ISREG(about.st_mode);
  std::optional<layout::superblock> newest;
  for (const std::uint64_t copy : layout::copy_at) {
    layout::superblock read;
    if (!is_file || ::pread(fd, &read, sizeof read, static_cast<off_t>(copy)) != sizeof read) continue;
    if (read.magic != layout::file_magic || read.checksum != layout::checksum_of(read)) continue;
    if (!newest || read.sequence > newest->sequence) newest = read;
  }
  if (fd >= 0) ::close(fd);
  return newest && newest->what.engine == layout::engine_code::seph;
}

} // namespace

struct table::opened_table {
  template <class Map> struct file_of {
    std::unique_ptr<Map> writer; // or
    std::unique_ptr<const Map> reader;
    const Map& any() const { return writer ? *writer : *reader; }
  };
  std::variant<file_of<map_in<cubby::iceberg>>, file_of<map_in<cubby::seph>>> file;
  cubby::recovered found;

  template <class Engine> void take(cubby::opened<map_in<Engine>>& from) {
    found = from.recovered();
    file.emplace<file_of<map_in<Engine>>>().writer = from.take();
  }
  template <class Engine> void open(const std::string& path, access how) {
    using map = map_in<Engine>;
    if (how == access::write) {
      auto tried = map::open(path.c_str(), {.how = cubby::opening::only_existing});
      if (!tried) refuse(tried);
      take<Engine>(tried);
    } else {
      auto tried = map::open_read_only(path.c_str());
      if (!tried) refuse(tried);
      found = tried.recovered();
      file.emplace<file_of<map>>().reader = tried.take();
    }
  }
  template <class Engine> void create(const std::string& path, const cubby::durable_options& options) {
    auto tried = map_in<Engine>::open(path.c_str(), options);
    if (!tried) refuse_new(tried);
    take<Engine>(tried);
  }
  // Calls `f(table)`.
  template <class F> decltype(auto) look(F f) const {
    return std::visit([&](const auto& one) -> decltype(auto) { return f(one.any()); }, file);
  }
  template <class F> decltype(auto) change(F f) const {
    return std::visit([&](const auto& one) -> decltype(auto) { return f(*one.writer); }, file);
  }
};

table::table(std::string path) : path_(std::move(path)), is_(std::make_unique<opened_table>()) {}

table::table(const std::string& path, access how) : table(path) {
  if (is_of_seph(path)) is_->open<cubby::seph>(path, how);
  else is_->open<cubby::iceberg>(path, how); // which says what is wrong with a file that is no table
  warn_of_losses();
}

table table::create(const std::string& path, const table_shape& shape) {
  cubby::durable_options options;
  options.how = cubby::opening::only_new;
  options.capacity = shape.capacity;
  if (shape.fixed) options.growth = cubby::growth_policy::fixed;
  options.survives = shape.survives_power_cut ? cubby::survive::power_cut : cubby::survive::process;
  table out(path);
  if (shape.engine == table_engine::seph) out.is_->create<cubby::seph>(path, options);
  else out.is_->create<cubby::iceberg>(path, options);
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

table_identity table::identity() const {
  const layout::superblock& is = is_->look(
      [](const auto& m) -> const layout::superblock& { return cubby::detail::engine_access::file_of(m).state(); });
  return {is.file, is.note, is.what.capacity, is.what.promise == 1,
          is.what.engine == layout::engine_code::seph ? table_engine::seph : table_engine::iceberg};
}

void table::set_note(std::uint64_t note) {
  is_->change([note](auto& m) { cubby::detail::engine_access::file_of(m).set_note(note); });
}

bool table::get(std::string_view key, const std::function<void(std::string_view)>& see) const {
  return is_->look([&](const auto& m) { return m.visit(key, [&](const std::string& value) { see(value); }) != 0; });
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
    return is_->change([&](auto& m) { return m.insert_or_assign(key, value); });
  } catch (const cubby::table_full&) {
    refuse_entry(true);
  } catch (const std::bad_alloc&) {
    refuse_entry(false);
  }
}

bool table::add(const std::string& key, const std::string& value) {
  const cubby::outcome how = is_->change([&](auto& m) { return m.try_insert(key, value); });
  if (how != cubby::outcome::done && how != cubby::outcome::exists) refuse_entry(how == cubby::outcome::full);
  return how == cubby::outcome::done;
}

bool table::erase(const std::string& key) {
  return is_->change([&](auto& m) { return m.erase(key); });
}

void table::each(const std::function<void(std::string_view key, std::string_view value)>& see) const {
  is_->look(
      [&](const auto& m) { m.visit_all([&](const std::string& key, const std::string& value) { see(key, value); }); });
}

void table::sync() {
  if (is_->change([](auto& m) { return m.sync(); })) return;
  throw refused(fmt::format("{}: cannot be synced: the system could not write it; look at the disk, then run "
                            "`cubby store check`",
                            path_));
}

void table::close() {
  if (is_->change([](auto& m) { return m.close(); })) return;
  throw refused(fmt::format("{}: cannot be closed: the system could not write it; look at the disk, then run "
                            "`cubby store check`",
                            path_));
}

check_result table::check() const {
  const cubby::checked seen = is_->look([](const auto& m) { return m.check(); });
  return {seen.entries, seen.lost, seen.damaged + is_->found.damaged};
}

table_figures table::figures() const {
  const cubby::recovered& found = is_->found;
  table_figures out;
  is_->look([&](const auto& m) {
    const auto now = m.stats();
    out.entries = now.size;
    out.slots = now.capacity;
    if constexpr (requires { now.chained; }) out.chained = now.chained;
    out.file_bytes = now.file_bytes;
    out.block_bytes = now.block_bytes;
  });
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
  switch (is_->look([](const auto& m) { return m.domain(); })) {
  case cubby::persistence::process: return "process";
  case cubby::persistence::page: return "page";
  case cubby::persistence::line: return "line";
  case cubby::persistence::byte: return "byte";
  }
  return "unknown";
}

} // namespace store
