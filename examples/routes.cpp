// SPDX-License-Identifier: Apache-2.0
// A routing table that is read for every packet and rarely changed. Readers never wait, neither for the writer nor while the
// table grows and shrinks. An entry that a reader refers to stays unchanged until the reader unpins it.
#include <cubby/map.hpp>
#include <cubby/relativistic.hpp>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace {

struct route {
  std::string gateway;
  std::uint32_t metric = 0;
};
using routing_table = cubby::map<std::uint64_t, route, cubby::relativistic>;

constexpr std::uint32_t home = 10u << 24; // 10.0.0.0
constexpr std::uint32_t networks = 40000;
constexpr std::uint32_t rounds = 5;

std::uint64_t prefix(std::uint32_t address, unsigned length) {
  return std::uint64_t{address >> (32 - length)} << 8 | length;
}
route route_number(std::uint32_t n) { return {"gateway " + std::to_string(n), n}; }
bool is_whole(const route& r) { return r.gateway == route_number(r.metric).gateway; }

/// The longest prefix that is known.
const route* find_route(routing_table::handle_type& table, std::uint32_t address) {
  for (const unsigned length : {24u, 16u, 8u}) {
    if (const route* const found = table.find_ref(prefix(address, length))) return found;
  }
  return nullptr;
}

struct tally {
  std::uint64_t packets = 0;
  std::uint64_t lost = 0;
};

void forward(routing_table& table, const std::atomic<bool>& ends, tally& mine) {
  auto h = table.handle();
  for (std::uint32_t n = 0; n < 1000 || !ends.load(); ++n) {
    const route* const r = find_route(h, home + n * 2654435761u % (1u << 24));
    ++mine.packets;
    if (r == nullptr || !is_whole(*r)) ++mine.lost;
    h.unpin(); // after each packet: no resize ends while a reader is pinned
  }
}

/// All networks get routes, the route of 10.0.0.0/8 changes, and all routes are removed again.
void change(routing_table& table, std::uint32_t round) {
  for (std::uint32_t n = 0; n < networks; ++n) table.insert(prefix(home + (n << 8), 24), route_number(n));
  table.assign(prefix(home, 8), route_number(round));
  for (std::uint32_t n = 0; n < networks; ++n) table.erase(prefix(home + (n << 8), 24));
}

/// A reference outlives a growth, its own route's change, and a shrink.
bool keeps_what_it_refers_to(routing_table& table) {
  auto h = table.handle();
  const route* const kept = h.find_ref(prefix(home, 8));
  for (std::uint32_t n = 0; n < 1000; ++n) table.insert(prefix(n << 16, 16), route_number(n));
  table.assign(prefix(home, 8), route_number(7));
  for (std::uint32_t n = 0; n < 1000; ++n) table.erase(prefix(n << 16, 16));
  const bool changed = h.find_ref(prefix(home, 8))->metric == 7;
  return changed && kept->metric == 0 && is_whole(*kept);
}

} // namespace

int main() {
  routing_table table(cubby::options{.shrink = cubby::shrink_policy::automatic});
  table.insert(prefix(home, 8), route_number(0));
  const std::size_t at_first = table.capacity();
  if (!keeps_what_it_refers_to(table)) return 1;

  std::atomic<bool> ends = false;
  std::vector<tally> tallies(3);
  std::vector<std::thread> readers;
  for (auto& mine : tallies) readers.emplace_back(forward, std::ref(table), std::cref(ends), std::ref(mine));
  for (std::uint32_t round = 1; round <= rounds; ++round) change(table, round);
  ends.store(true);
  for (auto& one : readers) one.join();

  tally all;
  for (const tally& one : tallies) all = {all.packets + one.packets, all.lost + one.lost};
  const bool shrunk = table.shrink_to_fit() && table.capacity() == at_first;
  const auto stats = table.stats();
  std::printf("%llu packets, %llu lost, beside %llu growths and %llu shrinks\n",
              static_cast<unsigned long long>(all.packets), static_cast<unsigned long long>(all.lost),
              static_cast<unsigned long long>(stats.growths), static_cast<unsigned long long>(stats.shrinks));
  const auto last = table.find(prefix(home, 8));
  return all.lost == 0 && stats.growths > 0 && shrunk && table.size() == 1 && last && last->metric == rounds ? 0 : 1;
}
