// SPDX-License-Identifier: Apache-2.0
// The plain structs of a durable file (docs/format.md, The file): superblock, zero entry, extent header, record header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <cubby/detail/core/hash.hpp>
#include <cubby/detail/platform/sync.hpp>

namespace cubby::inline v0::detail::pool_layout {

inline constexpr std::uint64_t file_magic = 0x7275647962627563ULL;   // "cubbydur"
inline constexpr std::uint64_t extent_magic = 0x7478657962627563ULL; // "cubbyext"
inline constexpr std::uint32_t first_version = 1;
inline constexpr std::uint32_t version = 3; // since there are more than two copies of the superblock
inline constexpr std::uint64_t page = 4096;
inline constexpr unsigned superblock_copies = 4; // a change, a sync under way, the last sync, and the change before
inline constexpr std::uint64_t copy_at[superblock_copies] = {0, page, 3 * page, 2 * page + page / 2};
inline constexpr std::uint64_t zero_entry_at = 2 * page;
inline constexpr std::uint64_t first_extent = 4 * page;
inline constexpr std::uint64_t least_record_bytes = std::uint64_t{64} << 10; // of the data of an extent of records
inline constexpr std::uint64_t most_record_bytes = std::uint64_t{1} << 32;   // of the same
inline constexpr std::uint64_t log_magic = 0x676f6c7962627563ULL;            // "cubbylog"
inline constexpr std::uint64_t checksum_seed = 1;                            // of the format, versions 1 to 3

enum class engine_code : std::uint32_t { iceberg = 1, seph = 2 };
enum class move_state : std::uint32_t { none = 0, grows = 1, shrinks = 2 };
enum class extent_kind : std::uint32_t { segment = 1, overflow = 2, records = 3, log = 4 };

/// What must agree between a file and the table that opens it, and what the file alone knows (geometry and seed).
struct identity {
  engine_code engine = engine_code::iceberg;
  std::uint32_t mode = 0;
  std::uint32_t key_bytes = 0;
  std::uint32_t key_alignment = 0;
  std::uint32_t value_bytes = 0;
  std::uint32_t value_alignment = 0;
  std::uint64_t hash = 0;
  std::uint64_t seed = 0;
  std::uint32_t slot_bytes = 0;
  std::uint16_t key_words = 0;
  std::uint16_t value_words = 0;
  std::uint64_t fronts = 0;
  std::uint64_t backs = 0;
  std::uint64_t capacity = 0;
  std::uint32_t promise = 0; // 1: power cut
  std::uint32_t reserved = 0;
};

struct superblock {
  std::uint64_t magic = file_magic;
  std::uint32_t format = version;
  std::uint32_t size = 512;
  std::uint64_t file = 0; // random
  identity what;
  std::uint64_t sequence = 0;
  std::uint32_t level = 0;
  move_state moving = move_state::none;
  std::uint64_t end = first_extent;
  std::uint64_t clean = 0;
  std::uint64_t boot[2] = {};
  std::uint64_t entries = 0;
  std::uint64_t covered = first_extent; // up to here the file was durable when this was written
  std::uint64_t top = 0;                // the data of the segment of `level`
  std::uint64_t log = 0;                // the generation from which on the log counts; 0: there is no log
  std::uint64_t note = 0;               // of `cubby store load`
  std::uint64_t unused[39] = {};
  std::uint64_t checksum = 0;
};
static_assert(sizeof(superblock) == 512 && offsetof(superblock, what) == 24 && offsetof(superblock, sequence) == 104 &&
              offsetof(superblock, clean) == 128 && offsetof(superblock, checksum) == 504);

/// The entry whose key word is 0. Its first words are a slot, which lookups read.
struct alignas(64) zero_entry {
  sync::word<std::uint64_t> key; // always 0
  sync::word<std::uint64_t> value;
  sync::word<std::uint64_t> present;
};

struct extent_header {
  std::uint64_t magic = extent_magic;
  extent_kind kind = extent_kind::segment;
  std::uint32_t number = 0;
  std::uint64_t bytes = 0;
  std::uint64_t argument = 0;
  std::uint64_t checksum = 0;
};
static_assert(sizeof(extent_header) == 40);

/// In front of a record. The bytes of the key follow it, then those of the value.
struct record_header {
  std::uint64_t checksum = 0;
  std::uint32_t sequence = 0;
  std::uint32_t key_bytes = 0;
  sync::word<std::uint64_t> size_and_mark; // value bytes; the highest 16 bits: the mark
  std::uint64_t link =
      0; // these two: nothing after a restart. Of a record in use: the one before it (durable_records.hpp), else a list
  std::uint64_t epoch = 0; // the number of syncs that had begun, and when the table was opened; else a list
};
static_assert(sizeof(record_header) == 40);
inline constexpr unsigned mark_shift = 48;
inline constexpr std::uint64_t size_mask = (std::uint64_t{1} << mark_shift) - 1;
/// The marks of records that are the entries themselves (engine 2). A record goes through them in this order. A bit that flips makes none of
/// them of another one, and none of zeros.
namespace record_state {
inline constexpr std::uint64_t prepared = 0x3333; // no entry yet
inline constexpr std::uint64_t live = 0x5555;     // an entry, unless a newer record of the key is live
inline constexpr std::uint64_t dead = 0x6666;     // no entry any more
} // namespace record_state

/// A checksum is the mixer's hash, with the mask that does not depend on the seed. It finds damage, not forgery.
inline std::uint64_t checksum(const void* bytes, std::uint64_t size, std::uint64_t seed) noexcept {
  return hash_masked(bytes, size, seed, seedless_mask);
}
inline std::uint64_t checksum_of(const superblock& s) noexcept {
  return checksum(&s, offsetof(superblock, checksum), checksum_seed);
}
/// In front of the changes that one sync has covered (docs/format.md, The log). The first group of a half begins with it.
struct group_header {
  std::uint64_t magic = log_magic;
  std::uint64_t file = 0; // of the superblock
  std::uint64_t generation = 0;
  std::uint64_t number = 0; // in its generation
  std::uint64_t bytes = 0;  // of the entries behind it
  std::uint64_t checksum = 0;
  std::uint64_t unused[2] = {};
};
static_assert(sizeof(group_header) == 64 && offsetof(group_header, checksum) == 40);

enum class log_kind : std::uint32_t { put = 1, erase = 2 };
/// In front of the key and the value of a change.
struct log_entry {
  log_kind kind = log_kind::put;
  std::uint32_t key_bytes = 0;
  std::uint64_t value_bytes = 0;
};
static_assert(sizeof(log_entry) == 16);

inline std::uint64_t checksum_of(const extent_header& h) noexcept {
  return checksum(&h, offsetof(extent_header, checksum), checksum_seed);
}
/// Of a group with its entries.
inline std::uint64_t checksum_of(const group_header& h, const void* entries) noexcept {
  return checksum(entries, h.bytes, checksum(&h, offsetof(group_header, checksum), checksum_seed));
}
/// The checksum of a record apart from its sequence number, which is added when the record takes the place of another one.
inline std::uint64_t contents_checksum(const void* bytes, std::uint64_t key_bytes, std::uint64_t value_bytes) noexcept {
  return checksum(bytes, key_bytes + value_bytes, fold(key_bytes ^ mix_a, value_bytes ^ mix_b) ^ checksum_seed);
}
constexpr std::uint64_t with_sequence(std::uint64_t contents, std::uint32_t sequence) noexcept {
  return contents + fold(sequence ^ mix_b, mix_c);
}

} // namespace cubby::inline v0::detail::pool_layout
