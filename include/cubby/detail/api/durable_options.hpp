// SPDX-License-Identifier: Apache-2.0
// What is said to a durable table when it is opened, and what it answers: options, what recovery and `check` have found, statistics.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include <cubby/detail/core/contract/options.hpp>
#include <cubby/detail/platform/persist.hpp>

namespace cubby::inline v0 {

/// What a durable table is to survive. It is written in the file when the file is made.
enum class survive : std::uint8_t {
  process,  ///< the end of its process, however it comes: a crash, a kill, an upgrade
  power_cut ///< that of the machine as well: at once where the medium allows that, else what `sync` has covered
};
/// Whether `open` may make a file.
enum class opening : std::uint8_t { any, only_new, only_existing };

/// The options of a durable table: one struct, so that `{.capacity = 1000, .sync_every = 10ms}` names any of them. `open` takes those that only
/// one engine has in a second struct. `capacity`, `growth` and `survives` count when the file is made. The seed of the hash is at random, and in
/// the file.
struct durable_options {
  std::size_t capacity = 0; ///< these three as in `cubby::options`
  growth_policy growth = growth_policy::incremental;
  shrink_policy shrink = shrink_policy::manual;
  survive survives = survive::power_cut;
  opening how = opening::any;
  /// Group commit: a thread of the table syncs this long after its last sync. 0: you call `sync`.
  std::chrono::milliseconds sync_every{0};
  /// Of a log of changes in the file, where only a sync makes them durable (`persistence::page`). A sync then writes the log and not all changed
  /// pages. 0: 64 MiB if `sync_every` is set, else this opening uses no log. From 64 KiB to 2 GiB: other sizes become the nearest of these.
  /// A file keeps the size of the log that it has. Tables of an engine without a log are not opened with another number than 0.
  std::size_t log_bytes = 0;
  bool accept_power_cut = false; ///< also open a `survive::process` file after a power cut; check its contents then
  bool write_lines_back = false; ///< work as on directly mapped memory, on any file: for tests and benches
  /// Addresses to reserve: the file cannot become larger while it is open.
  std::uint64_t most_bytes = std::uint64_t{1} << 40;
};

/// What `open` has found.
struct recovered {
  bool created = false;   ///< there was no table
  bool clean = false;     ///< it had been closed, so nothing had to be repaired
  bool power_cut = false; ///< the machine had stopped since, or the file comes from another one
  std::size_t entries = 0;
  std::size_t bytes = 0;      ///< of the file
  std::size_t finished = 0;   ///< entries that a growth or a shrink still had to move
  std::size_t duplicates = 0; ///< second copies of such entries, dropped
  std::size_t torn = 0;       ///< entries that no sync had covered, dropped
  std::size_t logged = 0;     ///< changes that were carried out again, because a sync had covered them in the log alone
  std::size_t restored = 0;   ///< entries with the value before the one that no sync had covered
  std::size_t damaged = 0;    ///< entries that contradict each other, dropped: the medium has lost something
  std::chrono::nanoseconds time{};
};

/// What `check` has found. `ok`: nothing is wrong.
struct checked {
  std::size_t entries = 0;
  std::size_t lost = 0;    ///< entries that a scan meets and a lookup does not
  std::size_t damaged = 0; ///< entries whose checksum does not agree
  [[nodiscard]] bool ok() const noexcept { return lost == 0 && damaged == 0; }
};

/// The statistics of a durable table, beside those of its engine.
struct file_stats {
  persistence domain = persistence::process;
  std::size_t file_bytes = 0;  ///< in use
  std::size_t block_bytes = 0; ///< blocks of records in use
  std::size_t log_bytes = 0;   ///< of the log; 0: changes have no log, and a sync writes all changed pages
  std::size_t log_syncs = 0;   ///< groups of changes that were written to it
  std::size_t checkpoints = 0; ///< syncs of the pages since, after which the log is used again
};
/// All of them. `Stats`: those of the engine.
template <class Stats> struct durable_stats : Stats, file_stats {};

} // namespace cubby::inline v0
