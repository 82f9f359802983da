// SPDX-License-Identifier: Apache-2.0
// A file that appears whole or not at all: written without a name where the file system can, else under a temporary
// one, and given its name by `commit`. Devices, pipes and descriptors (/dev/stdout) are written directly; a symbolic link stays,
// and the file that it stands for is written. A file that is mounted by itself is written over (overwrite.hpp). Every failure
// is a bad_input.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "output_place.hpp"

namespace kmer {

class output_file {
public:
  // Throws when the file cannot be written; "-" is standard output.
  explicit output_file(const std::string& name);
  ~output_file();
  output_file(const output_file&) = delete;
  output_file& operator=(const output_file&) = delete;

  void write(std::string_view bytes);
  void commit();
  // Bytes given to `write` so far.
  std::uint64_t size() const { return size_; }

private:
  output_file(const std::string& name, const output_place& place);
  void open_directly();
  void open_beside();
  void write_over() const;
  void flush();
  void write_through(std::string_view bytes);
  [[noreturn]] void refuse(int error) const;
  void give_name();

  std::string name_; // for messages
  output_place place_;
  std::string temporary_; // empty: no name yet, or none needed
  bool direct_ = false;
  int fd_ = -1;
  int lock_ = -1; // of the temporary name, until it has become the other
  std::uint64_t size_ = 0;
  std::string waiting_;
};

} // namespace kmer
