// SPDX-License-Identifier: Apache-2.0
// says: a pipeline's requests carry the table's keys, or what a lookup takes
#include <string_view>

#include <cubby/dramhit.hpp>
#include <cubby/map.hpp>
#include <cubby/pipeline.hpp>

void ask(cubby::map<int, int, cubby::dramhit>& all) { (void)all.handle().pipeline<std::string_view>(); }
