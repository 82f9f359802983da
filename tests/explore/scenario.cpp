// SPDX-License-Identifier: Apache-2.0
#include "explore/scenario.hpp"

#include <algorithm>
#include <iterator>

#include <string_view>

#include "engine_headers.hpp"
#include "engine_list.hpp"

namespace cubby_test {

template <class Engine>
constexpr cubby::capability_set capabilities_in =
    cubby::map<std::uint64_t, std::uint64_t, Engine, placed_hash>::capabilities;

cubby::capability_set capabilities_of(table_kind kind) {
  switch (kind) {
  case table_kind::words:
  case table_kind::in_place:
  case table_kind::records: return capabilities_in<cubby::dlht>;
  case table_kind::reference_words:
  case table_kind::reference_records: return capabilities_in<cubby::reference>;
  case table_kind::dramhit_words:
  case table_kind::dramhit_records: return capabilities_in<cubby::dramhit>;
  case table_kind::tuple_words:
  case table_kind::tuple_lines: return capabilities_in<cubby::dramhit_tuples>;
  case table_kind::partitioned: return cubby::delegated_map<std::uint64_t, std::uint64_t, placed_hash>::capabilities;
  case table_kind::iceberg_words:
  case table_kind::iceberg_pairs:
  case table_kind::iceberg_texts: return capabilities_in<cubby::iceberg>;
  case table_kind::seph_words:
  case table_kind::seph_records: return capabilities_in<cubby::seph>;
  case table_kind::relativistic_words:
  case table_kind::in_place_relativistic:
  case table_kind::relativistic_records: return capabilities_in<cubby::relativistic>;
  default: return {};
  }
}

constexpr const char* table_names[table_kinds] = {"dlht words",
                                                  "dlht records",
                                                  "reference words",
                                                  "reference records",
                                                  "dramhit words",
                                                  "dramhit records",
                                                  "dramhit_tuples words",
                                                  "dramhit_tuples lines",
                                                  "relativistic words",
                                                  "relativistic records",
                                                  "iceberg words",
                                                  "iceberg pairs",
                                                  "iceberg texts",
                                                  "seph words",
                                                  "seph records",
                                                  "partitioned",
                                                  "dlht in place",
                                                  "relativistic in place",
                                                  "published bin",
                                                  "published bin, late assign",
                                                  "published bin, hasty find"};
const char* name_of(table_kind kind) { return table_names[static_cast<std::size_t>(kind)]; }

namespace {
/// Whether an engine of the list has a table here: one whose name begins with the engine's.
constexpr bool is_explored(std::string_view engine) {
  return std::any_of(std::begin(table_names), std::end(table_names), [&](std::string_view name) {
    return name.starts_with(engine) && (name.size() == engine.size() || name[engine.size()] == ' ');
  });
}
#define CUBBY_EXPLORED_single(engine) true // one thread has no schedules
#define CUBBY_EXPLORED_shared(engine) is_explored(#engine)
#define CUBBY_EXPLORED(engine, storage, threads, ...)                                                                  \
  static_assert(CUBBY_EXPLORED_##threads(engine), "the explorer has no adapter for " #engine);
CUBBY_FOR_EACH_ENGINE(CUBBY_EXPLORED)
#undef CUBBY_EXPLORED
#undef CUBBY_EXPLORED_shared
#undef CUBBY_EXPLORED_single
} // namespace

namespace {
constexpr const char* act_names[] = {"find",
                                     "insert",
                                     "assign",
                                     "erase",
                                     "extract",
                                     "insert_or_assign",
                                     "update",
                                     "upsert",
                                     "toggle",
                                     "commit",
                                     "abort",
                                     "contains",
                                     "add",
                                     "visit",
                                     "find_ref",
                                     "try_emplace",
                                     "try_insert",
                                     "compute",
                                     "erase_if",
                                     "find_batch",
                                     "visit_batch",
                                     "execute",
                                     "execute_stopping",
                                     "pipeline",
                                     "reserve",
                                     "shrink",
                                     "snapshot",
                                     "scan",
                                     "hold",
                                     "look",
                                     "resize",
                                     "pass",
                                     "collect",
                                     "modify",
                                     "newcomer"};
static_assert(std::size(act_names) == static_cast<std::size_t>(act::newcomer) + 1);
} // namespace

std::string describe(const call& c) {
  std::string text = act_names[static_cast<std::size_t>(c.what)];
  const std::uint64_t place = c.key % 65536, id = c.key >> 16;
  if (place == 0 && id != 0) text += " k" + std::to_string(id);
  else if (static_cast<std::size_t>(c.what) < keyed_acts || c.what == act::modify)
    text += " key " + std::to_string(c.key);
  if (c.value != 0) text += "=" + std::to_string(c.value);
  for (const call& one : c.inner) text += " [" + describe(one) + "]";
  return text;
}

std::vector<std::uint64_t> touched_keys(const std::vector<lane>& lanes) {
  std::vector<std::uint64_t> keys;
  for (const lane& l : lanes) {
    for (const event& e : l) {
      if (!e.is_snapshot && std::find(keys.begin(), keys.end(), e.r.key) == keys.end()) keys.push_back(e.r.key);
    }
  }
  return keys;
}

} // namespace cubby_test
