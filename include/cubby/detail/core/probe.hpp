// SPDX-License-Identifier: Apache-2.0
// The hashed key (probe) with which a table is called. The codec makes it from a key, and each engine understands it.
#pragma once

#include <cstdint>

#include <cubby/detail/platform/cpu.hpp>

namespace cubby::inline v0 {

namespace detail {

/// `hash` chooses the bin; `word` is compared with the key words of slots. The probe of a policy with records adds the whole key,
/// because equal words do not prove equal keys there. It has no initial values, because batches hold many probes on the stack.
struct word_probe {
  std::uint64_t hash;
  std::uint64_t word;
};

} // namespace detail

/// How a hash chooses a bin: by the high bits of a product, which needs a mixed hash, or by the remainder (DLHT section 3.4.3).
enum class bin_mapping : std::uint8_t { fastrange, modulo };

} // namespace cubby::inline v0
