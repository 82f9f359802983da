// SPDX-License-Identifier: Apache-2.0
// says: a pipeline's sink is called with each answer: sink(reply<value type>&&)
#include <cubby/dramhit.hpp>
#include <cubby/map.hpp>
#include <cubby/pipeline.hpp>

void ask(cubby::map<int, int, cubby::dramhit>& all) {
  auto p = all.handle().pipeline([](int) {});
  p.drain();
}
