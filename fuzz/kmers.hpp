// SPDX-License-Identifier: Apache-2.0
// What the fuzzer of the k-mer readers is made of: files in memory, inputs that come in parts, and how a reader ended.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "../apps/kmer/error.hpp"
#include "../apps/kmer/input.hpp"
#include "input.hpp"

namespace cubby_fuzz {

/// The bytes behind the choices: what the reader is given.
inline std::string rest_of(input& in) {
  std::string rest;
  while (!in.ended()) rest.push_back(static_cast<char>(in.byte()));
  return rest;
}

/// A file that has a path and lies in memory.
class memory_file {
public:
  explicit memory_file(std::string_view bytes);
  ~memory_file();
  memory_file(const memory_file&) = delete;
  memory_file& operator=(const memory_file&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

private:
  int fd_;
  std::string path_;
};

/// Gives bytes in parts whose lengths follow from `seed`; 0: as many as are asked for.
class cut_source : public kmer::byte_source {
public:
  cut_source(std::string bytes, unsigned seed) : bytes_(std::move(bytes)), seed_(seed) {}
  std::size_t read(std::span<char> into) override;

private:
  std::string bytes_;
  std::size_t at_ = 0;
  unsigned seed_;
};

/// Calls `f`. True: it worked. False: it refused with the exception that the program turns into one line and status 2.
/// Any other exception ends the fuzzer, as it would end the program with another status.
template <class F> bool accepted(const char* what, F&& f) {
  begin_verb(what);
  try {
    f();
    return true;
  } catch (const kmer::bad_input& why) {
    const std::string_view text = why.what();
    require(!text.empty() && text.find('\n') == text.npos, "a refusal is not one line");
    return false;
  }
}

/// Standard output is a file in memory: what "-" is written to. Forgets what was written, and gives it.
void clear_output();
std::string output();

/// A gzip file of the DEFLATE streams that `bytes` begins with, with the sums that they need; what follows them stays.
std::string with_gzip_sums(const std::string& bytes);
/// A k-mer file whose sums fit, where its parts are where they should be.
std::string with_file_sums(std::string bytes);

void read_text(input& in);
void read_gzip(input& in);
void read_file(input& in);
void read_kff(input& in);

} // namespace cubby_fuzz
