// SPDX-License-Identifier: Apache-2.0
// The statistics of a table.
#pragma once

#include <cubby/detail/engines/dramhit/table.hpp>

namespace cubby::inline v0::detail::engines::dramhit {

template <class Policy> table_stats stats(const table<Policy>& t) noexcept {
  const std::size_t words = t.bag.waiting();
  auto out = arrays::figures_of<table_stats>(t);
  out.retired += words;
  return out;
}

} // namespace cubby::inline v0::detail::engines::dramhit
