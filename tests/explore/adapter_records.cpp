// SPDX-License-Identifier: Apache-2.0
#include "explore/name_words.hpp"

namespace cubby_test {

struct records_key;
struct records_coding : explored_records<cubby::dlht> {
  template <class Map>
  static std::string name(const Map& m, const void* address) {
    return with_names<records_key>::name(m, address);
  }
};
using records_engine = explored_map<records_coding>::engine_type;
struct records_key {
  friend constexpr table_in<records_engine> records_engine::* table_member(records_key);
};
template struct open_door<records_key, &records_engine::table_>;

run_state make_records(const scenario& s) { return make_map<records_coding>(s); }

} // namespace cubby_test
