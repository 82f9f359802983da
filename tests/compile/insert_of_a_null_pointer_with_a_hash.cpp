// SPDX-License-Identifier: Apache-2.0
// says alone: a null pointer is no text and no key
#include <string>

#include <cubby/set.hpp>

struct text_hash {
  std::uint64_t operator()(const std::string& text) const { return text.size(); }
};
bool insert(cubby::set<std::string, cubby::dlht, text_hash>& m) { return m.insert(nullptr); }
