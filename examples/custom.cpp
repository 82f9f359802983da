// SPDX-License-Identifier: Apache-2.0
// A user's own key type and hash, lookups by another type than the key, and records from a user's own allocator.
// Every thread that uses the map calls the allocator, so the allocator must be thread-safe.
#include <cubby/map.hpp>

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

namespace {

// Names that differ only in case are one name.
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool same_name(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (lower(a[i]) != lower(b[i])) return false;
  }
  return true;
}

struct host {
  std::string name;
  explicit host(std::string_view n) : name(n) {}
  friend bool operator==(const host& a, const host& b) { return same_name(a.name, b.name); }
  friend bool operator==(const host& a, std::string_view b) { return same_name(a.name, b); }
};

// Not `is_avalanching`, so the map mixes what this returns.
struct host_hash {
  using is_transparent = void;
  std::size_t operator()(std::string_view name) const noexcept {
    std::size_t sum = 0;
    for (const char c : name) sum = sum * 31 + static_cast<unsigned char>(lower(c));
    return sum;
  }
  std::size_t operator()(const host& h) const noexcept { return (*this)(h.name); }
};

// Counts the bytes in use; stateful: every copy and rebound copy shares the counter.
template <class T> struct counting_allocator {
  using value_type = T;
  std::atomic<long>* bytes;
  explicit counting_allocator(std::atomic<long>& counter) : bytes(&counter) {}
  template <class U> counting_allocator(const counting_allocator<U>& other) : bytes(other.bytes) {}
  T* allocate(std::size_t n) {
    *bytes += static_cast<long>(n * sizeof(T));
    return std::allocator<T>().allocate(n);
  }
  void deallocate(T* p, std::size_t n) {
    *bytes -= static_cast<long>(n * sizeof(T));
    std::allocator<T>().deallocate(p, n);
  }
  friend bool operator==(const counting_allocator& a, const counting_allocator& b) { return a.bytes == b.bytes; }
};

} // namespace

int main() {
  std::atomic<long> bytes = 0;
  {
    using allocator = counting_allocator<std::byte>;
    cubby::map<host, int, cubby::dlht, host_hash, allocator> ports({}, {}, allocator(bytes));
    ports.insert("Example.ORG", 80);
    if (ports.find("example.org") != 80 || ports.insert("EXAMPLE.org", 443)) return 1;
    std::printf("%ld bytes in records\n", bytes.load());
    if (bytes <= 0) return 1;
  }
  return bytes == 0 ? 0 : 1;
}
