// SPDX-License-Identifier: Apache-2.0
// says alone: a snapshot copies every key and value: this type cannot be copied; use visit_all
#include <memory>

#include <cubby/map.hpp>

void list(cubby::map<int, std::unique_ptr<int>>& all) { (void)all.snapshot(); }
