// SPDX-License-Identifier: Apache-2.0
// A state for each kind of line; a line may come in several pieces.
#include "text_parser.hpp"

#include <cstring>
#include <fmt/core.h>

#include "error.hpp"

namespace kmer {

namespace {

constexpr std::size_t block_bytes = std::size_t{1} << 16;

} // namespace

std::string shown(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte > 32 && byte < 127 ? fmt::format("'{}'", c) : fmt::format("byte 0x{:02x}", byte);
}

text_parser::text_parser(std::unique_ptr<byte_source> bytes, std::string name, unsigned k)
    : bytes_(std::move(bytes)), name_(std::move(name)), k_(k), buffer_(block_bytes) {}

void text_parser::refuse(const std::string& why) const {
  throw bad_input(fmt::format("{}: record {}: {}", name_, figures_.records, why));
}

void text_parser::refuse_return() {
  ++figures_.records; // it is what the next record would begin with
  refuse("a carriage return inside a line");
}

bool text_parser::refill() {
  at_ = 0;
  end_ = bytes_->read(buffer_);
  if (end_ != 0) is_empty_ = false;
  return end_ != 0;
}

// In FASTQ the length of a record is known, in FASTA it is not: the last line end is the only sign.
std::string text_parser::doubt() const {
  if (is_empty_) return "is empty";
  return format_ == '>' && !line_begins_ ? "ends without a line end" : "";
}

text_parser::piece text_parser::take() {
  const char* const begin = buffer_.data() + at_;
  const auto* const line_end = static_cast<const char*>(std::memchr(begin, '\n', end_ - at_));
  piece p;
  p.ends_line = line_end != nullptr;
  p.text = {begin, static_cast<std::size_t>((p.ends_line ? line_end : buffer_.data() + end_) - begin)};
  at_ += p.text.size() + (p.ends_line ? 1 : 0);
  p.after_return = held_return_ && !(p.ends_line && p.text.empty());
  held_return_ = false;
  if (p.after_return && inside_sequence()) refuse("a carriage return inside a line");
  if (!p.text.empty() && p.text.back() == '\r') {
    p.text.remove_suffix(1);
    held_return_ = !p.ends_line;
  }
  line_begins_ = p.ends_line;
  return p;
}

void text_parser::begin_record(char first) {
  if (first == '\n' || first == '\r') {
    // An empty line between records. What follows a '\r' there would be lost with it.
    const piece p = take();
    if (!p.text.empty() || p.after_return) refuse_return();
    return;
  }
  if (held_return_) refuse_return();
  ++figures_.records;
  if (first != '>' && first != '@')
    refuse(fmt::format("begins with {}, where FASTA has '>' and FASTQ '@'", shown(first)));
  if (format_ != 0 && format_ != first)
    refuse(fmt::format("mixed formats: a {} record in a {} file", first == '>' ? "FASTA" : "FASTQ",
                       format_ == '>' ? "FASTA" : "FASTQ"));
  format_ = first;
  sequence_letters_ = sequence_lines_ = quality_letters_ = 0;
  state_ = first == '>' ? expects::fasta_header : expects::fastq_header;
}

void text_parser::append(std::string& letters, const piece& p) {
  letters.append(p.text);
  sequence_letters_ += p.text.size();
  figures_.bases += p.text.size();
}

void text_parser::end_record(std::string& letters) {
  letters.push_back('\n');
  state_ = expects::record;
}

// Where a '\r' alone ends lines, the first one would be all of the file.
void text_parser::fasta_header() {
  const piece p = take();
  if (p.after_return || p.text.find('\r') != std::string_view::npos) refuse("a carriage return inside a line");
  if (p.ends_line) state_ = expects::fasta_line;
}

void text_parser::fasta_line(std::string& letters) {
  const char first = buffer_[at_];
  if (line_begins_ && first == '>') return end_record(letters);
  if (line_begins_ && (first == '@' || first == '+'))
    refuse(fmt::format("mixed formats: a line of a FASTA sequence begins with '{}'", first));
  append(letters, take());
}

void text_parser::sequence_line(std::string& letters) {
  const char first = buffer_[at_];
  if (line_begins_ && first == '+') {
    state_ = expects::plus_line;
    return;
  }
  if (line_begins_ && first == '@') refuse("has no quality: the next record begins where its '+' line belongs");
  if (line_begins_ && first == '>') refuse("mixed formats: a FASTA record in a FASTQ file");
  if (line_begins_) ++sequence_lines_;
  append(letters, take());
}

// The quality ends where it is as long as the sequence; lines that begin with '@' are no new record before.
void text_parser::quality(std::string& letters) {
  const piece p = take();
  quality_letters_ += p.text.size() + (p.after_return ? 1 : 0);
  if (!p.ends_line) return;
  if (quality_letters_ == sequence_letters_) return end_record(letters);
  if (quality_letters_ > sequence_letters_ || sequence_lines_ <= 1)
    refuse(fmt::format("the quality has {} letters, the sequence {}", quality_letters_, sequence_letters_));
}

void text_parser::step(std::string& letters) {
  switch (state_) {
  case expects::record: return begin_record(buffer_[at_]);
  case expects::fasta_header: return fasta_header();
  case expects::fasta_line: return fasta_line(letters);
  case expects::fastq_header:
    if (take().ends_line) state_ = expects::sequence_line;
    return;
  case expects::sequence_line: return sequence_line(letters);
  case expects::plus_line:
    if (take().ends_line) state_ = expects::quality;
    return;
  case expects::quality: return quality(letters);
  }
}

void text_parser::finish(std::string& letters) {
  const bool complete =
      state_ == expects::fasta_header || state_ == expects::fasta_line ||
      ((state_ == expects::quality || state_ == expects::plus_line) && quality_letters_ == sequence_letters_);
  if (state_ != expects::record && !complete) {
    if (state_ != expects::quality || quality_letters_ == 0) refuse("the file ends before its quality");
    refuse(fmt::format("the file ends where the quality has {} letters, the sequence {}", quality_letters_,
                       sequence_letters_));
  }
  if (state_ != expects::record) end_record(letters);
}

bool text_parser::next(batch& out) {
  out.letters.swap(carry_);
  carry_.clear();
  out.file = name_;
  out.first_record = figures_.records + (state_ == expects::record ? 1 : 0);
  const std::size_t repeated = out.letters.size();
  while (!ended_ && out.letters.size() < batch_bytes) {
    if (at_ < end_ || refill()) {
      step(out.letters);
      continue;
    }
    ended_ = true;
    finish(out.letters);
  }
  if (!ended_ && inside_sequence()) {
    const std::size_t line_end = out.letters.rfind('\n');
    const std::size_t from = line_end == std::string::npos ? 0 : line_end + 1;
    const std::size_t keep = std::min<std::size_t>(k_ - 1, out.letters.size() - from);
    carry_.assign(out.letters, out.letters.size() - keep);
  }
  return out.letters.size() > repeated;
}

} // namespace kmer
