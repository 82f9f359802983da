// SPDX-License-Identifier: Apache-2.0
// The contents of a table at one point in time, as a list (DLHT section 3.4.4). The engine stops updates only while it copies
// words. Keys and values are decoded after that, under the pin that keeps the records alive.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include <cubby/detail/api/operations.hpp>
#include <cubby/detail/api/shared_scan.hpp>
#include <cubby/detail/core/raw_memory.hpp>

namespace cubby::inline v0 {

/// A list of T of fixed length in one piece of memory. `ok()` is false if there was no memory for it, in builds without exceptions.
template <class T> class snapshot_list {
public:
  using value_type = T;
  snapshot_list() noexcept = default;
  snapshot_list(snapshot_list&& other) noexcept { swap(other); }
  snapshot_list& operator=(snapshot_list&& other) noexcept {
    swap(other);
    return *this;
  }
  ~snapshot_list() {
    while (size_ > 0) items_[--size_].~T();
    detail::give_raw(items_);
  }

  [[nodiscard]] const T* begin() const noexcept { return items_; }
  [[nodiscard]] const T* end() const noexcept { return items_ + size_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] const T& operator[](std::size_t i) const noexcept { return items_[i]; }
  [[nodiscard]] bool ok() const noexcept { return ok_; }

  /// Makes space for `count` items; false without memory. The list must be empty.
  bool make_space(std::size_t count) {
    if (count == 0) return true;
    items_ = detail::take_raw<T>(count);
    ok_ = items_ != nullptr;
    return ok_;
  }
  /// Appends an item. There must be space for it.
  template <class... A> void add(A&&... args) {
    ::new (static_cast<void*>(items_ + size_)) T(std::forward<A>(args)...);
    ++size_;
  }
  /// `make(place, i)` constructs item i for each i below `count`, in the threads of `by`. There must be space for them. If one throws, those
  /// that were made are destroyed, and the first exception passes.
  template <class By, class F> void add_together(const By& by, std::size_t count, F make) {
    constexpr std::size_t parts = 256; // shares of the threads
    std::size_t made[parts] = {};
    detail::sync::word<std::size_t> next;
    detail::fail::kept_exception error;
    const auto begin_of = [&](std::size_t part) { return count / parts * part + count % parts * part / parts; };
    const auto fill = [&](unsigned) {
      // relaxed: shares out numbers; the end of the threads orders the rest
      for (std::size_t part = 0; (part = next.fetch_add(1, detail::sync::relaxed)) < parts;) {
        const bool done = error.run([&] {
          for (std::size_t i = begin_of(part); i < begin_of(part + 1); ++i, ++made[part])
            make(static_cast<void*>(items_ + i), i);
        });
        if (!done) next.store(parts, detail::sync::relaxed); // relaxed: as above
      }
    };
    const bool ran = error.run([&] { detail::team<By>::run(by, fill); });
    std::size_t all = 0;
    for (const std::size_t n : made) all += n;
    if (ran && all == count) {
      size_ = count;
      return;
    }
    for (std::size_t part = 0; part < parts; ++part)
      while (made[part] > 0) items_[begin_of(part) + --made[part]].~T();
    error.rethrow();
  }
  void spoil() noexcept { ok_ = false; }
  void swap(snapshot_list& other) noexcept {
    std::swap(items_, other.items_);
    std::swap(size_, other.size_);
    std::swap(ok_, other.ok_);
  }

private:
  T* items_ = nullptr;
  std::size_t size_ = 0;
  bool ok_ = true;
};

namespace detail {

template <class Codec> struct snapshot_item {
  using type = std::pair<typename Codec::key_type, typename Codec::mapped_type>;
};
template <class Codec>
  requires(!Codec::has_values)
struct snapshot_item<Codec> {
  using type = typename Codec::key_type;
};

struct slot_words {
  slot_words(std::uint64_t k, std::uint64_t v) noexcept : key(k), value(v) {}
  std::uint64_t key;
  std::uint64_t value;
};

template <class Engine, class By> auto take_snapshot(context<Engine> s, const By& by) {
  using item = typename snapshot_item<typename Engine::policy>::type;
  const auto& codec = s.codec();
  snapshot_list<slot_words> words;
  snapshot_list<item> items;
  const bool taken = s.engine.snapshot(
      s.at, [&](std::size_t bound) { return words.make_space(bound); },
      [&](std::uint64_t key, std::uint64_t value) { words.add(key, value); });
  if (!taken || !items.make_space(words.size())) {
    items.spoil();
    fail::with_no_memory();
    return items;
  }
  items.add_together(by, words.size(), [&](void* place, std::size_t i) {
    const slot_words& w = words[i];
    if constexpr (Engine::policy::in_records) {
      constexpr std::size_t ahead = 16; // as in scan_ahead.hpp
      if (i + ahead < words.size()) prefetch_line(codec.record_of(words[i + ahead].value));
    }
    if constexpr (Engine::policy::has_values) ::new (place) item(codec.key(w.key, w.value), codec.value(w.value));
    else ::new (place) item(codec.key(w.key, w.value));
  });
  return items;
}

} // namespace detail

} // namespace cubby::inline v0
