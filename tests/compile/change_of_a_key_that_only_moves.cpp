// SPDX-License-Identifier: Apache-2.0
// says: this call stores a copy of the key, and keys of this type only move
#include <memory>

#include <cubby/map.hpp>

bool change(cubby::map<std::unique_ptr<int>, int>& all, const std::unique_ptr<int>& key) { return all.assign(key, 2); }
