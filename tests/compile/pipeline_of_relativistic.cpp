// SPDX-License-Identifier: Apache-2.0
// says alone: this engine has no pipeline; cubby::dramhit and cubby::dramhit_tuples do
#include <cubby/map.hpp>
#include <cubby/pipeline.hpp>
#include <cubby/relativistic.hpp>

void ask(cubby::map<int, int, cubby::relativistic>& all) { (void)all.handle().pipeline(); }
