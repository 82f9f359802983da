// SPDX-License-Identifier: Apache-2.0
// says: specialise cubby::adds_in_place<V> if that of V is short and uses no map
#include <cubby/delegated_map.hpp>

struct price {
  int cents;
  friend price operator+(price a, price b) noexcept { return {a.cents + b.cents}; }
};

using prices = cubby::delegated_map<int, price>;
cubby::outcome add(prices::handle_type& all) { return all.insert_or_add(1, price{2}); }
