// SPDX-License-Identifier: Apache-2.0
// FASTA, FASTQ and gzip. The oracle is the reader itself: where its input is cut must not matter.
#include "kmers.hpp"

#include <algorithm>

#include "../apps/kmer/gzip.hpp"
#include "../apps/kmer/super_kmers.hpp"
#include "../apps/kmer/text_parser.hpp"

namespace cubby_fuzz {

namespace {

struct reading {
  bool accepted = false;
  kmer::input_figures figures;
  std::uint64_t kmers = 0;
  std::uint64_t mixed = 0; // of all k-mers in their order
};

reading parse(std::unique_ptr<kmer::byte_source> bytes, unsigned k) {
  reading all;
  kmer::text_parser parser(std::move(bytes), "input", k);
  all.accepted = accepted("parse", [&] {
    kmer::splitter cut({k, true});
    for (kmer::batch b; parser.next(b);)
      cut.runs(b, [&](std::span<const std::uint8_t> run) {
        kmer::strands<kmer::wide_word> both(k);
        for (std::size_t i = 0; i < run.size(); ++i) {
          both.push(run[i]);
          if (i + 1 < k) continue;
          const kmer::wide_word word = both.canonical();
          all.mixed = (all.mixed ^ kmer::low_of(word) ^ (kmer::high_of(word) << 1)) * 0x9e3779b97f4a7c15u;
          ++all.kmers;
        }
      });
  });
  all.figures = parser.figures();
  return all;
}

reading parse_cut(const std::string& bytes, unsigned k, unsigned seed) {
  return parse(std::make_unique<cut_source>(bytes, seed), k);
}

void require_equal(const reading& whole, const reading& other) {
  require(whole.accepted == other.accepted, "whether it is refused depends on where it is cut");
  if (!whole.accepted) return;
  require(whole.figures.records == other.figures.records && whole.figures.bases == other.figures.bases,
          "the figures depend on where it is cut");
  require(whole.kmers == other.kmers && whole.mixed == other.mixed, "the k-mers depend on where it is cut");
}

// As the program opens it. BAM and CRAM are htslib's to read, and left out.
void read_opened(const std::string& bytes, unsigned k, const reading* whole) {
  const memory_file file(bytes);
  kmer::opened_input opened;
  if (!accepted("open", [&] { opened = kmer::open_input(file.path()); })) return;
  if (opened.kind != kmer::input_kind::text) return;
  const reading other = parse(std::move(opened.bytes), k);
  if (whole != nullptr) require_equal(*whole, other);
}

// Letters `times` over, so that few bytes fill up to three batches. What is alike in sequence and quality stays so.
std::string stretched(const std::string& bytes, unsigned times) {
  std::string longer;
  times = std::min(times, static_cast<unsigned>(3 * kmer::batch_bytes / (bytes.size() + 1)));
  for (const char c : bytes) longer.append(std::string_view("ACGTNI").find(c) == std::string_view::npos ? 1 : times, c);
  return longer;
}

struct unpacked {
  bool accepted = false;
  std::string bytes;
};

unpacked unpack(const std::string& bytes, unsigned seed, std::size_t most) {
  unpacked out;
  const auto source = kmer::inflate(std::make_unique<cut_source>(bytes, seed), "input");
  std::string space(most, '\0');
  out.accepted = accepted("inflate", [&] {
    while (const std::size_t got = source->read(space)) out.bytes.append(space, 0, got);
  });
  return out;
}

} // namespace

void read_text(input& in) {
  const unsigned k = 1 + in.byte() % kmer::longest_k;
  const unsigned seed = in.two_bytes() + 1u;
  const unsigned stretch = in.byte();
  std::string bytes = rest_of(in);
  // It takes a hundred times as long, so it is left to few inputs.
  if (stretch >= 240) bytes = stretched(bytes, (stretch - 239) * 200);
  const reading whole = parse_cut(bytes, k, 0);
  require_equal(whole, parse_cut(bytes, k, seed));
  const bool gzipped = bytes.starts_with("\x1f\x8b");
  if (stretch < 240 || gzipped) read_opened(bytes, k, gzipped ? nullptr : &whole);
}

void read_gzip(input& in) {
  const unsigned k = 1 + in.byte() % kmer::longest_k;
  const unsigned seed = in.two_bytes() + 1u;
  const bool with_sums = in.byte() % 2 == 1;
  std::string bytes = rest_of(in);
  if (with_sums) bytes = with_gzip_sums(bytes);
  const unpacked whole = unpack(bytes, 0, 1u << 16);
  const unpacked other = unpack(bytes, seed, 1 + seed % 300);
  require(whole.accepted == other.accepted, "whether it is refused depends on where it is cut");
  require(!whole.accepted || whole.bytes == other.bytes, "what is unpacked depends on where it is cut");
  if (!whole.accepted) return read_opened(bytes, k, nullptr);
  const reading plain = parse_cut(whole.bytes, k, 0);
  read_opened(bytes, k, bytes.starts_with("\x1f\x8b") ? &plain : nullptr);
}

} // namespace cubby_fuzz
