// SPDX-License-Identifier: Apache-2.0
// Bytes of an input, decompressed: a file, or standard input as "-". Each byte is read once, so pipes work.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "end_mark.hpp"

namespace kmer {

class byte_source {
public:
  virtual ~byte_source() = default;
  // Fills at least one byte unless the input has ended; 0 is the end. Throws bad_input.
  virtual std::size_t read(std::span<char> into) = 0;
};

enum class input_kind { text, alignment };

struct opened_input {
  input_kind kind = input_kind::text;
  std::unique_ptr<byte_source> bytes; // text: decompressed; alignment: as they lie in the file
  bool is_packed = false;             // so that its end is known
  end_mark mark = end_mark::none;     // of an alignment
  std::string form;                   // of an alignment without a mark, for a warning
};

// How an input is called in messages.
std::string shown_name(const std::string& path);

opened_input open_input(const std::string& path);

// The reason for refusing an input without its mark, and the command that lets an input through which never had one.
std::string unmarked(const std::string& name, const char* through);
// Throws bad_input where a file that is opened by its name lacks the mark of its format. Bgzf inside other gzip is found only
// when it is read.
void check_end(const std::string& path, const opened_input& input);

} // namespace kmer
