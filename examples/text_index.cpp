// SPDX-License-Identifier: Apache-2.0
// An index with text keys: how often each word was read. Words of up to 23 bytes lie in the table beside their counts. Lookups take a
// `std::string_view`, so they make no string. References to counts stay valid while other words come and go.
#include <cubby/iceberg.hpp>
#include <cubby/map.hpp>

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

using word_index = cubby::map<std::string, std::uint64_t, cubby::iceberg>;
static_assert(word_index::mode == cubby::storage_mode::texts, "the words lie in the slots of the table");

constexpr std::uint64_t words = 5'000;
constexpr std::uint64_t threads = 4;

/// Every tenth word is too long for a slot, and lies in a record.
std::string word_number(std::uint64_t n) {
  return (n % 10 == 0 ? "a word that is longer than a slot " : "word ") + std::to_string(n);
}

/// Counts each word of a text whose words are separated by commas.
void count_words(word_index& index, std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = text.find(',');
    index.insert_or_add(text.substr(0, end), 1);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
}

/// While other words are inserted and erased, the counts stay where they are. The table has space, so it does not grow meanwhile.
bool references_stay(word_index& index) {
  auto h = index.handle();
  std::vector<const std::uint64_t*> counts;
  for (std::uint64_t n = 0; n < words; ++n) counts.push_back(h.find_ref(word_number(n)));
  std::thread other([&index] {
    for (std::uint64_t n = words; n < 2 * words; ++n) index.insert(word_number(n), 0);
    for (std::uint64_t n = words; n < 2 * words; ++n) index.erase(word_number(n));
  });
  bool right = true;
  for (const std::uint64_t* const count : counts) right = right && count != nullptr && *count == threads;
  other.join();
  for (std::uint64_t n = 0; n < words; ++n) right = right && h.find_ref(word_number(n)) == counts[n];
  h.unpin(); // the references end here
  return right;
}

} // namespace

int main() {
  std::string text;
  for (std::uint64_t n = 0; n < words; ++n) text += word_number(n) + ',';
  word_index::options_type o;
  o.capacity = 2 * words; // no growth, so that no entry moves
  word_index index(o);
  std::vector<std::thread> readers;
  for (std::uint64_t i = 0; i < threads; ++i) readers.emplace_back([&] { count_words(index, text); });
  for (auto& one : readers) one.join();

  bool right = index.size() == words && !index.contains(std::string_view("no such word"));
  for (std::uint64_t n = 0; n < words; ++n) right = right && index.find(std::string_view(word_number(n))) == threads;
  right = right && references_stay(index) && index.size() == words && index.stats().growths == 0;
  std::printf("%zu words, each read %llu times\n", index.size(), static_cast<unsigned long long>(threads));
  return right ? 0 : 1;
}
