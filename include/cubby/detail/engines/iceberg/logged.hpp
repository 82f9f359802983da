// SPDX-License-Identifier: Apache-2.0
// What a change tells the log of a durable table (docs/format.md, The log), under the lock of its front bucket and before another thread can
// see it. Nothing refuses the change from then on, and it takes no lock that another change may hold while it waits for the log. For a table
// in memory this compiles to nothing.
#pragma once

#include <string_view>

#include <cubby/detail/core/redo_log.hpp>
#include <cubby/detail/engines/iceberg/words.hpp>

namespace cubby::inline v0::detail::engines::iceberg {

/// The words as bytes.
template <class Words> std::string_view bytes_of_words(const Words& words) noexcept {
  return {reinterpret_cast<const char*>(&words), word_count<Words> * sizeof(std::uint64_t)};
}

/// Lives until the change is in the table. Not `wanted`: the log knows the entry already.
template <class Policy> class logged_change {
public:
  CUBBY_ALWAYS_INLINE logged_change(table<Policy>&, front_line&, pool_layout::log_kind,
                                    const typename Policy::stored_key&, const typename Policy::stored_value&,
                                    bool = true) noexcept {}
};
template <durable Policy> class logged_change<Policy> {
  using stored_key = typename Policy::stored_key;
  using stored_value = typename Policy::stored_value;

public:
  CUBBY_ALWAYS_INLINE logged_change(table<Policy>& t, front_line& line, pool_layout::log_kind kind,
                                    const stored_key& key, const stored_value& value, bool wanted = true) noexcept {
    if (wanted && t.policy.shared().log.is_on()) [[unlikely]]
      note(t, line, kind, key, value);
  }
  logged_change(const logged_change&) = delete;
  logged_change& operator=(const logged_change&) = delete;

private:
  CUBBY_OUTLINED void note(table<Policy>& t, const front_line& line, pool_layout::log_kind kind, stored_key key,
                           stored_value value) noexcept {
    const std::uint64_t hint = reinterpret_cast<std::uintptr_t>(&line) / sizeof line;
    const bool has_value = kind == pool_layout::log_kind::put;
    if constexpr (Policy::in_records) {
      entry_.note(t.policy.shared().log, hint, kind, t.policy.key_bytes(value),
                  has_value ? t.policy.value_bytes(value) : std::string_view());
    } else {
      entry_.note(t.policy.shared().log, hint, kind, bytes_of_words(key),
                  has_value ? bytes_of_words(value) : std::string_view());
    }
  }
  redo_log::change entry_;
};

} // namespace cubby::inline v0::detail::engines::iceberg
