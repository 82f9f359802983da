// SPDX-License-Identifier: Apache-2.0
// Durable sets beside std::set, texts of any size, and which domain a table of given options is in.
#include <chrono>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "durable/files.hpp"
#include "durable/kinds.hpp"

namespace cubby_test {
namespace {

template <class Kind> class durable_sets : public testing::Test {};
TYPED_TEST_SUITE(durable_sets, every_set);

TYPED_TEST(durable_sets, agree_with_a_set) {
  using key_of_test = typename TypeParam::key_type;
  const own_folder folder;
  const std::string path = folder.file("set");
  std::set<key_of_test> model;
  random_source random(3);
  for (const std::uint64_t most : {std::uint64_t{20}, std::uint64_t{4000}}) {
    for (int round = 0; round < 5; ++round) {
      const auto table = must_open<typename TypeParam::table>(path);
      ASSERT_EQ(table->size(), model.size());
      for (std::uint64_t i = 0; i < scaled(3000); ++i) {
        const key_of_test k = key_of<key_of_test>(random.below(most));
        const std::uint64_t dice = random.below(1000);
        if (dice < 3) table->shrink_to_fit();
        else if (dice < 400) EXPECT_EQ(table->erase(k), model.erase(k) == 1);
        else EXPECT_EQ(table->insert(k), model.insert(k).second);
      }
      std::set<key_of_test> seen;
      table->visit_all([&](const key_of_test& k) { EXPECT_TRUE(seen.insert(k).second); });
      ASSERT_TRUE(seen == model);
      EXPECT_TRUE(table->check().ok());
    }
  }
}

TEST(durable_texts, of_any_size_are_there) {
  const own_folder folder;
  const std::string path = folder.file("texts");
  std::map<std::string, std::string> model;
  random_source random(5);
  for (std::uint64_t size = 0; size < 300; ++size) model[std::string(size, 'k')] = std::string(300 - size, 'v');
  for (const std::size_t size :
       {std::size_t{4096}, std::size_t{65536}, std::size_t{1} << 20, (std::size_t{5} << 20) + 3})
    model["big " + std::to_string(size)] = std::string(size, static_cast<char>('a' + random.below(26)));
  model[std::string(1 << 20, 'K')] = "a long key";
  model[std::string("a\0b", 3)] = std::string("\0", 1);
  for (int round = 0; round < 3; ++round) {
    const auto table = must_open<kind_of_texts::table>(path);
    for (const auto& [k, v] : model) {
      EXPECT_EQ(table->try_emplace(std::string_view(k), std::string_view(v)), round == 0);
      EXPECT_TRUE(table->find(std::string_view(k)) == v) << k.size();
      table->assign(k, v);
    }
    EXPECT_TRUE(table->check().ok());
    EXPECT_LT(table->stats().block_bytes, std::size_t{40} << 20) << "replaced values are not given back";
  }
}

TEST(durable_syncs, happen_by_themselves) {
  const own_folder folder;
  const auto table =
      must_open<kind_of_words::table>(folder.file("words"), {.sync_every = std::chrono::milliseconds(1)});
  for (std::uint64_t k = 0; k < 1000; ++k) table->insert(k, k);
  EXPECT_TRUE(table->close());
}

TEST(durable_domains, are_reported) {
  const own_folder folder;
  using table_type = kind_of_words::table;
  const auto of = [&](const char* name, const cubby::durable_options& wanted) {
    const auto table = must_open<table_type>(folder.file(name), wanted);
    return table->stats().domain;
  };
  EXPECT_EQ(of("a", {.survives = cubby::survive::process}), cubby::persistence::process);
  EXPECT_EQ(of("a", {.survives = cubby::survive::power_cut}), cubby::persistence::process) << "the file decides";
  EXPECT_GE(of("b", {}), cubby::persistence::page);
  EXPECT_EQ(of("b", {.write_lines_back = true}), cubby::persistence::line);
}

} // namespace
} // namespace cubby_test
