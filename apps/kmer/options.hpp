// SPDX-License-Identifier: Apache-2.0
// Numbers that users type.
#pragma once

#include <cstdint>
#include <string>

namespace kmer {

// Digits, with k, M, G or T of 1000 when `step` is 1000, of 1024 when it is that. Throws bad_input.
std::uint64_t number_in(const std::string& flag, const std::string& text, std::uint64_t step = 1000);
// The same, from `low` to `high`.
std::uint64_t number_between(const std::string& flag, const std::string& text, std::uint64_t low, std::uint64_t high);

} // namespace kmer
