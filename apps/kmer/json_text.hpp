// SPDX-License-Identifier: Apache-2.0
// JSON as it is written to files.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace kmer {

// A name of a file need not be UTF-8, and JSON has to be: other bytes become U+FFFD.
inline std::string json_text(const nlohmann::ordered_json& all) {
  return all.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

} // namespace kmer
