// SPDX-License-Identifier: Apache-2.0
// The words and marks of a report over results that are made up here: a loss is called a loss, a spread is marked, and
// batches and single calls are named.
#include <gtest/gtest.h>

#include <algorithm>

#include "../bench/conclusion.hpp"
#include "../bench/descriptions.hpp"

namespace {

using namespace bench;
using enum engine_id;

result made(engine_id engine, kind what, std::vector<double> rounds, std::size_t batch = 32) {
  result r;
  r.engine = engine;
  r.what = {what, 0};
  r.keys = 1000;
  r.threads = 2;
  r.batch = batch;
  r.rounds_mops = std::move(rounds);
  return r;
}

chapter chapter_of(std::vector<result> results) {
  chapter c;
  c.title = "Made up";
  for (const result& r : results) {
    if (std::ranges::find(c.run.engines, r.engine) == c.run.engines.end()) c.run.engines.push_back(r.engine);
    if (std::ranges::find(c.run.workloads, r.what) == c.run.workloads.end()) c.run.workloads.push_back(r.what);
    if (std::ranges::find(c.run.batch, r.batch) == c.run.batch.end()) c.run.batch.push_back(r.batch);
  }
  finish(results);
  c.results = std::move(results);
  return c;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + " ";
  return text;
}

TEST(Conclusion, AFirstPlaceHasItsRatio) {
  const auto all =
      compare({chapter_of({made(dlht, kind::get, {30}), made(dramhit, kind::get, {20}), made(boost, kind::get, {12}),
                           made(tbb, kind::get, {5}), made(limit, kind::get, {90}), made(std_map, kind::get, {80})})});
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(line_of(all[0]), "dlht (batches of 32) is first with 30.00 Mops/s, 2.50 times the best rival, boost "
                             "(batches of 32).");
  EXPECT_EQ(joined(conclusion_of(all)),
            "cubby is first in 1 of 1 comparisons with the best rival. It loses none of them. ");
  EXPECT_FALSE(summary_of(all)) << "one column is no comparison";
}

TEST(Conclusion, ASmallLossIsNotCalledEqual) {
  const auto all = compare(
      {chapter_of({made(dlht, kind::get, {19.99}), made(boost, kind::get, {20}), made(limit, kind::get, {90})})});
  EXPECT_TRUE(has(line_of(all[0]), "reaches 0.99 times that")) << line_of(all[0]);
  EXPECT_TRUE(has(joined(conclusion_of(all)), "(0.99 times boost")) << joined(conclusion_of(all));
}

TEST(Conclusion, ALossIsCalledALoss) {
  const auto all = compare(
      {chapter_of({made(dlht, kind::get, {30}), made(dramhit, kind::get, {44}), made(boost, kind::get, {20}),
                   made(dlht, kind::put, {10}), made(dramhit, kind::put, {9}), made(cuckoo, kind::put, {40})})});
  ASSERT_EQ(all.size(), 2U);
  EXPECT_TRUE(has(line_of(all[0]), "dramhit (batches of 32) is first"));
  EXPECT_EQ(line_of(all[1]), "cuckoo (single calls) is first with 40.00 Mops/s. cubby loses: its best engine, dlht "
                             "(batches of 32), reaches 0.25 times that. That is batches against single calls.");
  const std::string conclusion = joined(conclusion_of(all));
  EXPECT_TRUE(has(conclusion, "first in 1 of 2 comparisons"));
  EXPECT_TRUE(has(conclusion,
                  "It loses: put of \"Made up, in batches of 32\" (0.25 times cuckoo, batches against single calls)."))
      << conclusion;
  EXPECT_TRUE(has(conclusion, "1 of the 2 comparisons set batches against single calls")) << conclusion;
}

TEST(Conclusion, ASweepTellsItsWorstPoint) {
  const auto all = compare({chapter_of({made(dlht, kind::insdel, {10}, 1), made(tbb, kind::insdel, {20}, 1),
                                        made(dlht, kind::insdel, {60}, 8), made(tbb, kind::insdel, {20}, 8)})});
  ASSERT_EQ(all.size(), 1U);
  EXPECT_TRUE(has(line_of(all[0]), "cubby is first at 1 of 2 points, with 0.50 to 3.00 times the best rival (1 of them "
                                   "batches against single calls). Lowest at batch=1: tbb (single calls) is first"))
      << line_of(all[0]);
  const std::string conclusion = joined(conclusion_of(all));
  EXPECT_TRUE(has(conclusion, "(at 1 of 2 points, lowest 0.50 times tbb at batch=1)")) << conclusion;
  EXPECT_TRUE(has(conclusion, "1 of the 2 comparisons set batches against single calls")) << conclusion;
  EXPECT_EQ(all[0].heading, "Made up, in single calls and batches of 8");
}

TEST(Conclusion, RoundsThatOverlapAreTold) {
  const auto lines = [](std::vector<double> rival) {
    return line_of(
        compare({chapter_of({made(dlht, kind::get, {9, 10, 11}), made(boost, kind::get, std::move(rival))})})[0]);
  };
  EXPECT_TRUE(has(lines({8, 8.5, 9.5}), "overlap"));
  EXPECT_FALSE(has(lines({8, 8.5, 8.9}), "overlap"));
}

TEST(Conclusion, NoRivalNoConclusion) {
  const auto all = compare({chapter_of({made(dlht, kind::get, {9}), made(limit, kind::get, {50})})});
  EXPECT_TRUE(all.empty());
  EXPECT_TRUE(has(joined(conclusion_of(all)), "none is first"));
}

TEST(Conclusion, AColumnForEachWorkload) {
  const auto all = compare({chapter_of({made(dlht, kind::get, {30}), made(boost, kind::get, {15}),
                                        made(dlht, kind::put, {10}), made(boost, kind::put, {20})})});
  const std::optional<plot> p = summary_of(all);
  ASSERT_TRUE(p);
  ASSERT_EQ(p->all.size(), 1U);
  EXPECT_EQ(p->line_at, 1);
  EXPECT_EQ(p->all[0].points, (std::vector<std::pair<double, double>>{{0, 2}, {1, 0.5}}));
  EXPECT_EQ(p->x_names, (std::vector<std::pair<std::string, double>>{{"get", 0}, {"put *", 1}}));
}

TEST(Marks, ASpreadAboveThirtyPercent) {
  const chapter c = chapter_of({made(dlht, kind::get, {10, 10, 13}), made(dramhit, kind::get, {10, 10, 13.1})});
  EXPECT_FALSE(is_doubtful(c.results[0]));
  EXPECT_TRUE(is_doubtful(c.results[1]));
  const auto notes = notes_of(c);
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_TRUE(has(notes[0], "! The spread is above 30 %")) << notes[0];
  EXPECT_TRUE(has(notes[0], ": dramhit under get (31 %).")) << notes[0];
}

TEST(Marks, ABatchAgainstSingleCalls) {
  const chapter c =
      chapter_of({made(dlht, kind::get, {10}), made(boost, kind::get, {5}), made(dlht, kind::put, {10}),
                  made(boost, kind::put, {5}), made(dlht, kind::put, {8}, 1), made(boost, kind::put, {5}, 1)});
  EXPECT_FALSE(is_uneven(c.results[0], c.results)) << "boost finds in batches";
  EXPECT_TRUE(is_uneven(c.results[2], c.results));
  EXPECT_FALSE(is_uneven(c.results[3], c.results)) << "the rival itself";
  EXPECT_FALSE(is_uneven(c.results[4], c.results)) << "a batch of one is a single call";
  const auto notes = notes_of(c);
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_TRUE(has(notes[0], ": put batch=32 against boost.")) << notes[0];
}

TEST(Headings, SayBatchOrSingle) {
  EXPECT_EQ(heading_of(chapter_of({made(dlht, kind::get, {1})})), "Made up, in batches of 32");
  EXPECT_EQ(heading_of(chapter_of({made(dlht, kind::get, {1}, 1)})), "Made up, in single calls");
  EXPECT_EQ(heading_of(chapter_of({made(tbb, kind::get, {1}), made(limit, kind::get, {1})})),
            "Made up, in single calls");
  EXPECT_EQ(heading_of(chapter_of({made(boost, kind::insdel, {1})})), "Made up, in single calls");
  EXPECT_EQ(heading_of(chapter_of({made(boost, kind::get, {1})})), "Made up, in batches of 32");
  EXPECT_EQ(heading_of(chapter_of({made(rcu, kind::read_section, {1})})), "Made up, one section at a time");
}

TEST(Headings, ABatchHasNoReadModifyWrite) {
  EXPECT_FALSE(in_batches(dlht, {kind::ycsb_f, 0}, 32));
  EXPECT_TRUE(in_batches(dramhit_pipe, {kind::ycsb_f, 0}, 32));
  EXPECT_TRUE(in_batches(dlht, {kind::ycsb_a, 0}, 32));
}

TEST(Descriptions, EveryEngineHasALine) {
  for (std::size_t i = 0; i < engine_count; ++i) {
    const auto e = static_cast<engine_id>(i);
    const std::string line(description_of(e));
    EXPECT_GT(line.size(), 20U) << name_of(e);
    EXPECT_EQ(line.find('\n'), std::string::npos);
    EXPECT_EQ(line.starts_with("rival: "), is_rival(e)) << name_of(e);
  }
}

} // namespace
