// SPDX-License-Identifier: Apache-2.0
// key TAB value. A tab, a line end or a backslash in a text is \t, \n, \r or \\. Lines that begin as JSON, gzip or a byte order mark do have a backslash
// in front of that, which is no part of the text.
#include <fmt/core.h>

#include "records.hpp"

namespace store {

namespace {

// What is wrong; empty if nothing is.
std::string take_escapes(std::string_view from, std::string& into) {
  into.clear();
  for (std::size_t at = 0; at < from.size();) {
    const std::size_t next = from.find('\\', at);
    if (next == std::string_view::npos) {
      into.append(from.substr(at));
      break;
    }
    into.append(from.substr(at, next - at));
    const char letter = next + 1 < from.size() ? from[next + 1] : '\0';
    switch (letter) {
    case 't': into.push_back('\t'); break;
    case 'n': into.push_back('\n'); break;
    case 'r': into.push_back('\r'); break;
    case '\\':
    case '{':
    case byte_order_mark.front():
    case gzip_mark.front(): into.push_back(letter); break;
    default: return "a backslash that begins neither \\t, \\n, \\r, \\{ nor \\\\; write a backslash as \\\\";
    }
    at = next + 2;
  }
  return {};
}

void put_escapes(std::string& to, std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t next = text.find_first_of("\t\n\r\\", at);
    if (next == std::string_view::npos) {
      to.append(text.substr(at));
      return;
    }
    to.append(text.substr(at, next - at));
    to.push_back('\\');
    const char letter = text[next];
    to.push_back(letter == '\t' ? 't' : letter == '\n' ? 'n' : letter == '\r' ? 'r' : '\\');
    at = next + 1;
  }
}

// Whatever line is the first one of an input, `load` takes it for TSV, and reads all of its key.
void mask_begin(std::string& to, std::size_t begin) {
  const std::string_view line = std::string_view(to).substr(begin);
  const bool is_mark = line.starts_with(byte_order_mark) || line.starts_with(gzip_mark);
  const std::size_t first = is_mark ? 0 : line.find_first_not_of(" \t");
  if (is_mark || (first != std::string_view::npos && line[first] == '{')) to.insert(begin + first, 1, '\\');
}

} // namespace

std::string read_tsv(std::string_view line, record& into) {
  const std::size_t tab = line.find('\t');
  if (tab == std::string_view::npos) return "no tab between key and value";
  const std::string_view value = line.substr(tab + 1);
  if (value.find('\t') != std::string_view::npos) return "more than one tab; write a tab in a value as \\t";
  std::string wrong = take_escapes(line.substr(0, tab), into.key);
  if (wrong.empty()) wrong = take_escapes(value, into.value);
  return wrong;
}

void write_tsv(std::string& to, std::string_view key, std::string_view value) {
  const std::size_t begin = to.size();
  put_escapes(to, key);
  to.push_back('\t');
  put_escapes(to, value);
  mask_begin(to, begin);
  to.push_back('\n');
}

std::string shown(std::string_view key) {
  std::string out;
  for (const char c : key.substr(0, 40))
    if (c >= ' ' && c <= '~') out.push_back(c);
    else out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  return key.size() > 40 ? out + "..." : out;
}

} // namespace store
