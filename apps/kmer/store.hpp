// SPDX-License-Identifier: Apache-2.0
// Where super-k-mers wait until their partition is counted: small chunks from one pool, and when the pool is used up,
// one spill file. A partition's records come back in no particular order; what is counted does not depend on it.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "shape.hpp"
#include "spill_file.hpp"
#include "super_kmers.hpp"

namespace kmer {

inline constexpr std::size_t chunk_bytes = 1024;
// What a writer holds open beside the full chunks: one chunk for each partition.
inline constexpr std::size_t open_bytes = partition_count * chunk_bytes;

struct store_figures {
  std::uint64_t used_bytes = 0;    // of the pool, at most so far
  std::uint64_t spilled_bytes = 0; // written to the spill file
};

// Throws bad_input when no spill file can be made there.
void check_spill_folder(const std::string& folder);

class store {
public:
  // `folder`: where the spill file lies when there has to be one; it has no name there.
  store(std::size_t pool_bytes, std::string folder);
  ~store();
  store(const store&) = delete;
  store& operator=(const store&) = delete;

  // One thread's way in.
  class writer {
  public:
    explicit writer(store& s) : store_(s), open_(partition_count) {}
    writer(const writer&) = delete;
    writer& operator=(const writer&) = delete;

    std::uint8_t* place(std::uint32_t partition, std::size_t bytes, std::size_t kmers) {
      chunk_end& end = open_[partition];
      kmers_[partition] += kmers;
      if (end.space < bytes) renew(partition);
      std::uint8_t* const at = end.at;
      end.at += bytes;
      end.space -= static_cast<std::uint32_t>(bytes);
      return at;
    }
    // Hands over what is open; nothing may be placed afterwards.
    void finish();

  private:
    struct chunk_end {
      std::uint8_t* at = nullptr;
      std::uint32_t space = 0;
      std::uint32_t chunk = 0;
    };
    void renew(std::uint32_t partition);
    void hand_over(std::uint32_t partition);

    store& store_;
    std::vector<chunk_end> open_;
    std::array<std::uint64_t, partition_count> kmers_{};
    std::vector<std::uint32_t> fresh_; // chunks that this thread has taken and not used yet
  };

  // After every writer has finished: k-mers in a partition, repetitions included.
  std::uint64_t kmers(std::uint32_t partition) const { return kmers_[partition].load(std::memory_order_relaxed); }
  // Calls `take(span of records)` for all of a partition; may be called again. Each partition by one thread at a time.
  template <class F> void visit(std::uint32_t partition, F&& take) const {
    for (std::uint32_t c = heads_[partition].load(std::memory_order_acquire); c != none; c = chunk(c).next)
      take(std::span<const std::uint8_t>(chunk(c).records, chunk(c).used));
    if (extents_.empty()) return;
    std::vector<std::uint8_t> buffer;
    for (const extent& e : extents_[partition]) {
      read(e, buffer);
      take(std::span<const std::uint8_t>(buffer));
    }
  }
  store_figures figures() const;

private:
  static constexpr std::uint32_t none = UINT32_MAX;
  struct chunk_layout {
    std::uint32_t next;
    std::uint32_t used;
    std::uint8_t records[chunk_bytes - 8];
  };
  static_assert(sizeof(chunk_layout) == chunk_bytes);
  struct extent {
    std::uint64_t offset;
    std::uint32_t bytes;
  };

  chunk_layout& chunk(std::uint32_t index) const { return chunks_[index]; }
  void refill(std::vector<std::uint32_t>& fresh);
  void push(std::uint32_t partition, std::uint32_t index);
  void spill();
  void read(const extent& e, std::vector<std::uint8_t>& into) const;

  chunk_layout* chunks_ = nullptr;
  std::size_t chunk_count_;
  std::array<std::atomic<std::uint32_t>, partition_count> heads_{};
  std::array<std::atomic<std::uint64_t>, partition_count> kmers_{};
  std::mutex lock_; // of what follows
  std::uint32_t used_ = 0;
  std::vector<std::uint32_t> free_;
  spill_file spill_file_;
  std::vector<std::vector<extent>> extents_;
};

} // namespace kmer
