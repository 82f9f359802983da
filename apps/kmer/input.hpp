// SPDX-License-Identifier: Apache-2.0
// Bytes of an input, decompressed: a file, or standard input as "-". Each byte is read once, so pipes will do.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

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
};

// How an input is called in messages.
std::string shown_name(const std::string& path);

opened_input open_input(const std::string& path);

} // namespace kmer
