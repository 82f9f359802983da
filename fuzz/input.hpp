// SPDX-License-Identifier: Apache-2.0
// What the fuzzer's bytes are read as, and how a mismatch is told. Bytes that are not there read as zero, so every
// input is a legal one. CUBBY_FUZZ_TRACE=1 prints each verb of a replay.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace cubby_fuzz {

class input {
public:
  input(const std::uint8_t* data, std::size_t size) : at_(data), end_(data + size) {}
  [[nodiscard]] bool ended() const { return at_ == end_; }
  std::uint8_t byte() { return at_ == end_ ? std::uint8_t{0} : *at_++; }
  std::uint16_t two_bytes() {
    const unsigned low = byte();
    return static_cast<std::uint16_t>(low | static_cast<unsigned>(byte()) << 8);
  }

private:
  const std::uint8_t* at_;
  const std::uint8_t* end_;
};

/// Where a run is, for the message of a mismatch.
struct place_in_run {
  const char* table = "";
  const char* verb = "";
  unsigned step = 0;
};
inline place_in_run& here() {
  static place_in_run now;
  return now;
}

inline void begin_verb(const char* name) {
  static const bool traced = std::getenv("CUBBY_FUZZ_TRACE") != nullptr;
  here().verb = name;
  ++here().step;
  if (traced) std::fprintf(stderr, "%s: step %u: %s\n", here().table, here().step, name);
}

inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "MISMATCH in %s, step %u, %s: %s\n", here().table, here().step, here().verb, what);
  std::abort();
}

} // namespace cubby_fuzz
