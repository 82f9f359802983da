// SPDX-License-Identifier: Apache-2.0
// Fuzzes the whole API: bytes become operations on a table, and std::unordered_map says what each must answer. The first
// byte chooses the engine and the kind of table, the next three its options. Run by libFuzzer with AddressSanitizer and
// UndefinedBehaviorSanitizer: tools/run_tests.py --only fuzz; one input again: cubby_fuzz_api FILE.
#include "../tests/engine_list.hpp"
#include "play.hpp"

namespace cubby_fuzz {

#define CUBBY_PLAYED(engine, ...)                                                                                      \
  template <> void play_engine<cubby::engine>(unsigned kind, const choice& chosen, input& in);
CUBBY_FOR_EACH_ENGINE(CUBBY_PLAYED)
#undef CUBBY_PLAYED

namespace {

#define CUBBY_PLAYED(engine, ...) &play_engine<cubby::engine>,
constexpr play_function every_engine[] = {CUBBY_FOR_EACH_ENGINE(CUBBY_PLAYED)};
#undef CUBBY_PLAYED
constexpr unsigned first_by_number = 192;
constexpr unsigned last_by_number = 200;
static_assert(std::size(every_engine) <= last_by_number - first_by_number + 1, "an engine that no first byte chooses");

/// Bytes from 192 to 200 choose an engine by its number in the list. The others have had their meaning since an input of
/// the kept ones began with them.
play_function engine_of(unsigned byte) {
  if (byte >= first_by_number && byte <= last_by_number)
    return every_engine[(byte - first_by_number) % std::size(every_engine)];
  if (byte < 160) {
    constexpr play_function first[] = {&play_engine<cubby::dlht>, &play_engine<cubby::dlht_single>,
                                       &play_engine<cubby::reference>};
    return first[byte % 3];
  }
  if (byte >= 171 && byte < 180) return &play_engine<cubby::dramhit_tuples>;
  if (byte >= 180 && byte <= 185) return &play_engine<cubby::partitioned>;
  if (byte >= 208 && byte < 240) return &play_engine<cubby::relativistic>;
  return &play_engine<cubby::dramhit>;
}

} // namespace
} // namespace cubby_fuzz

// NOLINTNEXTLINE(readability-identifier-naming): the name is libFuzzer's
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cubby_fuzz;
  input in(data, size);
  const unsigned table = in.byte();
  const choice chosen(in);
  engine_of(table)(table / 3 % 3, chosen, in);
  return 0;
}
