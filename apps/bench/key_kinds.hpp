// SPDX-License-Identifier: Apache-2.0
// From the sizes of a run to the types of its keys.
#pragma once

#include <cstddef>
#include <memory>

#include "keys.hpp"
#include "options.hpp"
#include "streams.hpp"

namespace bench {

std::unique_ptr<key_source> make_keys(const run_spec& spec, std::size_t key_size, std::size_t keys);
// The streams of `order`; 0 operations stands for as many as keep the caches from holding them.
std::unique_ptr<op_streams> make_ops(const key_source& keys, bool text, std::size_t key_size, stream_order order);

} // namespace bench
