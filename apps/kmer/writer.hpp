// SPDX-License-Identifier: Apache-2.0
// Writes a k-mer file: entries come in the file's order, (partition, k-mer), and may be encoded by many threads before
// one appends them.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "entry.hpp"
#include "format.hpp"
#include "histogram.hpp"
#include "output_file.hpp"

namespace kmer {

// What is kept, and how high counts may be.
struct count_bounds {
  std::uint32_t min_count = 1;
  std::uint32_t count_limit = largest_count;
};

struct file_figures {
  std::uint64_t distinct = 0;  // k-mers in the file
  std::uint64_t total = 0;     // the sum of their counts
  std::uint64_t saturated = 0; // k-mers whose count is the limit, and may have been higher
  std::uint64_t left_out = 0;  // k-mers below the smallest count
  void add(const file_figures& other) {
    distinct += other.distinct;
    total += other.total;
    saturated += other.saturated;
    left_out += other.left_out;
  }
};

// Blocks that wait to be appended; offsets count from the first of them.
struct encoded_blocks {
  std::string bytes;
  std::vector<block_entry> blocks;
  histogram counts;
  file_figures figures;
  std::size_t held_bytes() const { return bytes.size() + blocks.size() * sizeof(block_entry) + counts.bytes(); }
};

template <class Word> class block_encoder {
public:
  explicit block_encoder(const count_bounds& bounds) : bounds_(bounds) {}

  void add(std::uint32_t partition, const entry<Word>& e) {
    if (e.count < bounds_.min_count) {
      ++out_.figures.left_out;
      return;
    }
    if (out_.blocks.empty() || out_.blocks.back().kmers == block_kmers || out_.blocks.back().partition != partition)
      begin_block(partition, e.word);
    const std::uint32_t count = std::min(e.count, bounds_.count_limit);
    put_varint(out_.bytes, static_cast<Word>(e.word - last_));
    put_varint(out_.bytes, count);
    last_ = e.word;
    ++out_.blocks.back().kmers;
    ++out_.figures.distinct;
    out_.figures.total += count;
    if (count == bounds_.count_limit) ++out_.figures.saturated;
    out_.counts.add(count);
  }
  std::size_t size() const { return out_.bytes.size(); }
  encoded_blocks take() {
    end_block();
    encoded_blocks done;
    std::swap(done, out_);
    return done;
  }
  // All but the last block, which may still grow: where blocks end must not depend on when they are taken.
  encoded_blocks take_ended() {
    if (out_.blocks.empty()) return take();
    block_entry open = out_.blocks.back();
    encoded_blocks rest;
    rest.bytes = out_.bytes.substr(open.offset);
    out_.bytes.resize(open.offset);
    out_.blocks.pop_back();
    open.offset = 0;
    rest.blocks.push_back(open);
    std::swap(rest, out_);
    return rest;
  }

private:
  void begin_block(std::uint32_t partition, Word first) {
    end_block();
    block_entry b;
    b.first_low = static_cast<std::uint64_t>(first);
    if constexpr (sizeof(Word) > sizeof(std::uint64_t)) b.first_high = static_cast<std::uint64_t>(first >> 64);
    b.offset = out_.bytes.size();
    b.partition = partition;
    out_.blocks.push_back(b);
    last_ = first;
  }
  void end_block() {
    if (out_.blocks.empty()) return;
    block_entry& b = out_.blocks.back();
    b.bytes = static_cast<std::uint32_t>(out_.bytes.size() - b.offset);
    b.sum = checksum(0, out_.bytes.data() + b.offset, b.bytes);
  }

  count_bounds bounds_;
  encoded_blocks out_;
  Word last_ = 0;
};

class file_writer {
public:
  file_writer(const std::string& path, const shape& s, const count_bounds& bounds);
  void append(const encoded_blocks& blocks);
  // Writes what stands at the end and gives the file its name.
  void finish();
  const file_figures& figures() const { return figures_; }
  const histogram& counts() const { return counts_; }
  std::uint64_t bytes() const { return out_.size(); }

private:
  output_file out_;
  std::vector<block_entry> index_;
  histogram counts_;
  file_figures figures_;
};

} // namespace kmer
