// SPDX-License-Identifier: Apache-2.0
// Fuzzes the whole face: bytes become verbs over a table, and std::unordered_map says what each must answer. The first
// byte chooses the engine and the kind of table, the next three its options. Run by libFuzzer with AddressSanitizer and
// UndefinedBehaviorSanitizer: tools/run_tests.py --only fuzz; one input again: cubby_fuzz_face FILE.
#include "play.hpp"

// NOLINTNEXTLINE(readability-identifier-naming): the name is libFuzzer's
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cubby_fuzz;
  static constexpr play_function engines[] = {&play_dlht,    &play_single,       &play_reference,
                                              &play_dramhit, &play_relativistic, &play_tuples};
  input in(data, size);
  const unsigned table = in.byte();
  const choice chosen(in);
  // The last engines came later, for bytes with which no input began that was kept by then: those mean what they meant.
  if (table >= 180 && table <= 185) {
    play_partitioned(chosen, in);
    return 0;
  }
  const bool is_tuples = table >= 171 && table < 180;
  const unsigned engine = table < 160 ? table % 3 : table >= 208 && table < 240 ? 4 : is_tuples ? 5 : 3;
  engines[engine](table / 3 % 3, chosen, in);
  return 0;
}
