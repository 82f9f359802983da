// SPDX-License-Identifier: Apache-2.0
// Sections one after another; the index and the footer say nothing that is needed here. What was read is sorted in
// memory as far as that goes, in runs that are merged in the end.
#include "kff_in.hpp"

#include <bit>
#include <cstring>
#include <fmt/core.h>

#include "operations.hpp"
#include "output_place.hpp"
#include "sizes.hpp"
#include "sorted_runs.hpp"

namespace kmer {

kff_reader::kff_reader(const std::string& path, std::size_t block_space)
    : name_(shown_name(path)), buffer_(std::size_t{1} << 16), block_space_(block_space) {
  opened_input input = open_input(path);
  bytes_ = std::move(input.bytes);
  std::array<char, 3> magic{};
  read_exactly(magic.data(), magic.size());
  if (std::string_view(magic.data(), magic.size()) != "KFF") refuse("is no KFF file");
  const std::uint64_t major = read_number(1);
  const std::uint64_t minor = read_number(1);
  if (major != 1) refuse(fmt::format("has version {}.{} of KFF; this program reads version 1", major, minor));
  const std::uint64_t encoding = read_number(1);
  unsigned seen = 0;
  for (unsigned i = 0; i < 4; ++i) {
    const auto theirs = static_cast<unsigned>(encoding >> (2 * (3 - i))) & 3;
    code_of_[theirs] = static_cast<std::uint8_t>(i);
    seen |= 1u << theirs;
  }
  if (seen != 15) refuse("is damaged: its encoding gives two letters one code");
  read_number(1); // whether k-mers are unique: equal ones are added up anyhow
  shape_.canonical = read_number(1) != 0;
  for (std::uint64_t comment = read_number(4); comment != 0; --comment) read_number(1);
  while (shape_.k == 0) {
    const auto type = static_cast<char>(read_number(1));
    if (type != 'v') refuse("has data before the variables that describe them");
    read_variables();
  }
}

void kff_reader::refuse(const std::string& why) const { throw bad_input(fmt::format("{}: {}", name_, why)); }

void kff_reader::read_exactly(void* into, std::size_t count) {
  auto* at = static_cast<char*>(into);
  for (std::size_t have = 0; have < count;) {
    if (buffer_at_ == buffer_end_) {
      buffer_at_ = 0;
      buffer_end_ = bytes_->read(buffer_);
      if (buffer_end_ == 0) refuse("is truncated");
    }
    const std::size_t part = std::min(count - have, buffer_end_ - buffer_at_);
    std::memcpy(at + have, buffer_.data() + buffer_at_, part);
    buffer_at_ += part;
    have += part;
  }
}

std::uint64_t kff_reader::read_number(unsigned bytes) {
  std::array<std::uint8_t, 8> raw{};
  read_exactly(raw.data(), bytes);
  std::uint64_t value = 0;
  for (unsigned i = 0; i < bytes; ++i) value = (value << 8) | raw[i];
  return value;
}

void kff_reader::read_variables() {
  for (std::uint64_t left = read_number(8); left != 0; --left) {
    std::string name;
    for (auto c = static_cast<char>(read_number(1)); c != '\0'; c = static_cast<char>(read_number(1))) {
      name.push_back(c);
      if (name.size() > 1000) refuse("is damaged: a variable's name does not end");
    }
    const std::uint64_t value = read_number(8);
    if (name == "k") k_ = value;
    else if (name == "m") m_ = value;
    else if (name == "max") most_ = value;
    else if (name == "data_size") data_bytes_ = value;
  }
  if (k_ == 0 && shape_.k == 0) return;
  if (k_ > longest_k) refuse(fmt::format("has k-mers of {} bases; at most {} can be read", k_, longest_k));
  if (shape_.k != 0 && shape_.k != k_) refuse("has k-mers of several lengths");
  if (data_bytes_ > 8) refuse(fmt::format("has {} bytes of data for each k-mer; counts have at most 8", data_bytes_));
  if (most_ == 0 || most_ > (1u << 24) || m_ > k_) refuse("is damaged: its variables fit no block");
  shape_.k = static_cast<unsigned>(k_);
}

bool kff_reader::find_section() {
  while (true) {
    const auto type = static_cast<char>(read_number(1));
    switch (type) {
    case 'v': read_variables(); break;
    case 'r':
    case 'm': begin_data(type); return true;
    case 'i': skip_index(); break;
    case 'K':
      if (read_number(2) != 0x4646) refuse("is damaged: its end is not KFF");
      expect_end();
      return false;
    default: refuse(fmt::format("is damaged: there is no section of type {}", static_cast<int>(type)));
    }
  }
}

void kff_reader::skip_index() {
  const std::uint64_t sections = read_number(8);
  if (sections > (UINT64_MAX - 8) / 9) refuse("is damaged: its index has more sections than a file can have");
  for (std::uint64_t left = 9 * sections + 8; left != 0; --left) read_number(1);
}

// The compressed file around it has an end, too, and sums that are compared there.
void kff_reader::expect_end() {
  if (buffer_at_ != buffer_end_ || bytes_->read(buffer_) != 0) refuse("is damaged: something follows its end");
}

void kff_reader::begin_data(char type) {
  with_minimiser_ = type == 'm';
  if (with_minimiser_) {
    if (m_ == 0) refuse("is damaged: a minimiser section without m");
    read_codes(m_, minimiser_);
  }
  blocks_ = read_number(8);
}

// Codes lie two bits a base, filled up in front to whole bytes.
void kff_reader::read_codes(std::size_t bases, std::vector<std::uint8_t>& into) {
  std::vector<std::uint8_t> packed((bases + 3) / 4);
  read_exactly(packed.data(), packed.size());
  const std::size_t padding = packed.size() * 4 - bases;
  into.resize(bases);
  for (std::size_t i = 0; i < bases; ++i) {
    const std::size_t at = i + padding;
    into[i] = code_of_[(packed[at / 4] >> (2 * (3 - at % 4))) & 3];
  }
}

void kff_reader::read_block() {
  const auto number_bytes = [](std::uint64_t values) {
    return static_cast<unsigned>((std::bit_width(values - 1) + 7) / 8);
  };
  const std::uint64_t kmers = most_ == 1 ? 1 : read_number(std::max(1u, number_bytes(most_)));
  if (kmers == 0 || kmers > most_) refuse("is damaged: a block of more k-mers than it may have");
  if (kmers > block_space_)
    refuse(fmt::format("has a block of {} k-mers, and --memory has space for {}; give more", kmers, block_space_));
  if (with_minimiser_) {
    const std::uint64_t at = read_number(std::max(1u, number_bytes(k_ + most_ - 1)));
    read_codes(kmers + k_ - 1 - m_, codes_);
    if (at > codes_.size()) refuse("is damaged: a minimiser behind the end of its block");
    codes_.insert(codes_.begin() + static_cast<std::ptrdiff_t>(at), minimiser_.begin(), minimiser_.end());
  } else {
    read_codes(kmers + k_ - 1, codes_);
  }
  counts_.resize(kmers);
  for (std::uint64_t& count : counts_) count = data_bytes_ == 0 ? 1 : read_number(static_cast<unsigned>(data_bytes_));
}

namespace {

// Program, libraries and buffers, as in `count`; and what is sorted at a time, at least.
constexpr std::size_t fixed_bytes = 24 * mebibyte;
constexpr std::size_t least_space = 8 * mebibyte;

// What is left for k-mers, of which a block may take a quarter before it is sorted.
std::size_t space_in(std::uint64_t memory, const std::string& memory_shown) {
  if (memory < fixed_bytes + least_space)
    throw bad_input(
        fmt::format("{}: from-kff needs at least {}M", memory_shown, mebibytes_for(fixed_bytes + least_space)));
  return memory - fixed_bytes;
}

// Counts, codes and the bytes that these come from.
constexpr std::size_t block_bytes_of_kmer = sizeof(std::uint64_t) + 2;

template <class Word>
file_figures convert(kff_reader& in, const std::string& output, const count_bounds& bounds, std::size_t space) {
  const shape s = in.of();
  file_writer writer(output, s, bounds);
  block_encoder<Word> encode(bounds);
  const auto write = [&](const placed<Word>& p) {
    encode.add(p.partition, p.e);
    if (encode.size() > mebibyte) writer.append(encode.take_ended());
  };
  sorted_runs<Word> runs(folder_beside(output), "-o in another folder");
  std::vector<placed<Word>> all;
  all.reserve(space / 4 * 3 / sizeof(placed<Word>));
  const auto take = [&](const kff_reader::item& item) {
    strands<Word> both(s.k);
    for (unsigned i = 0; i < s.k; ++i) both.push(item.codes[i]);
    const Word word = s.canonical ? both.canonical() : both.forward();
    if (all.size() == all.capacity()) runs.add(all);
    all.push_back({partition_of(s, word), {word, saturated(item.count)}});
  };
  while (in.next_section(take)) {
  }
  if (runs.empty()) {
    sort_run(all, write);
  } else {
    if (!all.empty()) runs.add(all);
    all = {}; // its space is for buffers now
    runs.merge(space / run_buffer_bytes, write);
  }
  writer.append(encode.take());
  writer.finish();
  return writer.figures();
}

} // namespace

file_figures from_kff(const std::string& kff, const std::string& output, const count_bounds& bounds,
                      std::uint64_t memory, const std::string& memory_shown) {
  const std::size_t space = space_in(memory, memory_shown);
  kff_reader in(kff, space / 4 / block_bytes_of_kmer);
  return with_word(in.of().k, [&](auto word) { return convert<decltype(word)>(in, output, bounds, space); });
}

} // namespace kmer
