// SPDX-License-Identifier: Apache-2.0
// How the medium follows a file: from the hooks of the words, and from what the library reports of bytes, write-backs, drains and syncs.
#include "crash/medium.hpp"

#include <algorithm>
#include <cstring>

#include <cubby/detail/core/pool_layout.hpp>

namespace cubby_test::crash {
namespace {

namespace layout = cubby::detail::pool_layout;
namespace persist = cubby::detail::persist;
constexpr std::uint64_t most_bytes = std::uint64_t{1} << 26; // of a file; its addresses are reserved at once

medium*& current() {
  static medium* one = nullptr;
  return one;
}
int sync_current(int) {
  if (current() != nullptr) current()->synced();
  return 0;
}

} // namespace

medium* medium::install(medium* one) {
  medium* const before = current();
  current() = one;
  persist::install_recorder(one);
  cubby::detail::file::installed_sync() = &sync_current;
  return before;
}

medium::medium(std::string path, std::function<void(moment)> told)
    : path_(std::move(path)), told_(std::move(told)), outer_(install(this)) {
  now_.resize(file_bytes() / 8);
  cubby::detail::file::descriptor file;
  if (!now_.empty() && file.open(path_.c_str(), O_RDONLY) == 0)
    (void)cubby::detail::file::read_at(file.number(), 0, now_.data(), now_.size() * 8);
  durable_ = now_;
}
medium::~medium() { (void)install(outer_); }

std::uint64_t medium::file_bytes() const {
  struct stat about = {};
  return ::stat(path_.c_str(), &about) == 0 ? static_cast<std::uint64_t>(about.st_size) : 0;
}
bool medium::has(const void* address) const {
  const auto* const at = static_cast<const std::byte*>(address);
  return base_ != nullptr && at >= base_ && at < base_ + most_bytes;
}
std::uint64_t medium::word_in_mapping(std::uint64_t at) const {
  return __atomic_load_n(reinterpret_cast<const std::uint64_t*>(base_ + at * 8), __ATOMIC_RELAXED);
}

/// In `byte`: what another thread may see is durable.
void medium::turn_to(unsigned actor) {
  see_open_word();
  if (actor != actor_) end_stores_before();
  actor_ = actor;
}
void medium::before_step(step kind, const void* address) {
  see_open_word();
  const bool writes = kind == step::store || kind == step::rmw8 || kind == step::rmw16;
  if (writes && has(address)) open_ = static_cast<const std::byte*>(address);
}
void medium::see_open_word() {
  if (open_ == nullptr) return;
  const auto at = static_cast<std::uint64_t>(open_ - base_) / 8;
  open_ = nullptr;
  see_size(at + 1);
  const std::uint64_t value = word_in_mapping(at);
  if (value == now_[at]) return;
  now_[at] = value;
  end_stores_before();
  add(at * 8 / unit_bytes, {{static_cast<std::uint32_t>(at), value}});
  if (at_once_) told_(moment::after_store);
}
/// The file has become longer: zeros, which the system has put there.
void medium::see_size(std::uint64_t least_words) {
  if (least_words > now_.size()) now_.resize(file_bytes() / 8);
}
/// In `byte`: all stores so far are durable, because another one or a fence follows. The size of the file needs a sync there, too.
void medium::end_stores_before() {
  if (!at_once_) return;
  for (auto& [unit, of] : units_) make_durable(unit, of.gone + of.groups.size());
}
void medium::add(std::uint64_t unit, group words) { units_[unit].groups.push_back(std::move(words)); }

void medium::stored(const void* from, std::size_t bytes) {
  const auto* const at = static_cast<const std::byte*>(from);
  if (base_ == nullptr && bytes == sizeof(layout::superblock)) {
    layout::superblock block;
    std::memcpy(static_cast<void*>(&block), at, sizeof block);
    if (block.magic == layout::file_magic) base_ = at - layout::copy_at[block.sequence % 2];
  }
  see_open_word();
  if (!has(from)) return;
  const auto first = static_cast<std::uint64_t>(at - base_);
  const std::uint64_t end = (first + bytes + 7) / 8;
  see_size(end);
  end_stores_before();
  for (std::uint64_t word = first / 8; word < end;) {
    const std::uint64_t unit = word * 8 / unit_bytes;
    group words;
    for (; word < end && word * 8 / unit_bytes == unit; ++word) {
      unnoted_.erase(word);
      const std::uint64_t value = word_in_mapping(word);
      if (value == now_[word]) continue;
      now_[word] = value;
      words.push_back({static_cast<std::uint32_t>(word), value});
    }
    if (!words.empty()) add(unit, std::move(words));
  }
  if (at_once_) told_(moment::after_store);
}

/// A thread may lose its turn before it writes back and before it drains, too.
void medium::offer_turn() { cubby::detail::sync::hook(step::fence, nullptr); }

void medium::wrote_back(const void* from, std::size_t bytes) {
  offer_turn();
  see_open_word();
  if (!has(from) || bytes == 0) return;
  const auto first = static_cast<std::uint64_t>(static_cast<const std::byte*>(from) - base_);
  lines_ += (first + bytes - 1) / 64 - first / 64 + 1;
  for (std::uint64_t unit = first / unit_bytes; unit <= (first + bytes - 1) / unit_bytes; ++unit) {
    const auto is = units_.find(unit);
    if (is != units_.end()) written_back_[actor_][unit] = is->second.gone + is->second.groups.size();
  }
}
void medium::make_durable(std::uint64_t unit, std::uint64_t up_to) {
  line& of = units_[unit];
  std::uint64_t count = 0;
  for (; of.gone + count < up_to; ++count)
    for (const placed_word& w : of.groups[count]) durable_.at(w.at) = w.value;
  of.groups.erase(of.groups.begin(), of.groups.begin() + static_cast<std::ptrdiff_t>(count));
  of.gone += count;
}
void medium::drained() {
  offer_turn();
  see_open_word();
  ++drains_;
  look_for_unnoted();
  told_(moment::before_drain);
  end_stores_before();
  for (const auto& [unit, up_to] : written_back_[actor_]) make_durable(unit, up_to);
  written_back_[actor_].clear();
}
void medium::synced() {
  see_open_word();
  ++syncs_;
  look_for_unnoted();
  see_size(file_bytes() / 8);
  told_(moment::before_sync);
  for (auto& [unit, of] : units_) make_durable(unit, of.gone + of.groups.size());
  durable_.resize(now_.size());
  written_back_.clear();
}

/// The link of the retire bag in a record: it means nothing after a restart, so no thread reports its stores.
bool medium::is_retire_link(std::uint64_t word) const {
  for (std::uint64_t at = layout::first_extent; at + layout::page <= now_.size() * 8;) {
    layout::extent_header header;
    std::memcpy(static_cast<void*>(&header), &now_[at / 8], sizeof header);
    if (header.magic != layout::extent_magic || header.bytes == 0) return false;
    if (word * 8 < at + header.bytes)
      return header.kind == layout::extent_kind::records &&
             (word * 8 - at - layout::page) % header.argument == offsetof(layout::record_header, link);
    at += header.bytes;
  }
  return false;
}
/// The words of the part of the file that its table has mapped for certain: up to the end that a superblock names.
std::uint64_t medium::words_in_use() const {
  std::uint64_t end = layout::first_extent;
  for (const std::uint64_t at : layout::copy_at) {
    layout::superblock copy;
    std::memcpy(static_cast<void*>(&copy), base_ + at, sizeof copy);
    if (copy.checksum == layout::checksum_of(copy) && copy.end > end) end = copy.end;
  }
  return std::min<std::uint64_t>(end / 8, now_.size());
}
void medium::look_for_unnoted() {
  if (base_ == nullptr) return;
  const std::uint64_t words = words_in_use();
  if (std::memcmp(base_, now_.data(), words * 8) == 0) return;
  end_stores_before();
  for (std::uint64_t word = 0; word < words; ++word) {
    const std::uint64_t value = word_in_mapping(word);
    if (value == now_[word]) continue;
    if (!is_retire_link(word)) unnoted_.insert(word);
    now_[word] = value;
    add(word * 8 / unit_bytes, {{static_cast<std::uint32_t>(word), value}});
  }
}

std::string medium::unnoted() const {
  if (unnoted_.empty()) return {};
  return "byte " + std::to_string(*unnoted_.begin() * 8) + " was stored, and nothing has reported it";
}

snapshot medium::take() {
  see_open_word();
  look_for_unnoted();
  snapshot out;
  out.durable = durable_;
  out.shortest = durable_.size() * 8;
  out.durable.resize(now_.size());
  for (const auto& [unit, of] : units_)
    if (!of.groups.empty()) out.units.push_back(of.groups);
  return out;
}
void medium::attach(const void* base) {
  if (base_ == nullptr) base_ = static_cast<const std::byte*>(base);
}
void medium::detach() {
  open_ = nullptr;
  base_ = nullptr;
}

} // namespace cubby_test::crash
