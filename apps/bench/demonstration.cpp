// SPDX-License-Identifier: Apache-2.0
// The chapters of the default run. Sizes are chosen by time: tables that outgrow the caches, rounds just long enough.
#include "demonstration.hpp"

#include <unistd.h>

#include "features.hpp"
#include "machine.hpp"

namespace bench {

run_spec run_of(std::uint64_t seed, std::vector<engine_id> engines, const std::vector<std::string>& names) {
  run_spec run;
  run.engines = std::move(engines);
  for (const std::string& name : names)
    for (const workload& w : workloads_named(name)) run.workloads.push_back(w);
  // Between two powers of two: a table of libcuckoo would be 95 % full with a million or four, and crawl.
  run.keys = {3'000'000};
  run.threads = {describe_machine().cores};
  run.batch = {32};
  run.value_sizes = {8};
  run.key_sizes = {8};
  run.seconds = 0.1;
  run.rounds = 1;
  run.seed = seed;
  return run;
}

namespace {

constexpr const char* word_list = "/usr/share/dict/american-english-huge";

using enum engine_id;

// `boost` last, where the program has it.
std::vector<engine_id> with_boost(std::vector<engine_id> engines) {
  if (is_built_in(boost)) engines.push_back(boost);
  return engines;
}

const std::vector<engine_id> everyone = with_boost({limit, dlht, iceberg, dramhit, dramhit_pipe, tbb, cuckoo, lfht});
// Where there is a line for each, five can be told apart at a look.
const std::vector<engine_id> compared = with_boost({limit, dlht, dramhit, cuckoo});
const std::vector<engine_id> tables = with_boost({dlht, dramhit, tbb, cuckoo, lfht});

void add_main(std::vector<chapter>& all, std::uint64_t seed) {
  if (::access(word_list, R_OK) == 0) {
    run_spec words = run_of(seed, with_boost({limit, dlht, iceberg, dramhit, reference, tbb, cuckoo, lfht}),
                            {"get", "miss", "insdel", "put"});
    words.keys_from = word_list;
    words.keys = {0};
    words.rounds = 3;
    all.push_back({"Real keys: the words of a dictionary",
                   "Each engine holds the word list, keys of a few to a few dozen bytes, and answers the four basic "
                   "workloads.",
                   words,
                   {}});
  }
  run_spec eight = run_of(seed, everyone, {"get", "miss", "insdel", "put"});
  eight.keys = {6'000'000};
  eight.rounds = 3;
  all.push_back(
      {"8-byte keys",
       "Six million random 8-byte keys and values, far more than the caches hold. dramhit-pipe is the table of "
       "dramhit, asked through a pipeline.",
       eight,
       {}});
  run_spec single = eight;
  single.engines = with_boost({limit, dlht, iceberg, dramhit, folklore, line_locks, tbb, cuckoo, lfht});
  single.batch = {1};
  all.push_back(
      {"8-byte keys", "The same keys, one call for each: what a caller gets that has one key at a time.", single, {}});
  // Without cuckoo: where it grows under two threads a run may end in a segmentation fault (docs/bench.md).
  run_spec populate =
      run_of(seed, with_boost({dlht, iceberg, dramhit, reference, folklore, line_locks, tbb, lfht}), {"populate"});
  all.push_back({"Population of a small table",
                 "All keys are inserted into a table that starts with space for 1024 and grows on demand (paper, "
                 "figure 7).",
                 populate,
                 {}});
}

void add_sweeps(std::vector<chapter>& all, std::uint64_t seed) {
  run_spec threads = run_of(seed, everyone, {"get", "insdel", "put"});
  threads.threads.clear();
  for (std::size_t n = 1; n <= describe_machine().cores; n *= 2) threads.threads.push_back(n);
  all.push_back({"Threads", "Throughput by number of threads (paper, figures 3, 5 and 6).", threads, {}});

  run_spec batch = run_of(seed, with_boost({limit, dlht, dramhit, dramhit_pipe, cuckoo}), {"get", "insdel"});
  batch.batch = {1, 4, 16, 32, 64, 128};
  all.push_back(
      {"Batch size",
       "How much prefetching a batch gains, for dramhit-pipe as many pending requests; an engine without batches is "
       "asked one key at a time (paper, figure 12).",
       batch,
       {}});

  all.push_back({"Skew",
                 "1000 hot keys take a growing share of all finds (paper, figure 13).",
                 run_of(seed, compared, {"skew"}),
                 {}});
}

void add_sizes(std::vector<chapter>& all, std::uint64_t seed) {
  run_spec values = run_of(seed, compared, {"get", "insdel"});
  values.keys = {700'000};
  values.value_sizes = {8, 16, 64, 256};
  all.push_back({"Value size",
                 "Values above 8 bytes do not fit into a slot and are copied out of a record (paper, figure 9, the "
                 "curve that reads the value).",
                 values,
                 {}});

  run_spec keys = run_of(seed, compared, {"get", "insdel"});
  keys.keys = {700'000};
  keys.key_sizes = {8, 16, 64, 256};
  all.push_back(
      {"Key size", "Keys above 8 bytes live in a record and are compared there (paper, figure 10).", keys, {}});

  run_spec index = run_of(seed, compared, {"get", "insdel"});
  index.keys = {12'000, 100'000, 800'000, 3'000'000};
  all.push_back({"Index size", "From a table in the cache to one in memory (paper, figure 11).", index, {}});
}

void add_features(std::vector<chapter>& all, std::uint64_t seed) {
  run_spec features = run_of(seed, engines_named(all_feature_engines), {"get", "insdel"});
  features.keys = {700'000};
  features.value_sizes = {feature_value_size};
  features.rounds = 2;
  all.push_back(
      {"Features",
       "What each feature costs with 32-byte values, alone and on top of those before it: space to grow, hashing, "
       "values of any size, keys of any size, namespaces, records from malloc (paper, figure 14).",
       features,
       {}});
}

void add_behaviour(std::vector<chapter>& all, std::uint64_t seed) {
  if (describe_machine().cores >= 2) {
    run_spec resize = run_of(seed, {dlht, dramhit, tbb, lfht}, {"resize"}); // without cuckoo, as under populate
    resize.keys = {3'000'000};
    all.push_back({"Finds while the table grows",
                   "One half of the threads brings the table to four times its keys, the other half finds keys that "
                   "were there before; a dip of the finds is what a resize costs its readers (paper, figure 8).",
                   resize,
                   {}});
    all.push_back(resizes_both_ways(seed));
    all.push_back(finds_by_readers(seed));
  }
  all.push_back(read_sections());
  run_spec latency = run_of(seed, tables, {"get", "insdel"});
  latency.batch = {1};
  latency.latency = true;
  all.push_back(
      {"Latency", "The time of one operation without batches, all threads busy (paper, figure 15).", latency, {}});

  run_spec growth = run_of(seed, tables, {"populate"});
  growth.keys = {1'200'000};
  growth.threads = {1};
  growth.batch = {1};
  growth.latency = true;
  all.push_back({"Latency of an insert while growing",
                 "One thread fills a small table; the longest insert is the one that a resize holds up.",
                 growth,
                 {}});

  all.push_back({"YCSB",
                 "The mixes of YCSB with Zipf 0.99 (paper, figure 18).",
                 run_of(seed, compared, {"ycsb-a", "ycsb-b", "ycsb-c", "ycsb-d", "ycsb-f"}),
                 {}});
}

} // namespace

std::vector<chapter> demonstration(std::uint64_t seed, bool full) {
  std::vector<chapter> all;
  add_main(all, seed);
  if (full) {
    add_sweeps(all, seed);
    add_sizes(all, seed);
    add_features(all, seed);
    add_behaviour(all, seed);
  }
  return all;
}

} // namespace bench
