// SPDX-License-Identifier: Apache-2.0
// Reads a k-mer file: front to back in its order, or one block for one k-mer. A file of another kind, or a damaged
// one, is refused with a bad_input that says so. The sums find damage. A hostile file has right sums, too, so everything on
// which a reader relies is checked as well.
#pragma once

#include <algorithm>
#include <string>
#include <unordered_map>
#include <vector>

#include "entry.hpp"
#include "format.hpp"

namespace kmer {

class kmer_file {
public:
  explicit kmer_file(const std::string& path);
  ~kmer_file();
  kmer_file(const kmer_file&) = delete;
  kmer_file& operator=(const kmer_file&) = delete;

  const std::string& path() const { return path_; }
  shape of() const { return {header_.k, header_.canonical != 0}; }
  const file_header& header() const { return header_; }
  const file_footer& footer() const { return footer_; }
  const std::vector<block_entry>& blocks() const { return blocks_; }
  const std::vector<histogram_entry>& counts() const { return counts_; }
  std::uint64_t bytes() const { return size_; }

  // Appends the entries of a block.
  template <class Word> void read_block(std::size_t number, std::vector<entry<Word>>& into) const {
    const block_entry& b = blocks_[number];
    const std::string bytes = read_bytes(b);
    const auto* at = reinterpret_cast<const std::uint8_t*>(bytes.data());
    const std::uint8_t* const end = at + bytes.size();
    auto word = static_cast<Word>(first_of(b));
    auto space = static_cast<Word>(last_of(number) - word); // how far it is to the last k-mer that may stand here
    const std::uint32_t least = header_.min_count;
    const std::uint32_t counts = header_.count_limit - least; // a smaller one wraps, and is above that as well
    for (std::uint32_t i = 0; i < b.kmers; ++i) {
      Word distance = 0;
      std::uint32_t count = 0;
      if (!get_varint(at, end, distance) || !get_varint(at, end, count)) refuse_block(number);
      if (distance > space || (distance == 0) != (i == 0) || count - least > counts) refuse_block(number);
      word += distance;
      space -= distance;
      into.push_back({word, count});
    }
    if (at != end) refuse_block(number);
  }

private:
  void read_at(std::uint64_t offset, void* into, std::size_t count) const;
  std::string read_bytes(const block_entry& b) const;
  void check_header() const;
  void read_end();
  void check_blocks() const;
  void check_counts() const;
  static wide_word first_of(const block_entry& b) { return join(b.first_high, b.first_low); }
  wide_word last_of(std::size_t number) const;
  [[noreturn]] void refuse(const std::string& why) const;
  [[noreturn]] void refuse_block(std::size_t number) const;

  std::string path_;
  int fd_ = -1;
  std::uint64_t size_ = 0;
  file_header header_;
  file_footer footer_;
  std::vector<block_entry> blocks_;
  std::vector<histogram_entry> counts_;
};

// The entries of a file, one after another, in its order.
template <class Word> class cursor {
public:
  explicit cursor(const kmer_file& file) : file_(&file) { advance(); }
  bool ended() const { return ended_; }
  std::uint32_t partition() const { return partition_; }
  const entry<Word>& at() const { return block_[at_]; }
  void advance() {
    if (++at_ < block_.size()) return;
    block_.clear();
    at_ = 0;
    ended_ = next_ == file_->blocks().size();
    if (ended_) return;
    partition_ = file_->blocks()[next_].partition;
    file_->read_block(next_++, block_);
  }

private:
  const kmer_file* file_;
  std::size_t next_ = 0;
  std::vector<entry<Word>> block_;
  std::size_t at_ = 0;
  std::uint32_t partition_ = 0;
  bool ended_ = false;
};

// Counts of single k-mers; blocks that were read are kept for the next, up to a bound.
template <class Word> class finder {
public:
  explicit finder(const kmer_file& file) : file_(file) {}

  // 0 when the k-mer is not in the file.
  std::uint32_t find(Word word) {
    const std::uint32_t partition = partition_of(file_.of(), word);
    const auto before = [](const std::pair<std::uint32_t, wide_word>& key, const block_entry& b) {
      return key < std::pair(b.partition, join(b.first_high, b.first_low));
    };
    const std::vector<block_entry>& blocks = file_.blocks();
    const auto after = std::upper_bound(blocks.begin(), blocks.end(), std::pair(partition, wide_word{word}), before);
    if (after == blocks.begin() || std::prev(after)->partition != partition) return 0;
    const std::vector<entry<Word>>& block = read(static_cast<std::size_t>(after - blocks.begin()) - 1);
    const auto found = std::lower_bound(block.begin(), block.end(), word,
                                        [](const entry<Word>& e, Word wanted) { return e.word < wanted; });
    return found != block.end() && found->word == word ? found->count : 0;
  }

private:
  static constexpr std::size_t kept_blocks = 1024;

  const std::vector<entry<Word>>& read(std::size_t number) {
    if (kept_.size() >= kept_blocks && !kept_.contains(number)) kept_.clear();
    std::vector<entry<Word>>& block = kept_[number];
    if (block.empty()) file_.read_block(number, block);
    return block;
  }

  const kmer_file& file_;
  std::unordered_map<std::size_t, std::vector<entry<Word>>> kept_;
};

} // namespace kmer
