// SPDX-License-Identifier: Apache-2.0
// The state of ISA-L's inflate is kept between calls; at the end of a member it begins anew with the next. Headers are
// read here: ISA-L refuses legal ones that are long and have a sum.
#include "gzip.hpp"

#include <algorithm>
#include <fmt/core.h>
#include <isa-l/igzip_lib.h>
#include <vector>

#include "end_mark.hpp"
#include "error.hpp"
#include "gzip_header.hpp"

namespace kmer {

namespace {

class gzip_source : public byte_source {
public:
  gzip_source(std::unique_ptr<byte_source> compressed, std::string name)
      : compressed_(std::move(compressed)), name_(std::move(name)), input_(std::size_t{1} << 18) {
    ::isal_inflate_init(&state_);
  }

  std::size_t read(std::span<char> into) override {
    const auto space = static_cast<std::uint32_t>(std::min<std::size_t>(into.size(), 1u << 30));
    state_.next_out = reinterpret_cast<std::uint8_t*>(into.data());
    state_.avail_out = space;
    while (state_.avail_out == space) {
      if (!in_member_ && !begin_member()) return end();
      if (state_.avail_in == 0 && !refill()) refuse(truncated);
      const int result = ::isal_inflate(&state_);
      if (result != ISAL_DECOMP_OK) refuse(reason(result));
      if (state_.block_state == ISAL_BLOCK_FINISH) end_member();
    }
    return space - state_.avail_out;
  }

private:
  static constexpr const char* truncated = "the gzip stream is truncated";

  bool refill() {
    last_.add(used());
    state_.next_in = reinterpret_cast<std::uint8_t*>(input_.data());
    state_.avail_in = static_cast<std::uint32_t>(compressed_->read(input_));
    return state_.avail_in != 0;
  }

  // What was taken from the buffer.
  std::string_view used() const {
    if (state_.next_in == nullptr) return {};
    return {input_.data(), static_cast<std::size_t>(reinterpret_cast<const char*>(state_.next_in) - input_.data())};
  }

  // Zeros after the last member are padding; anything else that is no member is refused. False: nothing more.
  bool begin_member() {
    if (state_.avail_in == 0 && !refill()) return false;
    while (members_ != 0 && *state_.next_in == 0) {
      padded_ = true;
      ++state_.next_in;
      if (--state_.avail_in == 0 && !refill()) return false;
    }
    if (padded_) refuse_follower();
    const gzip_header header = read_header();
    is_bgzf_ = header.is_bgzf();
    std::uint8_t* const next_in = state_.next_in;
    std::uint8_t* const next_out = state_.next_out;
    const std::uint32_t avail_in = state_.avail_in;
    const std::uint32_t avail_out = state_.avail_out;
    ::isal_inflate_reset(&state_);
    state_.crc_flag = ISAL_GZIP_NO_HDR_VER;
    state_.next_in = next_in;
    state_.avail_in = avail_in;
    state_.next_out = next_out;
    state_.avail_out = avail_out;
    ++members_;
    in_member_ = true;
    return true;
  }

  gzip_header read_header() {
    gzip_header header;
    while (true) {
      if (state_.avail_in == 0 && !refill()) refuse(truncated);
      --state_.avail_in;
      switch (header.take(*state_.next_in++)) {
      case gzip_header::answer::more: break;
      case gzip_header::answer::complete: return header;
      case gzip_header::answer::wrong_sum: refuse("the checksum of a gzip header does not fit; the file is damaged");
      case gzip_header::answer::no_gzip:
        if (members_ != 0) refuse_follower();
        [[fallthrough]];
      case gzip_header::answer::unknown: refuse("this is no gzip stream that can be read");
      }
    }
  }

  void end_member() {
    in_member_ = false;
    if (!is_bgzf_) return;
    last_bytes all = last_;
    all.add(used());
    is_marked_ = is_marked(end_mark::bgzf, all.view());
  }

  // The last member says whether the file is one of those that have a mark at the end.
  std::size_t end() const {
    if (is_bgzf_ && !is_marked_) throw bad_input(unmarked(name_, "gzip -dc"));
    return 0;
  }

  static const char* reason(int result) {
    return result == ISAL_INCORRECT_CHECKSUM ? "the checksum of the gzip stream does not fit; the file is damaged"
                                             : "the gzip stream is damaged";
  }
  [[noreturn]] void refuse(const char* why) const { throw bad_input(fmt::format("{}: {}", name_, why)); }
  [[noreturn]] void refuse_follower() const {
    throw bad_input(fmt::format("{}: something that is not gzip follows member {}", name_, members_));
  }

  std::unique_ptr<byte_source> compressed_;
  std::string name_;
  std::vector<char> input_;
  inflate_state state_{};
  last_bytes last_; // of what was read before the buffer
  bool in_member_ = false;
  bool padded_ = false;
  bool is_bgzf_ = false;   // the last member
  bool is_marked_ = false; // the last block of bgzf
  std::uint64_t members_ = 0;
};

} // namespace

std::unique_ptr<byte_source> inflate(std::unique_ptr<byte_source> compressed, std::string name) {
  return std::make_unique<gzip_source>(std::move(compressed), std::move(name));
}

} // namespace kmer
