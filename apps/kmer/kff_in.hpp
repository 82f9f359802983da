// SPDX-License-Identifier: Apache-2.0
// Reads KFF 1.0: raw and minimiser sections, any encoding of the letters, data of up to eight bytes as the count.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "error.hpp"
#include "input.hpp"
#include "shape.hpp"

namespace kmer {

class kff_reader {
public:
  // `block_space`: k-mers of a block that there is memory for.
  kff_reader(const std::string& path, std::size_t block_space);

  shape of() const { return shape_; }
  // One k-mer as the codes of its bases, with its count.
  struct item {
    const std::uint8_t* codes;
    std::uint64_t count;
  };
  // Calls `take` with each k-mer of the next data section; false when there is none any more.
  template <class F> bool next_section(F&& take) {
    if (!find_section()) return false;
    for (std::uint64_t b = 0; b < blocks_; ++b) {
      read_block();
      for (std::size_t i = 0; i < counts_.size(); ++i) take(item{codes_.data() + i, counts_[i]});
    }
    blocks_ = 0;
    return true;
  }

private:
  bool find_section();
  void read_variables();
  void skip_index();
  void expect_end();
  void begin_data(char type);
  void read_block();
  void read_codes(std::size_t bases, std::vector<std::uint8_t>& into);
  void read_exactly(void* into, std::size_t count);
  std::uint64_t read_number(unsigned bytes);
  [[noreturn]] void refuse(const std::string& why) const;

  std::unique_ptr<byte_source> bytes_;
  std::string name_;
  std::vector<char> buffer_;
  std::size_t block_space_;
  std::size_t buffer_at_ = 0;
  std::size_t buffer_end_ = 0;
  shape shape_;
  std::array<std::uint8_t, 4> code_of_{}; // ours, by theirs
  std::uint64_t k_ = 0;
  std::uint64_t m_ = 0;
  std::uint64_t most_ = 0; // k-mers in a block
  std::uint64_t data_bytes_ = 0;
  bool with_minimiser_ = false;
  std::uint64_t blocks_ = 0;
  std::vector<std::uint8_t> minimiser_;
  std::vector<std::uint8_t> codes_;
  std::vector<std::uint64_t> counts_;
};

} // namespace kmer
