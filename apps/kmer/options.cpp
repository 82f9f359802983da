// SPDX-License-Identifier: Apache-2.0
// Reads numbers, or says what is wrong with them.
#include "options.hpp"

#include <charconv>
#include <fmt/core.h>
#include <string_view>

#include "error.hpp"

namespace kmer {

std::uint64_t number_in(const std::string& flag, const std::string& text, std::uint64_t step) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  const std::size_t power = unit.empty() ? 0 : std::string_view("kMGT").find(unit) + 1;
  const bool known = unit.empty() || (unit.size() == 1 && power != 0);
  std::uint64_t scale = 1;
  for (std::size_t i = 0; i < power && known; ++i) scale *= step;
  if (error == std::errc::result_out_of_range || (error == std::errc() && known && value > UINT64_MAX / scale))
    throw bad_input(fmt::format("{} '{}': the number is too large", flag, text));
  if (error != std::errc() || !known)
    throw bad_input(fmt::format("{} '{}': no number; give digits, with k, M, G or T if you like", flag, text));
  return value * scale;
}

std::uint64_t number_between(const std::string& flag, const std::string& text, std::uint64_t low, std::uint64_t high) {
  const std::uint64_t value = number_in(flag, text);
  if (value < low || value > high)
    throw bad_input(fmt::format("{} {}: give a number from {} to {}", flag, value, low, high));
  return value;
}

} // namespace kmer
