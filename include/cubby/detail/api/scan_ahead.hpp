// SPDX-License-Identifier: Apache-2.0
// Scans of tables whose entries lie outside the index. What the index leads to is anywhere in memory, so a scan that read it at once would wait
// for each entry. Here an entry is prefetched when the scan meets it, and shown when some others have been met.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <cubby/detail/api/operations.hpp>
#include <cubby/detail/core/contract/codec.hpp>
#include <cubby/detail/core/epoch.hpp>
#include <cubby/detail/platform/prefetch.hpp>

namespace cubby::inline v0::detail {

enum class scan_to : std::uint8_t {
  show,
  erase ///< most records will be retired, so their links are asked for as well
};
template <scan_to What, class Codec, class Key, class Value>
CUBBY_ALWAYS_INLINE void prefetch_entry(const Codec& codec, const Key& key, const Value& value) noexcept {
  if constexpr (!Codec::in_records) codec.prefetch_text_of(key);
  else if constexpr (What == scan_to::erase && plain_links<Codec>) prefetch_retired(codec, value);
  else prefetch_line(codec.record_of(value));
}

/// Shows `f` the entries that it is called with, each when `distance` others have come, and the last ones of a part at its end. All of it inside
/// one pin, which keeps the records. An entry that is erased or replaced meanwhile may be shown as it was.
template <scan_to What, class Codec, class F> class shown_later {
  struct words {
    typename Codec::stored_key key;
    typename Codec::stored_value value;
  };

public:
  shown_later(const Codec& codec, F& f) noexcept : codec_(codec), f_(f) {}
  shown_later(const shown_later&) = delete;
  shown_later& operator=(const shown_later&) = delete;
  ~shown_later() = default;

  void operator()(const typename Codec::stored_key& key, const typename Codec::stored_value& value) {
    prefetch_entry<What>(codec_, key, value);
    words& place = waiting_[met_ % distance];
    const bool is_full = met_++ >= distance;
    const words first = place;
    place = {key, value};
    if (is_full) f_(first.key, first.value);
  }
  void end_part() {
    for (std::size_t i = met_ > distance ? met_ - distance : 0; i < met_; ++i)
      f_(waiting_[i % distance].key, waiting_[i % distance].value);
    met_ = 0;
  }

private:
  static constexpr std::size_t distance = 16;
  const Codec& codec_;
  F& f_;
  std::size_t met_ = 0;
  words waiting_[distance]{};
};

/// What engines are given, which copy it.
template <class Later> struct meet_entry {
  Later& later;
  template <class Key, class Value> void operator()(const Key& key, const Value& value) const { later(key, value); }
  void end_part() const { later.end_part(); }
};

/// Calls `scan(g)`, which shows entries to `g`, so that `f` is shown them. In a pin.
template <scan_to What = scan_to::show, class Codec, class Scan, class F> void scan_ahead(const Codec& codec,
                                                                                          const Scan& scan, F f) {
  if constexpr (entries_apart<Codec>) {
    shown_later<What, Codec, F> later(codec, f);
    meet_entry<shown_later<What, Codec, F>> meet{later};
    scan(meet);
    later.end_part();
  } else {
    scan(f);
  }
}

} // namespace cubby::inline v0::detail
