// SPDX-License-Identifier: Apache-2.0
// FASTA and FASTQ, line by line, in pieces of the length of each read: a record need not fit into memory.
// Sequences may take several lines in both; line ends are '\n' or "\r\n".
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "input.hpp"
#include "parse.hpp"

namespace kmer {

// A character of an input in a message: itself in quotes, or the number of its byte.
std::string shown(char c);

class text_parser : public batch_source {
public:
  text_parser(std::unique_ptr<byte_source> bytes, std::string name, unsigned k);
  bool next(batch& out) override;
  input_figures figures() const override { return figures_; }
  std::string doubt() const override;

private:
  enum class expects { record, fasta_header, fasta_line, fastq_header, sequence_line, plus_line, quality };

  struct piece {
    std::string_view text; // without the line end
    bool ends_line = false;
    bool after_return = false; // a '\r' came before `text`, in the same line, and ends no line
  };

  bool refill();
  piece take();
  void step(std::string& letters);
  void begin_record(char first);
  void fasta_header();
  void fasta_line(std::string& letters);
  void sequence_line(std::string& letters);
  void quality(std::string& letters);
  void append(std::string& letters, const piece& p);
  void finish(std::string& letters);
  void end_record(std::string& letters);
  bool inside_sequence() const { return state_ == expects::fasta_line || state_ == expects::sequence_line; }
  [[noreturn]] void refuse(const std::string& why) const;
  [[noreturn]] void refuse_return();

  std::unique_ptr<byte_source> bytes_;
  std::string name_;
  unsigned k_;
  std::vector<char> buffer_;
  std::size_t at_ = 0;
  std::size_t end_ = 0;
  expects state_ = expects::record;
  char format_ = 0;          // '>' or '@', from the first record on
  bool line_begins_ = true;  // the next piece is the first of its line
  bool held_return_ = false; // a '\r' stood last in the buffer
  bool ended_ = false;
  bool is_empty_ = true;
  std::uint64_t sequence_letters_ = 0;
  std::uint64_t sequence_lines_ = 0;
  std::uint64_t quality_letters_ = 0;
  input_figures figures_;
  std::string carry_;
};

} // namespace kmer
