// SPDX-License-Identifier: Apache-2.0
// Counts the words of a file with two threads: word_count FILE. Words of up to 8 bytes live in the table itself.
// Exits with 0 when a single-threaded std::map agrees with every count.
#include <cubby/map.hpp>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

// The words of `text` are its runs of letters.
template <class Take> void each_word(std::string_view text, Take take) {
  const auto is_letter = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; };
  for (auto at = text.begin(); at != text.end();) {
    const auto first = std::find_if(at, text.end(), is_letter);
    at = std::find_if_not(first, text.end(), is_letter);
    if (first != at) take(std::string_view(&*first, static_cast<std::size_t>(at - first)));
  }
}

// Empty where nothing can be read.
std::string read(const char* path) try {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
} catch (const std::ios_base::failure&) {
  return {}; // a folder can be opened, and not be read
}

} // namespace

int main(int count, char** arguments) {
  if (count != 2) {
    std::fprintf(stderr, "usage: word_count FILE\n");
    return 2;
  }
  const char* const path = arguments[1];
  const std::string text = read(path);
  if (text.empty()) {
    std::fprintf(stderr, "word_count: cannot read %s, or it is empty\n", path);
    return 2;
  }
  std::size_t half = text.size() / 2;
  while (half < text.size() && std::isalpha(static_cast<unsigned char>(text[half])) != 0) ++half;

  cubby::map<std::string, std::uint64_t> counts;
  const auto work = [&counts](std::string_view part) {
    each_word(part, [&counts](std::string_view word) { counts.insert_or_add(word, 1); });
  };
  std::thread other(work, std::string_view(text).substr(half));
  work(std::string_view(text).substr(0, half));
  other.join();

  auto all = counts.snapshot();
  std::vector<std::pair<std::string, std::uint64_t>> top(all.begin(), all.end());
  std::sort(top.begin(), top.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  for (std::size_t i = 0; i < top.size() && i < 10; ++i) {
    std::printf("%8llu %s\n", static_cast<unsigned long long>(top[i].second), top[i].first.c_str());
  }

  std::map<std::string, std::uint64_t> expected;
  each_word(text, [&expected](std::string_view word) { ++expected[std::string(word)]; });
  std::sort(top.begin(), top.end());
  return std::equal(top.begin(), top.end(), expected.begin(), expected.end(),
                    [](const auto& a, const auto& b) { return a.first == b.first && a.second == b.second; })
             ? 0
             : 1;
}
