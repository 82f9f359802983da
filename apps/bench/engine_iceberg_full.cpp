// SPDX-License-Identifier: Apache-2.0
// The iceberg engine with a bound: as many slots as its entries need at 96.5 per cent, and no growth. `--space` makes it emptier.
#include "engine_cubby.hpp"

namespace bench {

namespace {

// Places for keys that come and go beside those of the run, more than one for each thread.
constexpr std::size_t spare_places = 1024;

cubby::options with_bound(cubby::options o) {
  o.capacity += spare_places;
  o.growth = cubby::growth_policy::fixed;
  return o;
}

template <class K, class V> using full_map = map_adapter<cubby_map<K, V, cubby::iceberg, engine_id::iceberg_full>>;
template <class K, class V> class full_adapter : public full_map<K, V> {
public:
  explicit full_adapter(const table_spec& spec) : full_map<K, V>(with_bound(full_map<K, V>::options_for(spec))) {}
};

} // namespace

std::unique_ptr<table> make_iceberg_full(const table_spec& spec) { return build_small<full_adapter>(spec); }

} // namespace bench
