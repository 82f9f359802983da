// SPDX-License-Identifier: Apache-2.0
// Read sections of liburcu: memb, bp (whose threads need not register), and qsbr, which has none. There a thread reports a
// quiescent state now and then. Here it does so after each load, as often as the others leave. Built so that its calls are inlined
// as ours are.
#include <urcu/urcu-bp.h>
#include <urcu/urcu-memb.h>
#include <urcu/urcu-qsbr.h>

#include "sections.hpp"

namespace bench {

namespace {

struct memb {
  struct section {
    explicit section(memb&) { urcu_memb_read_lock(); }
    section(const section&) = delete;
    section& operator=(const section&) = delete;
    ~section() { urcu_memb_read_unlock(); }
  };
  memb() { urcu_memb_register_thread(); }
  memb(const memb&) = delete;
  memb& operator=(const memb&) = delete;
  ~memb() { urcu_memb_unregister_thread(); }
  static bool inside() { return urcu_memb_read_ongoing() != 0; }
};

struct bp {
  struct section {
    explicit section(bp&) { urcu_bp_read_lock(); }
    section(const section&) = delete;
    section& operator=(const section&) = delete;
    ~section() { urcu_bp_read_unlock(); }
  };
  static bool inside() { return urcu_bp_read_ongoing() != 0; }
};

// Inside from its registration on.
struct qsbr {
  struct section {
    explicit section(qsbr&) {}
    section(const section&) = delete;
    section& operator=(const section&) = delete;
    ~section() { urcu_qsbr_quiescent_state(); }
  };
  qsbr() { urcu_qsbr_register_thread(); }
  qsbr(const qsbr&) = delete;
  qsbr& operator=(const qsbr&) = delete;
  ~qsbr() { urcu_qsbr_unregister_thread(); }
};

} // namespace

section_loop urcu_loop(engine_id e) {
  switch (e) {
  case engine_id::urcu_memb: return enter_and_leave<memb>;
  case engine_id::urcu_bp: return enter_and_leave<bp>;
  default: return enter_and_leave<qsbr>;
  }
}

} // namespace bench
