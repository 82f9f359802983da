// SPDX-License-Identifier: Apache-2.0
// The contract of engines and codecs of tables in files (core/contract/durable.hpp): each durable table keeps it, and one that lacks a
// member that `durable_map` calls does not.
#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include <cubby/durable_map.hpp>
#include <cubby/map.hpp>

#include "durable/kinds.hpp"

namespace cubby_test::contract_of_files {
namespace {

namespace contract = cubby::detail::contract;

template <class Kind> using engine_of = typename Kind::table::engine_type;
using words = engine_of<kind_of_words>;
using records = engine_of<kind_of_texts>;

/// A `Base` in which a use of `member` does not compile.
#define CUBBY_WITHOUT(member)                                                                                          \
  template <class Base>                                                                                                \
  struct without_##member : Base {                                                                                     \
    using Base::Base;                                                                                                  \
    void member() = delete;                                                                                            \
  };
CUBBY_WITHOUT(code)
CUBBY_WITHOUT(has_log)
CUBBY_WITHOUT(describe)
CUBBY_WITHOUT(sync)
CUBBY_WITHOUT(checkpoint)
CUBBY_WITHOUT(end_move)
CUBBY_WITHOUT(for_each)
CUBBY_WITHOUT(retire)
CUBBY_WITHOUT(mode)
CUBBY_WITHOUT(home)
CUBBY_WITHOUT(shared)
CUBBY_WITHOUT(is_whole)
CUBBY_WITHOUT(claim)
CUBBY_WITHOUT(begin_sync)
CUBBY_WITHOUT(end_sync)
CUBBY_WITHOUT(key_bytes)
CUBBY_WITHOUT(value_bytes)
CUBBY_WITHOUT(can_be)
CUBBY_WITHOUT(probe_of_bytes)
CUBBY_WITHOUT(make_of_bytes)
CUBBY_WITHOUT(begin_reading)
CUBBY_WITHOUT(parts)
CUBBY_WITHOUT(read_part)
CUBBY_WITHOUT(find_note)
CUBBY_WITHOUT(is_noted)
CUBBY_WITHOUT(claim_noted)
CUBBY_WITHOUT(end_reading_part)
CUBBY_WITHOUT(end_reading)
CUBBY_WITHOUT(for_each_older)
CUBBY_WITHOUT(blank_unused)
CUBBY_WITHOUT(note_inserted)
CUBBY_WITHOUT(note_erased)
CUBBY_WITHOUT(note_replaced)
#undef CUBBY_WITHOUT

template <class... Kinds>
constexpr bool is_kept_by(testing::Types<Kinds...>) {
  return (contract::durable<engine_of<Kinds>> && ...);
}
/// How many of these keep the contract.
template <class... Engines>
constexpr int engines() {
  return (0 + ... + (contract::durable<Engines> ? 1 : 0));
}
template <class... Codecs>
constexpr int codecs() {
  return (0 + ... + (contract::durable_codec<Codecs> ? 1 : 0));
}

TEST(contract_of_files, is_kept_by_each_kind_of_durable_table) {
  EXPECT_TRUE(is_kept_by(every_kind{}));
  EXPECT_TRUE(is_kept_by(every_set{}));
}

TEST(contract_of_files, is_broken_by_each_member_that_an_engine_lacks) {
  EXPECT_EQ(
      (engines<without_code<words>, without_has_log<words>, without_describe<words>, without_sync<words>,
               without_checkpoint<words>, without_end_move<words>, without_for_each<words>, without_retire<words>>()),
      0);
}

TEST(contract_of_files, is_broken_by_each_member_that_a_codec_lacks) {
  using codec = records::policy;
  EXPECT_EQ((codecs<codec, words::policy>()), 2);
  EXPECT_EQ((codecs<without_mode<codec>, without_home<codec>, without_shared<codec>, without_is_whole<codec>,
                    without_claim<codec>, without_begin_sync<codec>, without_end_sync<codec>>()),
            0);
  EXPECT_EQ((codecs<without_key_bytes<codec>, without_value_bytes<codec>, without_can_be<codec>,
                    without_probe_of_bytes<codec>, without_make_of_bytes<codec>, without_begin_reading<codec>,
                    without_parts<codec>, without_read_part<codec>, without_find_note<codec>, without_is_noted<codec>,
                    without_claim_noted<codec>, without_end_reading_part<codec>, without_end_reading<codec>,
                    without_for_each_older<codec>, without_blank_unused<codec>, without_note_inserted<codec>,
                    without_note_erased<codec>, without_note_replaced<codec>>()),
            0);
}

TEST(contract_of_files, asks_for_a_codec_of_files) {
  EXPECT_EQ((codecs<cubby::map<std::uint64_t, std::string, cubby::iceberg>::engine_type::policy>()), 0);
}

} // namespace
} // namespace cubby_test::contract_of_files
