// SPDX-License-Identifier: Apache-2.0
// examples/pmr.cpp with Boost.
#include <boost/unordered/concurrent_flat_map.hpp>

#include <cstdio>
#include <memory_resource>
#include <string>
#include <thread>

using text = std::pmr::string;
using table = boost::unordered::pmr::concurrent_flat_map<text, text>;

int main() {
  std::pmr::synchronized_pool_resource pool;
  table names(&pool);
  const auto work = [&names](int from) {
    for (int i = from; i < from + 1000; ++i)
      names.emplace(text("name number ") += std::to_string(i), text("a value that takes memory"));
  };
  std::thread other(work, 1000);
  work(0);
  other.join();

  bool of_pool = false;
  names.cvisit(text("name number 7"), [&](const auto& e) { of_pool = e.second.get_allocator().resource() == &pool; });
  std::printf("%zu names; the texts are %s the pool\n", names.size(), of_pool ? "in" : "not in");
  return names.size() == 2000 && of_pool ? 0 : 1;
}
