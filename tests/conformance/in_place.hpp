// SPDX-License-Identifier: Apache-2.0
// An `in_place_map` of texts over each engine that keeps entries in records.
#pragma once

#include <string>
#include <vector>

#include <cubby/in_place_map.hpp>

#include "engines.hpp"

namespace cubby_test {

using numbers = std::vector<std::uint64_t>;
template <class Engine, threads_of Threads> struct texts_of {
  using map = cubby::in_place_map<std::string, numbers, Engine>;
  using engine = Engine;
  static constexpr bool is_shared = Threads == threads_of::shared;
};
template <class Unused, class... Lines> using listed_texts = testing::Types<Lines...>;
#define CUBBY_IN_PLACE_records(engine, threads) , texts_of<cubby::engine, threads_of::threads>
#define CUBBY_IN_PLACE_tuples(engine, threads)
#define CUBBY_IN_PLACE_delegated(engine, threads)
#define CUBBY_IN_PLACE(engine, storage, threads, ...) CUBBY_IN_PLACE_##storage(engine, threads)
using every_table_in_place = listed_texts<void CUBBY_FOR_EACH_ENGINE(CUBBY_IN_PLACE)>;

} // namespace cubby_test
