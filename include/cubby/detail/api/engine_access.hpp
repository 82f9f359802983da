// SPDX-License-Identifier: Apache-2.0
// Access to the engine of a table or handle, for the parts of the API, and for tests and benches that use its words. Programs do not use it.
#pragma once

#include <cubby/detail/api/operations.hpp>

namespace cubby::inline v0::detail {

struct engine_access {
  template <class Table> [[nodiscard]] static auto& of(const Table& table) noexcept { return table.engine_; }
  /// The file of a durable table.
  template <class Table> [[nodiscard]] static auto& file_of(const Table& table) noexcept { return table.home_->file; }
  /// The engine and the thread record of a call of this table or handle.
  template <class Api> [[nodiscard]] CUBBY_ALWAYS_INLINE static auto context_of(const Api& api) {
    return api.context();
  }
};

} // namespace cubby::inline v0::detail
