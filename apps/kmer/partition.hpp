// SPDX-License-Identifier: Apache-2.0
// Counts one partition within a bound. When the table would hold more k-mers than it may, the upper half of them is
// dropped. That half comes in a later pass over the same records. So a partition of any size is counted, in ascending
// order.
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "counter.hpp"
#include "entry.hpp"
#include "super_kmers.hpp"

namespace kmer {

template <class Word> class partition_counter {
public:
  // `most`: different k-mers that may be held at a time, at least 2.
  partition_counter(const shape& s, engine_id engine, std::size_t most)
      : shape_(s), most_(std::max<std::size_t>(most, 2)), table_(make_counter<Word>(engine)) {}

  // `visit(take)` gives the records of the partition, as often as it is asked; `emit(span of entries)` gets them counted
  // and sorted, one call for each pass.
  template <class Visit, class Emit> void count(Visit&& visit, Emit&& emit) {
    const Word highest = mask_of<Word>(shape_.k);
    low_ = 0;
    while (true) {
      high_ = highest;
      visit([&](std::span<const std::uint8_t> records) { add(records); });
      flush();
      entries_.clear();
      table_->take(entries_);
      sort_entries(entries_, scratch_);
      emit(std::span<const entry<Word>>(entries_));
      if (high_ == highest) return;
      low_ = high_ + 1;
    }
  }

private:
  void add(std::span<const std::uint8_t> records) {
    for_each_kmer<Word>(shape_, records, [&](Word word) {
      if (static_cast<Word>(word - low_) > static_cast<Word>(high_ - low_)) return;
      waiting_[waiting_count_] = word;
      if (++waiting_count_ == waiting_.size()) flush();
    });
  }

  void flush() {
    table_->add({waiting_.data(), waiting_count_});
    waiting_count_ = 0;
    if (table_->size() > most_) narrow();
  }

  void narrow() {
    entries_.clear();
    table_->take(entries_);
    const auto middle = entries_.begin() + static_cast<std::ptrdiff_t>(entries_.size() / 2);
    std::nth_element(entries_.begin(), middle, entries_.end(),
                     [](const entry<Word>& a, const entry<Word>& b) { return a.word < b.word; });
    high_ = middle->word - 1;
    for (auto e = entries_.begin(); e != middle; ++e) table_->add(*e);
  }

  shape shape_;
  std::size_t most_;
  std::unique_ptr<counter<Word>> table_;
  Word low_ = 0;  // k-mers from here ...
  Word high_ = 0; // ... to here are counted in this pass
  std::array<Word, 1024> waiting_{};
  std::size_t waiting_count_ = 0;
  std::vector<entry<Word>> entries_;
  std::vector<entry<Word>> scratch_;
};

} // namespace kmer
