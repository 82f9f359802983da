// SPDX-License-Identifier: Apache-2.0
#include "explore/crash.hpp"

#include <cstdio>
#include <cstdlib>

#include <csignal>

#include "explore/driver.hpp"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

namespace cubby_test {
namespace {

const std::string*& current() {
  static const std::string* name = nullptr;
  return name;
}

// What it calls is not safe in a handler; the process is lost anyhow, and mostly it works.
void tell() {
  if (current() == nullptr) return;
  const std::string text = write(departures_of(driver::instance().points()));
  std::fprintf(stderr, "explorer: this schedule crashed; again: CUBBY_EXPLORE_REPLAY=\"%s@%s\"\n", current()->c_str(),
               text.c_str());
  std::fflush(stderr);
  current() = nullptr;
}

[[maybe_unused]] void on_signal(int number) {
  tell();
  std::signal(number, SIG_DFL);
  std::raise(number);
}

void install() {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_set_death_callback(&tell); // it takes the signals itself
#else
  static char stack[64 << 10];
  stack_t other{};
  other.ss_sp = stack;
  other.ss_size = sizeof stack;
  sigaltstack(&other, nullptr);
  struct sigaction action{};
  action.sa_handler = &on_signal;
  action.sa_flags = SA_ONSTACK | SA_NODEFER;
  for (const int number : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT}) sigaction(number, &action, nullptr);
#endif
}

} // namespace

crash_note::crash_note(const std::string& scenario_name) {
  static const bool once = (install(), true);
  (void)once;
  current() = &scenario_name;
}
crash_note::~crash_note() { current() = nullptr; }

} // namespace cubby_test
