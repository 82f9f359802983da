// SPDX-License-Identifier: Apache-2.0
// A shared library that makes tables, and uses tables which it did not make.
#include "shared/plugin.hpp"

#include <cubby/rcu.hpp>

namespace cubby_test {
namespace {

template <class Engine> shared_map<Engine>* make(bool background) {
  cubby::options wanted{.capacity = 16};
  if (background) wanted.growth = cubby::growth_policy::background;
  return new shared_map<Engine>(wanted);
}
template <class Engine> void destroy(shared_map<Engine>* m) { delete m; }

template <class Engine>
constexpr plugin_calls<Engine> calls{&make<Engine>, &destroy<Engine>, &read_all<Engine>, &write_all<Engine>};

} // namespace
} // namespace cubby_test

#define CUBBY_TEST_EXPORTED extern "C" [[gnu::visibility("default")]]
CUBBY_TEST_EXPORTED const void* plugin_dlht() { return &cubby_test::calls<cubby::dlht>; }
CUBBY_TEST_EXPORTED const void* plugin_dramhit() { return &cubby_test::calls<cubby::dramhit>; }
CUBBY_TEST_EXPORTED const void* plugin_relativistic() { return &cubby_test::calls<cubby::relativistic>; }
/// Whether a read section of `of` that the caller is in is seen from here.
CUBBY_TEST_EXPORTED bool plugin_sees_reader(const cubby::detail::domain_ref* of) {
  return cubby::rcu::synchronize(**of) == cubby::rcu::waited::inside;
}
