// SPDX-License-Identifier: Apache-2.0
// KFF 1.0, as KMC writes it. Each partition has a raw section with its k-mers ascending, one in a block. Counts are
// data of as many bytes as the largest needs. An index and a footer follow. Numbers are big-endian.
#include <fmt/core.h>

#include "operations.hpp"
#include "output_file.hpp"
#include "reader.hpp"

namespace kmer {

namespace {

void put_number(std::string& out, std::uint64_t value, unsigned bytes = 8) {
  for (unsigned i = bytes; i-- > 0;) out.push_back(static_cast<char>(value >> (8 * i)));
}

void put_variable(std::string& out, const char* name, std::uint64_t value) {
  out.append(name);
  out.push_back('\0');
  put_number(out, value);
}

unsigned bytes_for(std::uint64_t value) { return value < 256 ? 1 : value < 65536 ? 2 : 4; }

struct section {
  char type;
  std::uint64_t at;
};

// Text that begins a file and the variables that its sections need.
std::string kff_head(const shape& s, unsigned counter_bytes, std::vector<section>& sections) {
  std::string head = "KFF";
  head += {1, 0, 0x1b, 1, static_cast<char>(s.canonical)}; // version, A 0 C 1 G 2 T 3, every k-mer once, canonical
  put_number(head, 0, 4);
  sections.push_back({'v', head.size()});
  head.push_back('v');
  put_number(head, 4);
  put_variable(head, "k", s.k);
  put_variable(head, "max", 1);
  put_variable(head, "data_size", counter_bytes);
  put_variable(head, "ordered", 1);
  return head;
}

std::string kff_end(const std::vector<section>& sections, std::uint64_t at, const count_range& counts,
                    unsigned counter_bytes) {
  std::string end = "i";
  put_number(end, sections.size());
  const std::uint64_t index_end = at + 1 + 8 + 9 * sections.size() + 8;
  for (const section& s : sections) {
    end.push_back(s.type);
    put_number(end, s.at - index_end); // backwards: a negative number
  }
  put_number(end, 0); // no further index
  const std::size_t footer = end.size();
  end.push_back('v');
  put_number(end, 5);
  put_variable(end, "first_index", at);
  put_variable(end, "min_count", counts.low);
  put_variable(end, "max_count", counts.high);
  put_variable(end, "counter_size", counter_bytes);
  put_variable(end, "footer_size", end.size() - footer + 20);
  return end + "KFF";
}

template <class Word> class kff_sections {
public:
  kff_sections(unsigned k, unsigned counter_bytes, output_file& out)
      : k_(k), counter_bytes_(counter_bytes), out_(out) {}
  void add(const entry<Word>& e) {
    const unsigned word_bytes = (k_ + 3) / 4;
    for (unsigned i = word_bytes; i-- > 0;) blocks_.push_back(static_cast<char>(e.word >> (8 * i)));
    put_number(blocks_, e.count, counter_bytes_);
    ++count_;
  }
  void end(std::vector<section>& sections) {
    if (count_ == 0) return;
    sections.push_back({'r', out_.size()});
    std::string head = "r";
    put_number(head, count_);
    out_.write(head);
    out_.write(blocks_);
    blocks_.clear();
    count_ = 0;
  }

private:
  unsigned k_;
  unsigned counter_bytes_;
  output_file& out_;
  std::string blocks_;
  std::uint64_t count_ = 0;
};

template <class Word>
void write_sections(const kmer_file& file, unsigned counter_bytes, const count_range& range, output_file& out,
                    std::vector<section>& sections) {
  kff_sections<Word> current(file.of().k, counter_bytes, out);
  std::uint32_t partition = 0;
  for (cursor<Word> c(file); !c.ended(); c.advance()) {
    if (c.partition() != partition) current.end(sections);
    partition = c.partition();
    if (range.holds(c.at().count)) current.add(c.at());
  }
  current.end(sections);
}

} // namespace

void to_kff(const std::string& path, const std::string& output, const count_range& range) {
  const kmer_file file(path);
  count_range counts = range;
  counts.low = std::max(range.low, file.header().min_count);
  counts.high = file.counts().empty() ? counts.low : static_cast<std::uint32_t>(file.counts().back().count);
  counts.high = std::max(std::min(counts.high, range.high), counts.low);
  const unsigned counter_bytes = bytes_for(counts.high);
  output_file out(output);
  std::vector<section> sections;
  out.write(kff_head(file.of(), counter_bytes, sections));
  with_word(file.of().k,
            [&](auto word) { write_sections<decltype(word)>(file, counter_bytes, counts, out, sections); });
  out.write(kff_end(sections, out.size(), counts, counter_bytes));
  out.commit();
}

} // namespace kmer
