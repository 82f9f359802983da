// SPDX-License-Identifier: Apache-2.0
// How far a load has come: a file FILE.load beside the table, there only while a load runs or after it was cut short. It is written after a sync of
// the table has made durable what it counts, and replaced as a whole. So, whatever the moment of a kill or a power cut, a load
// that goes on from it repeats records, and skips none. Words in the table and in the mark tell older copies of either.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "input.hpp"
#include "table.hpp"

namespace store {

struct load_mark {
  std::uint64_t table = 0; // table_identity::file
  // The word in the table when this was written, and the one that it gets with the next sync, before the next mark is there. Words are random: a copy
  // of the table from before this mark has another one. 0: of a version of cubby that had none.
  std::uint64_t note = 0;
  std::uint64_t next = 0;
  bool is_exact = false;           // no record behind the places is in the table
  std::string request;             // format and policy
  std::vector<input_place> places; // of the inputs that were opened, the last one perhaps not read to its end
  std::uint64_t records = 0;
};

class load_mark_file {
public:
  explicit load_mark_file(const std::string& table) : path_(table + ".load") {}
  const std::string& path() const { return path_; }
  // False: there is none. Throws refused if the file is something else.
  bool read(load_mark& into) const;
  // Durable when it returns. Throws refused.
  void write(const load_mark& mark) const;
  void remove() const;
  // Takes away what writes that were killed have left.
  void clean() const;

private:
  int replace_by(const std::string& text) const;
  void sync_folder() const;
  [[noreturn]] void refuse(const char* doing) const;
  [[noreturn]] void refuse_foreign() const;

  std::string path_;
};

} // namespace store
