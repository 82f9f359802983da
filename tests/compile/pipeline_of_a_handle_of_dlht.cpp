// SPDX-License-Identifier: Apache-2.0
// says alone: this engine has no pipeline; cubby::dramhit and cubby::dramhit_tuples do
#include <cubby/map.hpp>
#include <cubby/pipeline.hpp>

void ask(cubby::map<int, int>& all) {
  (void)all.handle().pipeline([](auto&&) {});
}
