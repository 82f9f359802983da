// SPDX-License-Identifier: Apache-2.0
// An input of load: lines of a file or of standard input, gzip or plain, each with its place, so that a later run can go on there.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "../kmer/input.hpp"

namespace store {

struct input_position {
  std::uint64_t offset = 0; // of the decompressed bytes
  std::uint64_t line = 0;
  std::uint64_t sum = 0; // of a stream, over the bytes up to `offset`
};
// How an input that was read to some place is known again: a regular file by what the system says of it, a stream by its sum.
struct input_place {
  std::string file; // empty: a stream
  input_position at;
};

class input {
public:
  // "-" is standard input. Throws refused.
  explicit input(const std::string& path);
  ~input();
  input(const input&) = delete;
  input& operator=(const input&) = delete;

  // The next line, without its end; it is valid until the next call. False: there is none. Throws refused.
  bool next(std::string_view& line);
  // The first byte that is no white space, behind a byte order mark; 0: there is none.
  char first();
  // Where the lines that were given end.
  const input_position& at() const { return at_; }
  // As in input_place.
  const std::string& identity() const { return identity_; }
  // Goes to a place where an earlier run was. False: the bytes up to it are not those of that run.
  bool go_to(const input_place& place);
  // Whether the last line has no end, which is how most truncated files look.
  bool ends_within_line() const { return ends_within_line_; }
  const std::string& name() const { return name_; }
  // Bytes of the file that were read, and its size, for a progress line. 0: unknown.
  std::uint64_t bytes_read() const;
  std::uint64_t bytes() const { return size_; }

  // Throws refused if the file cannot be read, or is a folder.
  static void look_at(const std::string& path);
  // What the system says of a regular file; empty for anything else, and for what is not there.
  static std::string identity_of(const std::string& path);

private:
  class file;
  bool refill();
  void skip_byte_order_mark();
  void take(std::size_t count);

  std::string name_;
  std::unique_ptr<kmer::byte_source> bytes_;
  file* file_ = nullptr; // the source below
  bool is_packed_ = false;
  std::uint64_t size_ = 0;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  bool ended_ = false;
  bool ends_within_line_ = false;
  std::string identity_;
  input_position at_;
};

} // namespace store
