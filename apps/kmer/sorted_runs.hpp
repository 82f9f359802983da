// SPDX-License-Identifier: Apache-2.0
// More k-mers than fit into memory, sorted: runs that are sorted by themselves lie behind each other in one file, and are
// merged in the end. Where there are more of them than buffers, some are merged to longer ones first, in a second file.
#pragma once

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <span>
#include <string>
#include <vector>

#include "entry.hpp"
#include "error.hpp"
#include "format.hpp"
#include "spill_file.hpp"

namespace kmer {

template <class Word> struct placed {
  std::uint32_t partition;
  entry<Word> e;
  std::pair<std::uint32_t, Word> place() const { return {partition, e.word}; }
};

struct run_extent {
  std::uint64_t offset = 0;
  std::uint64_t end = 0;
};

// Of each run while it is read, and of what is written: large enough for a disk that has to seek between them.
inline constexpr std::size_t run_buffer_bytes = std::size_t{512} << 10;

// The k-mers of one run: their distances and counts, as in a k-mer file.
template <class Word> class run_reader {
public:
  run_reader(const spill_file& file, const run_extent& where) : file_(&file), where_(where) { advance(); }
  const placed<Word>& at() const { return at_; }
  // False when the run has ended.
  bool advance() {
    constexpr std::size_t longest = 5 + longest_entry;
    if (buffer_.size() - used_ < longest && where_.offset != where_.end) refill();
    if (used_ == buffer_.size()) return false;
    const std::uint8_t* from = buffer_.data() + used_;
    const std::uint8_t* const end = buffer_.data() + buffer_.size();
    std::uint32_t partitions = 0;
    Word distance = 0;
    if (!get_varint(from, end, partitions) || !get_varint(from, end, distance) || !get_varint(from, end, at_.e.count))
      throw bad_input("the spill file is damaged: it does not hold what was written; check its disk");
    at_.partition += partitions;
    at_.e.word = partitions == 0 ? at_.e.word + distance : distance;
    used_ = static_cast<std::size_t>(from - buffer_.data());
    return true;
  }

private:
  void refill() {
    buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(used_));
    used_ = 0;
    const std::size_t have = buffer_.size();
    const std::uint64_t more = std::min<std::uint64_t>(where_.end - where_.offset, run_buffer_bytes - have);
    buffer_.resize(have + more);
    file_->read(where_.offset, std::span(buffer_).subspan(have));
    where_.offset += more;
  }

  const spill_file* file_;
  run_extent where_; // what has not been read
  std::vector<std::uint8_t> buffer_;
  std::size_t used_ = 0;
  placed<Word> at_{};
};

template <class Word> class run_writer {
public:
  explicit run_writer(spill_file& file) : file_(file), offset_(file.size()) {}
  void add(const placed<Word>& p) {
    put_varint(waiting_, p.partition - last_.partition);
    put_varint(waiting_, p.partition == last_.partition ? static_cast<Word>(p.e.word - last_.e.word) : p.e.word);
    put_varint(waiting_, p.e.count);
    last_ = p;
    if (waiting_.size() >= run_buffer_bytes) flush();
  }
  run_extent finish() {
    flush();
    return {offset_, file_.size()};
  }

private:
  void flush() {
    file_.write({reinterpret_cast<const std::uint8_t*>(waiting_.data()), waiting_.size()});
    waiting_.clear();
  }

  spill_file& file_;
  std::uint64_t offset_;
  std::string waiting_;
  placed<Word> last_{};
};

// Calls `emit` with each k-mer of some runs, ascending; the counts of equal ones are added up.
template <class Word, class Emit>
void merge_runs(const spill_file& file, std::span<const run_extent> which, Emit&& emit) {
  std::vector<run_reader<Word>> all;
  all.reserve(which.size());
  for (const run_extent& one : which) all.emplace_back(file, one);
  std::vector<run_reader<Word>*> heap;
  for (run_reader<Word>& one : all) heap.push_back(&one);
  const auto later = [](const auto* a, const auto* b) { return b->at().place() < a->at().place(); };
  std::make_heap(heap.begin(), heap.end(), later);
  while (!heap.empty()) {
    placed<Word> next = heap.front()->at();
    std::uint64_t sum = 0;
    while (!heap.empty() && heap.front()->at().place() == next.place()) {
      sum += heap.front()->at().e.count;
      std::pop_heap(heap.begin(), heap.end(), later);
      if (heap.back()->advance()) std::push_heap(heap.begin(), heap.end(), later);
      else heap.pop_back();
    }
    next.e.count = saturated(sum);
    emit(next);
  }
}

// Sorts `all`, calls `emit` as merge_runs does, and empties it.
template <class Word, class Emit> void sort_run(std::vector<placed<Word>>& all, Emit&& emit) {
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.place() < b.place(); });
  for (std::size_t i = 0; i < all.size();) {
    placed<Word> next = all[i];
    std::uint64_t sum = 0;
    for (; i < all.size() && all[i].place() == next.place(); ++i) sum += all[i].e.count;
    next.e.count = saturated(sum);
    emit(next);
  }
  all.clear();
}

template <class Word> class sorted_runs {
public:
  sorted_runs(const std::string& folder, const std::string& advice) : files_{{{folder, advice}, {folder, advice}}} {}

  bool empty() const { return runs_.empty(); }
  // A run of what is in `all`, which is not empty before and is empty then.
  void add(std::vector<placed<Word>>& all) {
    run_writer<Word> run(files_[0]);
    sort_run(all, [&](const placed<Word>& p) { run.add(p); });
    runs_.push_back(run.finish());
  }
  // `at_once`: runs that there are buffers for, two at least.
  template <class Emit> void merge(std::size_t at_once, Emit&& emit) {
    std::size_t from = 0;
    for (; runs_.size() > at_once; from = 1 - from) shorten(at_once, files_[from], files_[1 - from]);
    merge_runs<Word>(files_[from], runs_, emit);
  }

private:
  void shorten(std::size_t at_once, spill_file& from, spill_file& to) {
    std::vector<run_extent> longer;
    for (std::size_t i = 0; i < runs_.size(); i += at_once) {
      run_writer<Word> run(to);
      merge_runs<Word>(from, std::span(runs_).subspan(i, std::min(at_once, runs_.size() - i)),
                       [&](const placed<Word>& p) { run.add(p); });
      longer.push_back(run.finish());
    }
    runs_.swap(longer);
    from.clear();
  }

  std::array<spill_file, 2> files_;
  std::vector<run_extent> runs_;
};

} // namespace kmer
