// SPDX-License-Identifier: Apache-2.0
// A binary that is built with replaced_new.cpp has its global allocation functions over malloc, and defines these three.
#pragma once

#include <cstddef>

namespace cubby_test {

/// Asked before each allocation: true, and there is no memory for it.
bool refuse_block();
/// A block of so many bytes has been taken.
void block_taken(void* at, std::size_t bytes);
/// A block is about to be freed.
void block_given(void* at);

} // namespace cubby_test
