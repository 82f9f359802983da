// SPDX-License-Identifier: Apache-2.0
// Every verb of every engine, for users whose builds warn of more than ours: it compiles without a warning under the flags that
// tools/suite/source.py names, also when the linker optimises. Returns 0.
#include <cstdint>
#include <cstdio>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <unistd.h>

#include <cubby/coro.hpp>
#include <cubby/durable_map.hpp>
#include <cubby/in_place_map.hpp>
#include <cubby/pipeline.hpp>
#include <cubby/rcu.hpp>

#include "../engine_headers.hpp"
#include "../engine_list.hpp"

namespace {

using word = std::uint64_t;

template <class Map, class K, class V> void change(Map& m, const K& k, const V& v) {
  const auto same = [](const V& old) { return old; };
  m.insert(k, v);
  m.try_emplace(k, v);
  (void)m.try_insert(k, v);
  m.assign(k, v);
  m.insert_or_assign(k, v);
  m.update(k, same);
  m.insert_or_update(k, same, v);
  m.insert_or_add(k, v);
  (void)m.add_and_fetch(k, v);
  m.insert_or_visit(k, v, [](const V&) {});
  m.try_emplace_or_visit(k, v, [](const V&) {});
  (void)m.find_or_emplace(k, [&v] { return v; });
  (void)m.compute(k, [](const V* old) -> cubby::computed<V> {
    if (old != nullptr) return *old;
    return cubby::action::keep;
  });
  m.erase_if(k, [](const V&) { return false; });
  if constexpr (Map::capabilities.exclusive_modify) m.modify(k, [&v](V& now) { now = v; });
  if constexpr (Map::capabilities.shadow_insert) {
    auto hidden = m.shadow_insert(k, v);
    hidden.commit();
  }
}

template <class Map, class K, class V> std::size_t look(Map& m, const K& k, const V& v) {
  std::size_t count = m.contains(k) && m.find(k) ? 1 : 0;
  count += m.visit(k, [](const V&) {});
  m.visit_all([&count](const K&, const V&) { ++count; });
  const std::vector<K> keys(3, k);
  std::vector<V> values(3, v);
  bool found[3] = {};
  cubby::outcome how[3] = {};
  count += m.insert_batch(keys, values, how);
  count += m.insert_range(std::vector<std::pair<K, V>>{{k, v}});
  count += m.find_batch(keys, values, found);
  count += m.visit_batch(keys, [](std::size_t, const V*) {});
  if constexpr (Map::capabilities.snapshot) count += m.snapshot().size();
  if constexpr (Map::capabilities.prefetch) {
    const auto task = [](const Map& map, K key, std::size_t& out) -> cubby::task {
      if (co_await map.async_find(key)) ++out;
    };
    cubby::round_robin tasks;
    tasks.spawn(task(m, k, count));
    tasks.run();
  }
  return count;
}

template <class Map, class K, class V> std::size_t ask(Map& m, const K& k, const V& v) {
  const typename Map::request_type asked[] = {
      {cubby::verb::find, k, {}}, {cubby::verb::insert_or_assign, k, v}, {cubby::verb::insert_or_add, k, v}};
  typename Map::reply_type answers[3];
  std::size_t count = m.execute(asked, answers);
  if constexpr (Map::capabilities.pipelined) {
    auto h = m.handle();
    auto pending = h.pipeline([&count](auto&&) { ++count; });
    pending.find(k, 1);
    pending.insert_or_assign(k, v, 2);
    pending.drain();
  }
  return count;
}

template <class Map, class K, class V> std::size_t use_map(Map& m, const K& k, const V& v) {
  change(m, k, v);
  std::size_t count = look(m, k, v) + ask(m, k, v);
  auto h = m.handle();
  count += h.contains(k) ? 1U : 0U;
  count += m.erase_if([](const K&, const V&) { return false; });
  (void)m.extract(k);
  m.erase(k);
  m.clear();
  m.reserve(100);
  m.shrink_to_fit();
  return count + m.size();
}

template <class Engine, class K, class V> std::size_t use(const K& k, const V& v) {
  cubby::map<K, V, Engine> m;
  cubby::set<K, Engine> s;
  s.insert(k);
  return use_map(m, k, v) + s.size() + m.stats().bytes;
}

std::size_t use_partitioned() {
  cubby::delegated_map<word, word> m(cubby::partitioned::options{{}, {.owners = 1}});
  {
    auto h = m.handle();
    (void)h.insert_or_assign(1, 2);
    (void)h.insert_or_add(1, 2);
    h.flush();
  }
  m.reserve(1000);
  m.shrink_to_fit();
  std::size_t count = m.contains(1) ? 1 : 0;
  m.visit_all([&count](word, word) { ++count; });
  return count + m.stats().bytes;
}

std::size_t use_in_place() {
  using list = std::vector<word>;
  cubby::in_place_map<std::string, list> m;
  const auto push = [](list& v) { v.push_back(1); };
  const auto none = [](const list&) { return false; };
  m.insert("a", list{1});
  m.try_emplace("b", 2U, word{3});
  (void)m.try_insert("c");
  m.assign("a", list{2});
  m.insert_or_assign("d", list{4});
  m.modify("a", push);
  m.insert_or_modify("e", push, 1U);
  m.emplace_and_modify("f", push, 1U);
  m.erase_if("a", none);
  const std::vector<std::string> keys{"a", "b"};
  std::size_t count = m.modify_batch(keys, [](std::size_t, list* v) {
    if (v != nullptr) v->clear();
  });
  count += m.visit_batch(keys, [](std::size_t, const list*) {});
  m.visit_all([&count](const std::string&, const list&) { ++count; });
  m.modify_all([](const std::string&, list& v) { v.clear(); });
  auto h = m.handle();
  count += h.find("a")->size() + (h.contains("b") ? 1 : 0) + h.visit("c", [](const list&) {});
  count += h.extract("b")->size() + (h.erase("c") ? 1 : 0) + m.size() + m.capacity() + m.stats().bytes;
  m.erase_if([](const std::string&, const list&) { return false; });
  m.reserve(1000);
  m.shrink_to_fit();
  m.clear();
  return count + (m.empty() ? 1 : 0);
}

/// A table in a file.
template <class Engine, class K, class V> std::size_t use_file(const K& k, const V& v) {
  const std::string path = "/dev/shm/cubby_every_verb_" + std::to_string(getpid());
  std::size_t count = 0;
  {
    const auto file = cubby::durable_map<K, V, cubby::hash<K>, Engine>::open(path);
    if (!file) return 0;
    count = use_map(*file, k, v) + (file->sync() ? 1U : 0U) + (file->check().damaged == 0 ? 1U : 0U);
  }
  (void)std::remove(path.c_str());
  return count;
}

// What an engine of the list is used with, by what it stores.
template <class Engine> std::size_t use_records() {
  std::size_t count = use<Engine>(word{1}, word{2}) + use<Engine>(std::string("key"), std::string("value"));
  if constexpr (cubby::detail::keeps_files<Engine>) count += use_file<Engine>(word{1}, word{2});
  return count;
}
template <class Engine> std::size_t use_tuples() { return use<Engine>(word{1}, word{2}); }
template <class> std::size_t use_delegated() { return use_partitioned(); }

} // namespace

int main() {
  std::size_t count = use_in_place() + use<cubby::relativistic>(cubby::in_namespace<int>{1, 2}, std::string("value"));
#define CUBBY_USED(tag, storage, ...) count += use_##storage<cubby::tag>();
  CUBBY_FOR_EACH_ENGINE(CUBBY_USED)
#undef CUBBY_USED
  count += cubby::hash_parts(0, "a literal", word{1}, std::string("text")) != 0 ? 1U : 0U;
  return count != 0 ? 0 : 1;
}
