// SPDX-License-Identifier: Apache-2.0
// What it costs to enter and leave a read section: cubby's, with a seat in hand and through the thread's own, beside the
// flavours of liburcu. One thread; the shortest of some rounds, which take turns.
//   bench_read_sections [millions of sections]
#include <urcu/urcu-bp.h>
#include <urcu/urcu-memb.h>
#include <urcu/urcu-qsbr.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include <cubby/engine/relativistic/relativistic.hpp>

namespace {

constexpr int rounds = 7;

// Nanoseconds each, of `count` calls.
template <class F> double each(std::uint64_t count, F one) {
  const auto begin = std::chrono::steady_clock::now();
  for (std::uint64_t i = 0; i < count; ++i) one();
  const std::chrono::duration<double, std::nano> all = std::chrono::steady_clock::now() - begin;
  return all.count() / static_cast<double>(count);
}

// A load that the section protects, so that an empty section is not optimised to nothing.
void look() {
  static std::uint64_t shown = 1;
  (void)*const_cast<volatile std::uint64_t*>(&shown);
}

} // namespace

int main(int count, char** words) {
  const std::uint64_t sections = (count > 1 ? std::strtoull(words[1], nullptr, 10) : 20) * 1'000'000;
  if (sections == 0) return 2;
  urcu_memb_register_thread();
  urcu_qsbr_register_thread();
  cubby::seat& mine = *cubby::registry::local();
  double best[6] = {1e9, 1e9, 1e9, 1e9, 1e9, 1e9};
  const auto keep = [&best](int which, double now) { best[which] = std::min(best[which], now); };
  for (int round = 0; round < rounds; ++round) {
    keep(0, each(sections, [] { look(); }));
    keep(1, each(sections, [&mine] {
           const cubby::seat_pin inside(mine);
           look();
         }));
    keep(2, each(sections, [] {
           const cubby::rcu::read_section inside;
           look();
         }));
    keep(3, each(sections, [] {
           urcu_memb_read_lock();
           look();
           urcu_memb_read_unlock();
         }));
    keep(4, each(sections, [] {
           urcu_bp_read_lock();
           look();
           urcu_bp_read_unlock();
         }));
    keep(5, each(sections, [] {
           look();
           urcu_qsbr_quiescent_state();
         }));
  }
  const char* const names[] = {"none",         "cubby, a seat", "cubby, the thread's seat",
                               "liburcu memb", "liburcu bp",    "liburcu qsbr, a quiescent state each"};
  for (int i = 0; i < 6; ++i) std::printf("%-38s %6.2f ns\n", names[i], best[i]);
  urcu_qsbr_unregister_thread();
  urcu_memb_unregister_thread();
  return 0;
}
