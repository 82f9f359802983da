// SPDX-License-Identifier: Apache-2.0
// says alone: write cubby::pipeline<map_type::engine_type>, or cubby::pipeline p(map)
#include <cubby/dramhit.hpp>
#include <cubby/map.hpp>
#include <cubby/pipeline.hpp>

using words = cubby::map<int, int, cubby::dramhit>;
void ask(words& all) { cubby::pipeline<words> pending(all); }
