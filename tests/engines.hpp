// SPDX-License-Identifier: Apache-2.0
// The engines and the modes that the suite runs over. A new engine is added here, and its capabilities decide which of
// the tests it takes part in.
#pragma once

#include <gtest/gtest.h>

#include <cubby/engine/reference/reference.hpp>
#include <cubby/engine/relativistic/relativistic.hpp>
#include <cubby/map.hpp>
#include <cubby/set.hpp>

#include "support/modes.hpp"

namespace cubby_test {

/// Whether an engine claims something: `claims<Mode>(&cubby::capability_set::snapshot)`.
template <class Mode>
constexpr bool claims(bool cubby::capability_set::* what) {
  return Mode::map::capabilities.*what;
}

using every_mode =
    ::testing::Types<word_mode<cubby::reference>, named_text_mode<cubby::reference>, word_mode<cubby::dlht>,
                     text_mode<cubby::dlht>, wide_mode<cubby::dlht>, named_mode<cubby::dlht>,
                     word_mode<cubby::dlht_single>, text_mode<cubby::dlht_single>, word_mode<cubby::relativistic>,
                     text_mode<cubby::relativistic>>;

/// Words in slots, and strings with namespaces in records: the two ends of what the modes ask of an engine.
using main_modes = ::testing::Types<word_mode<cubby::reference>, named_text_mode<cubby::reference>,
                                    word_mode<cubby::dlht>, named_text_mode<cubby::dlht>, word_mode<cubby::dlht_single>,
                                    word_mode<cubby::relativistic>, named_text_mode<cubby::relativistic>>;

/// For tests with threads: words in slots and records, over every engine that threads may share. `reference` locks for
/// both alike, so one will do.
using shared_modes = ::testing::Types<word_mode<cubby::reference>, word_mode<cubby::dlht>, text_mode<cubby::dlht>,
                                      word_mode<cubby::relativistic>, text_mode<cubby::relativistic>>;

using every_engine = ::testing::Types<cubby::reference, cubby::dlht, cubby::dlht_single, cubby::relativistic>;
using shared_engines = ::testing::Types<cubby::reference, cubby::dlht, cubby::relativistic>;

/// A table so small that overflow and growth happen within a few inserts, one bin at a time.
inline cubby::options tiny_options(cubby::growth_policy growth = cubby::growth_policy::incremental) {
  cubby::options o;
  o.capacity = 1;
  o.growth = growth;
  o.shrink = cubby::shrink_policy::manual;
  o.chunk_bins = 1;
  o.move_bins = 1;
  o.growth_factor = 2;
  return o;
}

inline constexpr cubby::growth_policy growing_policies[] = {
    cubby::growth_policy::cooperative, cubby::growth_policy::incremental, cubby::growth_policy::background};

} // namespace cubby_test
