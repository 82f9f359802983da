// SPDX-License-Identifier: Apache-2.0
// The records of a durable table. They are the truth: which entries there are stands in them alone, and slots are made of them when the file is
// opened (recover.hpp). A record goes through three states, by compare-and-swap, and never back:
//   prepared -> live    its slot leads to it, and so it is the entry      live -> dead    a newer one is durable, or it was erased
// Of the live records of a key the one with the highest sequence number counts. So a thread that completes a change late brings nothing back.
#pragma once

#include <string_view>
#include <utility>

#include <cubby/detail/core/durable_records.hpp>
#include <cubby/detail/engines/seph/layout.hpp>

namespace cubby::inline v0::detail::engines::seph {

static_assert(pool::most_addresses <= slot_word::erasing, "an offset leaves bit 47 of a slot free");

/// What recovery finds in a block.
enum class block_contents : std::uint8_t { no_entry, entry, broken };

/// `Base`: a codec of records in a file. Its words are offsets.
template <class Base> class file_records : public Base {
  using header = typename Base::header;
  using Base::at;
  using Base::home_;
  using Base::now;

public:
  using probe = typename Base::probe;
  file_records(const Base& plain) noexcept : Base(plain) {} // NOLINT: a table is made with the plain codec

  /// A new record, prepared. It is durable when its change is.
  template <class Q, class... A> [[nodiscard]] made_word make(const probe& p, const Q&, A&&... args) const {
    return Base::with_value(
        [&](std::string_view value) { return Base::write_record(p, value, pool_layout::record_state::prepared, 0); },
        std::forward<A>(args)...);
  }
  [[nodiscard]] std::uint64_t key_word_at(std::uint64_t word) const noexcept { return Base::probe_hash(at(word)); }

  // Before a slot leads to a record that the caller has made. `epoch` of a prepared record is the record that it replaces.
  void follow_none(std::uint64_t word) const noexcept {
    if (at(word).epoch != 0) [[unlikely]] // an assign has found the key, and then an insert has not
      put_epoch(at(word), 0);
  }
  void follow(std::uint64_t word, std::uint64_t old) const noexcept {
    header& r = at(word);
    const std::uint32_t sequence = at(old).sequence + 1;
    r.checksum += pool_layout::with_sequence(0, sequence) - pool_layout::with_sequence(0, r.sequence);
    r.sequence = sequence;
    put_epoch(r, old);
    persist::note_stored(&r, sizeof r);
  }

  // Completion, by any thread whose guard began before it was complete.
  /// A slot leads to this record: it is live, and the one that it replaces is dead when this returns, or waits for a sync.
  void show(std::uint64_t word) const noexcept {
    header& r = at(word);
    if (medium().is_synced_later()) {
      show_until_sync(r);
      return;
    }
    make_live(r);
    // `epoch` does not change here before the block is used again
    if (r.epoch == 0) {
      medium().persist(&r, Base::bytes_of_record(r));
      return;
    }
    medium().persist_first(&r, Base::bytes_of_record(r));
    kill_durably(at(r.epoch));
  }
  /// The same by its writer, if it replaces none. No lock is needed: what other threads change under one they change in live records.
  void show_first(std::uint64_t word) const noexcept { show_here(at(word)); }
  /// The record of an entry that a slot shows as being erased is dead when this returns.
  void erase(std::uint64_t word) const noexcept {
    header& r = at(word);
    if (!medium().is_synced_later()) {
      kill_durably(r);
      return;
    }
    const lock_scope alone(home_->marks);
    if (state_of(r) != pool_layout::record_state::live) return; // another thread has done this
    if (epoch_of(r) > home_->marked && r.link != 0) {
      // The oldest first: if the process ends in between, the newer one is left. There are at most two, since syncs do not overlap.
      header& before = at(r.link);
      if (before.link != 0) kill(at(before.link));
      kill(before);
    }
    kill(r);
    (void)home_->heap.note_changed(word);
  }
  /// Whether a record that was replaced or erased is the caller's to retire. Else a sync retires it.
  [[nodiscard]] bool is_callers(std::uint64_t word) const noexcept {
    if (!medium().is_synced_later()) return true;
    const lock_scope alone(home_->marks);
    return (at(word).epoch & in_list) == 0;
  }
  /// As in `Base`, with these states.
  [[nodiscard]] bool end_sync(const typename Base::covered& all, bool done) const noexcept {
    if (!done) return false;
    for (std::uint64_t one = all.replaced; one != 0; one = next_in_list(at(one))) {
      kill(at(one));
      (void)home_->heap.note_changed(one);
    }
    {
      const lock_scope alone(home_->marks);
      home_->marked = now() - 1;
    }
    (void)Base::end_sync({all.given, all.blank, 0}, true);
    return all.replaced != 0;
  }
  /// Calls `retire(record)` for those that the sync has covered. From here on they have no entry.
  template <class F> void retire_replaced(const typename Base::covered& all, F retire) const noexcept {
    for (std::uint64_t one = all.replaced; one != 0;) {
      const std::uint64_t next = next_in_list(at(one));
      {
        const lock_scope alone(home_->marks);
        at(one).epoch = in_list; // for its writer, who may ask only now
      }
      retire(one);
      one = next;
    }
  }

  // Recovery.
  [[nodiscard]] bool is_whole(std::uint64_t key_word, std::uint64_t word) const noexcept {
    return Base::is_whole(key_word, word) && state_of(at(word)) == pool_layout::record_state::live;
  }
  [[nodiscard]] bool claim(std::uint64_t, std::uint64_t word) const noexcept {
    return home_->heap.mark(word, Base::bytes_of_record(at(word)));
  }
  /// What is in a block of so many bytes. `key_word`: of an entry.
  [[nodiscard]] block_contents look_at(std::uint64_t word, std::uint64_t bytes,
                                       std::uint64_t& key_word) const noexcept {
    const header& r = at(word);
    const std::uint64_t state = state_of(r);
    if (state == 0 || state == pool_layout::record_state::prepared || state == pool_layout::record_state::dead)
      return block_contents::no_entry;
    if (state != pool_layout::record_state::live || r.key_bytes > bytes || Base::value_bytes(r) > bytes ||
        Base::bytes_of_record(r) > bytes)
      return block_contents::broken;
    key_word = Base::is_sound(r) ? Base::probe_hash(r) : 0;
    return Base::is_whole(key_word, word) ? block_contents::entry : block_contents::broken;
  }
  /// Which of two live records of a key counts. After a power cut two may have one number; no sync has covered their order then.
  [[nodiscard]] bool is_newer(std::uint64_t word, std::uint64_t other) const noexcept {
    const auto ahead = static_cast<std::int32_t>(at(word).sequence - at(other).sequence);
    return ahead > 0 || (ahead == 0 && word < other);
  }
  /// A block that no entry is in from here on. It is durable after a drain, or a sync.
  void drop(std::uint64_t word) const noexcept {
    header& r = at(word);
    const std::uint64_t size = r.size_and_mark.load(sync::relaxed) & pool_layout::size_mask; // relaxed: as below
    // relaxed: no other thread uses the table yet
    r.size_and_mark.store(size | pool_layout::record_state::dead << pool_layout::mark_shift, sync::relaxed);
    medium().write_back(&r.size_and_mark, sizeof r.size_and_mark);
  }
  /// `epoch` of an entry that was recovered may be anything. It must not be one of this opening, nor a link.
  void forget_epoch(std::uint64_t word) const noexcept {
    const header& r = at(word);
    if ((r.epoch & in_list) != 0 || epoch_of(r) > home_->marked) put_epoch(at(word), 0);
  }
  /// Before all of these.
  void begin_recovery() const noexcept { home_->marked = now() - 1; }

private:
  [[nodiscard]] const persist::medium& medium() const noexcept { return home_->file.medium(); }
  static std::uint64_t state_of(const header& r) noexcept {
    // relaxed: what depends on a state is ordered by the slot, or by the lock of marks
    return r.size_and_mark.load(sync::relaxed) >> pool_layout::mark_shift;
  }
  // What `epoch` is, where only a sync makes changes durable, and the record is not prepared any more. Under the lock of marks.
  //   [63 epoch 1 | 0]    that of the sync before which it replaced the record `link`; 0: it replaced none
  //   [63 next 1 | 1]     it was replaced, and a sync retires it: the next one of these
  static constexpr std::uint64_t in_list = 1;
  static std::uint64_t epoch_of(const header& r) noexcept { return r.epoch >> 1; }
  static std::uint64_t next_in_list(const header& r) noexcept { return r.epoch & ~in_list; }
  static void put_epoch(header& r, std::uint64_t epoch) noexcept {
    r.epoch = epoch;
    persist::note_stored(&r.epoch, sizeof r.epoch);
  }
  /// Nothing, if the record is in another state.
  static void advance(header& r, std::uint64_t from, std::uint64_t to) noexcept {
    const std::uint64_t size = r.size_and_mark.load(sync::relaxed) & pool_layout::size_mask; // relaxed: it stays
    std::uint64_t expected = size | from << pool_layout::mark_shift;
    // relaxed, both: as in state_of
    (void)r.size_and_mark.compare_exchange(expected, size | to << pool_layout::mark_shift, sync::relaxed,
                                           sync::relaxed);
  }
  static void make_live(header& r) noexcept {
    advance(r, pool_layout::record_state::prepared, pool_layout::record_state::live);
  }
  void show_here(header& r) const noexcept {
    make_live(r);
    medium().persist(&r, Base::bytes_of_record(r));
  }
  void kill_durably(header& r) const noexcept {
    kill(r);
    medium().persist(&r.size_and_mark, sizeof r.size_and_mark);
  }
  static void kill(header& r) noexcept { advance(r, pool_layout::record_state::live, pool_layout::record_state::dead); }
  /// Where only a sync makes changes durable: the record that this one replaces stays live until a sync has covered this one. If none has covered
  /// that one either, it dies at once, and the one before it stays.
  void show_until_sync(header& r) const noexcept {
    const lock_scope alone(home_->marks);
    if (state_of(r) != pool_layout::record_state::prepared) return; // another thread has done this
    const std::uint64_t old = r.epoch;
    if (old == 0) {
      show_here(r);
      return;
    }
    header& before = at(old);
    const bool was_covered = epoch_of(before) != now();
    if (epoch_of(before) <= home_->marked) before.link = 0; // that one is dead
    r.link = was_covered ? old : before.link;
    r.epoch = now() << 1;
    persist::note_stored(&r.link, sizeof r.link + sizeof r.epoch);
    show_here(r);
    if (!was_covered) {
      kill(before);
    } else {
      before.epoch = std::exchange(home_->replaced, old) | in_list;
      home_->heap.note_waiting(old);
    }
  }
};

} // namespace cubby::inline v0::detail::engines::seph
