// SPDX-License-Identifier: Apache-2.0
// Cuts letters into super-k-mers: runs of neighbouring k-mers that have one partition, two bits a base, so that a k-mer
// costs about one byte until it is counted. A record is [k-mers - 1][bases, four a byte, the first one lowest].
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "batch.hpp"
#include "shape.hpp"

namespace kmer {

inline constexpr std::size_t longest_super_kmer = 128; // in k-mers
inline constexpr std::size_t record_bytes(std::size_t kmers, unsigned k) { return 1 + (kmers + k - 1 + 3) / 4; }
// A record is written eight bytes at a time; so many more than it has may be touched behind it.
inline constexpr std::size_t record_slack = 8;
inline constexpr std::size_t longest_record = 1 + (longest_super_kmer + longest_k + 2) / 4;

// A batch as codes, run by run; the arrays are kept from batch to batch.
class splitter {
public:
  explicit splitter(const shape& s) : shape_(s) {}

  // Calls `run(span of codes)` for each stretch of at least k bases. Throws bad_input for what is no sequence.
  template <class F> void runs(const batch& b, F&& run) {
    translate(b);
    const std::uint8_t* const all = codes_.data();
    for (std::size_t from = 0, at = 0; at < codes_.size(); ++at) {
      if (all[at] < breaks) continue;
      if (at - from >= shape_.k) run(std::span<const std::uint8_t>(all + from, at - from));
      from = at + 1;
    }
  }

  // Calls `place(partition, bytes)` for space, and writes the record there; the number of k-mers in it.
  template <class Place> void split(std::span<const std::uint8_t> run, Place&& place) {
    const std::size_t kmers = run.size() - shape_.k + 1;
    find_partitions(run);
    pack(run);
    const std::uint32_t* const partition = ranks_.data();
    for (std::size_t from = 0; from < kmers;) {
      const std::size_t most = std::min(kmers, from + longest_super_kmer);
      std::size_t to = from + 1;
      while (to < most && partition[to] == partition[from]) ++to;
      const std::size_t count = to - from;
      write(from, count, place(partition[from], record_bytes(count, shape_.k), count));
      from = to;
    }
  }

private:
  void translate(const batch& b);
  void find_partitions(std::span<const std::uint8_t> run);
  void pack(std::span<const std::uint8_t> run);

  void write(std::size_t first, std::size_t kmers, std::uint8_t* at) const {
    *at++ = static_cast<std::uint8_t>(kmers - 1);
    const std::size_t bases = kmers + shape_.k - 1;
    for (std::size_t done = 0; done < bases; done += 28) {
      // 28 bases are 7 bytes: for any shift, they lie in the 8 bytes that are read.
      const std::size_t base = first + done;
      std::uint64_t word = 0;
      std::memcpy(&word, packed_.data() + base / 4, sizeof word);
      word >>= 2 * (base % 4);
      std::memcpy(at + done / 4, &word, sizeof word);
    }
  }

  shape shape_;
  std::vector<std::uint8_t> codes_;
  std::vector<std::uint32_t> ranks_;
  std::vector<std::uint8_t> packed_;
};

// Calls `take` with each k-mer of the records in `bytes`; canonical or as they stand.
template <class Word, class F> void for_each_kmer(const shape& s, std::span<const std::uint8_t> bytes, F&& take) {
  const std::uint8_t* at = bytes.data();
  const std::uint8_t* const end = at + bytes.size();
  while (at < end) {
    const std::size_t kmers = std::size_t{*at} + 1;
    const std::uint8_t* const bases = at + 1;
    const auto code = [bases](std::size_t i) { return static_cast<std::uint8_t>((bases[i / 4] >> (2 * (i % 4))) & 3); };
    strands<Word> both(s.k);
    for (std::size_t i = 0; i + 1 < s.k; ++i) both.push(code(i));
    if (s.canonical)
      for (std::size_t i = 0; i < kmers; ++i) both.push(code(s.k - 1 + i)), take(both.canonical());
    else
      for (std::size_t i = 0; i < kmers; ++i) both.push(code(s.k - 1 + i)), take(both.forward());
    at += record_bytes(kmers, s.k);
  }
}

} // namespace kmer
