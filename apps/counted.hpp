// SPDX-License-Identifier: Apache-2.0
// A count and its noun, as messages say it.
#pragma once

#include <cstdint>
#include <fmt/format.h>
#include <string>
#include <string_view>

namespace console {

inline std::string counted(std::uint64_t count, std::string_view one, std::string_view more) {
  return fmt::format("{} {}", count, count == 1 ? one : more);
}

} // namespace console
