// SPDX-License-Identifier: Apache-2.0
// Access to the engine of a table, for tests and benches that use its words. Programs do not use it.
#pragma once

namespace cubby::inline v0::detail {

struct engine_access {
  template <class Table> [[nodiscard]] static auto& of(const Table& table) noexcept { return table.engine_; }
};

} // namespace cubby::inline v0::detail
