// SPDX-License-Identifier: Apache-2.0
// says: this engine gives no memory back before its end
#include <cubby/map.hpp>
#include <cubby/reference.hpp>

template <class Policy> struct growing_only : cubby::detail::engines::reference<Policy> {
  using cubby::detail::engines::reference<Policy>::reference;
  void shrink_to_fit() = delete;
};
struct growing_only_tag {
  template <class Policy> using engine = growing_only<Policy>;
};

bool shrink(cubby::map<int, int, growing_only_tag>& all) { return all.clear_and_release(); }
