// SPDX-License-Identifier: Apache-2.0
// Functions that do nothing but one verb of an engine. They are part of no program: tests/unit/generated_code.cpp has them
// compiled for AArch64 and reads the assembly.
#include <cubby/delegated_map.hpp>
#include <cubby/dramhit.hpp>
#include <cubby/dramhit_tuples.hpp>
#include <cubby/map.hpp>
#include <cubby/relativistic.hpp>

namespace {

struct wide {
  std::uint64_t all[4];
  bool operator==(const wide&) const = default;
};
template <class Engine, class V> struct table_of {
  using type = cubby::map<std::uint64_t, V, Engine>;
};
template <class V> struct table_of<cubby::partitioned, V> {
  using type = cubby::delegated_map<std::uint64_t, V>;
};
template <class Engine, class V>
using engine_of = typename table_of<Engine, V>::type::engine_type;
template <class Engine, class V>
using probe_of = typename engine_of<Engine, V>::probe;
constexpr auto erasing = [](const auto&) { return cubby::detail::decision{cubby::action::erase, 0}; };

} // namespace

#define LOOKUP(name, engine, value)                                                                                    \
  extern "C" bool name##_find(engine_of<cubby::engine, value>& e, cubby::detail::thread_record& s,                     \
                              const probe_of<cubby::engine, value>& p) {                                               \
    return e.find(s, p).found;                                                                                         \
  }
#define VERBS(name, engine, value)                                                                                     \
  LOOKUP(name, engine, value)                                                                                          \
  extern "C" bool name##_insert(engine_of<cubby::engine, value>& e, cubby::detail::thread_record& s,                   \
                                const probe_of<cubby::engine, value>& p) {                                             \
    return e.insert(s, p, 1).outcome == cubby::outcome::inserted;                                                      \
  }                                                                                                                    \
  extern "C" bool name##_erase(engine_of<cubby::engine, value>& e, cubby::detail::thread_record& s,                    \
                               const probe_of<cubby::engine, value>& p) {                                              \
    return e.mutate(s, p, erasing).found;                                                                              \
  }

VERBS(dlht_words, dlht, std::uint64_t)
VERBS(dlht_records, dlht, wide)
VERBS(dramhit_words, dramhit, std::uint64_t)
VERBS(dramhit_records, dramhit, wide)
VERBS(relativistic_words, relativistic, std::uint64_t)
VERBS(relativistic_records, relativistic, wide)
LOOKUP(dramhit_tuples, dramhit_tuples, wide)
LOOKUP(partitioned, partitioned, std::uint64_t)
