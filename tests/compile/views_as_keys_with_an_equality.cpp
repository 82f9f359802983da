// SPDX-License-Identifier: Apache-2.0
// says: a table owns its keys: use std::string
#include <cubby/map.hpp>

struct text_hash {
  using is_avalanching = void;
  std::uint64_t operator()(std::string_view text) const noexcept { return cubby::hash_bytes(text.data(), text.size()); }
};
cubby::map<std::string_view, int, cubby::dlht, text_hash, std::allocator<std::byte>, std::equal_to<std::string_view>>
    names;
