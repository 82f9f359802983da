// SPDX-License-Identifier: Apache-2.0
// says alone: merge copies each value, and this type cannot be copied
#include <memory>

#include <cubby/map.hpp>

using owners = cubby::map<int, std::unique_ptr<int>>;
std::size_t join(owners& all, owners& others) { return all.merge(others); }
