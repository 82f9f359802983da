// SPDX-License-Identifier: Apache-2.0
// Two stages. First every batch is cut into super-k-mers, which wait by partition; then each partition is counted,
// sorted and encoded by one thread, and appended in the order of the partitions. docs/kmer.md says why.
#include "count.hpp"

#include <atomic>
#include <chrono>
#include <fmt/core.h>
#include <memory>

#include "../bench/machine.hpp"
#include "../counted.hpp"
#include "dense.hpp"
#include "error.hpp"
#include "feed.hpp"
#include "ordered_append.hpp"
#include "partition.hpp"
#include "progress.hpp"
#include "sizes.hpp"
#include "store.hpp"
#include "worker_threads.hpp"

namespace kmer {

namespace {

// Program, libraries and buffers; then what each thread needs beside its table: batches on their way, codes, heads.
constexpr std::size_t program_bytes = 24 * mebibyte;
constexpr std::size_t thread_bytes = 3 * mebibyte;
constexpr std::size_t least_entries = 16384;

// Table while it grows, entries and their scratch, encoded output: measured, see docs/kmer.md.
std::size_t bytes_of_an_entry(unsigned k) { return k <= longest_narrow_k ? 160 : 320; }

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// Everything that one count shares among its threads.
class counting {
public:
  explicit counting(const count_options& options)
      : options_(options), inputs_(options.inputs, options.of.k, options.reference), feed_(inputs_, options.threads),
        writer_(options.output, options.of, options.bounds), append_(writer_, options.threads * 4 * mebibyte),
        progress_(options.memory) {}

  count_figures run() {
    const auto begin = std::chrono::steady_clock::now();
    with_word(options_.of.k, [&](auto word) {
      if (options_.of.dense()) count_dense(begin);
      else count_partitions<decltype(word)>(begin);
    });
    writer_.finish();
    progress_.finish();
    figures_.records = feed_.figures().records;
    figures_.bases = feed_.figures().bases;
    figures_.kmers = kmers_.load();
    figures_.file = writer_.figures();
    figures_.file_bytes = writer_.bytes();
    figures_.peak_bytes = bench::peak_resident_bytes();
    figures_.seconds = seconds_since(begin);
    figures_.warnings = inputs_.warnings();
    return figures_;
  }

private:
  void note_reading(std::chrono::steady_clock::time_point begin) {
    feed_.rethrow();
    figures_.reading_seconds = seconds_since(begin);
    const bench::resident now = bench::resident_now();
    if (now.bytes != 0)
      figures_.huge_percent = 100.0 * static_cast<double>(now.huge_bytes) / static_cast<double>(now.bytes);
  }
  void watch() {
    const input_figures read = feed_.figures();
    progress_.show({read.bases, kmers_.load(std::memory_order_relaxed), append_.distinct(), append_.turn()});
  }
  auto give_up() {
    return [this](std::exception_ptr why) {
      feed_.fail(std::move(why));
      append_.stop();
    };
  }

  // Calls `run(codes)` for each stretch of bases, on every thread.
  template <class Run> void read_all(splitter& cut, Run&& run) {
    batch mine;
    while (feed_.next(mine)) {
      std::uint64_t kmers = 0;
      cut.runs(mine, [&](std::span<const std::uint8_t> codes) {
        kmers += codes.size() - options_.of.k + 1;
        run(codes);
      });
      kmers_.fetch_add(kmers, std::memory_order_relaxed); // a figure; nothing is published by it
    }
  }

  void count_dense(std::chrono::steady_clock::time_point begin) {
    std::vector<dense_counts> counts;
    counts.reserve(options_.threads);
    while (counts.size() < options_.threads) counts.emplace_back(options_.of);
    const auto work = [&](std::size_t t) {
      splitter cut(options_.of);
      read_all(cut, [&](std::span<const std::uint8_t> codes) { counts[t].add(codes); });
    };
    run_together(options_.threads, work, [&] { watch(); }, give_up());
    note_reading(begin);
    for (std::size_t t = 1; t < counts.size(); ++t) counts[0].add(counts[t]);
    block_encoder<narrow_word> encode(options_.bounds);
    counts[0].visit([&](const entry<narrow_word>& e) {
      encode.add(0, e);
      if (encode.size() > mebibyte) writer_.append(encode.take_ended());
    });
    writer_.append(encode.take());
  }

  template <class Word> void count_partitions(std::chrono::steady_clock::time_point begin) {
    const memory_plan plan = plan_memory(options_);
    store waiting(plan.pool_bytes, options_.spill_folder);
    const auto divide = [&](std::size_t) {
      splitter cut(options_.of);
      const auto mine = std::make_unique<store::writer>(waiting);
      read_all(cut, [&](std::span<const std::uint8_t> codes) {
        cut.split(codes, [&](auto partition, auto bytes, auto kmers) { return mine->place(partition, bytes, kmers); });
      });
      mine->finish();
    };
    run_together(options_.threads, divide, [&] { watch(); }, give_up());
    note_reading(begin);
    std::atomic<std::uint32_t> next = 0;
    const auto count = [&](std::size_t) {
      partition_counter<Word> one(options_.of, options_.engine, plan.entries_per_thread);
      for (std::uint32_t p = next++; p < partition_count; p = next++)
        if (!count_one(one, waiting, p)) return;
    };
    run_together(options_.threads, count, [&] { watch(); }, give_up());
    feed_.rethrow();
    figures_.pool_bytes = waiting.figures().used_bytes;
    figures_.spilled_bytes = waiting.figures().spilled_bytes;
  }

  // False when another thread has failed.
  template <class Word> bool count_one(partition_counter<Word>& one, const store& waiting, std::uint32_t p) {
    block_encoder<Word> encode(options_.bounds);
    bool going = true;
    if (waiting.kmers(p) != 0)
      one.count([&](auto&& take) { waiting.visit(p, take); },
                [&](std::span<const entry<Word>> sorted) {
                  for (const entry<Word>& e : sorted) encode.add(p, e);
                  // A partition of many passes is written as it goes on.
                  if (going && encode.size() > mebibyte) going = append_.part(p, encode.take_ended());
                });
    return going && append_.last_part(p, encode.take());
  }

  const count_options& options_;
  batch_sources inputs_;
  feed feed_;
  file_writer writer_;
  ordered_append append_;
  progress progress_;
  std::atomic<std::uint64_t> kmers_ = 0;
  count_figures figures_;
};

} // namespace

memory_plan plan_memory(const count_options& options) {
  const std::size_t fixed = program_bytes + options.threads * thread_bytes;
  const auto check = [&](std::size_t least) {
    if (options.memory < least)
      throw bad_input(fmt::format("{}: {} at least {}M", options.memory_shown,
                                  console::counted(options.threads, "thread needs", "threads need"),
                                  mebibytes_for(least)));
  };
  if (options.of.dense()) {
    check(fixed + options.threads * dense_counts::bytes(options.of));
    return {};
  }
  // Each thread holds a chunk open for each partition; half of the pool at least is for what is full.
  const std::size_t least_pool = options.threads * 2 * open_bytes;
  const std::size_t entry_bytes = bytes_of_an_entry(options.of.k);
  const std::size_t least_tables = options.threads * least_entries * entry_bytes;
  check(fixed + least_pool + least_tables);
  const std::size_t left = options.memory - fixed;
  const std::size_t tables = std::max(least_tables, std::min(left / 4, left - least_pool));
  return {left - tables, tables / options.threads / entry_bytes};
}

count_figures count(const count_options& options) {
  plan_memory(options); // before anything is opened
  return std::make_unique<counting>(options)->run();
}

} // namespace kmer
