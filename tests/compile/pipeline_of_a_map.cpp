// SPDX-License-Identifier: Apache-2.0
// says alone: a pipeline is made by a handle: auto p = handle.pipeline(sink)
#include <cubby/dramhit.hpp>
#include <cubby/map.hpp>
#include <cubby/pipeline.hpp>

void ask(cubby::map<int, int, cubby::dramhit>& all) { cubby::pipeline pending(all); }
