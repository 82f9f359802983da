// SPDX-License-Identifier: Apache-2.0
// A measurement in a process of its own, which has no free memory of earlier tables.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <type_traits>

#include <sys/wait.h>
#include <unistd.h>

namespace bench {

/// What `measure()` returns in a child process, which ends without destructors. Ends the program if that fails.
template <class F> auto alone(F measure) {
  using figures = decltype(measure());
  static_assert(std::is_trivially_copyable_v<figures>);
  const auto must = [](bool done) {
    if (!done) std::abort();
  };
  int ends[2];
  must(pipe(ends) == 0);
  std::fflush(stdout);
  const pid_t child = fork();
  must(child >= 0);
  if (child == 0) {
    const figures mine = measure();
    _exit(write(ends[1], &mine, sizeof mine) == sizeof mine ? 0 : 1);
  }
  figures all;
  must(read(ends[0], &all, sizeof all) == sizeof all);
  int status = 0;
  must(waitpid(child, &status, 0) == child && status == 0);
  close(ends[0]);
  close(ends[1]);
  return all;
}

} // namespace bench
