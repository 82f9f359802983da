// SPDX-License-Identifier: Apache-2.0
// says alone: a pipeline is made by a handle: auto p = handle.pipeline(sink)
#include <cubby/dramhit.hpp>
#include <cubby/map.hpp>
#include <cubby/pipeline.hpp>

using words = cubby::map<int, int, cubby::dramhit>;
void ask(words& all) { cubby::pipeline<words> pending(all); }
