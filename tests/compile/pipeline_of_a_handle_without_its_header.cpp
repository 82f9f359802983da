// SPDX-License-Identifier: Apache-2.0
// says alone: handle.pipeline needs #include <cubby/pipeline.hpp>
#include <cubby/dramhit.hpp>
#include <cubby/map.hpp>

void ask(cubby::map<int, int, cubby::dramhit>& all) {
  (void)all.handle().pipeline([](auto&&) {});
}
