// SPDX-License-Identifier: Apache-2.0
// says: this engine takes no batches; ask it one by one
#include <cubby/map.hpp>
#include <cubby/reference.hpp>

template <class Policy> struct one_by_one : cubby::detail::engines::reference<Policy> {
  using cubby::detail::engines::reference<Policy>::reference;
  void find_many() = delete;
};
struct one_by_one_tag {
  template <class Policy> using engine = one_by_one<Policy>;
};
using table = cubby::map<int, int, one_by_one_tag>;

std::size_t put(table& all, std::span<const int> keys, std::span<const int> values, std::span<cubby::outcome> results) {
  return all.insert_batch(keys, values, results);
}
