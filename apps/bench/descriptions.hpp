// SPDX-License-Identifier: Apache-2.0
// What a reader of the results has to know about an engine: what it is, and whether a workload asks it in batches.
#pragma once

#include <string>
#include <string_view>

#include "result.hpp"

namespace bench {

// One line for each engine, rivals too.
std::string_view description_of(engine_id engine);

// Whether the workload asks the engine for `batch` operations at a time; otherwise it makes single calls.
bool in_batches(engine_id engine, const workload& w, std::size_t batch);
// "batches of 32" or "single calls"; a read section has neither.
std::string calls_of(const result& r);

// The title of a chapter and how its engines are asked: "8-byte keys, in batches of 32".
std::string heading_of(const chapter& c);

} // namespace bench
