// SPDX-License-Identifier: Apache-2.0
// Delegation (DRAMHiT section 3.3): a channel from each handle to each partition, and the threads that carry out the messages. A
// thread takes the lock `writing` of a partition, carries out pending messages and gives the lock back. No thread keeps the lock, so
// a sender with a full queue never depends on another thread: it carries out the messages itself.
#pragma once

#include <memory>
#include <new>

#include <cubby/detail/core/channel.hpp>
#include <cubby/detail/core/prefetch_group.hpp>
#include <cubby/detail/core/raw_memory.hpp>
#include <cubby/detail/engines/partitioned/partition_write.hpp>
#include <cubby/detail/platform/thread.hpp>

namespace cubby::inline v0::detail::engines::partitioned {

/// One handle's channel to one partition, and its receiving end.
struct lane {
  channel<> ring;
  alignas(cpu::cache_line) channel<>::consumer end{ring}; ///< used by the thread that holds the partition's `writing`
  sync::word<std::uint64_t> refused;                      ///< messages that were dropped for want of memory
};

/// The sending ends of a handle. The table keeps an outbox when its handle ends, for a later handle.
struct outbox {
  channel<>::producer* ends = nullptr; ///< one for each partition, side by side
  lane* lanes = nullptr;
  bool* serves = nullptr; ///< the partitions that this handle owns
  std::size_t count = 0;
  std::size_t served = 0;    ///< their number
  std::uint64_t refused = 0; ///< the sum of `lane::refused` at the last flush
  sync::word<std::uint32_t> taken;
  outbox* next = nullptr; ///< the next older outbox; constant once this one is in the list
};

inline void free_outbox(outbox* gone) noexcept {
  detail::give_raw(gone->lanes);
  detail::give_raw(gone->ends);
  detail::give_raw(gone->serves);
  delete gone;
}
inline outbox* make_outbox(std::size_t count) noexcept {
  auto* const made = new (std::nothrow) outbox;
  if (made == nullptr) return nullptr;
  made->ends = detail::take_raw<channel<>::producer>(count);
  made->lanes = detail::take_raw<lane>(count);
  made->serves = detail::take_raw<bool>(count);
  if (made->ends == nullptr || made->lanes == nullptr || made->serves == nullptr) {
    free_outbox(made);
    return nullptr;
  }
  made->count = count;
  for (std::size_t i = 0; i < count; ++i) {
    auto* const at = ::new (static_cast<void*>(made->lanes + i)) lane;
    ::new (static_cast<void*>(made->ends + i)) channel<>::producer(at->ring);
    made->serves[i] = false;
  }
  made->taken.store(1, sync::relaxed); // relaxed: no other thread sees it yet
  return made;
}

template <class Policy> struct delegation;

/// A thread of the table. It serves every `of`th partition from `first` on, and sleeps when there is no work.
template <class Policy> struct owner {
  delegation<Policy>* all = nullptr;
  std::size_t first = 0;
  std::size_t of = 1;
  alignas(cpu::cache_line) sync::word<std::uint32_t> asleep;
  background_worker thread;
};

/// The state of a table: the partitions, the outboxes of handles, and the table's own threads.
template <class Policy> struct delegation {
  delegation(const options& chosen, Policy slots) : set(chosen, std::move(slots)) {}
  partition_set<Policy> set;
  sync::word<outbox*> outboxes; ///< newest first; none is freed before the table
  small_lock<sync::shared> adding;
  owner<Policy>* owners = nullptr; ///< threads of the table
  std::size_t owner_count = 0;
};

/// Claims an outbox; null without memory.
template <class Policy> outbox* take_outbox(delegation<Policy>& d) noexcept {
  // [scan-outboxes] acquire: pairs with [add-outbox]
  for (outbox* one = d.outboxes.load(sync::acquire); one != nullptr; one = one->next) {
    std::uint32_t free = 0;
    // [take-outbox] acquire: pairs with [give-outbox]
    // relaxed: a failed attempt reads nothing of it
    if (one->taken.compare_exchange(free, 1, sync::acquire, sync::relaxed)) return one;
  }
  outbox* const made = make_outbox(d.set.count);
  if (made == nullptr) return nullptr;
  lock_scope alone(d.adding);
  made->next = d.outboxes.load(sync::relaxed); // relaxed: only stored under this lock
  // [add-outbox] release: pairs with [scan-outboxes]
  d.outboxes.store(made, sync::release);
  return made;
}

/// Carries out one batch of a lane, in order, and prefetches lines ahead. Returns the number of messages.
template <class Policy> std::size_t drain_lane(partition_set<Policy>& set, partition& p, lane& from) noexcept {
  const auto batch = from.end.peek();
  if (batch.count == 0) return 0;
  std::uint64_t rest[channel<>::section_size];
  const auto ask = [&](std::size_t first, std::size_t last) CUBBY_INLINED {
    // Read each time, because a message in between may have freed the array. relaxed: only the writer stores it
    const partition_array& a = *p.current.load(sync::relaxed);
    for (std::size_t i = first; i < last; ++i) {
      rest[i] = whereabouts_of(set, set.policy.hash_of(batch[i].first, 0)).rest;
      prefetch_line_to_write(home_line<Policy>(a, rest[i]));
    }
    return last - first;
  };
  std::uint64_t refused = 0;
  prefetch_group::in_order(batch.count, prefetch_group::pace_here(), ask, [&](std::size_t i) CUBBY_INLINED {
    const message& m = batch[i];
    if (!carry_out(set, p, rest[i], m.first, m.second, static_cast<write_kind>(batch.kind(i)))) ++refused;
    return true;
  });
  // relaxed: a sender reads it only after it has seen the release below
  if (refused != 0) from.refused.store(from.refused.load(sync::relaxed) + refused, sync::relaxed); // relaxed: as above
  from.end.release(batch.count);
  return batch.count;
}

/// Carries out at most one section of each handle's messages to this partition, and returns their number. It returns 0 at once if
/// another thread is writing to the partition.
template <class Policy> std::size_t serve(delegation<Policy>& d, std::size_t number) noexcept {
  partition& p = d.set.all[number];
  if (!p.writing.try_lock()) return 0;
  std::size_t done = 0;
  // [scan-outboxes] acquire: pairs with [add-outbox]
  for (outbox* one = d.outboxes.load(sync::acquire); one != nullptr; one = one->next) {
    if (one->next != nullptr) one->next->lanes[number].end.prefetch();
    done += drain_lane(d.set, p, one->lanes[number]);
  }
  // Reading all thread records takes a system call, so not each round does it.
  constexpr std::uint32_t rounds_between_looks = 64;
  if (p.retired != nullptr && ++p.rounds % rounds_between_looks == 0) collect_arrays(*d.set.home, p);
  p.writing.unlock();
  return done;
}
/// Serves the partitions that a handle owns.
template <class Policy> std::size_t serve_own(delegation<Policy>& d, const outbox& from) noexcept {
  if (from.served == 0) return 0;
  std::size_t done = 0;
  for (std::size_t i = 0; i < from.count; ++i)
    if (from.serves[i]) done += serve(d, i);
  return done;
}

/// Wakes the table's thread that serves a partition. The thread may fall asleep at the same moment and miss the call. Then the
/// messages wait for the next section, a flush or a full queue, and none of these needs that thread.
template <class Policy> void wake_owner(delegation<Policy>& d, std::size_t number) noexcept {
  if (d.owner_count == 0) return;
  owner<Policy>& o = d.owners[number % d.owner_count];
  // relaxed: as said above
  if (o.asleep.load(sync::relaxed) != 0 && o.asleep.exchange(0, sync::relaxed) != 0)
    o.thread.notify(); // relaxed: as above
}

/// The turns for which a waiting thread leaves a partition to its owners. Then it serves the partition itself, which moves the
/// partition's lines to its core.
inline constexpr unsigned turns_of_owners = 128;

/// One turn of a wait for a partition. The waiting thread serves its own partitions, and at last the one for which it waits.
template <class Policy>
void wait_a_turn(delegation<Policy>& d, outbox& from, std::size_t number, unsigned turns,
                 sync::backoff& wait) noexcept {
  std::size_t done = serve_own(d, from);
  // relaxed: a hint
  if (turns >= turns_of_owners || d.set.all[number].owners.load(sync::relaxed) == 0) done += serve(d, number);
  if (done == 0) wait.pause();
}

/// The work of a sender at the end of a section.
template <class Policy> CUBBY_NEVER_INLINE void end_section(delegation<Policy>& d, outbox& from,
                                                            std::size_t number) noexcept {
  wake_owner(d, number);
  serve_own(d, from);
}
template <class Policy>
CUBBY_NEVER_INLINE void send_when_there_is_space(delegation<Policy>& d, outbox& from, std::size_t number, message m,
                                                 write_kind what) noexcept {
  sync::backoff wait;
  for (unsigned turns = 0; !from.ends[number].try_send(m.first, m.second, static_cast<unsigned>(what)); ++turns)
    wait_a_turn(d, from, number, turns, wait);
}

/// Whether the key is present, for a sender, which holds no pin. Without memory for a thread record the answer is no.
template <class Policy>
CUBBY_NEVER_INLINE bool is_there(const delegation<Policy>& d, const word_probe& p) noexcept {
  thread_record* const mine = registry::local(*d.set.home);
  if (mine == nullptr) return false;
  const thread_pin stay(*mine);
  return find_in(d.set, p).found;
}

/// Sends a write. If the queue is full, it serves or waits until there is space. `full`: the table is at its bound and has not this key;
/// nothing was sent.
template <class Policy>
CUBBY_ALWAYS_INLINE outcome send(delegation<Policy>& d, outbox& from, const word_probe& p, std::uint64_t value,
                                 write_kind what) noexcept {
  const std::size_t number = whereabouts_of(d.set, p.hash).partition;
  // relaxed: a hint, see count_entry
  if (what != write_kind::erase && d.set.placed.load(sync::relaxed) >= d.set.bound) [[unlikely]]
    if (!is_there(d, p)) return outcome::full;
  auto& end = from.ends[number];
  if (!end.try_send(p.word, value, static_cast<unsigned>(what))) [[unlikely]]
    send_when_there_is_space(d, from, number, {p.word, value}, what);
  if (end.is_between_sections()) [[unlikely]]
    end_section(d, from, number);
  return outcome::done;
}

/// Returns when all messages from this outbox are carried out. Blocks; it serves meanwhile. False: some were dropped for want of memory.
template <class Policy> bool flush(delegation<Policy>& d, outbox& from) noexcept {
  for (std::size_t i = 0; i < from.count; ++i) from.ends[i].flush();
  std::uint64_t refused = 0;
  for (std::size_t i = 0; i < from.count; ++i) {
    if (!from.ends[i].is_consumed()) wake_owner(d, i);
    sync::backoff wait;
    for (unsigned turns = 0; !from.ends[i].is_consumed(); ++turns) wait_a_turn(d, from, i, turns, wait);
    refused += from.lanes[i].refused.load(sync::relaxed); // relaxed: is_consumed has ordered it
  }
  const bool all_done = refused == from.refused;
  from.refused = refused;
  return all_done;
}

template <class Policy> void look_after(delegation<Policy>& d, outbox& from, std::size_t number, bool serves) noexcept {
  if (number >= from.count || from.serves[number] == serves) return;
  from.serves[number] = serves;
  from.served = serves ? from.served + 1 : from.served - 1;
  d.set.all[number].owners.fetch_add(serves ? 1 : ~std::uint32_t{0}, sync::relaxed); // relaxed: a hint
}
/// Flushes the outbox and gives it back.
template <class Policy> void give_outbox(delegation<Policy>& d, outbox& from) noexcept {
  (void)flush(d, from);
  for (std::size_t i = 0; i < from.count; ++i) look_after(d, from, i, false);
  // [give-outbox] release: pairs with [take-outbox]
  from.taken.store(0, sync::release);
}

/// The work of a thread of the table, from a notification until no message has come for some time.
template <class Policy> void own_partitions(void* argument) noexcept {
  auto& self = *static_cast<owner<Policy>*>(argument);
  delegation<Policy>& d = *self.all;
  const auto serve_all = [&] {
    std::size_t done = 0;
    for (std::size_t i = self.first; i < d.set.count; i += self.of) done += serve(d, i);
    return done;
  };
  constexpr unsigned rounds_without_work = 256;
  sync::backoff wait;
  for (unsigned idle = 0; idle < rounds_without_work; ++idle) {
    if (serve_all() == 0) {
      wait.pause();
      continue;
    }
    idle = 0;
    wait = {};
  }
  self.asleep.store(1, sync::relaxed); // relaxed: see wake_owner
  (void)serve_all();
}

} // namespace cubby::inline v0::detail::engines::partitioned
