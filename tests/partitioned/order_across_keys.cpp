// SPDX-License-Identifier: Apache-2.0
// A.1 across keys, with the moments of A.10. Two threads each write to a partition that they serve, flush, and then look up
// the other's key. At least one sees the other's write. Several writes at a time: the last of them waits longest for its
// line.
#include <cstdint>
#include <vector>

#include "partitioned/ways.hpp"
#include "support/two_keys.hpp"

namespace cubby_test::partitioned_tests {
namespace {

enum class change : std::uint8_t { insert_or_assign_absent, insert_or_assign_present, insert_or_add, erase };
constexpr change every_change[] = {change::insert_or_assign_absent, change::insert_or_assign_present,
                                   change::insert_or_add, change::erase};
constexpr const char* names[] = {"insert_or_assign of an absent key", "insert_or_assign of a present key",
                                 "insert_or_add", "erase"};

constexpr unsigned writes_at_once = 24;

/// So many keys that live in partition `number`.
std::vector<std::uint64_t> keys_in(const map& m, std::size_t number) {
  std::vector<std::uint64_t> keys;
  for (std::uint64_t k = 100; keys.size() < keys_of_a_side * writes_at_once; ++k)
    if (m.partition_of(k) == number) keys.push_back(k);
  return keys;
}

class changer {
public:
  changer(map& m, unsigned me, change mine, change others)
      : handle_(m.handle()), what_(mine), shown_before_(others != change::insert_or_assign_absent),
        mine_(keys_in(m, me)), others_(keys_in(m, 1 - me)) {
    handle_.own(me);
  }
  void prepare(unsigned n) {
    for (unsigned i = 0; i < writes_at_once; ++i) {
      if (what_ == change::insert_or_assign_absent) handle_.erase(mine_[place(n, i)]);
      else handle_.insert_or_assign(mine_[place(n, i)], 1);
    }
    handle_.flush();
  }
  void warm(unsigned n) {
    for (unsigned i = 0; i < writes_at_once; ++i) (void)handle_.find(others_[place(n, i)]);
  }
  void act(unsigned n) {
    for (unsigned i = 0; i < writes_at_once; ++i) {
      const std::uint64_t k = mine_[place(n, i)];
      if (what_ == change::erase) handle_.erase(k);
      else if (what_ == change::insert_or_add) handle_.insert_or_add(k, 1);
      else handle_.insert_or_assign(k, 2);
    }
    handle_.flush();
  }
  bool look(unsigned n) {
    const auto seen = handle_.find(others_[place(n, writes_at_once - 1)]);
    return seen.has_value() == shown_before_ && (!seen || *seen == 1);
  }

private:
  static std::size_t place(unsigned n, unsigned i) { return std::size_t{n} * writes_at_once + i; }

  map::handle_type handle_;
  change what_;
  bool shown_before_;
  std::vector<std::uint64_t> mine_, others_;
};

TEST(partitioned_order_across_keys, one_of_two_owners_sees_what_the_other_has_flushed) {
  for (const change first : every_change) {
    for (const change second : every_change) {
      if (second < first) continue;
      map m(cubby::partitioned::options{{.capacity = 8000}, {.partitions = 2}});
      changer one(m, 0, first, second), two(m, 1, second, first);
      EXPECT_FALSE(both_miss(one, two, scaled(60), std::chrono::milliseconds(scaled(700))))
          << names[static_cast<unsigned>(first)] << " beside " << names[static_cast<unsigned>(second)];
    }
  }
}

} // namespace
} // namespace cubby_test::partitioned_tests
