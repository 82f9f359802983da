// SPDX-License-Identifier: Apache-2.0
// K-mer files and KFF, through the commands themselves. A file that `cubby kmer stats` accepts is what it says: it is
// written again with equal bytes, and comes back from KFF as it was.
#include "kmers.hpp"

#include <cstring>

#include "../apps/kmer/operations.hpp"
#include "../apps/kmer/reader.hpp"

namespace cubby_fuzz {

namespace {

using namespace kmer;

constexpr std::uint64_t memory = std::uint64_t{1} << 25; // the least that from-kff takes

template <class F> std::optional<std::string> written(const char* what, F&& f) {
  clear_output();
  if (!accepted(what, f)) return {};
  return output();
}

// K-mers that were left out for their count are told at the end, and nobody who reads the file can tell them again.
std::string without_left_out(std::string bytes) {
  file_footer footer;
  char* const end = bytes.data() + bytes.size() - sizeof footer;
  std::memcpy(&footer, end, sizeof footer);
  footer.left_out = 0;
  std::memcpy(end, &footer, sizeof footer);
  return with_file_sums(std::move(bytes));
}

template <class Word> void check_entries(const kmer_file& file) {
  const shape s = file.of();
  std::optional<std::pair<std::uint32_t, Word>> last;
  for (cursor<Word> c(file); !c.ended(); c.advance()) {
    const std::pair<std::uint32_t, Word> here(c.partition(), c.at().word);
    require(!last || *last < here, "accepted, and not in order");
    require(c.at().count != 0, "accepted, and a count is 0");
    require(c.at().word <= mask_of<Word>(s.k), "accepted, and a k-mer has more than k bases");
    require(!s.canonical || c.at().word <= reverse_complement(c.at().word, s.k), "accepted, and not canonical");
    last = here;
  }
}

void check_accepted(const std::string& bytes, const std::string& path) {
  const kmer_file file(path);
  with_word(file.of().k, [&](auto word) { check_entries<decltype(word)>(file); });
  const count_bounds bounds = {file.header().min_count, file.header().count_limit};
  const std::string before = without_left_out(bytes);
  const auto merged = written("merge", [&] { combine(set_operation::merge, count_rule::sum, {path}, "-", bounds); });
  require(merged.has_value(), "accepted, and it cannot be written again");
  require(*merged == before, "written again it has other bytes");
  const auto kff = written("to-kff", [&] { to_kff(path, "-", {}); });
  require(kff.has_value(), "accepted, and it cannot be written as KFF");
  const memory_file there(*kff);
  const auto back = written("from-kff", [&] { from_kff(there.path(), "-", bounds, memory, "--memory"); });
  require(back.has_value() && *back == before, "KFF does not give it back");
}

// What works on a file without looking at all of it first.
void use(const std::string& path, unsigned how) {
  static constexpr count_rule rules[] = {count_rule::sum, count_rule::least, count_rule::most, count_rule::first,
                                         count_rule::difference};
  static constexpr set_operation operations[] = {set_operation::merge, set_operation::intersect, set_operation::join,
                                                 set_operation::subtract};
  clear_output();
  const auto query_all = [&] {
    const memory_file asked(
        ">r\nACGTACGTTTGACGATNACGATTTACGACCCAGTACACGATGATGACGACGACTTTTGACGATTAAAAAAAAAAAAAAAAAAAAACG\n");
    query(path, {}, {asked.path()}, "-");
  };
  switch (how % 5) {
  case 0: accepted("histo", [&] { print_histogram(path, "-", {}); }); return;
  case 1: accepted("dump", [&] { dump(path, "-", {}); }); return;
  case 2: accepted("to-kff", [&] { to_kff(path, "-", {}); }); return;
  case 3: accepted("query", query_all); return;
  default: accepted("combine", [&] { combine(operations[how / 5 % 4], rules[how / 20 % 5], {path, path}, "-", {}); });
  }
}

} // namespace

std::string with_file_sums(std::string bytes) {
  file_header header;
  file_footer footer;
  if (bytes.size() < sizeof header + sizeof footer) return bytes;
  char* const begin = bytes.data();
  char* const end = begin + bytes.size() - sizeof footer;
  std::memcpy(&header, begin, sizeof header);
  header.sum = checksum(0, &header, offsetof(file_header, sum));
  std::memcpy(begin, &header, sizeof header);
  std::memcpy(&footer, end, sizeof footer);
  const std::size_t before_end = bytes.size() - sizeof footer;
  if (footer.index_offset <= before_end) {
    for (std::uint64_t b = 0; b < footer.blocks; ++b) {
      const std::uint64_t at = footer.index_offset + b * sizeof(block_entry);
      if (at + sizeof(block_entry) > before_end) break;
      block_entry block;
      std::memcpy(&block, begin + at, sizeof block);
      if (block.offset > bytes.size() || block.bytes > bytes.size() - block.offset) continue;
      block.sum = checksum(0, begin + block.offset, block.bytes);
      std::memcpy(begin + at, &block, sizeof block);
    }
    footer.index_sum = checksum(0, begin + footer.index_offset, before_end - footer.index_offset);
  }
  footer.sum = checksum(0, &footer, offsetof(file_footer, sum));
  std::memcpy(end, &footer, sizeof footer);
  return bytes;
}

void read_file(input& in) {
  const unsigned how = in.byte();
  const bool with_sums = in.byte() % 4 != 3;
  std::string bytes = rest_of(in);
  if (with_sums) bytes = with_file_sums(std::move(bytes));
  const memory_file file(bytes);
  use(file.path(), how);
  if (written("stats", [&] { print_stats(file.path(), "-"); })) check_accepted(bytes, file.path());
}

void read_kff(input& in) {
  const memory_file file(rest_of(in));
  const auto made = written("from-kff", [&] { from_kff(file.path(), "-", {}, memory, "--memory"); });
  if (!made) return;
  const memory_file again(*made);
  require(written("stats", [&] { print_stats(again.path(), "-"); }).has_value(), "what was made of KFF is refused");
  check_accepted(*made, again.path());
}

} // namespace cubby_fuzz
