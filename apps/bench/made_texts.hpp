// SPDX-License-Identifier: Apache-2.0
// Made-up text keys: the same ones on every machine, each computed from its number.
#pragma once

#include <cstddef>
#include <string_view>

#include "keys.hpp"

namespace bench {

inline constexpr std::string_view key_kinds = "words, 12-40, uuids";

// `words`: like the words of a list, 2 to 17 letters, half of them with more than 8. `12-40`: so many bytes, each number of
// bytes as often as any other. Only the last bytes of such texts differ. `uuids`: 36
// bytes, as UUIDs are written. Null for an unknown kind.
text_of_number text_of_kind(std::string_view kind) noexcept;

// What such a key and its string take of memory, about.
inline constexpr std::size_t bytes_of_made_text = 64;

} // namespace bench
