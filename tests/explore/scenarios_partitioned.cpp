// SPDX-License-Identifier: Apache-2.0
// Scenarios of a partitioned table whose writes are carried out by the thread that waits. There are writes of one key from several
// queues, lookups meanwhile, partitions that are rebuilt under them, and handles that come and go. One thread at a time writes to a
// partition.
#include "explore/parts.hpp"
#include "explore/scenarios.hpp"

namespace cubby_test {
namespace {

constexpr std::uint64_t far = key_at(0x8000, 1); ///< in the second of two partitions
constexpr std::uint64_t for_larger = 60;         ///< entries that no first array has space for

call group(std::vector<call> inner) { return {act::execute, 0, 0, std::move(inner)}; }
call newcomer(std::vector<call> inner) { return {act::newcomer, 0, 0, std::move(inner)}; }
call lookups(const std::vector<std::uint64_t>& keys) {
  call c{act::find_batch, 0, 0, {}};
  for (const std::uint64_t key : keys) c.inner.push_back({act::find, key});
  return c;
}

/// What a thread does to a key, or asks of it.
std::vector<call> about(std::uint64_t key, std::uint64_t value) {
  return {{act::find, key},
          {act::insert_or_assign, key, value},
          {act::erase, key},
          {act::add, key, value},
          group({{act::insert_or_assign, key, value}, {act::erase, key}}),
          group({{act::erase, key}, {act::find, key}, {act::add, key, value}}),
          lookups({key, far})};
}

scenario of_partitions(std::size_t partitions, script before) {
  scenario s = tiny(table_kind::partitioned, std::move(before));
  s.options.partitions = partitions;
  s.still = {{key_at(0x3000, 9), 49}, {key_at(0xb000, 9), 49}}; // in lines of their own; a scan has to show them
  return s;
}

/// So many slots of 64 that are not empty crowd a partition; with fewer live ones than so many it is rebuilt at its size.
constexpr unsigned crowding = 52, growing = 26;

/// One partition whose next insert of a new key rebuilds it: larger, or, when the dead crowd it, at its size.
scenario crowded(bool by_the_dead, bool present) {
  scenario s = of_partitions(1, present ? script{{act::insert_or_assign, k1, 5}} : script{});
  for (std::uint64_t n = s.still.size(); n < growing && !by_the_dead; ++n)
    s.still.emplace_back(key_at((2 + n % 12) << 12, 20 + n), 50);
  s.gone = crowding - static_cast<unsigned>(s.still.size() + s.before.size());
  s.resizes = 1;
  return s;
}

} // namespace

std::vector<scenario> partitioned_writes() {
  std::vector<scenario> all;
  for (const std::uint64_t key : {k1, std::uint64_t{1}}) { // the key 1 lives beside the array
    const auto one = about(key, 6), other = about(key, 7);
    for (std::size_t a = 1; a < one.size(); ++a) {
      for (std::size_t b = 0; b <= a; ++b) {
        for (const bool present : {false, true}) {
          scenario s = of_partitions(2, present ? script{{act::insert_or_assign, key, 5}} : script{});
          s.threads = {{one[a], {act::find, key}}, {other[b], {act::find, key}}};
          add(all, "writes", std::move(s));
        }
      }
    }
  }
  const std::vector<std::vector<script>> casts = {
      {{{act::add, k1, 6}}, {{act::add, k1, 7}}, {{act::find, k1}, {act::find, k1}}},
      {{{act::insert_or_assign, k1, 6}}, {{act::erase, k1}, {act::add, k1, 7}}, {{act::find, k1}, {act::find, k1}}},
      {{group({{act::add, k1, 6}, {act::add, far, 6}})},
       {group({{act::erase, far}, {act::erase, k1}})},
       {lookups({k1, far})}},
      {{{act::insert_or_assign, k1, 6}}, {{act::insert_or_assign, k2, 7}}, {{act::erase, k1}}, {{act::scan}}},
  };
  for (const auto& cast : casts) {
    for (const bool present : {false, true}) {
      scenario s = of_partitions(2, present ? script{{act::insert_or_assign, k1, 5}} : script{});
      s.threads = cast;
      add(all, "writes, crowd", std::move(s));
    }
  }
  return all;
}

std::vector<scenario> partitioned_rebuilds() {
  std::vector<scenario> all;
  for (const bool present : {false, true}) {
    auto beside = about(k1, 1);
    beside.push_back({act::scan});
    for (const call& one : beside) {
      for (const bool by_the_dead : {false, true}) {
        scenario s = crowded(by_the_dead, present);
        s.threads = {{one, {act::find, k1}}, {{act::insert_or_assign, k3, 7}, {act::find, k1}}};
        add(all, by_the_dead ? "rebuild" : "grow", std::move(s));
      }
      scenario s = of_partitions(2, present ? script{{act::insert_or_assign, k1, 5}} : script{});
      s.resizes = 2;
      s.threads = {{one, {act::find, k1}}, {{act::reserve, 0, for_larger}, {act::find, far}}};
      add(all, "reserve", s);
      s.resizes = 4;
      s.threads[1] = {{act::reserve, 0, for_larger}, {act::shrink}};
      add(all, "there and back", std::move(s));
    }
  }
  scenario s = crowded(false, true);
  s.threads = {{{act::insert_or_assign, k3, 6}}, {{act::add, k1, 7}}, {{act::find, k1}, {act::scan}}};
  add(all, "grow, crowd", s);
  s.threads = {{{act::insert_or_assign, k3, 6}}, {{act::reserve, 0, for_larger}}, {{act::erase, k1}, {act::find, k3}}};
  add(all, "grow, crowd", std::move(s));
  return all;
}

std::vector<scenario> partitioned_newcomers() {
  std::vector<scenario> all;
  const std::vector<std::vector<script>> casts = {
      {{newcomer({{act::add, k1, 6}}), {act::find, k1}}, {newcomer({{act::add, k1, 7}}), {act::find, k1}}},
      {{newcomer({{act::insert_or_assign, k1, 6}}), newcomer({{act::add, k1, 1}})}, {newcomer({{act::erase, k1}})}},
      {{newcomer({{act::insert_or_assign, k1, 6}, {act::add, far, 6}})}, {{act::add, k1, 7}, {act::find, far}}},
      {{newcomer({{act::add, k1, 6}})}, {newcomer({{act::add, k1, 7}})}, {{act::add, k1, 8}, {act::find, k1}}},
  };
  for (const auto& cast : casts) {
    for (const bool present : {false, true}) {
      scenario s = of_partitions(2, present ? script{{act::insert_or_assign, k1, 5}} : script{});
      s.threads = cast;
      add(all, "newcomers", s);
      s.before.push_back(newcomer({{act::add, far, 5}})); // its queues are there to be taken
      add(all, "newcomers", std::move(s));
    }
  }
  return all;
}

} // namespace cubby_test
