// SPDX-License-Identifier: Apache-2.0
// A file for what does not fit into memory. It has no name: nothing is left behind, however the program ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace kmer {

class spill_file {
public:
  // Makes none yet. `advice`: what helps where none can be made or written in this folder.
  spill_file(std::string folder, std::string advice) : folder_(std::move(folder)), advice_(std::move(advice)) {}
  ~spill_file();
  spill_file(const spill_file&) = delete;
  spill_file& operator=(const spill_file&) = delete;

  // Makes the file unless there is one; throws bad_input when it cannot be made.
  void open();
  // To the end of the file.
  void write(std::span<const std::uint8_t> bytes);
  void read(std::uint64_t offset, std::span<std::uint8_t> into) const;
  std::uint64_t size() const { return size_; }
  // Gives the space of what was written back, for new contents.
  void clear();

private:
  std::string folder_;
  std::string advice_;
  int fd_ = -1;
  std::uint64_t size_ = 0;
};

} // namespace kmer
