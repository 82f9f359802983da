// SPDX-License-Identifier: Apache-2.0
// Inputs to batches of letters: FASTA and FASTQ here, BAM and CRAM in alignment.hpp.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "batch.hpp"

namespace kmer {

struct input_figures {
  std::uint64_t records = 0;
  std::uint64_t bases = 0; // letters of sequences, of any kind
};

// One input. Not for two threads at once.
class batch_source {
public:
  virtual ~batch_source() = default;
  // Fills `out`; false when the input has ended and nothing was filled. Throws bad_input.
  virtual bool next(batch& out) = 0;
  virtual input_figures figures() const = 0;
  // Once it has ended: why it cannot be known whether it is whole; empty if it is known.
  virtual std::string doubt() const = 0;
};

// All inputs, one after another, each opened when its turn comes.
class batch_sources {
public:
  batch_sources(std::vector<std::string> paths, unsigned k, std::string reference);
  bool next(batch& out);
  input_figures figures() const;
  // A line for each input that has ended and that may be truncated.
  const std::vector<std::string>& warnings() const { return warnings_; }

private:
  void open();

  std::vector<std::string> paths_;
  unsigned k_;
  std::string reference_;
  std::size_t turn_ = 0;
  std::unique_ptr<batch_source> current_;
  bool tells_its_end_ = false; // what the current one is packed in
  input_figures ended_;
  std::vector<std::string> warnings_;
};

} // namespace kmer
