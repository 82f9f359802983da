// SPDX-License-Identifier: Apache-2.0
// Runs a part of a test in a child process, whose exit status tells how it went; and values that are counted there.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdio>

#include <sys/wait.h>
#include <unistd.h>

namespace cubby_test {

/// Counts those that live.
struct counted {
  static inline std::atomic<long> living{0};
  std::uint64_t words[3] = {};
  explicit counted(std::uint64_t n = 0) noexcept : words{n, n, n} { ++living; }
  counted(const counted& other) noexcept : words{other.words[0], other.words[1], other.words[2]} { ++living; }
  counted& operator=(const counted&) = default;
  ~counted() { --living; }
};

/// Number of the first expectation that failed; 0: all held.
class result_of_child {
public:
  void expect(bool holds, const char* what) {
    ++number_;
    if (holds || first_ != 0) return;
    first_ = number_;
    std::fprintf(stderr, "in the child: %s\n", what);
  }
  [[nodiscard]] int status() const { return first_; }

private:
  int number_ = 0;
  int first_ = 0;
};

/// Begins `f(told)` in a child of this process. An alarm ends one that hangs.
template <class F> pid_t begin_child(F f) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    result_of_child told;
    f(told);
    _exit(told.status());
  }
  return child;
}
/// Waits for it: its status, or minus the signal that ended it.
inline int end_of_child(pid_t child) {
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) return -1000;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}
template <class F> int status_of_child(F f) { return end_of_child(begin_child(f)); }

} // namespace cubby_test
