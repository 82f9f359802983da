// SPDX-License-Identifier: Apache-2.0
// Disks that are full, and syncs that fail. Only in tests with hooks.
#pragma once

#include <atomic>
#include <cerrno>

#include <cubby/detail/platform/file.hpp>

namespace cubby_test {

/// While it lives, no space is to be had once so many requests were granted.
class full_disk {
public:
  explicit full_disk(long granted) {
    left() = granted;
    cubby::detail::file::installed_refusal() = [] { return left().fetch_sub(1) > 0 ? 0 : ENOSPC; };
  }
  ~full_disk() { cubby::detail::file::installed_refusal() = nullptr; }
  full_disk(const full_disk&) = delete;
  full_disk& operator=(const full_disk&) = delete;
  static std::atomic<long>& left() {
    static std::atomic<long> count{0};
    return count;
  }
};
/// While it lives, no sync succeeds but the first ones.
class failing_syncs {
public:
  explicit failing_syncs(long good = 0) {
    left() = good;
    cubby::detail::file::installed_sync() = [](int) { return left().fetch_sub(1) > 0 ? 0 : EIO; };
  }
  ~failing_syncs() { cubby::detail::file::installed_sync() = nullptr; }
  failing_syncs(const failing_syncs&) = delete;
  failing_syncs& operator=(const failing_syncs&) = delete;

private:
  static std::atomic<long>& left() {
    static std::atomic<long> count{0};
    return count;
  }
};

} // namespace cubby_test
