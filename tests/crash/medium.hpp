// SPDX-License-Identifier: Apache-2.0
// The medium of a durable table as a power cut sees it. It follows a mapped file: what is durable, and behind that the stores of each unit,
// in order, that nothing has made durable yet. A unit keeps the order of its stores; units lose theirs independently (docs/format.md). In the
// domain `byte` each store is durable before the next one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <cubby/detail/platform/file.hpp>
#include <cubby/detail/platform/persist.hpp>

#include "support/hooks.hpp"

namespace cubby_test::crash {

/// Bytes that keep the order of their stores: a line of directly mapped memory. The sectors of a disk are in
/// durable/power_cut.cpp: there a thread of the table syncs, which the fibers of this rig cannot follow.
inline constexpr std::size_t unit_bytes = 64;

using image = std::vector<std::uint64_t>; // the words of a file

struct placed_word {
  std::uint32_t at = 0; // number of the word in the file
  std::uint64_t value = 0;
  bool operator==(const placed_word&) const = default;
};
using group = std::vector<placed_word>; // words stored in any order
using pending_unit = std::vector<group>;

/// What a power cut at one moment can leave: these words, and of each unit a prefix of its groups, of the last one any part.
struct snapshot {
  image durable;
  std::vector<pending_unit> units;
  std::uint64_t shortest = 0; ///< bytes of the file, at least; `durable` has them at most
};

/// Why a snapshot is taken.
enum class moment : std::uint8_t { before_drain, before_sync, after_store };

class medium final : public cubby::detail::persist::recorder {
public:
  /// `told` is called at each moment, before it changes anything.
  medium(std::string path, std::function<void(moment)> told);
  ~medium();
  medium(const medium&) = delete;
  medium& operator=(const medium&) = delete;

  /// Makes one the medium of which the library reports, null: none. Returns the one before.
  static medium* install(medium* one);

  /// The thread whose steps come next.
  void turn_to(unsigned actor);
  /// A thread is about to carry out a step. What it stores is looked at when the next thing happens.
  void before_step(step kind, const void* address);
  [[nodiscard]] snapshot take();
  /// Where the file is mapped, if no superblock has shown it.
  void attach(const void* base);
  /// The table has ended, and its mapping with it.
  void detach();

  void stored(const void* from, std::size_t bytes) override;
  void wrote_back(const void* from, std::size_t bytes) override;
  void drained() override;
  void synced();

  [[nodiscard]] std::uint64_t lines() const { return lines_; }
  [[nodiscard]] std::uint64_t drains() const { return drains_; }
  [[nodiscard]] std::uint64_t syncs() const { return syncs_; }
  /// A store that nothing has reported so far; empty if there is none.
  [[nodiscard]] std::string unnoted() const;

private:
  struct line {
    pending_unit groups;
    std::uint64_t gone = 0; // groups that are durable
  };

  static void offer_turn();
  void see_open_word();
  void see_size(std::uint64_t least_words);
  void add(std::uint64_t unit, group words);
  void end_stores_before();
  void look_for_unnoted();
  [[nodiscard]] bool is_retire_link(std::uint64_t word) const;
  [[nodiscard]] std::uint64_t file_bytes() const;
  [[nodiscard]] std::uint64_t words_in_use() const;
  [[nodiscard]] bool has(const void* address) const;
  [[nodiscard]] std::uint64_t word_in_mapping(std::uint64_t at) const;
  void make_durable(std::uint64_t unit, std::uint64_t up_to);

  std::string path_;
  std::function<void(moment)> told_;
  const std::byte* base_ = nullptr; // known from the first superblock that is written
  image now_;                       // what the program sees
  image durable_;
  std::map<std::uint64_t, line> units_;
  std::map<unsigned, std::map<std::uint64_t, std::uint64_t>> written_back_; // actor, unit, groups
  const std::byte* open_ = nullptr;                                         // a word that is being stored
  unsigned actor_ = 0;
  std::uint64_t lines_ = 0;
  std::uint64_t drains_ = 0;
  std::uint64_t syncs_ = 0;
  std::set<std::uint64_t> unnoted_; // words; a thread may stand still between a copy and its report
  const bool at_once_ = cubby::detail::persist::forced_domain() == cubby::persistence::byte;
  medium* outer_;
};

/// Tables that are to write lines back are in `byte` while it lives.
class in_byte {
public:
  in_byte() { cubby::detail::persist::forced_domain() = cubby::persistence::byte; }
  ~in_byte() { cubby::detail::persist::forced_domain() = cubby::persistence::line; }
  in_byte(const in_byte&) = delete;
  in_byte& operator=(const in_byte&) = delete;
};

/// Passes the steps of its thread on to a medium.
class recording final : public watcher {
public:
  explicit recording(medium& to) : to_(to) {}
  void before(step kind, const void* address) override { to_.before_step(kind, address); }

private:
  medium& to_;
};

} // namespace cubby_test::crash
