// SPDX-License-Identifier: Apache-2.0
// Records as text, one a line (docs/store.md). TSV holds any bytes; JSON lines hold UTF-8.
#pragma once

#include <string>
#include <string_view>

namespace store {

enum class record_format { tsv, jsonl };

// What an input may begin with: the mark of UTF-8, which is no part of the first record, and that of gzip.
inline constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
inline constexpr std::string_view gzip_mark = "\x1f\x8b";

struct record {
  std::string key, value;
};

// Reads a line without its end. What is wrong with it; empty if nothing is.
std::string read_tsv(std::string_view line, record& into);
std::string read_json(std::string_view line, record& into);

// Appends a line with its end.
void write_tsv(std::string& to, std::string_view key, std::string_view value);
// False: the entry is not UTF-8, and nothing was appended.
bool write_json(std::string& to, std::string_view key, std::string_view value);

// A key for a message: printable, and not too long.
std::string shown(std::string_view key);

} // namespace store
