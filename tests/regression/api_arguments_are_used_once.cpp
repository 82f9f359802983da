// SPDX-License-Identifier: Apache-2.0
// insert_or_update: the value is built of its arguments once, and so out of what they were, however often the entry comes
// and goes meanwhile. A constructor that takes its argument to pieces would find nothing there the second time.
#include <functional>
#include <type_traits>

#include "engines.hpp"

namespace cubby_test {
namespace {

/// What a value is made of; it can be taken once. `on_taking` runs in the middle of the insert that builds the value.
struct ticket {
  std::uint64_t number = 0;
  std::function<void()> on_taking;
};
std::uint64_t taken(ticket& from) {
  if (from.on_taking) std::exchange(from.on_taking, nullptr)();
  return std::exchange(from.number, torn);
}

/// In the slot, in a tuple of two words, and in a record.
struct small_thread_record {
  std::uint64_t number = 0;
  small_thread_record() = default;
  explicit small_thread_record(ticket&& from) : number(taken(from)) {}
  bool operator==(const small_thread_record&) const = default;
};
struct wide_thread_record : small_thread_record {
  std::uint64_t more = 1;
  wide_thread_record() = default;
  explicit wide_thread_record(ticket&& from) : small_thread_record(std::move(from)) {}
  bool operator==(const wide_thread_record&) const = default;
};
static_assert(cubby::mode_of<std::uint64_t, small_thread_record> == cubby::storage_mode::words);
static_assert(cubby::mode_of<std::uint64_t, wide_thread_record> == cubby::storage_mode::records);

template <class Engine, class ThreadRecord>
struct recorded {
  using map = cubby::map<std::uint64_t, ThreadRecord, Engine>;
  using value = ThreadRecord;
};
template <class Engine>
using both_thread_records =
    ::testing::Types<recorded<Engine, small_thread_record>, recorded<Engine, wide_thread_record>>;
using thread_records = join_over<both_thread_records, every_plain_engine>;

template <class Kind>
class regression_api_arguments : public ::testing::Test {};
TYPED_TEST_SUITE(regression_api_arguments, thread_records);

TYPED_TEST(regression_api_arguments, are_used_once_when_the_entry_comes_and_goes) {
  using value = typename TypeParam::value;
  typename TypeParam::map m(tiny_options());
  const std::uint64_t key = 7;
  unsigned came = 0, went = 0;
  // While the value is built another one comes, so that the insert loses; what is then to be changed goes before it is.
  ticket mine{5, [&] { came += m.insert(key, value()) ? 1u : 0u; }};
  const auto change = [&](const value& old) {
    went += m.erase(key) ? 1u : 0u;
    value other = old; // what does not change is done at once
    ++other.number;
    return other;
  };
  EXPECT_TRUE(m.insert_or_update(key, change, std::move(mine)));
  EXPECT_EQ(came, 1u);
  EXPECT_EQ(went, 1u);
  const auto seen = m.find(key);
  ASSERT_TRUE(seen.has_value());
  EXPECT_EQ(seen->number, 5u);
}

} // namespace
} // namespace cubby_test
