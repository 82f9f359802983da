// SPDX-License-Identifier: Apache-2.0
// A resize (section 4) as a sequence of small pieces, each done by a writer or by the table's worker. Chains move to the new array
// family by family. Then, after a wait for readers, a growth cuts them apart family by family. No piece blocks: the wait is a grace
// period that the next piece checks, and a family whose stripe is locked is left for later. So a piece may run inside a pin of its
// own thread, where a blocking wait would wait for itself. Another thread, or the same one later, then goes on.
#pragma once

#include <cubby/detail/engines/relativistic/zip.hpp>

namespace cubby::inline v0::detail::engines::relativistic {

/// The number of buckets for so many entries: at most one entry a bucket.
constexpr std::uint64_t buckets_for(std::uint64_t entries) noexcept {
  if (entries > most_buckets) return most_buckets * 2;
  return entries < stripe_count ? stripe_count : std::bit_ceil(entries);
}

/// The largest growth factor at which a removal searches each bucket of its family. A growth by more keeps a list of the buckets that
/// may share nodes, so the work of a large reservation depends on the entries and on the old array only.
inline constexpr std::uint64_t most_siblings = 64;

/// The array for a wide growth. Inserts may come meanwhile. If the list is too short for a family, all its buckets are searched.
inline bucket_array* make_wide_array(std::uint64_t buckets, std::uint64_t families, std::uint64_t entries) noexcept {
  constexpr std::uint64_t most = std::uint64_t{1} << 31;
  const std::uint64_t listed = entries < most / 8 ? entries * 4 + 512 : most;
  return make_array(buckets, families, listed);
}

/// Begins a resize to `buckets`, a power of two and not the present number. Under `resize_lock`, while no resize is in progress.
/// False: no memory; the table is unchanged.
template <class Policy> bool begin_resize(table<Policy>& t, std::uint64_t buckets) noexcept {
  // relaxed: roots change under the lock that the caller holds
  bucket_array* const from = t.root.load(sync::relaxed);
  const std::uint64_t now = from->mask + 1;
  if (buckets < now / most_siblings) buckets = now / most_siblings;
  const bool wide = buckets > now * most_siblings;
  bucket_array* const to = wide ? make_wide_array(buckets, now, live_entries(t)) : make_array(buckets);
  if (to == nullptr) return false;
  const bool grows = buckets > now;
  // relaxed: published with the array
  if (grows) to->family_mask.store(from->mask, sync::relaxed);
  // [hang-array] release: pairs with [next-array]
  from->next.store(to, sync::release);
  t.work = {stage::moving, false, {}, from, to, grows ? now : buckets, 0};
  // relaxed, all: statistics and hints
  t.array_bytes.fetch_add(to->pages.bytes, sync::relaxed);
  (grows ? t.growths : t.shrinks).fetch_add(1, sync::relaxed);
  t.busy.store(resize_state::families_to_do, sync::relaxed); // relaxed: as above
  return true;
}

/// The end of a resize: each chain has only its own nodes.
template <class Policy> void end_resize(table<Policy>& t) noexcept {
  const resize_work done = std::exchange(t.work, resize_work{});
  // relaxed: a writer under a stripe's lock that sees it comes after the last cut there; an older value only costs time
  done.to->family_mask.store(done.to->mask, sync::relaxed);
  t.busy.store(resize_state::none, sync::relaxed); // relaxed: a hint
  if (t.wanted <= done.to->mask + 1 || !begin_resize(t, t.wanted)) t.wanted = 0;
}

/// The work of the present pass for one family. False: another thread holds its stripe, and nothing was done. A wait here would hold
/// `resize_lock` and the caller as long as a stopped thread holds the stripe.
template <class Policy> bool do_family(table<Policy>& t, std::uint64_t number) noexcept {
  resize_work& w = t.work;
  auto& lock = t.stripes[number % stripe_count].lock;
  if (!lock.try_lock()) return false;
  if (w.at == stage::unzipping) cut_chains(t.policy, *w.to, number);
  else if (w.to->mask > w.from->mask) share_chain(t.policy, *w.from, *w.to, number);
  else join_chains(*w.from, *w.to, number);
  lock.unlock();
  return true;
}

/// The end of a pass over all families. After the pass that moves chains, a wait for the readers of the old array begins.
template <class Policy> void end_pass(table<Policy>& t) noexcept {
  resize_work& w = t.work;
  if (w.at == stage::unzipping) {
    end_resize(t);
    return;
  }
  // [show-root] release: pairs with [table-root]
  t.root.store(w.to, sync::release);
  // relaxed: a figure
  t.buckets.store(w.to->mask + 1, sync::relaxed);
  w.waiting = true;
  w.readers = rcu::grace_period::begin(*t.home);
  t.busy.store(resize_state::readers_to_wait_for, sync::relaxed); // relaxed: a hint
}

/// No reader uses the old array any more: gives a slice of it back, so that no writer takes long. True: that was the last slice.
template <class Policy> bool release_old(table<Policy>& t) noexcept {
  memory::region& pages = t.work.from->pages;
  const std::size_t before = pages.bytes;
  memory::release(pages, release_slice);
  // relaxed: a figure
  t.array_bytes.fetch_add(std::uint64_t{0} - (before - pages.bytes), sync::relaxed);
  return pages.bytes == 0;
}

/// The old array is freed. A shrink has then ended; for a growth the pass of cuts begins.
template <class Policy> void begin_cuts(table<Policy>& t) noexcept {
  resize_work& w = t.work;
  bucket_array* const old = std::exchange(w.from, nullptr);
  const bool shrunk = w.to->mask < old->mask;
  delete old;
  if (shrunk) {
    end_resize(t);
    return;
  }
  w.waiting = false;
  w.at = stage::unzipping;
  w.cursor = 0;
  t.busy.store(resize_state::families_to_do, sync::relaxed); // relaxed: a hint
}

/// `blocked`: readers have to leave first. `shut_out`: another thread holds the stripe of the next family, and nothing was done.
enum class progress : std::uint8_t { idle, more, blocked, shut_out };

/// Does the work of at most `families` families, under `resize_lock`. `alone`: there are no readers to wait for.
template <class Policy> progress work_on(table<Policy>& t, std::uint64_t families, bool alone = false) noexcept {
  resize_work& w = t.work;
  bool got_on = w.waiting; // the end of a wait is progress, too
  if (w.waiting) {
    if (!alone && !w.readers.elapsed()) return progress::blocked;
    if (!release_old(t)) return progress::more;
    begin_cuts(t);
  }
  for (; families > 0 && w.at != stage::idle && !w.waiting; --families) {
    if (!do_family(t, w.cursor)) return got_on ? progress::more : progress::shut_out;
    got_on = true;
    if (++w.cursor == w.families) end_pass(t);
  }
  return w.at == stage::idle ? progress::idle : progress::more;
}

} // namespace cubby::inline v0::detail::engines::relativistic
