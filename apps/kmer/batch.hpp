// SPDX-License-Identifier: Apache-2.0
// The output of parsing and input of counting: letters of many records, '\n' between them. A record that goes on in the next batch
// repeats its last k - 1 letters there, so that each k-mer is seen once and batches are counted by themselves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace kmer {

inline constexpr std::size_t batch_bytes = std::size_t{1} << 17;

struct batch {
  std::string letters;
  std::string file;
  std::uint64_t first_record = 0; // the record of the first letter, counted from 1
};

} // namespace kmer
