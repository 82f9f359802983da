// SPDX-License-Identifier: Apache-2.0
// A shared library that makes tables, and uses tables which it did not make.
#include "shared/plugin.hpp"

#include <string_view>

#include <cubby/rcu.hpp>

#include "engine_headers.hpp"
#include "engine_list.hpp"

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
#define CUBBY_GIVEN(tag, storage, threads, ...) CUBBY_GIVEN_##storage##_##threads(tag)
#define CUBBY_GIVEN_records_shared(tag)                                                                                \
  if (std::string_view(engine) == #tag) return &cubby_test::calls<cubby::tag>;
#define CUBBY_GIVEN_records_single(tag)
#define CUBBY_GIVEN_tuples_shared(tag)
#define CUBBY_GIVEN_delegated_shared(tag)
/// The `plugin_calls` of an engine of the list; null for one that threads may not share, or that has no records.
CUBBY_TEST_EXPORTED const void* plugin_calls_of(const char* engine) {
  CUBBY_FOR_EACH_ENGINE(CUBBY_GIVEN)
  return nullptr;
}
/// Whether a read section of `of` that the caller is in is seen from here.
CUBBY_TEST_EXPORTED bool plugin_sees_reader(const cubby::detail::domain_ref* of) {
  return cubby::rcu::synchronize(**of) == cubby::rcu::waited::inside;
}
