// SPDX-License-Identifier: Apache-2.0
// G.6: a table may be used by code of the program and of any shared library alike, a thread that made it, and after the one that
// made it has been closed. Built several times: the library is opened by name or linked, its names visible or hidden.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include <cubby/rcu.hpp>

#include "engines.hpp"
#include "shared/plugin.hpp"

#include <dlfcn.h>
#include <link.h>

#if CUBBY_TEST_LINKED
extern "C" const void* plugin_calls_of(const char* engine);
extern "C" bool plugin_sees_reader(const cubby::detail::domain_ref* of);
#endif

namespace cubby_test {
namespace {

#if CUBBY_TEST_LINKED
#define CUBBY_TEST_LINKED_AS(function) (&(function))
#else
#define CUBBY_TEST_LINKED_AS(function) nullptr
#endif

void expect(bool holds, const char* what) { EXPECT_TRUE(holds) << what; }

/// The library, opened or linked.
class plugin {
public:
  plugin() {
#if !CUBBY_TEST_LINKED
    library_ = dlopen(CUBBY_TEST_PLUGIN, RTLD_NOW | RTLD_LOCAL);
    if (library_ == nullptr) {
      std::printf("%s\n", dlerror());
      std::exit(2);
    }
#endif
  }
  plugin(const plugin&) = delete;
  plugin& operator=(const plugin&) = delete;
  ~plugin() { close(); }
  void close() {
    if (library_ != nullptr) dlclose(library_);
    library_ = nullptr;
  }
  template <class Function> Function* find(const char* name, [[maybe_unused]] Function* linked) const {
#if CUBBY_TEST_LINKED
    (void)name;
    return linked;
#else
    return reinterpret_cast<Function*>(dlsym(library_, name));
#endif
  }
  template <class Line> const plugin_calls<typename Line::engine>& calls() const {
    auto* const calls_of = find<const void*(const char*)>("plugin_calls_of", CUBBY_TEST_LINKED_AS(plugin_calls_of));
    return *static_cast<const plugin_calls<typename Line::engine>*>(calls_of(Line::name));
  }

private:
  void* library_ = nullptr;
};

#if CUBBY_TEST_UNLOADS
bool is_loaded() {
  bool found = false;
  dl_iterate_phdr(
      [](dl_phdr_info* one, std::size_t, void* out) {
        if (std::string(one->dlpi_name).find("cubby_test_plugin") != std::string::npos) *static_cast<bool*>(out) = true;
        return 0;
      },
      &found);
  return found;
}
#endif

/// One image's threads read while the other's write.
template <class Engine, class Read, class Write>
void read_beside_writes(shared_map<Engine>& m, Read read, Write write, const char* what) {
  std::atomic<bool> done{false};
  std::atomic<std::size_t> torn{0};
  write_all(m, shared_keys);
  std::thread reader([&] {
    while (!done.load()) torn += read(m, 1000);
  });
  for (int n = 0; n < 40; ++n) write(m, 1000);
  done = true;
  reader.join();
  expect(torn == 0, what);
}

/// A value is looked at by one image while the other replaces it: nothing may be freed before the visit ends.
template <class Engine, class Write> void replace_in_a_visit(shared_map<Engine>& m, Write write, const char* what) {
  write_all(m, shared_keys);
  bool whole = true;
  m.visit(0, [&](const wide& v) {
    const std::uint64_t before = v.words[0];
    std::thread([&] { write(m, 4000); }).join();
    whole = v.is_whole() && v.words[0] == before;
  });
  expect(whole, what);
}

template <class Line> void use_both() {
  using engine = typename Line::engine;
  const plugin p;
  const auto& there = p.calls<Line>();
  {
    shared_map<engine> ours(cubby::options{.capacity = 16});
    read_beside_writes(ours, there.read, write_all<engine>, "the program's table, read by the plugin");
    read_beside_writes(ours, read_all<engine>, there.write, "the program's table, written by the plugin");
    replace_in_a_visit(ours, there.write, "the program's table, a visit beside the plugin's writes");
  }
  shared_map<engine>* const theirs = there.make(false);
  read_beside_writes(*theirs, there.read, write_all<engine>, "the plugin's table, written by the program");
  read_beside_writes(*theirs, read_all<engine>, there.write, "the plugin's table, read by the program");
  replace_in_a_visit(*theirs, there.write, "the plugin's table, a visit beside the plugin's writes");
  {
    auto h = theirs->handle(); // made here, of a domain that the plugin made
    const wide* const held = h.find_ref(0);
    const std::uint64_t before = held->words[0];
    std::thread([&] { there.write(*theirs, 4000); }).join();
    expect(held->is_whole() && held->words[0] == before, "a reference of the program's handle at the plugin's table");
  }
  there.destroy(theirs);
}

/// The table that a plugin has made goes on after it.
template <class Line> void use_after_close(bool background) {
  using engine = typename Line::engine;
  plugin p;
  const auto there = p.calls<Line>();
  shared_map<engine>* m = nullptr;
  std::thread([&] { m = there.make(background), there.write(*m, 3000); }).join(); // its thread ends before it is closed
  p.close();
#if CUBBY_TEST_UNLOADS
  expect(background || !is_loaded(), "nothing of a closed plugin stays loaded");
#endif
  for (std::uint64_t k = 0; k < 20000; ++k) m->insert(k, wide(k)); // grows
  read_beside_writes(*m, read_all<engine>, write_all<engine>, "a closed plugin's table");
  for (std::uint64_t k = 0; k < 20000; ++k) m->erase(k);
  delete m;
#if CUBBY_TEST_UNLOADS
  if (background) { // what its thread held is let go by the next that is closed
    plugin again;
    again.close();
    expect(!is_loaded(), "nothing stays loaded for a worker that has ended");
  }
#endif
}

/// A thread that has been inside by the plugin's code ends after the plugin has been closed.
template <class Line> void thread_ends_after_close() {
  using engine = typename Line::engine;
  plugin p;
  const auto there = p.calls<Line>();
  shared_map<engine> m(cubby::options{.capacity = 16});
  std::atomic<int> step{0};
  std::thread user([&] {
    there.write(m, 100);
    step = 1;
    while (step.load() != 2) std::this_thread::yield();
    m.insert_or_assign(1, wide(7));
  });
  while (step.load() != 1) std::this_thread::yield();
  p.close();
  step = 2;
  user.join();
  write_all(m, 3000);
}

/// A thread that has called the plugin keeps it loaded until it ends, so the main thread does not.
template <class F> void in_a_thread(F f) { std::thread(f).join(); }

/// Lines of the list: engines that threads may share, with records.
template <class Line> struct images : testing::Test {};
template <class Line> using shared_line = types_if<Line::records && Line::shared, Line>;
using shared_lines = join_over<shared_line, listed_engines>;
TYPED_TEST_SUITE(images, shared_lines);

TYPED_TEST(images, share_tables_that_another_image_made) {
  in_a_thread([] { use_both<TypeParam>(); });
}
TYPED_TEST(images, use_the_table_of_one_that_has_been_closed) { use_after_close<TypeParam>(false); }
TYPED_TEST(images, stay_loaded_while_the_thread_of_a_table_runs_their_code) { use_after_close<TypeParam>(true); }
TYPED_TEST(images, may_be_closed_before_a_thread_ends_that_has_called_them) { thread_ends_after_close<TypeParam>(); }

/// A reader's domain is named: the plugin sees the section in which its caller is.
TEST(images_and_sections, are_seen_from_both_sides) {
  const plugin p;
  auto* const sees =
      p.find<bool(const cubby::detail::domain_ref*)>("plugin_sees_reader", CUBBY_TEST_LINKED_AS(plugin_sees_reader));
  const cubby::detail::domain_ref of = cubby::detail::registry::own_domain();
  {
    const cubby::rcu::read_section inside(of);
    expect(sees(&of), "a section of the program, seen by the plugin");
  }
  expect(!sees(&of), "a section that has ended");
}

} // namespace
} // namespace cubby_test
