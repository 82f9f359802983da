// SPDX-License-Identifier: Apache-2.0
// `cubby_counting --table` and `--json` print the counts, `--transfers` how lines change hands between cores; without
// any of them, the gates are run as tests. The stored expectation is renewed by `tools/renew_baselines.py counting`.
#include <cstdio>
#include <cstring>

#include <gtest/gtest.h>

#include "counting/cases.hpp"
#include "counting/transfers.hpp"

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "--json") == 0) {
    std::fputs(cubby_counting::as_json(cubby_counting::count_all()).c_str(), stdout);
    return 0;
  }
  if (argc == 2 && std::strcmp(argv[1], "--table") == 0) {
    std::fputs(cubby_counting::as_table(cubby_counting::count_all()).c_str(), stdout);
    return 0;
  }
  if (argc == 2 && std::strcmp(argv[1], "--transfers") == 0) {
    std::fputs(cubby_counting::transfers_table().c_str(), stdout);
    return 0;
  }
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
