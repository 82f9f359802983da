// SPDX-License-Identifier: Apache-2.0
// What the two files of the program share.
#pragma once

#include <cubby_all.hpp>

#include <string>

using counts = cubby::map<std::string, int>;

void add_from_second_file(counts& words);
