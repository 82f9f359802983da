// SPDX-License-Identifier: Apache-2.0
// What does not depend on the table.
#include "crash/rig.hpp"

#include <cstdio>

namespace cubby_test::crash {

namespace {

/// Says at the end of the program how much was tried.
class teller final : public ::testing::EmptyTestEventListener {
public:
  void OnTestProgramEnd(const ::testing::UnitTest&) override {
    const tally& t = tried();
    std::printf("crash states: %llu of %llu moments, %llu of them in all states; %llu of %llu recoveries cut short\n",
                static_cast<unsigned long long>(t.states), static_cast<unsigned long long>(t.moments),
                static_cast<unsigned long long>(t.whole), static_cast<unsigned long long>(t.cut_recoveries),
                static_cast<unsigned long long>(t.recoveries));
  }
};
const bool told = [] {
  ::testing::UnitTest::GetInstance()->listeners().Append(new teller);
  return true;
}();

} // namespace

tally& tried() {
  static tally all;
  return all;
}

std::string describe(const call& c) {
  static constexpr const char* names[] = {"find", "insert", "assign", "update", "modify", "insert_or_assign", "erase"};
  return std::string(names[static_cast<std::size_t>(c.what)]) + "(" + std::to_string(c.key) + ", " +
         std::to_string(c.value) + ")";
}

} // namespace cubby_test::crash
