// SPDX-License-Identifier: Apache-2.0
// Runs a part of a test in a child process, whose exit status tells how it went.
#pragma once

#include <cstdio>

#include <sys/wait.h>
#include <unistd.h>

namespace cubby_test {

/// Number of the first expectation that failed; 0: all held.
class verdict_of_child {
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

/// `f(verdict)` in a child of this process; its status, or minus the signal that ended it. An alarm ends one that hangs.
template <class F> int status_of_child(F f) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    verdict_of_child told;
    f(told);
    _exit(told.status());
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) return -1000;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

} // namespace cubby_test
