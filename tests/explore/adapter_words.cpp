// SPDX-License-Identifier: Apache-2.0
#include "explore/name_words.hpp"

namespace cubby_test {

struct words_key;
struct words_coding : explored_words<cubby::dlht> {
  template <class Map>
  static std::string name(const Map& m, const void* address) {
    return with_names<words_key>::name(m, address);
  }
};
using words_engine = explored_map<words_coding>::engine_type;
struct words_key {
  friend constexpr table_in<words_engine> words_engine::* table_member(words_key);
};
template struct open_door<words_key, &words_engine::table_>;

run_state make_words(const scenario& s) { return make_map<words_coding>(s); }

} // namespace cubby_test
