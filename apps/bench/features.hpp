// SPDX-License-Identifier: Apache-2.0
// The engines of the paper's figure 14: `dlht` with one feature switched on, or with that one and all before it. They
// are engines like others, so that a run takes turns among them.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string_view>

#include "table.hpp"

namespace bench {

// In the order in which the paper stacks them (section 5.2.5).
enum feature : unsigned {
  resizing = 1,      // may grow: growth_policy::incremental instead of fixed
  hashing = 2,       // bins by the mixer instead of the key modulo their number
  sized_values = 4,  // values are strings instead of 32 bytes in the record
  sized_keys = 8,    // keys are bytes with a size instead of words
  namespaces = 16,   // keys have a namespace
  system_malloc = 32 // records come from malloc instead of the arena
};

struct feature_engine {
  std::string_view name;  // of the engine
  std::string_view label; // on a plot
  unsigned features;      // of enum feature
  constexpr bool stacked() const { return (features & (features - 1)) != 0; }
};

inline constexpr std::array<feature_engine, 12> feature_engines = {{
    {"dlht-default", "default", 0},
    {"dlht-resizing", "resizing", resizing},
    {"dlht-hashing", "hashing", hashing},
    {"dlht-value-sizes", "values", sized_values},
    {"dlht-key-sizes", "keys", sized_keys},
    {"dlht-namespaces", "spaces", namespaces},
    {"dlht-malloc", "malloc", system_malloc},
    {"dlht-to-hashing", "hashing", 2 * hashing - 1},
    {"dlht-to-value-sizes", "values", 2 * sized_values - 1},
    {"dlht-to-key-sizes", "keys", 2 * sized_keys - 1},
    {"dlht-to-namespaces", "spaces", 2 * namespaces - 1},
    {"dlht-to-malloc", "malloc", 2 * system_malloc - 1},
}};
static_assert(feature_engines.size() == feature_engine_count);

// All of them at once, in a list of engines.
inline constexpr std::string_view all_feature_engines = "dlht-features";
// The only size of values that they are built for; the paper's choice.
inline constexpr std::size_t feature_value_size = 32;

inline bool is_feature_engine(engine_id e) { return static_cast<std::size_t>(e) >= named_engine_count; }
inline const feature_engine& feature_engine_of(engine_id e) {
  return feature_engines[static_cast<std::size_t>(e) - named_engine_count];
}
inline engine_id feature_engine_id(std::size_t index) { return static_cast<engine_id>(named_engine_count + index); }

std::unique_ptr<table> make_dlht_with_features(const table_spec& spec);

} // namespace bench
