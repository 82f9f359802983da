// SPDX-License-Identifier: Apache-2.0
// says: this engine does not grow; give the capacity when the table is made
#include <cubby/map.hpp>
#include <cubby/reference.hpp>

template <class Policy> struct of_one_size : cubby::detail::engines::reference<Policy> {
  using cubby::detail::engines::reference<Policy>::reference;
  void reserve() = delete;
};
struct of_one_size_tag {
  template <class Policy> using engine = of_one_size<Policy>;
};

bool grow(cubby::map<int, int, of_one_size_tag>& all) { return all.reserve(100); }
