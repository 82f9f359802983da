// SPDX-License-Identifier: Apache-2.0
// The codec of durable tables whose entries are records in the file: keys and values of any size that are text or plain bytes. A slot has
// the hash of the key and the offset of the record (docs/format.md, Records). A record does not change after its slot leads to it,
// but for its sequence number, which is set before.
#pragma once

#include <cstring>
#include <string_view>
#include <type_traits>
#include <utility>

#include <cubby/detail/core/durable_bytes.hpp>
#include <cubby/detail/core/durable_codec.hpp>
#include <cubby/detail/platform/prefetch.hpp>

namespace cubby::inline v0::detail {

struct record_key_probe : word_probe {
  const char* data;
  std::uint64_t size;
};

template <class K, class V, class Hash> class durable_records {
protected:
  using header = pool_layout::record_header;
  static constexpr bool text_keys = durable_text<K>;
  static constexpr bool text_values = durable_text<V>;

public:
  using key_type = K;
  using mapped_type = V;
  using hasher = Hash;
  using allocator_type = std::allocator<std::byte>;
  using stored_key = std::uint64_t;
  using stored_value = std::uint64_t;
  using probe = record_key_probe;
  static constexpr bool durable = true;
  static constexpr std::uint32_t mode = 2;
  static constexpr bool in_records = true;
  static constexpr bool has_values = !std::is_same_v<V, no_value>;
  static constexpr bool unique_words = true;
  static constexpr bool keys_can_differ = false;
  static constexpr bool disposes_plainly = true;
  static constexpr bin_mapping mapping = seeded_hash<Hash>::mapping;
  template <class Q>
  static constexpr bool accepts =
      null_text<Q, K> || (text_keys && !std::is_same_v<Q, K> && std::is_convertible_v<const Q&, std::string_view>);

  durable_records(const Hash& h, std::uint64_t seed, durable_home& home)
      : hash_(h, seed, home.has_seedless_mask<Hash>()), home_(&home) {}
  [[nodiscard]] durable_home& shared() const noexcept { return *home_; }
  [[nodiscard]] pool& home() const noexcept { return home_->file; }
  [[nodiscard]] const Hash& hash_function() const noexcept { return hash_.user(); }
  [[nodiscard]] const allocator_type& allocator() const noexcept { return allocator_; }

  [[nodiscard]] probe probe_of(std::string_view key) const
    requires text_keys
  {
    return probe_for(hash_of_text(key), key);
  }
  template <null_text<K> Q> probe probe_of(const Q&) const { return refuse_null<probe, Q>(); }
  [[nodiscard]] probe probe_of(const K& key) const
    requires(!text_keys)
  {
    return probe_for(hash_(key), bytes_of(key));
  }
  [[nodiscard]] probe probe_of_slot(std::uint64_t key_word, std::uint64_t word) const noexcept {
    const header& r = at(word);
    return {{key_word, key_word}, bytes_in(r), r.key_bytes};
  }
  static constexpr bool is_legal(const probe&) noexcept { return true; }
  // The log has keys and values as bytes.
  [[nodiscard]] std::string_view key_bytes(std::uint64_t word) const noexcept {
    return {bytes_in(at(word)), at(word).key_bytes};
  }
  [[nodiscard]] std::string_view value_bytes(std::uint64_t word) const noexcept {
    return {bytes_in(at(word)) + at(word).key_bytes, value_bytes(at(word))};
  }
  /// Whether a change in a log can be one of this table, by its sizes.
  [[nodiscard]] static bool can_be(std::string_view key, std::string_view value) noexcept {
    return can_be_key(key) && (text_values || value.size() == (has_values ? sizeof(V) : 0));
  }
  [[nodiscard]] static bool can_be_key(std::string_view key) noexcept { return text_keys || key.size() == sizeof(K); }
  [[nodiscard]] probe probe_of_bytes(std::string_view key) const {
    if constexpr (text_keys) return probe_of(key);
    else return probe_for(hash_(made_of_bytes<K>(key.data(), key.size())), key);
  }
  [[nodiscard]] made_word make_of_bytes(const probe& p, std::string_view value) const noexcept {
    return make_of(p, value);
  }

  /// A new record, durable, that no slot leads to. Not `ok`: no disk space, no memory, or too long.
  template <class Q, class... A> [[nodiscard]] made_word make(const probe& p, const Q&, A&&... args) const {
    return with_value([&](std::string_view value) { return make_of(p, value); }, std::forward<A>(args)...);
  }
  [[nodiscard]] K key(std::uint64_t, std::uint64_t word) const {
    return made_of_bytes<K>(bytes_in(at(word)), at(word).key_bytes);
  }
  [[nodiscard]] V value(std::uint64_t word) const {
    const header& r = at(word);
    if constexpr (text_values) return made_of_bytes<V>(bytes_in(r) + size_of_key(r), value_bytes(r));
    else return made_of_bytes<V>(bytes_in(r) + size_of_key(r), sizeof(V));
  }
  template <class Q> static const Q& kept_key(std::uint64_t, const Q& asked) noexcept { return asked; }

  // slot_policy
  [[nodiscard]] CUBBY_ALWAYS_INLINE bool matches(const probe& p, std::uint64_t word) const noexcept {
    const header& r = at(word);
    const char* const bytes = bytes_in(r);
    if constexpr (!text_keys) return std::memcmp(bytes, p.data, sizeof(K)) == 0;
    if (r.key_bytes != p.size) return false;
    if (p.size > bytes_in_slot) [[likely]]
      return is_same_text(bytes, p.data, p.size);
    return short_word(bytes, p.size) == short_word(p.data, p.size);
  }
  [[nodiscard]] static std::uint64_t hash_of(std::uint64_t key_word, std::uint64_t) noexcept { return key_word; }
  /// What lookups read: without texts no header.
  [[nodiscard]] const void* record_of(std::uint64_t word) const noexcept {
    if constexpr (text_keys || text_values) return &at(word);
    else return bytes_in(at(word));
  }
  /// The size of that, without a value that is a text: only the record has its size.
  [[nodiscard]] static constexpr std::size_t record_size(const probe& p) noexcept {
    constexpr std::size_t value = text_values || !has_values ? 0 : sizeof(V);
    if constexpr (text_keys || text_values) return sizeof(header) + p.size + value;
    else return sizeof(K) + value;
  }
  [[nodiscard]] std::uint64_t& retire_link(std::uint64_t word) const noexcept { return at(word).link; }
  void dispose(std::uint64_t word) const noexcept {
    if (home_->file.medium().is_synced_later()) home_->heap.give_after_sync(word, at(word).link);
    else home_->heap.give(word);
  }

  // Durable tables.
  /// Whether a slot leads to a whole record, and whether to one of its key. Both read all of it.
  [[nodiscard]] bool is_record(std::uint64_t word) const noexcept {
    const std::uint64_t block = home_->heap.block_at(word);
    return block != 0 && is_fit(at(word), block);
  }
  [[nodiscard]] bool is_whole(std::uint64_t key, std::uint64_t word) const noexcept {
    return is_record(word) && probe_hash(at(word)) == key;
  }
  // Recovery reads small records in the order of the file. A note has what `is_whole` would ask for, a check of the hash of the key or 0, and
  // whether the record has a mark. Large ones are read when a slot leads to them: they have many lines, and free blocks may be most of the file.
  [[nodiscard]] bool begin_reading() const noexcept { return home_->heap.make_notes(); }
  [[nodiscard]] std::uint64_t parts() const noexcept { return home_->heap.parts(); }
  void read_part(std::uint64_t number) const noexcept {
    home_->heap.for_each_note_in(number, [&](std::uint64_t offset, std::uint64_t bytes, pool_heap::block_note& note) {
      note.store(bytes <= most_read_ahead ? note_for(at(offset), bytes) : note_unread,
                 sync::relaxed); // relaxed: the threads that read end before those that ask
    });
  }
  [[nodiscard]] auto* find_note(std::uint64_t word) const noexcept { return home_->heap.note_of(word); }
  /// As `is_whole`, by these notes. Of 2^29 damaged slots one may lead to a whole record of another key.
  [[nodiscard]] bool is_noted(const pool_heap::block_note* note, std::uint64_t key_word,
                              std::uint64_t word) const noexcept {
    if (note == nullptr) return false;
    const std::uint32_t seen = note->load(sync::relaxed); // relaxed: as above
    return (seen & note_unread) != 0 ? is_whole(key_word, word) : (seen & note_check) == check_of(key_word);
  }
  /// Notes that a block is used. False: another slot leads to it. Clears a mark that reached the disk without the change of its slot, so that the
  /// record can be the older one of its key again.
  [[nodiscard]] bool claim(std::uint64_t, std::uint64_t word) const noexcept {
    return claim_noted(find_note(word), word);
  }
  [[nodiscard]] bool claim_noted(pool_heap::block_note* note, std::uint64_t word) const noexcept {
    if (note == nullptr) return false;
    // relaxed, all: the threads that recover end before the table is used
    std::uint32_t seen = note->load(sync::relaxed);
    for (;;) {
      if ((seen & pool_heap::note_claimed) != 0) return false;
      const std::uint32_t claimed = seen | pool_heap::note_claimed;
      if (note->compare_exchange(seen, claimed, sync::relaxed, sync::relaxed)) break; // relaxed: as above
    }
    const bool marked = (seen & note_unread) != 0 ? is_marked(at(word)) : (seen & note_marked) != 0;
    if (home_->file.medium().is_synced_later() && marked) {
      set_mark(at(word), false);
      home_->unmarked.store(1, sync::relaxed); // relaxed: as above
    }
    return true;
  }
  void end_reading_part(std::uint64_t number) const noexcept { home_->heap.mark_noted_in(number); }
  void end_reading() const noexcept { home_->heap.drop_notes(); }

  /// Recovery, after all claims: calls `f(key word, offset, sequence)` for each whole, unmarked record that no slot leads to.
  template <class F> void for_each_older(F f) const noexcept {
    home_->heap.for_each_free([&](std::uint64_t offset, std::uint64_t bytes) {
      const header& r = at(offset);
      const std::uint64_t size = r.size_and_mark.load(sync::relaxed); // relaxed: no other thread is here
      if (r.checksum == 0 || size > pool_layout::size_mask || bytes_of_record(r) > bytes) return;
      if (is_sound(r)) f(probe_hash(r), offset, r.sequence);
    });
  }
  /// Recovery, before its last sync: spoils the checksums of free blocks, so that no old record is taken for a later one. True: it is needed.
  bool blank_unused() const noexcept {
    if (!home_->file.medium().is_synced_later()) return false;
    bool any = home_->unmarked.load(sync::relaxed) != 0; // relaxed: no other thread is here
    home_->heap.for_each_free([&](std::uint64_t offset, std::uint64_t) {
      if (at(offset).checksum == 0) return;
      make_blank(offset);
      any = true;
    });
    return any;
  }

  // Where only a sync makes changes durable. A record that is torn after a power cut is replaced by the last one of its key that a sync has covered.
  // So at any time each key has at most one whole, unmarked record that no slot leads to: that one. It is marked when a sync has covered a
  // newer one, or by the erase of a newer one that none has covered.
  // And a slot may lead to a block whose new contents did not reach the disk. What was in the block before must not pass for a record then.
  // So a block is used again only after a second sync: the first one covers that nothing leads to it, the second one that it has no record.

  /// What a sync will have covered: blocks that were given back, those without a record, and records that were replaced.
  struct covered {
    std::uint64_t given = 0;
    std::uint64_t blank = 0;
    std::uint64_t replaced = 0;
  };
  [[nodiscard]] covered begin_sync() const noexcept {
    const lock_scope alone(home_->marks);
    home_->epoch.fetch_add(1, sync::relaxed); // relaxed: under the lock
    return {home_->heap.take_given(), std::exchange(home_->blank, 0), std::exchange(home_->replaced, 0)};
  }
  /// After that sync. If it failed, all stays as it is. True: only a second sync ends this one. A record that was replaced has no mark on the disk
  /// yet. If the newer one is erased, its mark may get there first, and recovery would take the replaced one.
  [[nodiscard]] bool end_sync(const covered& all, bool done) const noexcept {
    if (!done) return false;
    for (std::uint64_t one = all.replaced; one != 0; one = at(one).epoch) mark(one);
    for (std::uint64_t one = all.blank; one != 0;) home_->heap.give(std::exchange(one, at(one).link));
    for (std::uint64_t one = all.given; one != 0;) {
      const std::uint64_t next = at(one).link;
      make_blank(one);
      const lock_scope alone(home_->marks);
      at(one).link = std::exchange(home_->blank, one);
      one = next;
    }
    return all.replaced != 0;
  }
  /// Before a slot leads to a new record.
  void note_inserted(std::uint64_t word) const noexcept {
    if (home_->file.medium().is_synced_later()) set_mark(at(word), false);
  }
  /// Before the slot of an erased record is emptied.
  void note_erased(std::uint64_t word) const noexcept {
    if (!home_->file.medium().is_synced_later()) return;
    const lock_scope alone(home_->marks);
    header& r = at(word);
    // of an older epoch: a sync has begun since, at whose end that one is marked
    if (r.epoch == now() && r.link != 0) mark(r.link);
    mark(word);
  }
  /// Before `word` takes the place of `old` in a slot.
  void note_replaced(std::uint64_t old, std::uint64_t word) const noexcept {
    if (!home_->file.medium().is_synced_later()) return;
    const lock_scope alone(home_->marks);
    header& before = at(old);
    header& r = at(word);
    const std::uint32_t sequence = before.sequence + 1;
    r.checksum += pool_layout::with_sequence(0, sequence) - pool_layout::with_sequence(0, r.sequence);
    r.sequence = sequence;
    r.epoch = now();
    if (before.epoch == now()) { // no sync has covered that one
      r.link = before.link;
      mark(old);
    } else {
      r.link = old;
      before.epoch = std::exchange(home_->replaced, old);
    }
    set_mark(r, false);
    persist::note_stored(&r, sizeof r);
  }

protected:
  /// Calls `f(the bytes of the value that these arguments make)`.
  template <class F, class... A> [[nodiscard]] static made_word with_value(F f, A&&... args) {
    if constexpr (sizeof...(A) == 1 && (std::convertible_to<const A&, std::string_view> && ...) && durable_text<V>) {
      return f(std::string_view(args)...);
    } else {
      const V value(std::forward<A>(args)...);
      return f(bytes_of(value));
    }
  }
  [[nodiscard]] std::uint64_t now() const noexcept {
    return home_->epoch.load(sync::relaxed); // relaxed: under the lock
  }
  static constexpr std::uint32_t note_marked = std::uint32_t{1} << 30;
  static constexpr std::uint32_t note_unread = std::uint32_t{1} << 29;
  static constexpr std::uint32_t note_check = note_unread - 1;
  static constexpr std::uint64_t most_read_ahead = 4096; // bytes of a block
  /// The note of what is in a block.
  [[nodiscard]] std::uint32_t note_for(const header& r, std::uint64_t block) const noexcept {
    if (r.checksum == 0 || !is_fit(r, block)) return 0;
    const std::uint64_t hash = probe_hash(r);
    if (hash == 0) return 0; // the key has another size
    return check_of(hash) | (is_marked(r) ? note_marked : 0);
  }
  [[nodiscard]] static bool is_marked(const header& r) noexcept {
    return r.size_and_mark.load(sync::relaxed) > pool_layout::size_mask; // relaxed: only recovery reads the mark
  }
  /// Never 0. Hashes that differ in one bit have other checks.
  static std::uint32_t check_of(std::uint64_t hash) noexcept {
    const auto check = static_cast<std::uint32_t>(hash * mix_a >> 35);
    return check == 0 ? 1 : check;
  }
  /// Whether a block of so many bytes has a whole record with the sizes of this table.
  [[nodiscard]] static bool is_fit(const header& r, std::uint64_t block) noexcept {
    if (block < sizeof(header) || bytes_of_record(r) > block) return false;
    if (!text_keys && r.key_bytes != sizeof(K)) return false; // lookups do not look at it
    return (text_values || value_bytes(r) == (has_values ? sizeof(V) : 0)) && is_sound(r);
  }
  void make_blank(std::uint64_t offset) const noexcept {
    at(offset).checksum = 0;
    persist::note_stored(&at(offset), sizeof(std::uint64_t));
    (void)home_->heap.note_changed(offset);
  }
  void mark(std::uint64_t offset) const noexcept {
    set_mark(at(offset), true);
    (void)home_->heap.note_changed(offset);
  }
  static void set_mark(header& r, bool marked) noexcept {
    // relaxed, both: only recovery reads the mark
    const std::uint64_t size = r.size_and_mark.load(sync::relaxed) & pool_layout::size_mask;
    r.size_and_mark.store(size | std::uint64_t{marked ? 1U : 0U} << pool_layout::mark_shift, sync::relaxed);
  }
  [[nodiscard]] static probe probe_for(std::uint64_t hash, std::string_view key) noexcept {
    const std::uint64_t word = hash == 0 ? 1 : hash; // 0 would say that the slot is empty
    return {{word, word}, key.data(), key.size()};
  }
  [[nodiscard]] std::uint64_t hash_of_text(std::string_view key) const {
    return hash_(key.data() != nullptr ? key : std::string_view("", 0));
  }
  [[nodiscard]] std::uint64_t probe_hash(const header& r) const {
    if constexpr (text_keys) return probe_of(std::string_view(bytes_in(r), r.key_bytes)).hash;
    else return r.key_bytes == sizeof(K) ? probe_of(made_of_bytes<K>(bytes_in(r), sizeof(K))).hash : 0;
  }
  [[nodiscard]] header& at(std::uint64_t word) const noexcept { return *home_->file.template at<header>(word); }
  static const char* bytes_in(const header& r) noexcept { return reinterpret_cast<const char*>(&r + 1); }
  /// Of a record that a slot leads to. Keys and values without a text have one size, so lookups of them read no header, which may lie in another line.
  static std::uint64_t size_of_key(const header& r) noexcept {
    if constexpr (text_keys) return r.key_bytes;
    else return sizeof(K);
  }
  static std::uint64_t short_word(const char* bytes, std::uint64_t size) noexcept {
    return read_up_to_8(reinterpret_cast<const unsigned char*>(bytes), size);
  }
  static std::uint64_t value_bytes(const header& r) noexcept {
    // relaxed: the size does not change; the mark is only for recovery
    return r.size_and_mark.load(sync::relaxed) & pool_layout::size_mask;
  }
  static std::uint64_t bytes_of_record(const header& r) noexcept {
    return sizeof(header) + r.key_bytes + value_bytes(r);
  }
  [[nodiscard]] static bool is_sound(const header& r) noexcept {
    const std::uint64_t sum = pool_layout::contents_checksum(bytes_in(r), r.key_bytes, value_bytes(r));
    return r.checksum != 0 && r.checksum == pool_layout::with_sequence(sum, r.sequence);
  }
  [[nodiscard]] made_word make_of(const probe& p, std::string_view value) const noexcept {
    // Marked until a slot leads to it, so that it is never taken for the older record of its key.
    const std::uint64_t mark = home_->file.medium().is_synced_later() ? 1 : 0;
    // relaxed: an older epoch does no harm, because nothing was before this record
    const made_word made = write_record(p, value, mark, home_->epoch.load(sync::relaxed));
    if (made.ok) home_->file.medium().persist_first(&at(made.word), bytes_of_record(at(made.word)));
    return made;
  }
  /// A new record that is not durable yet.
  [[nodiscard]] made_word write_record(const probe& p, std::string_view value, std::uint64_t mark,
                                       std::uint64_t epoch) const noexcept {
    if (p.size > ~std::uint32_t{0} || value.size() > pool_layout::size_mask) return {false, 0};
    const std::uint64_t size = sizeof(header) + p.size + value.size();
    const std::uint64_t offset = home_->heap.take(size);
    if (offset == 0) return {false, 0};
    header& r = at(offset);
    char* const bytes = reinterpret_cast<char*>(&r + 1);
    if (p.size != 0) std::memcpy(bytes, p.data, p.size);
    if (!value.empty()) std::memcpy(bytes + p.size, value.data(), value.size());
    r.sequence = 0;
    r.key_bytes = static_cast<std::uint32_t>(p.size);
    r.size_and_mark.store(value.size() | mark << pool_layout::mark_shift,
                          sync::relaxed); // relaxed: the slot publishes the record
    r.link = 0;
    r.epoch = epoch;
    r.checksum = pool_layout::with_sequence(pool_layout::contents_checksum(bytes, p.size, value.size()), 0);
    persist::note_stored(&r, size);
    return {true, offset};
  }

private:
  [[no_unique_address]] seeded_hash<Hash> hash_;
  [[no_unique_address]] allocator_type allocator_;

protected:
  durable_home* home_;
};

} // namespace cubby::inline v0::detail
