// SPDX-License-Identifier: Apache-2.0
// An allocator that counts what is out, poisons what comes back, and refuses on command; a value that counts itself.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>

namespace cubby_test {

/// What every copy of one counting allocator shares.
struct allocation_account {
  std::atomic<std::int64_t> blocks{0};
  std::atomic<std::int64_t> bytes{0};
  std::atomic<std::uint64_t> asked{0};
  std::atomic<std::uint64_t> refuse_at{0}; // the allocation with this number (from 1) fails; 0: none
};

template <class T>
class counting_allocator {
public:
  using value_type = T;
  explicit counting_allocator(allocation_account& a) noexcept : account_(&a) {}
  template <class U>
  counting_allocator(const counting_allocator<U>& other) noexcept : account_(&other.account()) {}

  T* allocate(std::size_t n) {
    const std::uint64_t number = account_->asked.fetch_add(1) + 1;
    if (number == account_->refuse_at.load()) throw std::bad_alloc();
    void* const p = ::operator new(n * sizeof(T), std::align_val_t{alignof(T)});
    account_->blocks.fetch_add(1);
    account_->bytes.fetch_add(static_cast<std::int64_t>(n * sizeof(T)));
    return static_cast<T*>(p);
  }
  void deallocate(T* p, std::size_t n) noexcept {
    // A thread that still reads the block reads this, also in builds without a sanitizer.
    std::memset(static_cast<void*>(p), 0xdd, n * sizeof(T));
    account_->blocks.fetch_sub(1);
    account_->bytes.fetch_sub(static_cast<std::int64_t>(n * sizeof(T)));
    ::operator delete(static_cast<void*>(p), std::align_val_t{alignof(T)});
  }
  [[nodiscard]] allocation_account& account() const noexcept { return *account_; }
  template <class U>
  bool operator==(const counting_allocator<U>& other) const noexcept {
    return account_ == &other.account();
  }

private:
  allocation_account* account_;
};

/// A value of 24 bytes that knows how many of its kind live, and whether it still does.
class tracked {
public:
  explicit tracked(std::uint64_t number = 0) : number_(number) { living().fetch_add(1); }
  tracked(const tracked& other) : number_(other.number()) { living().fetch_add(1); }
  tracked& operator=(const tracked& other) {
    number_ = other.number();
    return *this;
  }
  ~tracked() {
    alive_ = 0;
    living().fetch_sub(1);
  }
  [[nodiscard]] std::uint64_t number() const { return alive_ == mark ? number_ : ~std::uint64_t{0}; }
  bool operator==(const tracked& other) const { return number() == other.number(); }
  static std::atomic<std::int64_t>& living() {
    static std::atomic<std::int64_t> count{0};
    return count;
  }

private:
  static constexpr std::uint64_t mark = 0xa11fea11fea11feaULL;
  std::uint64_t alive_ = mark;
  std::uint64_t number_;
};

} // namespace cubby_test
