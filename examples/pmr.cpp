// SPDX-License-Identifier: Apache-2.0
// A table whose records, and the texts in them, come from a memory resource. Any thread may ask it for memory, so the resource is
// a synchronized one. Both texts of an entry are given the resource of the table.
#include <cubby/pmr.hpp>

#include <cstdio>
#include <memory_resource>
#include <string>
#include <thread>

using text = std::pmr::string;
using table = cubby::pmr::map<text, text>;

int main() {
  std::pmr::synchronized_pool_resource pool;
  table names(&pool);
  const auto work = [&names](int from) {
    for (int i = from; i < from + 1000; ++i)
      names.insert(text("name number ") += std::to_string(i), text("a value that takes memory"));
  };
  std::thread other(work, 1000);
  work(0);
  other.join();

  bool of_pool = false;
  names.visit(text("name number 7"), [&](const text& t) { of_pool = t.get_allocator().resource() == &pool; });
  std::printf("%zu names; the texts are %s the pool\n", names.size(), of_pool ? "in" : "not in");
  return names.size() == 2000 && of_pool ? 0 : 1;
}
