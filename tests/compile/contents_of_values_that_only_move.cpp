// SPDX-License-Identifier: Apache-2.0
// says: to<C>() copies every key and value, and this type cannot be copied
#include <map>
#include <memory>

#include <cubby/map.hpp>

auto list(const cubby::map<int, std::unique_ptr<int>>& all) { return all.to<std::map<int, std::unique_ptr<int>>>(); }
