// SPDX-License-Identifier: Apache-2.0
// examples/pmr.cpp with oneTBB.
#include <tbb/concurrent_hash_map.h>

#include <cstddef>
#include <cstdio>
#include <functional>
#include <memory_resource>
#include <string>
#include <thread>
#include <utility>

using text = std::pmr::string;
using allocator = std::pmr::polymorphic_allocator<std::pair<const text, text>>;
using table = tbb::concurrent_hash_map<text, text, tbb::tbb_hash_compare<text>, allocator>;

int main() {
  std::pmr::synchronized_pool_resource pool;
  table names{allocator(&pool)};
  const auto work = [&names](int from) {
    for (int i = from; i < from + 1000; ++i)
      names.emplace(text("name number ") += std::to_string(i), text("a value that takes memory"));
  };
  std::thread other(work, 1000);
  work(0);
  other.join();

  bool of_pool = false;
  if (table::const_accessor held; names.find(held, text("name number 7")))
    of_pool = held->second.get_allocator().resource() == &pool;
  std::printf("%zu names; the texts are %s the pool\n", names.size(), of_pool ? "in" : "not in");
  return names.size() == 2000 && of_pool ? 0 : 1;
}
