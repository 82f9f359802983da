// SPDX-License-Identifier: Apache-2.0
// Chooses folders, and asks the system about them before anything is measured.
#include "durable_files.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/core.h>
#include <linux/magic.h>
#include <stdexcept>
#include <sys/statfs.h>
#include <unistd.h>

#include "made_texts.hpp"
#include "session.hpp"

namespace bench {

namespace {

constexpr const char* folder_in_memory = "/dev/shm";

// The names that a signal removes: of one table of each engine at a time, and of the file that is tried before. Made, changed and removed
// by the main thread.
constexpr std::size_t most_names = 6;
struct kept_name {
  std::atomic<bool> is_used{false};
  std::array<char, 4096> text{};
};
std::array<kept_name, most_names> names;

constexpr std::array<int, 3> ends = {SIGINT, SIGTERM, SIGHUP};

extern "C" void remove_names_and_end(int signal) {
  for (const kept_name& name : names)
    if (name.is_used) ::unlink(name.text.data());
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

// Not of signals that the program was told to ignore.
void handle_ends() {
  for (const int signal : ends)
    if (std::signal(signal, remove_names_and_end) == SIG_IGN) std::signal(signal, SIG_IGN);
}

bool is_folder_for_files(const char* folder) {
  std::error_code none;
  return std::filesystem::is_directory(folder, none) && ::access(folder, W_OK | X_OK) == 0;
}

// How a message names the folder.
std::string shown(const std::string& folder, const run_spec& run) {
  return run.dir.empty() ? fmt::format("--engine: the folder for files, '{}'", folder)
                         : fmt::format("--dir '{}'", folder);
}

void check_that_a_file_can_be_made(const std::string& folder, const run_spec& run) {
  const file_name name(folder);
  const int made = ::open(name.get(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (made < 0)
    throw bad_request(fmt::format("{}: no file can be made there: {}; give --dir a folder that exists and is yours",
                                  shown(folder, run), std::strerror(errno)));
  ::close(made);
}

double bytes_of_files(engine_id engine, const run_spec& run) {
  const bool grows = std::any_of(run.workloads.begin(), run.workloads.end(), wants_fresh_table);
  const std::size_t key_size =
      is_text(run) ? bytes_of_made_text : *std::max_element(run.key_sizes.begin(), run.key_sizes.end());
  return expected_bytes(engine, *std::max_element(run.keys.begin(), run.keys.end()), key_size,
                        *std::max_element(run.value_sizes.begin(), run.value_sizes.end()), grows);
}

// Tables that are there together share the space of their folder. The lines of a file are counted later.
void check_space(const std::string& folder, const run_spec& run) {
  struct statfs about = {};
  if (!run.keys_from.empty() || ::statfs(folder.c_str(), &about) != 0) return;
  double need = 0;
  for (const engine_id e : run.engines)
    if (is_durable(e) && folder_of(e, run.dir) == folder) need += bytes_of_files(e, run);
  const double left = static_cast<double>(about.f_bavail) * static_cast<double>(about.f_bsize);
  if (need > left)
    throw bad_request(fmt::format("{}: the files need about {:.0f} MB and {:.0f} MB are free there; give fewer --keys, "
                                  "or another --dir",
                                  shown(folder, run), need * 1e-6, left * 1e-6));
}

} // namespace

std::string folder_of(engine_id engine, const std::string& dir) {
  if (!dir.empty()) return dir;
  if (engine != engine_id::durable_page && is_folder_for_files(folder_in_memory)) return folder_in_memory;
  // As it was given: a folder that is not there is refused later.
  const char* const temporary = std::getenv("TMPDIR");
  return temporary != nullptr && *temporary != 0 ? temporary : "/tmp";
}

std::string_view medium_of(const std::string& folder) {
  struct statfs about = {};
  const bool known = ::statfs(folder.c_str(), &about) == 0;
  return known && (about.f_type == TMPFS_MAGIC || about.f_type == RAMFS_MAGIC) ? "memory" : "disk";
}

void check_folders(const run_spec& run) {
  if (tables_of(run).workloads.empty()) return;
  for (const engine_id e : run.engines) {
    if (!is_durable(e)) continue;
    const std::string folder = folder_of(e, run.dir);
    check_that_a_file_can_be_made(folder, run);
    check_space(folder, run);
  }
}

file_name::file_name(const std::string& folder) {
  static unsigned number = 0;
  const auto free = std::find_if(names.begin(), names.end(), [](const kept_name& name) { return !name.is_used; });
  const std::string name = fmt::format("{}/cubby-bench.{}.{}", folder, ::getpid(), number++);
  if (free == names.end()) throw std::logic_error("more files of durable tables than engines");
  if (name.size() >= free->text.size()) throw bad_request(fmt::format("--dir '{}': the name is too long", folder));
  std::strcpy(free->text.data(), name.c_str());
  free->is_used = true;
  slot_ = static_cast<std::size_t>(free - names.begin());
  handle_ends();
}

const char* file_name::get() const noexcept { return names[slot_].text.data(); }

void file_name::remove() noexcept {
  if (!is_there_) return;
  ::unlink(get());
  is_there_ = false;
  names[slot_].is_used = false;
}

} // namespace bench
