// SPDX-License-Identifier: Apache-2.0
// The engine below a table, for tests and benches that speak to it in words. Programs do not use it.
#pragma once

namespace cubby::inline v0::detail {

struct engine_access {
  template <class Table> [[nodiscard]] static auto& of(const Table& table) noexcept { return table.engine_; }
};

} // namespace cubby::inline v0::detail
