// SPDX-License-Identifier: Apache-2.0
// says alone: this engine lacks something that each table needs: see contract::engine
#include <cubby/map.hpp>
#include <cubby/reference.hpp>

template <class Policy> struct without_mutate : cubby::detail::engines::reference<Policy> {
  using cubby::detail::engines::reference<Policy>::reference;
  void mutate() = delete;
};
struct without_mutate_tag {
  template <class Policy> using engine = without_mutate<Policy>;
};

bool find(const cubby::map<int, int, without_mutate_tag>& all) { return all.contains(1); }
