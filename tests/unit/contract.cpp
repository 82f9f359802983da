// SPDX-License-Identifier: Apache-2.0
// The contract of core/contract: each engine and each codec of the library keeps it, and one that lacks a member that the API calls
// does not. What an engine may have beside that follows from its members alone.
#include <cstdint>
#include <cstring>
#include <string>

#include <gtest/gtest.h>

#include "engines.hpp"

namespace cubby_test::contract_tests {
namespace {

namespace contract = cubby::detail::contract;
using cubby::capability_set;

template <class Engine, class V = std::uint64_t> using engine_of =
    typename cubby::map<std::uint64_t, V, Engine>::engine_type;
using words = engine_of<cubby::reference>;
using records = engine_of<cubby::reference, std::string>;
using changing = engine_of<cubby::relativistic>;
using waiting = engine_of<cubby::dramhit>;
using of_texts = cubby::map<std::string, std::uint64_t, cubby::iceberg>::engine_type; // keys lie in the slots
using sending = cubby::delegated_map<std::uint64_t, std::uint64_t>::engine_type;
using word_codec = words::policy;
using record_codec = records::policy;
using tuple_codec = engine_of<cubby::dramhit_tuples>::policy;
using text_codec = of_texts::policy;

/// A `Base` in which a call of `member` does not compile.
#define CUBBY_WITHOUT(member)                                                                                          \
  template <class Base>                                                                                                \
  struct without_##member : Base {                                                                                     \
    using Base::Base;                                                                                                  \
    void member() = delete;                                                                                            \
  };
CUBBY_WITHOUT(ok)
CUBBY_WITHOUT(slots)
CUBBY_WITHOUT(pin)
CUBBY_WITHOUT(local_thread_record)
CUBBY_WITHOUT(claim_thread_record)
CUBBY_WITHOUT(find)
CUBBY_WITHOUT(insert)
CUBBY_WITHOUT(mutate)
CUBBY_WITHOUT(size)
CUBBY_WITHOUT(capacity)
CUBBY_WITHOUT(stats)
CUBBY_WITHOUT(retire)
CUBBY_WITHOUT(stop_worker)
CUBBY_WITHOUT(dispose_retired)
CUBBY_WITHOUT(find_many)
CUBBY_WITHOUT(for_each)
CUBBY_WITHOUT(reserve)
CUBBY_WITHOUT(shrink_to_fit)
CUBBY_WITHOUT(snapshot)
CUBBY_WITHOUT(shadow_insert)
CUBBY_WITHOUT(shadow_commit)
CUBBY_WITHOUT(shadow_abort)
CUBBY_WITHOUT(modify)
CUBBY_WITHOUT(prefetch)
CUBBY_WITHOUT(prefetch_record)
CUBBY_WITHOUT(aim)
CUBBY_WITHOUT(ask)
CUBBY_WITHOUT(advance)
CUBBY_WITHOUT(find_along)
CUBBY_WITHOUT(mutate_along)
CUBBY_WITHOUT(open_sender)
CUBBY_WITHOUT(close_sender)
CUBBY_WITHOUT(insert_or_assign)
CUBBY_WITHOUT(insert_or_add)
CUBBY_WITHOUT(erase)
CUBBY_WITHOUT(flush)
CUBBY_WITHOUT(partitions)
CUBBY_WITHOUT(partition_of)
CUBBY_WITHOUT(look_after)
CUBBY_WITHOUT(serve)
CUBBY_WITHOUT(hash_function)
CUBBY_WITHOUT(allocator)
CUBBY_WITHOUT(probe_of)
CUBBY_WITHOUT(probe_of_slot)
CUBBY_WITHOUT(is_legal)
CUBBY_WITHOUT(key)
CUBBY_WITHOUT(value)
CUBBY_WITHOUT(kept_key)
CUBBY_WITHOUT(matches)
CUBBY_WITHOUT(hash_of)
CUBBY_WITHOUT(record_of)
CUBBY_WITHOUT(retire_link)
CUBBY_WITHOUT(dispose)
CUBBY_WITHOUT(make)
CUBBY_WITHOUT(reseed)
CUBBY_WITHOUT(aimed_at)
CUBBY_WITHOUT(needs_record)
CUBBY_WITHOUT(query_of)
CUBBY_WITHOUT(has_words)
CUBBY_WITHOUT(has_text)
CUBBY_WITHOUT(make_key)
CUBBY_WITHOUT(key_word_to_retire)
CUBBY_WITHOUT(key_link)
CUBBY_WITHOUT(dispose_key)
#undef CUBBY_WITHOUT

/// How many of these engines keep the contract.
template <class... Engines>
constexpr int engines() {
  return (0 + ... + (contract::engine<Engines> ? 1 : 0));
}
template <class... Codecs>
constexpr int codecs() {
  return (0 + ... + (contract::codec<Codecs> ? 1 : 0));
}
template <class... Engines>
constexpr int pipelines() {
  return (0 + ... + (contract::pipelined<Engines> ? 1 : 0));
}
template <class... Engines>
constexpr int delegations() {
  return (0 + ... + (contract::delegating<Engines> ? 1 : 0));
}

template <class... Modes>
constexpr bool is_kept_in(::testing::Types<Modes...>) {
  return ((contract::engine<typename Modes::map::engine_type> &&
           contract::codec<typename Modes::map::engine_type::policy>) &&
          ...);
}
TEST(contract, is_kept_by_every_engine_in_every_mode) {
  EXPECT_TRUE(is_kept_in(join_over<every_mode_of, listed_engines>{}));
  EXPECT_EQ((engines<engine_of<cubby::dlht_counted>>()), 1); // no engine of the list, but of users
  EXPECT_EQ((pipelines<waiting, engine_of<cubby::dramhit, std::string>, engine_of<cubby::dramhit_tuples>>()), 3);
  EXPECT_TRUE(contract::delegating<sending>);
  EXPECT_FALSE(contract::engine<sending>) << "its writes have no answers";
}

TEST(contract, is_broken_by_each_member_that_an_engine_lacks) {
  EXPECT_EQ((engines<without_ok<words>, without_slots<words>, without_pin<words>, without_local_thread_record<words>,
                     without_claim_thread_record<words>, without_find<words>, without_insert<words>,
                     without_mutate<words>, without_size<words>, without_capacity<words>, without_stats<words>>()),
            0);
}

TEST(contract, asks_for_the_end_of_records_where_there_are_some) {
  EXPECT_EQ((engines<without_retire<records>, without_stop_worker<records>, without_dispose_retired<records>>()), 0);
  EXPECT_EQ((engines<without_retire<words>, without_stop_worker<words>, without_dispose_retired<words>>()), 3);
}

TEST(contract, asks_for_a_thread_record_of_a_handle_where_threads_share_a_table) {
  EXPECT_EQ((engines<without_claim_thread_record<engine_of<cubby::dlht>>,
                     without_claim_thread_record<engine_of<cubby::dlht_single>>>()),
            1);
}

/// Whether nothing but this capability is lost with the member.
template <class Without, class With>
bool loses(bool capability_set::* what) {
  capability_set left = contract::capabilities_of<With>;
  EXPECT_TRUE(left.*what);
  left.*what = false;
  const capability_set now = contract::capabilities_of<Without>;
  return contract::engine<Without> && std::memcmp(&left, &now, sizeof now) == 0;
}

TEST(contract, gives_the_capabilities_that_the_members_of_an_engine_carry) {
  EXPECT_TRUE((loses<without_find_many<words>, words>(&capability_set::ordered_batch)));
  EXPECT_TRUE((loses<without_reserve<words>, words>(&capability_set::grows)));
  EXPECT_TRUE((loses<without_shrink_to_fit<words>, words>(&capability_set::shrinks)));
  EXPECT_TRUE((loses<without_snapshot<words>, words>(&capability_set::snapshot)));
  EXPECT_TRUE((loses<without_shadow_insert<words>, words>(&capability_set::shadow_insert)));
  EXPECT_TRUE((loses<without_shadow_commit<words>, words>(&capability_set::shadow_insert)));
  EXPECT_TRUE((loses<without_shadow_abort<words>, words>(&capability_set::shadow_insert)));
  EXPECT_TRUE((loses<without_modify<changing>, changing>(&capability_set::exclusive_modify)));
  EXPECT_TRUE((loses<without_prefetch<changing>, changing>(&capability_set::prefetch)));
  using text = engine_of<cubby::relativistic, std::string>;
  EXPECT_TRUE((loses<without_prefetch_record<text>, text>(&capability_set::prefetch)));
  EXPECT_TRUE(contract::prefetching<without_prefetch_record<changing>>) << "words have no records";
  EXPECT_TRUE((loses<without_aim<waiting>, waiting>(&capability_set::pipelined)));
  EXPECT_FALSE(contract::iterable<without_for_each<words>>);
  EXPECT_FALSE(contract::mutating_along<without_mutate_along<waiting>>);
}

TEST(contract, of_pipelines_misses_each_member) {
  EXPECT_EQ(
      (pipelines<without_aim<waiting>, without_ask<waiting>, without_advance<waiting>, without_find_along<waiting>>()),
      0);
}

TEST(contract, of_delegation_misses_each_member) {
  EXPECT_EQ((delegations<without_open_sender<sending>, without_close_sender<sending>, without_insert_or_assign<sending>,
                         without_insert_or_add<sending>, without_erase<sending>, without_flush<sending>,
                         without_partitions<sending>, without_partition_of<sending>, without_look_after<sending>,
                         without_serve<sending>, without_find_many<sending>, without_prefetch<sending>,
                         without_for_each<sending>, without_reserve<sending>, without_shrink_to_fit<sending>>()),
            0);
}

TEST(contract, of_codecs_misses_each_member) {
  EXPECT_EQ((codecs<without_hash_function<word_codec>, without_allocator<word_codec>, without_probe_of<word_codec>,
                    without_probe_of_slot<word_codec>, without_is_legal<word_codec>, without_key<word_codec>,
                    without_value<word_codec>, without_kept_key<word_codec>, without_matches<word_codec>,
                    without_hash_of<word_codec>, without_record_of<word_codec>, without_dispose<word_codec>,
                    without_retire_link<record_codec>, without_hash_of<tuple_codec>, without_value<tuple_codec>,
                    without_make<word_codec>, without_make<record_codec>, without_make<tuple_codec>,
                    without_reseed<word_codec>, without_aimed_at<record_codec>, without_needs_record<text_codec>,
                    without_has_words<text_codec>, without_has_text<text_codec>, without_make_key<text_codec>,
                    without_query_of<text_codec>, without_key_word_to_retire<text_codec>, without_key_link<text_codec>,
                    without_dispose_key<text_codec>>()),
            0);
  EXPECT_EQ((codecs<without_retire_link<word_codec>>()), 1) << "words are not retired";
}

/// Its lookups take no query, although its codec has them.
struct asked_by_probes : of_texts {
  using of_texts::of_texts;
  cubby::detail::found_as<of_texts::value_type> find(cubby::detail::thread_record&, const of_texts::probe&) const;
};
TEST(contract, of_lookups_wants_those_by_the_queries_of_the_codec) {
  EXPECT_TRUE(contract::lookup_engine<of_texts>);
  EXPECT_FALSE(contract::lookup_engine<asked_by_probes>);
}

TEST(options, of_an_engine_come_to_it) {
  const std::size_t capacity = 10000;
  const cubby::map<int, int> usual(cubby::options{.capacity = capacity});
  const cubby::map<int, int> sparse(cubby::dlht::options{{.capacity = capacity}, {.bins_per_link = 16}});
  EXPECT_GE(sparse.capacity(), capacity);
  EXPECT_LT(sparse.stats().links * 4, usual.stats().links);
  cubby::delegated_map<int, int> parts(cubby::partitioned::options{{.capacity = capacity}, {.partitions = 3}});
  EXPECT_EQ(parts.partitions(), 3u);
}

TEST(options, of_every_table_leave_those_of_the_engine_as_they_are) {
  const auto made = contract::options_for<engine_of<cubby::dlht>>(cubby::options{.capacity = 7, .seed = 9});
  EXPECT_EQ(made.capacity, 7u);
  EXPECT_EQ(made.seed, 9u);
  EXPECT_EQ(made.bins_per_link, cubby::dlht::options{}.bins_per_link);
  EXPECT_EQ(made.move_bins, cubby::dlht::options{}.move_bins);
}

} // namespace
} // namespace cubby_test::contract_tests
