// SPDX-License-Identifier: Apache-2.0
// Chunks are taken many at a time, so that the lock is rarely taken. A thread that finds the pool empty writes every full
// chunk out, partition by partition, while the others wait for space.
#include "store.hpp"

#include <new>
#include <sys/mman.h>

#include "error.hpp"

namespace kmer {

namespace {

constexpr std::size_t taken_at_once = 64;
// An extent is read as a whole, so that it must not become as large as the pool.
constexpr std::size_t extent_bytes = std::size_t{1} << 20;

constexpr const char* another_folder = "another folder by --spill-to";

} // namespace

void check_spill_folder(const std::string& folder) { spill_file(folder, another_folder).open(); }

store::store(std::size_t pool_bytes, std::string folder)
    : chunk_count_(std::min<std::size_t>(pool_bytes / chunk_bytes, none)),
      spill_file_(std::move(folder), another_folder) {
  void* const got = ::mmap(nullptr, chunk_count_ * chunk_bytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (got == MAP_FAILED) throw std::bad_alloc();
  ::madvise(got, chunk_count_ * chunk_bytes, MADV_HUGEPAGE);
  chunks_ = static_cast<chunk_layout*>(got);
  for (auto& head : heads_) head.store(none, std::memory_order_relaxed);
}

store::~store() { ::munmap(chunks_, chunk_count_ * chunk_bytes); }

store_figures store::figures() const { return {std::uint64_t{used_} * chunk_bytes, spill_file_.size()}; }

void store::push(std::uint32_t partition, std::uint32_t index) {
  std::uint32_t head = heads_[partition].load(std::memory_order_relaxed);
  do chunk(index).next = head;
  while (!heads_[partition].compare_exchange_weak(head, index, std::memory_order_release, std::memory_order_relaxed));
}

void store::refill(std::vector<std::uint32_t>& fresh) {
  const std::lock_guard hold(lock_);
  if (free_.empty() && used_ == chunk_count_) spill();
  for (std::size_t i = 0; i < taken_at_once; ++i) {
    if (!free_.empty()) {
      fresh.push_back(free_.back());
      free_.pop_back();
    } else if (used_ < chunk_count_) {
      fresh.push_back(used_++);
    } else {
      return;
    }
  }
}

// One extent for each partition, in their order: later each is read in one piece.
void store::spill() {
  extents_.resize(partition_count);
  std::vector<std::uint8_t> out;
  const auto close_extent = [&](std::uint32_t p, std::size_t bytes) {
    if (bytes == 0) return;
    extents_[p].push_back({spill_file_.size() + out.size() - bytes, static_cast<std::uint32_t>(bytes)});
  };
  for (std::uint32_t p = 0; p < partition_count; ++p) {
    std::size_t bytes = 0;
    for (std::uint32_t c = heads_[p].exchange(none, std::memory_order_acquire); c != none; c = chunk(c).next) {
      out.insert(out.end(), chunk(c).records, chunk(c).records + chunk(c).used);
      bytes += chunk(c).used;
      free_.push_back(c);
      if (bytes < extent_bytes) continue;
      close_extent(p, bytes);
      bytes = 0;
      spill_file_.write(out);
      out.clear();
    }
    close_extent(p, bytes);
    if (out.size() < extent_bytes) continue;
    spill_file_.write(out);
    out.clear();
  }
  spill_file_.write(out);
}

void store::read(const extent& e, std::vector<std::uint8_t>& into) const {
  into.resize(e.bytes);
  spill_file_.read(e.offset, into);
}

void store::writer::hand_over(std::uint32_t partition) {
  const chunk_end& end = open_[partition];
  if (end.at == nullptr) return;
  chunk_layout& full = store_.chunk(end.chunk);
  full.used = static_cast<std::uint32_t>(end.at - full.records);
  store_.push(partition, end.chunk);
}

void store::writer::renew(std::uint32_t partition) {
  hand_over(partition);
  chunk_end& end = open_[partition];
  end = {};
  if (fresh_.empty()) store_.refill(fresh_);
  if (fresh_.empty()) throw bad_input("--memory: too little to continue; give more");
  end.chunk = fresh_.back();
  fresh_.pop_back();
  end.at = store_.chunk(end.chunk).records;
  end.space = sizeof(chunk_layout::records) - record_slack;
}

void store::writer::finish() {
  for (std::uint32_t p = 0; p < partition_count; ++p) {
    hand_over(p);
    open_[p] = {};
    store_.kmers_[p].fetch_add(kmers_[p], std::memory_order_relaxed);
  }
}

} // namespace kmer
