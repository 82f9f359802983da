// SPDX-License-Identifier: Apache-2.0
// Read sections of the library: of the thread's own record, as cubby/rcu.hpp has them, and of a thread record that the thread
// holds itself, as a table's handle does. And none, which is the limit.
#include <cubby/rcu.hpp>

#include "sections.hpp"

namespace bench {

namespace {

struct of_the_thread {
  struct section {
    explicit section(of_the_thread&) {}
    cubby::rcu::read_section pin;
  };
  static bool inside() { return cubby::detail::registry::inside(); }
};

struct of_a_thread_record {
  struct section {
    explicit section(of_a_thread_record& mine) : pin(mine.thread_record) {}
    cubby::detail::thread_pin pin;
  };
  bool inside() const { return cubby::detail::registry::inside(thread_record); }
  cubby::detail::thread_record& thread_record = *cubby::detail::registry::local();
};

struct none {
  struct section {
    explicit section(none&) {}
  };
};

} // namespace

section_loop rcu_loop(engine_id e) {
  switch (e) {
  case engine_id::rcu: return enter_and_leave<of_the_thread>;
  case engine_id::rcu_record: return enter_and_leave<of_a_thread_record>;
  default: return enter_and_leave<none>;
  }
}

} // namespace bench
