// SPDX-License-Identifier: Apache-2.0
// Which durable files the tables of this process have, so that a second open of one can say who has it. The lock of the file alone
// keeps others out (platform/file.hpp); this list is asked only when the lock is taken. Other images have lists of their own.
#pragma once

#include <cstdint>

#include <cubby/detail/core/lock.hpp>
#include <cubby/detail/platform/file.hpp>

namespace cubby::inline v0::detail {

enum class file_holder : std::uint8_t {
  another_process, ///< or a table of another image
  this_process,
  closed_here ///< a table that was closed and still exists
};

class opened_file {
public:
  opened_file() = default;
  ~opened_file() {
    if (!listed_ || !process_.is_of_this_process())
      return; // in a child another thread of the parent may have had the lock
    const lock_scope alone(list().lock);
    opened_file** at = &list().first;
    while (*at != this) at = &(*at)->next_;
    *at = next_;
  }
  opened_file(const opened_file&) = delete;
  opened_file& operator=(const opened_file&) = delete;

  /// Once, with the lock of the file.
  void begin(int file) noexcept {
    is_ = file::identity_of(file);
    process_.set();
    listed_ = true;
    const lock_scope alone(list().lock);
    next_ = list().first;
    list().first = this;
  }
  void note_closed() noexcept {
    if (!process_.is_of_this_process()) return; // as above
    const lock_scope alone(list().lock);
    closed_ = true;
  }
  /// Whether this is the process that has opened it, and not a child of that one.
  [[nodiscard]] bool is_of_this_process() const noexcept { return process_.is_of_this_process(); }
  /// Who keeps the caller from the lock. Not the entries of a parent, which its child has a copy of.
  [[nodiscard]] static file_holder holder_of(int file) noexcept {
    const file::identity is = file::identity_of(file);
    const lock_scope alone(list().lock);
    for (const opened_file* one = list().first; one != nullptr; one = one->next_)
      if (one->is_ == is && one->process_.is_of_this_process())
        return one->closed_ ? file_holder::closed_here : file_holder::this_process;
    return file_holder::another_process;
  }

private:
  struct all {
    small_lock<> lock;
    opened_file* first = nullptr;
  };
  static all& list() noexcept {
    static constinit all one;
    return one;
  }

  file::identity is_;
  file::process_mark process_;
  opened_file* next_ = nullptr;
  bool listed_ = false;
  bool closed_ = false;
};

} // namespace cubby::inline v0::detail
