// SPDX-License-Identifier: Apache-2.0
// What is explored: a small table, what is done to it before, and the calls of two to four threads. A scenario names
// the table that it runs on; adapters are the tables, behind one interface.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <cubby/detail/core/contract.hpp>
#include <cubby/detail/core/hash.hpp>

#include "explore/schedule.hpp"
#include "linearizability/history.hpp"
#include "support/act.hpp"
#include "table_options.hpp"

namespace cubby_test {

struct call {
  act what = act::find;
  std::uint64_t key = 0;
  std::uint64_t value = 0;
  std::vector<call> inner = {};
};
using script = std::vector<call>;
using entry = std::pair<std::uint64_t, std::uint64_t>;

enum class table_kind : std::uint8_t {
  words,
  records,
  reference_words,
  reference_records,
  dramhit_words,
  dramhit_records,
  tuple_words,
  tuple_lines,
  relativistic_words,
  relativistic_records,
  iceberg_words,
  iceberg_pairs,
  iceberg_texts,
  seph_words,
  seph_records,
  partitioned,
  in_place,
  in_place_relativistic,
  paper,
  paper_late,
  paper_hasty
};
inline constexpr std::size_t table_kinds = 21;

/// A key that lives at `place`, which is the high bits of its hash. So an index of 8 bins puts it into bin place / 0x2000,
/// one of 16 into place / 0x1000, and so on. `id` tells keys of one place apart.
constexpr std::uint64_t key_at(std::uint64_t place, std::uint64_t id) { return id << 16 | place; }
struct placed_hash {
  using is_avalanching = void;
  std::uint64_t operator()(std::uint64_t key) const noexcept { return key << 48; }
};

/// The same for a table that takes the low bits: an array of 64 buckets has its place % 64, one of 128 its place % 128.
struct low_placed_hash {
  using is_avalanching = void;
  std::uint64_t operator()(std::uint64_t key) const noexcept { return key & 0xffff; }
};

/// Spreads keys over all buckets; a scenario chooses keys by what becomes of their hashes.
struct scattered_hash {
  using is_avalanching = void;
  std::uint64_t operator()(std::uint64_t key) const noexcept { return cubby::mix(key); }
};

struct scenario {
  std::string name;
  table_kind table = table_kind::words;
  table_options options{};
  std::vector<entry> still{};   ///< inserted first; no script touches them
  std::vector<entry> passing{}; ///< then these, which leave again after `before`
  script before{};              ///< then this, by one thread, alone
  script at_last{};             ///< and this, when those that pass have left
  unsigned gone = 0;            ///< then so many entries come and go, of the first place but in a partitioned table
  std::vector<script> threads{};
  bool may_refuse = false; ///< an insert may answer `full` or `no_memory`
  unsigned resizes = 0;    ///< migrations that at least one schedule must have seen, or the scenario shows nothing
  bool under_way = false;  ///< the mover has not yet begun with what the last call of `before` left to it
  bool ends = false;       ///< the last thread to be done destroys the table, whatever the mover is at
  unsigned indexes = ~0u;  ///< so many more indexes can be had once the threads run; then memory is refused
};

/// What a call did, as the judge sees it. `shown` holds a snapshot's entries.
struct event {
  record r{};
  bool is_snapshot = false;
  bool in_batch = false; ///< not the first request of its batch
  bool either = false;   ///< whether the key was there is not known
  std::vector<entry> shown{};
};
using lane = std::vector<event>;
/// The keys that calls were about.
std::vector<std::uint64_t> touched_keys(const std::vector<lane>& lanes);

/// A table under test for one run. Lane 0 is the thread that prepares and looks at the end.
class adapter {
public:
  virtual ~adapter() = default;
  /// False: its thread has stopped inside it for ever before a script began, and no verb may be called.
  [[nodiscard]] virtual bool is_ready() const { return true; }
  virtual void perform(unsigned lane_number, const call& c) = 0;
  /// Destroys the table.
  virtual void close() { complain("this table cannot be destroyed early"); }
  /// Everything that must hold at the end beside the history; what does not, is complained of.
  virtual void inspect() = 0;
  /// Migrations that have begun since the threads were started.
  [[nodiscard]] virtual std::uint64_t resizes() const { return 0; }
  /// A name for a word of the table, for traces.
  virtual std::string name_of(const void* address) = 0;

  std::vector<lane> lanes;
  std::vector<cubby::detail::thread_record*>
      thread_records;    ///< of its handles: what they pin must not hold up the runs behind one without an end
  std::string complaint; ///< the first one

protected:
  void complain(const std::string& text) {
    if (complaint.empty()) complaint = text;
  }
};

/// What the table leaves behind: records that were never freed, freed twice, or used afterwards. Empty if all is well.
using afterwards = std::string;

struct run_state {
  std::unique_ptr<adapter> table;
  std::shared_ptr<void> arena; ///< outlives the table
  afterwards (*leave)(void* arena) = nullptr;
};
/// The table of a scenario. Each program has it for the tables that it links.
run_state make_adapter(const scenario& s);

/// What the table's engine can do.
cubby::capability_set capabilities_of(table_kind kind);
const char* name_of(table_kind kind);
std::string describe(const call& c);

} // namespace cubby_test
