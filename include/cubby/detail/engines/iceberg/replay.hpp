// SPDX-License-Identifier: Apache-2.0
// After a power cut, and after the recovery of the pages: carries out the changes of the log, in their order. Each is one that an operation
// could make, and sets a key to what it was, so that a crash meanwhile changes nothing.
#pragma once

#include <cstring>
#include <string_view>

#include <cubby/detail/engines/iceberg/mutate.hpp>
#include <cubby/detail/engines/iceberg/settle.hpp>
#include <cubby/detail/platform/fail.hpp>

namespace cubby::inline v0::detail::engines::iceberg {

/// A change of the log as the words of a slot. The key of a record is asked by its bytes, and its value made of them when it is needed.
template <durable Policy> struct logged_words {
  typename Policy::stored_key key{};
  typename Policy::stored_value value{};
  /// False: it cannot be one of this table.
  bool read(std::string_view key_bytes, std::string_view value_bytes, bool has_value) noexcept {
    const std::string_view mine = bytes_of_words(value);
    if (key_bytes.size() != bytes_of_words(key).size()) return false;
    if (value_bytes.size() != (has_value ? mine.size() : 0)) return false;
    std::memcpy(static_cast<void*>(&key), key_bytes.data(), key_bytes.size());
    if (!value_bytes.empty()) std::memcpy(static_cast<void*>(&value), value_bytes.data(), value_bytes.size());
    return true;
  }
};

template <durable Policy, class Probe>
void replay_erase(table<Policy>& t, const thread_record& who, const Probe& p) {
  const auto erase = [](const auto&) { return decision_as<typename Policy::stored_value>{action::erase, {}}; };
  const auto gone = mutate(t, who, p, erase);
  if constexpr (Policy::in_records) {
    if (gone.found) t.bag.add(who, gone.before);
  }
}
/// `make()` gives the value word, once. False: no space.
template <durable Policy, class Probe, class Make>
bool replay_put(table<Policy>& t, const thread_record& who, const Probe& p, Make make) {
  typename Policy::stored_value word{};
  if (!make(word)) return false;
  const auto assign = [&](const auto&) { return decision_as<typename Policy::stored_value>{action::replace, word}; };
  if (const auto old = mutate(t, who, p, assign); old.found) {
    if constexpr (Policy::in_records) t.bag.add(who, old.before);
    return true;
  }
  const bool done = insert(t, who, p, word).outcome == insert_outcome::inserted;
  if constexpr (Policy::in_records) {
    if (!done) t.policy.dispose(word);
  }
  return done;
}
/// Carries one change out. False: no space.
template <durable Policy>
bool replay(table<Policy>& t, const thread_record& who, pool_layout::log_kind kind, std::string_view key,
            std::string_view value) {
  const bool puts = kind == pool_layout::log_kind::put;
  if constexpr (Policy::in_records) {
    if (puts ? !Policy::can_be(key, value) : !Policy::can_be_key(key)) return true;
    const auto p = t.policy.probe_of_bytes(key);
    if (!puts) {
      replay_erase(t, who, p);
      return true;
    }
    const auto seen = find_anywhere(t, p);
    if (seen.where != nullptr && t.policy.value_bytes(seen.value) == value) return true;
    return replay_put(t, who, p, [&](std::uint64_t& word) {
      const auto made = t.policy.make_of_bytes(p, value);
      word = made.word;
      return made.ok;
    });
  } else {
    logged_words<Policy> words;
    if (!words.read(key, value, puts)) return true;
    const auto p = t.policy.probe_of_slot(words.key, words.value);
    if (puts) {
      return replay_put(t, who, p, [&](auto& word) {
        word = words.value;
        return true;
      });
    }
    replay_erase(t, who, p);
    return true;
  }
}

/// Carries out what the log has. False: no memory, or no disk space.
template <durable Policy> bool replay_log(table<Policy>& t, thread_record& who) noexcept {
  const pool& home = t.policy.home();
  if (!home.was_power_cut()) return true;
  std::uint64_t& count = t.policy.shared().report.logged;
  bool done = false;
  const bool no_exception = fail::attempt([&] {
    const thread_pin stay(who);
    done = for_each_logged(home, [&](pool_layout::log_kind kind, std::string_view key, std::string_view value) {
      ++count;
      return replay(t, who, kind, key, value);
    });
  });
  return no_exception && done;
}

} // namespace cubby::inline v0::detail::engines::iceberg
