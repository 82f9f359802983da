// SPDX-License-Identifier: Apache-2.0
// Parts of `cubby kmer` that its command line cannot bring about within milliseconds. They are a partition that does
// not fit its bound, partitions that are done in any order, saturation, and words at their edges.
#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <thread>
#include <unistd.h>

#include "../bench/kmers.hpp"
#include "../kmer/dense.hpp"
#include "../kmer/ordered_append.hpp"
#include "../kmer/overwrite.hpp"
#include "../kmer/partial_file.hpp"
#include "../kmer/partition.hpp"
#include "../kmer/reader.hpp"
#include "../kmer/store.hpp"

namespace {

using namespace kmer;

std::string random_letters(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::string letters(count, 'A');
  for (char& c : letters) c = "ACGT"[random() % 4];
  return letters;
}

std::string new_path() {
  static int number = 0;
  return std::filesystem::temp_directory_path() /
         ("cubby_kmer_" + std::to_string(::getpid()) + "_" + std::to_string(number++));
}

struct removed {
  std::string path = new_path();
  removed() = default;
  ~removed() { std::filesystem::remove(path); }
  removed(const removed&) = delete;
  removed& operator=(const removed&) = delete;
};

// Every k-mer of `letters`, by the plainest code there is.
template <class Word> std::map<Word, std::uint32_t> counts_of(const std::string& letters, const shape& s) {
  std::map<Word, std::uint32_t> all;
  for (std::size_t at = 0; at + s.k <= letters.size(); ++at) {
    Word word = 0;
    for (unsigned i = 0; i < s.k; ++i) word = word << 2 | codes[static_cast<unsigned char>(letters[at + i])];
    ++all[s.canonical ? std::min(word, reverse_complement(word, s.k)) : word];
  }
  return all;
}

template <class Word> std::vector<std::uint8_t> records_of(const std::string& letters, const shape& s) {
  std::vector<std::uint8_t> records;
  splitter cut(s);
  const auto place = [&](std::uint32_t, std::size_t bytes, std::size_t) {
    records.resize(records.size() + bytes);
    records.reserve(records.size() + record_slack);
    return records.data() + records.size() - bytes;
  };
  records.reserve(4 * letters.size());
  cut.runs({letters, "letters", 1}, [&](std::span<const std::uint8_t> run) { cut.split(run, place); });
  return records;
}

template <class Word> void check_bounded(unsigned k, engine_id engine) {
  const shape s{k, k % 2 == 0};
  const std::string letters = random_letters(20'000, k) + random_letters(4'000, k) + std::string(900, 'T');
  const std::vector<std::uint8_t> records = records_of<Word>(letters, s);
  const auto want = counts_of<Word>(letters, s);
  for (const std::size_t most : {2UL, 1000UL, 5000UL, 1'000'000UL}) {
    if (most == 2 && k != 21) continue; // a pass for each k-mer
    partition_counter<Word> counting(s, engine, most);
    std::vector<entry<Word>> got;
    std::size_t passes = 0;
    const std::size_t part = most == 2 ? 4'000 : records.size();
    counting.count(
        [&](auto&& take) {
          std::size_t end = 0;
          while (end < part) end += record_bytes(std::size_t{records[end]} + 1, k);
          take(std::span(records).first(end));
        },
        [&](std::span<const entry<Word>> sorted) {
          ++passes;
          got.insert(got.end(), sorted.begin(), sorted.end());
        });
    EXPECT_TRUE(std::is_sorted(got.begin(), got.end(), [](const auto& a, const auto& b) { return a.word < b.word; }));
    if (part != records.size()) continue;
    ASSERT_EQ(got.size(), want.size());
    std::size_t i = 0;
    for (const auto& [word, count] : want) {
      ASSERT_TRUE(got[i].word == word);
      ASSERT_EQ(got[i++].count, count);
    }
    EXPECT_EQ(passes > 1, most < want.size()) << most;
  }
}

TEST(kmer_partition, counts_within_any_bound) {
  check_bounded<narrow_word>(21, engine_id::dlht_single);
  check_bounded<narrow_word>(32, engine_id::dlht);
  check_bounded<wide_word>(33, engine_id::dlht_single);
  check_bounded<wide_word>(64, engine_id::dlht);
}

TEST(kmer_partition, is_the_same_by_itself_as_within_a_sequence) {
  for (unsigned k = longest_dense_k + 1; k <= longest_k; ++k)
    with_word(k, [&](auto zero) {
      using word = decltype(zero);
      const shape s{k, false};
      splitter cut(s);
      const std::string letters = random_letters(2000, k);
      cut.runs({letters, "letters", 1}, [&](std::span<const std::uint8_t> run) {
        std::vector<std::uint8_t> record(longest_record + record_slack);
        std::size_t at = 0;
        strands<word> both(k);
        for (std::size_t i = 0; i + 1 < k; ++i) both.push(run[i]);
        cut.split(run, [&](std::uint32_t partition, std::size_t bytes, std::size_t kmers) {
          EXPECT_LE(bytes, longest_record);
          for (std::size_t i = 0; i < kmers; ++i) {
            both.push(run[at++ + k - 1]);
            EXPECT_EQ(partition, partition_of(s, both.forward()));
            EXPECT_EQ(partition, partition_of(s, both.canonical()));
          }
          return record.data();
        });
        EXPECT_EQ(at, run.size() - k + 1);
      });
    });
}

TEST(kmer_store, gives_back_what_was_placed_spilled_or_not) {
  for (const std::size_t pool : {64 * open_bytes, 2 * open_bytes + 64 * chunk_bytes}) {
    store waiting(pool, std::filesystem::temp_directory_path());
    std::vector<std::uint64_t> sums(partition_count);
    {
      store::writer mine(waiting);
      std::mt19937 random(3);
      for (int i = 0; i < 600'000; ++i) {
        const auto partition = static_cast<std::uint32_t>(random() % (i % 3 == 0 ? partition_count : 7));
        const std::size_t bytes = 9 + random() % 40;
        std::uint8_t* const at = mine.place(partition, bytes, 1);
        for (std::size_t b = 0; b < bytes; ++b) sums[partition] += at[b] = static_cast<std::uint8_t>(random());
      }
      mine.finish();
    }
    EXPECT_EQ(waiting.figures().spilled_bytes != 0, pool < 8 * open_bytes);
    for (std::uint32_t p = 0; p < partition_count; ++p) {
      std::uint64_t sum = 0;
      waiting.visit(p, [&](std::span<const std::uint8_t> bytes) {
        for (const std::uint8_t b : bytes) sum += b;
      });
      ASSERT_EQ(sum, sums[p]);
    }
  }
}

TEST(kmer_append, keeps_the_order_of_partitions) {
  const removed file;
  {
    file_writer writer(file.path, {21, true}, {});
    ordered_append append(writer, 100); // a few bytes: threads wait for their turn
    std::atomic<std::uint32_t> next = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&] {
        for (std::uint32_t p = next++; p < 500; p = next++) {
          block_encoder<narrow_word> encode({});
          if (p % 10 == 0) {
            for (std::uint32_t i = 0; i < 50; ++i) encode.add(p, {i, 1});
            EXPECT_TRUE(append.part(p, encode.take_ended()));
          }
          for (std::uint32_t i = 50; i < 60; ++i) encode.add(p, {i, p + 1});
          EXPECT_TRUE(append.last_part(p, encode.take()));
        }
      });
    for (std::thread& t : threads) t.join();
    writer.finish();
  }
  const kmer_file read(file.path);
  EXPECT_EQ(read.footer().distinct, 500U * 10 + 50 * 50);
  std::uint64_t last = 0;
  for (cursor<narrow_word> c(read); !c.ended(); c.advance()) {
    const std::uint64_t here = std::uint64_t{c.partition()} << 32 | (c.at().word + 1);
    EXPECT_LT(last, here);
    last = here;
  }
}

TEST(kmer_append, ends_for_everybody_when_one_has_failed) {
  const removed file;
  file_writer writer(file.path, {21, true}, {});
  ordered_append append(writer, 0);
  std::thread waits([&] { EXPECT_FALSE(append.last_part(7, {})); });
  append.stop();
  waits.join();
  EXPECT_FALSE(append.part(0, {}));
  EXPECT_FALSE(std::filesystem::exists(file.path));
}

TEST(kmer_counts, saturate_at_the_largest) {
  EXPECT_EQ(saturated(std::uint64_t{largest_count} + 1), largest_count);
  dense_counts one({1, false});
  one.add(std::vector<std::uint8_t>{2});
  for (int doubled = 0; doubled < 33; ++doubled) one.add(dense_counts(one));
  one.visit([](const entry<narrow_word>& e) { EXPECT_EQ(e.count, largest_count); });
  block_encoder<narrow_word> encode({});
  encode.add(0, {2, largest_count});
  encode.add(0, {3, largest_count - 1});
  EXPECT_EQ(encode.take().figures.saturated, 1U);
}

TEST(kmer_counts, of_two_tables_add_up_and_saturate) {
  for (const engine_id engine : {engine_id::dlht_single, engine_id::dlht}) {
    const auto table = make_counter<wide_word>(engine);
    const wide_word high = join(7, 0);
    for (const std::uint32_t count : {largest_count, 1U, largest_count}) table->add({high, count});
    table->add({0, 5});
    EXPECT_EQ(table->size(), 2U);
    EXPECT_GT(table->bytes(), 0U);
    std::vector<entry<wide_word>> got;
    table->take(got);
    ASSERT_EQ(got.size(), 2U);
    for (const auto& e : got) EXPECT_EQ(e.count, e.word == 0 ? 5U : largest_count);
    EXPECT_EQ(table->size(), 0U);
  }
}

TEST(kmer_sort, sorts_whatever_is_skewed) {
  std::mt19937_64 random(5);
  for (const std::size_t count : {0UL, 1UL, 255UL, 256UL, 5000UL, 100'000UL})
    for (const unsigned shift : {0U, 20U, 60U}) {
      std::vector<entry<narrow_word>> all;
      for (std::size_t i = 0; i < count; ++i) all.push_back({i == 0 ? ~narrow_word{0} : random() >> shift, 1});
      std::vector<narrow_word> want;
      for (const auto& e : all) want.push_back(e.word);
      std::sort(want.begin(), want.end());
      std::vector<entry<narrow_word>> scratch;
      sort_entries(all, scratch);
      ASSERT_EQ(all.size(), count);
      for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(all[i].word, want[i]);
    }
}

// The reads cover the genome some 57 times; there the curve has its peak behind that of the errors.
TEST(kmer_exhibit, draws_the_histogram_of_real_reads) {
  const auto shown = bench::count_real_reads();
  ASSERT_TRUE(shown.has_value()) << "the package bowtie2-examples is missing";
  const auto& points = shown->drawn.all.at(0).points;
  ASSERT_GT(points.size(), 50U);
  EXPECT_EQ(points[0].first, 1);
  const auto highest = std::max_element(points.begin() + 10, points.end(),
                                        [](const auto& a, const auto& b) { return a.second < b.second; });
  EXPECT_GT(highest->first, 40);
  EXPECT_LT(highest->first, 70);
  const std::string svg = bench::svg_of(shown->drawn);
  EXPECT_NE(svg.find("how often 21-mers"), std::string::npos);
}

// Some threads make files, others remove the files that they find free. A file stays until its maker has finished with it.
TEST(kmer_partial_file, stays_while_it_is_in_use) {
  const std::string folder = new_path();
  std::filesystem::create_directory(folder);
  const std::string place = folder + "/o.kc";
  std::vector<std::thread> threads;
  std::atomic<int> lost = 0;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 300; ++i) {
        const partial_file mine = make_partial(place);
        remove_stale_partials(place);
        lost += mine.fd < 0 || !std::filesystem::exists(mine.name);
        if (i % 2 == 0) std::filesystem::remove(mine.name);
        ::close(mine.fd); // what is left is free
      }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(lost, 0);
  remove_stale_partials(place);
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  std::filesystem::remove_all(folder);
}

TEST(kmer_overwrite, keeps_nothing_beside_when_it_is_done) {
  const std::string folder = new_path();
  std::filesystem::create_directory(folder);
  const std::string place = folder + "/o", with = folder + "/n";
  const auto write = [](const std::string& name, const std::string& text) { std::ofstream(name) << text; };
  const auto text_of = [](const std::string& name) {
    std::ifstream in(name);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  const std::size_t piece = std::size_t{1} << 18;
  for (const std::size_t before : {std::size_t{0}, std::size_t{1}, piece, 2 * piece + 1})
    for (const std::size_t after : {std::size_t{0}, std::size_t{1}, piece + 1}) {
      write(place, random_letters(before, 1));
      write(with, random_letters(after, 2));
      EXPECT_EQ(overwrite(place, with).error, 0);
      EXPECT_EQ(text_of(place), text_of(with));
    }
  EXPECT_EQ(overwrite(place, folder + "/none").error, ENOENT);
  EXPECT_EQ(overwrite(folder + "/none", with).error, ENOENT);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 2);
  std::filesystem::remove_all(folder);
}

} // namespace
