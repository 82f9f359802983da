// SPDX-License-Identifier: Apache-2.0
// The state of ISA-L's inflate is kept between calls; at the end of a member it begins anew with the next.
#include "gzip.hpp"

#include <algorithm>
#include <fmt/core.h>
#include <isa-l/igzip_lib.h>
#include <vector>

#include "error.hpp"

namespace kmer {

namespace {

class gzip_source : public byte_source {
public:
  gzip_source(std::unique_ptr<byte_source> compressed, std::string name)
      : compressed_(std::move(compressed)), name_(std::move(name)), input_(std::size_t{1} << 18) {
    ::isal_inflate_init(&state_);
    state_.crc_flag = ISAL_GZIP;
  }

  std::size_t read(std::span<char> into) override {
    const auto room = static_cast<std::uint32_t>(std::min<std::size_t>(into.size(), 1u << 30));
    state_.next_out = reinterpret_cast<std::uint8_t*>(into.data());
    state_.avail_out = room;
    while (state_.avail_out == room) {
      if (state_.avail_in == 0 && !refill()) {
        if (in_member_) throw bad_input(fmt::format("{}: the gzip stream is truncated", name_));
        return 0;
      }
      if (!in_member_ && !begin_member()) return 0;
      const int result = ::isal_inflate(&state_);
      if (result != ISAL_DECOMP_OK) throw bad_input(fmt::format("{}: {}", name_, reason(result)));
      if (state_.block_state == ISAL_BLOCK_FINISH) in_member_ = false;
    }
    return room - state_.avail_out;
  }

private:
  bool refill() {
    state_.next_in = reinterpret_cast<std::uint8_t*>(input_.data());
    state_.avail_in = static_cast<std::uint32_t>(compressed_->read(input_));
    return state_.avail_in != 0;
  }

  // Zeros after the last member are padding; anything else that is no member is refused. False: nothing more.
  bool begin_member() {
    while (members_ != 0 && *state_.next_in == 0) {
      padded_ = true;
      ++state_.next_in;
      if (--state_.avail_in == 0 && !refill()) return false;
    }
    if (padded_ || (members_ != 0 && *state_.next_in != 0x1f))
      throw bad_input(fmt::format("{}: something that is not gzip follows member {}", name_, members_));
    if (members_++ != 0) {
      std::uint8_t* const next_in = state_.next_in;
      std::uint8_t* const next_out = state_.next_out;
      const std::uint32_t avail_in = state_.avail_in;
      const std::uint32_t avail_out = state_.avail_out;
      ::isal_inflate_reset(&state_);
      state_.crc_flag = ISAL_GZIP;
      state_.next_in = next_in;
      state_.avail_in = avail_in;
      state_.next_out = next_out;
      state_.avail_out = avail_out;
    }
    in_member_ = true;
    return true;
  }

  static const char* reason(int result) {
    if (result == ISAL_INCORRECT_CHECKSUM) return "the checksum of the gzip stream does not fit; the file is damaged";
    if (result == ISAL_INVALID_WRAPPER || result == ISAL_UNSUPPORTED_METHOD)
      return "this is no gzip stream that can be read";
    return "the gzip stream is damaged";
  }

  std::unique_ptr<byte_source> compressed_;
  std::string name_;
  std::vector<char> input_;
  inflate_state state_{};
  bool in_member_ = false;
  bool padded_ = false;
  std::uint64_t members_ = 0;
};

} // namespace

std::unique_ptr<byte_source> inflate(std::unique_ptr<byte_source> compressed, std::string name) {
  return std::make_unique<gzip_source>(std::move(compressed), std::move(name));
}

} // namespace kmer
