// SPDX-License-Identifier: Apache-2.0
// See history_file.hpp.
#include "linearizability/history_file.hpp"

#include <bit>
#include <cstring>
#include <fstream>

static_assert(std::endian::native == std::endian::little, "records are written as they lie in memory");

namespace cubby_test {
namespace {

struct head {
  char magic[8] = {'c', 'u', 'b', 'b', 'y', 'h', 'i', 's'};
  std::uint32_t version = 1;
  std::uint32_t record_size = sizeof(record);
  std::uint64_t together = 0;
  std::uint64_t count = 0;
};
static_assert(sizeof(head) == 32);

template <class T>
std::streamsize size_of(const std::vector<T>& all) {
  return static_cast<std::streamsize>(all.size() * sizeof(T));
}

bool is_record(const record& r) {
  return static_cast<std::size_t>(r.what) < verb_count && r.how <= status::unknown && r.group <= grouping::unordered;
}

} // namespace

bool write_history(const std::string& path, const recorded_history& history) {
  head h;
  h.together = history.together ? 1 : 0;
  h.count = history.records.size();
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(reinterpret_cast<const char*>(&h), sizeof h);
  out.write(reinterpret_cast<const char*>(history.records.data()), size_of(history.records));
  out.close();
  return out.good();
}

bool read_history(const std::string& path, recorded_history& history) {
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  const std::streamoff length = in.tellg();
  head h;
  const head expected;
  in.seekg(0);
  if (!in.read(reinterpret_cast<char*>(&h), sizeof h)) return false;
  if (std::memcmp(h.magic, expected.magic, sizeof h.magic) != 0 || h.version != expected.version) return false;
  const auto space = static_cast<std::uint64_t>(length) - sizeof h;
  if (h.record_size != sizeof(record) || space % sizeof(record) != 0 || h.count != space / sizeof(record)) return false;
  history.together = h.together != 0;
  history.records.resize(h.count);
  if (!in.read(reinterpret_cast<char*>(history.records.data()), size_of(history.records))) return false;
  for (const record& r : history.records) {
    if (!is_record(r)) return false;
  }
  return true;
}

} // namespace cubby_test
