// SPDX-License-Identifier: Apache-2.0
// An index in memory with a hard bound: which page of a file is in which frame. The table is made for its bound, and more than 95 of
// 100 of its slots are in use when it is full. Then an insert is answered `full`, and the caller makes space and tries again.
#include <cubby/iceberg.hpp>
#include <cubby/map.hpp>

#include <cstdint>
#include <cstdio>
#include <deque>
#include <thread>
#include <vector>

namespace {

using page_index = cubby::map<std::uint64_t, std::uint64_t, cubby::iceberg>;

constexpr std::uint64_t bound = 200'000;
constexpr std::uint64_t threads = 4;
constexpr std::uint64_t pages_of_a_thread = 100'000; // together twice the bound

page_index::options_type options_of_index() {
  page_index::options_type o;
  o.capacity = bound;
  o.growth = cubby::growth_policy::fixed;
  return o;
}

struct tally {
  std::deque<std::uint64_t> kept; // the pages of this thread that are in the index, in the order of their inserts
  std::uint64_t refused = 0;
  bool failed = false;
};

/// Inserts a page. If the index is full, the thread removes its oldest page and tries again; without pages it leaves the new one out.
void insert_page(page_index& index, std::uint64_t page, tally& mine) {
  for (;;) {
    const cubby::outcome how = index.try_insert(page, page * 2);
    if (how == cubby::outcome::inserted) {
      mine.kept.push_back(page);
      return;
    }
    mine.failed = mine.failed || how != cubby::outcome::full;
    ++mine.refused;
    if (mine.failed || mine.kept.empty()) return;
    mine.failed = !index.erase(mine.kept.front());
    mine.kept.pop_front();
  }
}

/// Whether the index has exactly the pages that the thread has kept, of those from `first` on.
bool has_kept_pages(const page_index& index, std::uint64_t first, const tally& one) {
  std::uint64_t found = 0;
  for (std::uint64_t page = first; page < first + pages_of_a_thread; ++page) found += index.contains(page) ? 1 : 0;
  bool right = !one.failed && found == one.kept.size();
  for (const std::uint64_t page : one.kept) right = right && index.find(page) == page * 2;
  return right;
}

} // namespace

int main() {
  page_index index(options_of_index());
  std::vector<tally> tallies(threads);
  std::vector<std::thread> workers;
  for (std::uint64_t i = 0; i < threads; ++i) {
    workers.emplace_back([&index, &mine = tallies[i], i] {
      for (std::uint64_t n = 0; n < pages_of_a_thread; ++n) insert_page(index, i * pages_of_a_thread + n, mine);
    });
  }
  for (auto& one : workers) one.join();

  bool right = true;
  std::uint64_t kept = 0;
  std::uint64_t refused = 0;
  for (std::uint64_t i = 0; i < threads; ++i) {
    right = right && has_kept_pages(index, i * pages_of_a_thread, tallies[i]);
    kept += tallies[i].kept.size();
    refused += tallies[i].refused;
  }
  right = right && index.size() == kept && kept <= bound && refused != 0;
  // The bound is met exactly: as many pages more as the last removals have made space for.
  std::uint64_t page = threads * pages_of_a_thread;
  for (; index.try_insert(page, page * 2) == cubby::outcome::inserted; ++page) ++kept;
  right = right && kept == bound && index.size() == bound;
  const auto figures = index.stats();
  const double load = 100.0 * static_cast<double>(figures.size) / static_cast<double>(figures.capacity);
  std::printf("%zu pages, %.1f %% of the slots in use, %llu inserts refused\n", figures.size, load,
              static_cast<unsigned long long>(refused));
  return right && load >= 95 ? 0 : 1;
}
