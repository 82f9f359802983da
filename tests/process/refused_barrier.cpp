// SPDX-License-Identifier: Apache-2.0
// A filter of system calls that is installed after membarrier has been registered: the barrier fails from then on. Nothing
// is freed under a reader; what can be known to be unseen is freed. Each test in a child, because filters stay.
#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <thread>

#include <gtest/gtest.h>

#include <cubby/map.hpp>
#include <cubby/rcu.hpp>

#include "process/child.hpp"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

namespace cubby_test {
namespace {

constexpr int cannot_filter = 99;

/// Refuses membarrier to the calling thread, or to all.
bool refuse_membarrier(bool to_all) {
  std::array<sock_filter, 4> steps{{
      {BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(seccomp_data, nr)},
      {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, __NR_membarrier},
      {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | EPERM},
      {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW},
  }};
  const sock_fprog program{static_cast<unsigned short>(steps.size()), steps.data()};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return false;
  const unsigned long flags = to_all ? SECCOMP_FILTER_FLAG_TSYNC : 0;
  return syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program) == 0 && !cubby::detail::barrier::all_threads();
}

using map_type = cubby::map<std::uint64_t, counted>;
constexpr std::uint64_t assigns = 20'000;
constexpr long few = 4096;

void assign_all(map_type& m) {
  for (std::uint64_t n = 0; n < assigns; ++n) m.assign(n % 8, counted(n));
}
void spin_until_is(const std::atomic<int>& step, int wanted) {
  while (step.load() != wanted) std::this_thread::yield();
}

void expect_held(int status) {
  if (status == cannot_filter) GTEST_SKIP() << "no filter of system calls can be installed here";
  EXPECT_EQ(status, 0);
}

#define CUBBY_NEEDS_MEMBARRIER()                                                                                       \
  if (!cubby::detail::barrier::is_asymmetric()) GTEST_SKIP() << "readers fence for themselves from the start"

TEST(refused_barrier, nothing_is_freed_under_a_reader_and_everything_when_all_have_entered_again) {
  CUBBY_NEEDS_MEMBARRIER();
  expect_held(status_of_child([](result_of_child& told) {
    map_type m(cubby::options{.capacity = 16});
    for (std::uint64_t k = 0; k < 8; ++k) m.insert(k, counted(k));
    std::atomic<int> step{0};
    std::thread reader([&] {
      m.visit(0, [&](const counted& seen) {
        step = 1;
        spin_until_is(step, 2);
        told.expect(seen.words[0] == 0 && seen.words[2] == 0, "what a reader sees is not freed");
      });
      step = 3;
      spin_until_is(step, 4);
      (void)m.contains(0); // with a fence of its own
      step = 5;
      spin_until_is(step, 6);
    });
    spin_until_is(step, 1);
    if (!refuse_membarrier(true)) _exit(cannot_filter);
    assign_all(m);
    told.expect(counted::living >= static_cast<long>(assigns), "under a reader");
    step = 2;
    spin_until_is(step, 3);
    assign_all(m);
    told.expect(counted::living >= static_cast<long>(2 * assigns), "while nobody can tell whether one is inside");
    told.expect(m.stats().retired >= 2 * assigns - 1000, "and the figures say so");
    step = 4;
    spin_until_is(step, 5);
    for (int n = 0; n < 4; ++n) assign_all(m);
    told.expect(counted::living < few, "after the reader has entered again, with its thread still there");
    step = 6;
    reader.join();
  }));
}

TEST(refused_barrier, threads_that_end_or_begin_hold_nothing_back) {
  CUBBY_NEEDS_MEMBARRIER();
  expect_held(status_of_child([](result_of_child& told) {
    map_type m(cubby::options{.capacity = 16});
    for (std::uint64_t k = 0; k < 8; ++k) m.insert(k, counted(k));
    std::atomic<int> step{0};
    std::thread idle([&] {
      (void)m.contains(0);
      step = 1;
      spin_until_is(step, 2);
    });
    spin_until_is(step, 1);
    if (!refuse_membarrier(true)) _exit(cannot_filter);
    assign_all(m);
    told.expect(counted::living >= static_cast<long>(assigns), "an idle thread may be inside, for all that is known");
    step = 2;
    idle.join();
    std::thread late([&] {
      (void)m.contains(0);
      step = 3;
      spin_until_is(step, 4);
    });
    spin_until_is(step, 3);
    auto h = m.handle(); // never entered
    for (int n = 0; n < 4; ++n) assign_all(m);
    told.expect(counted::living < few, "the idle thread has ended; others have begun since");
    step = 4;
    late.join();
  }));
}

TEST(refused_barrier, a_thread_that_may_ask_the_kernel_frees) {
  CUBBY_NEEDS_MEMBARRIER();
  expect_held(status_of_child([](result_of_child& told) {
    map_type m(cubby::options{.capacity = 16});
    for (std::uint64_t k = 0; k < 8; ++k) m.insert(k, counted(k));
    std::atomic<int> step{0};
    std::thread idle([&] {
      (void)m.contains(0);
      step = 1;
      spin_until_is(step, 2);
      assign_all(m);
      assign_all(m);
      assign_all(m);
      told.expect(counted::living < few, "its own barrier shows it every thread record");
    });
    spin_until_is(step, 1);
    if (!refuse_membarrier(false)) _exit(cannot_filter);
    assign_all(m);
    told.expect(counted::living >= static_cast<long>(assigns), "the thread with the filter cannot tell");
    step = 2;
    idle.join();
  }));
}

TEST(refused_barrier, a_wait_for_readers_ends_although_the_caller_has_not_fenced_before) {
  CUBBY_NEEDS_MEMBARRIER();
  expect_held(status_of_child([](result_of_child& told) {
    {
      const cubby::rcu::read_section once;
    }
    if (!refuse_membarrier(true)) _exit(cannot_filter);
    told.expect(cubby::rcu::synchronize(nullptr, 5'000'000) == cubby::rcu::waited::elapsed, "no thread is inside");
  }));
}

TEST(refused_barrier, a_grace_period_does_not_elapse_before_a_reader_has_left) {
  CUBBY_NEEDS_MEMBARRIER();
  expect_held(status_of_child([](result_of_child& told) {
    std::atomic<int> step{0};
    std::thread reader([&] {
      {
        const cubby::rcu::read_section inside;
        step = 1;
        spin_until_is(step, 2);
      }
      step = 3;
      spin_until_is(step, 4);
      const cubby::rcu::read_section again;
      step = 5;
    });
    spin_until_is(step, 1);
    if (!refuse_membarrier(true)) _exit(cannot_filter);
    auto readers = cubby::rcu::grace_period::begin();
    told.expect(!readers.elapsed(), "a reader is inside");
    step = 2;
    spin_until_is(step, 3);
    told.expect(!readers.elapsed(), "it may have entered again unseen, for all that is known");
    step = 4;
    reader.join();
    {
      const cubby::rcu::read_section mine;
    } // this thread may have a thread record from an earlier test, which has not fenced yet
    told.expect(readers.elapsed(), "it has ended");
    told.expect(cubby::rcu::synchronize() == cubby::rcu::waited::elapsed, "and so do later ones");
  }));
}

} // namespace
} // namespace cubby_test
