// SPDX-License-Identifier: Apache-2.0
// What a table says of itself: dump, check, stats.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "records.hpp"

namespace store {

// Throws refused.
void dump(const std::string& path, record_format format, const std::string& output);
// The exit status.
int check(const std::string& path);
void print_stats(const std::string& path, const std::string& json);

// Figures for people on standard output, and as JSON in a file; "-" asks for JSON instead.
void print_figures(const nlohmann::ordered_json& all, const std::string& json);

} // namespace store
