// SPDX-License-Identifier: Apache-2.0
// says alone: this engine is for std::string keys without a namespace, beside plain values of at most 40 bytes: take cubby::iceberg for others
#include <string>

#include <cubby/iceberg.hpp>
#include <cubby/map.hpp>

void make_it() { cubby::map<std::string, std::string, cubby::iceberg_wide> m; }
