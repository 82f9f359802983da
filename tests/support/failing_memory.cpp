// SPDX-License-Identifier: Apache-2.0
// What the allocation functions of replaced_new.cpp do in the binary with hooks; see failing_memory.hpp.
#include "support/failing_memory.hpp"

#include <atomic>
#include <cstddef>

#include <cubby/detail/platform/memory.hpp>

#include "support/random.hpp"
#include "support/replaced_new.hpp"

static_assert(CUBBY_SYNC_HOOKS, "index memory fails on command only in builds with hooks");

namespace {

struct plan {
  std::uint64_t countdown = 0; // 0: nothing is to fail
  bool struck = false;
};

plan& mine() {
  static thread_local plan p;
  return p;
}

std::atomic<std::int64_t> living{0};

bool refuse() {
  plan& p = mine();
  if (p.countdown == 0) return false;
  if (p.countdown > 1) {
    --p.countdown;
    return false;
  }
  p.struck = true;
  p.countdown = 0;
  return true;
}

std::atomic<cubby_test::index_memory> supply{cubby_test::index_memory::plenty};
std::atomic<std::uint64_t> lottery{0};

bool refuse_index(std::size_t) {
  const auto now = supply.load();
  if (now == cubby_test::index_memory::none) return true;
  if (now == cubby_test::index_memory::scarce && cubby_test::splitmix(lottery.fetch_add(1)) % 3 != 0) return true;
  return refuse();
}

// Once, before any thread: the function itself is not an atomic word.
[[maybe_unused]] const bool installed = (cubby::detail::memory::install_failure(&refuse_index), true);

} // namespace

namespace cubby_test {

memory_failure::memory_failure(std::uint64_t number) : number_(number) { mine() = {number, false}; }
memory_failure::~memory_failure() { mine() = {}; }
bool memory_failure::struck() const { return mine().struck; }
std::uint64_t memory_failure::granted() const { return number_ - mine().countdown; }
void set_index_memory(index_memory now) { supply.store(now); }
std::int64_t living_blocks() { return living.load(); }

bool refuse_block() { return refuse(); }
void block_taken(void*, std::size_t) { living.fetch_add(1); }
void block_given(void*) { living.fetch_sub(1); }

} // namespace cubby_test
