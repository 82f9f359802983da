// SPDX-License-Identifier: Apache-2.0
// What durable maps and sets have beside the operations of maps and sets: how they are opened, synced, checked and closed.
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include <cubby/detail/api/engine_access.hpp>
#include <cubby/detail/api/handle.hpp>
#include <cubby/detail/api/map_api.hpp>
#include <cubby/detail/api/set_api.hpp>
#include <cubby/detail/core/durable_records.hpp>
#include <cubby/detail/engines/iceberg/iceberg.hpp>

namespace cubby::inline v0 {

/// What a durable table is to survive. It is written in the file when the file is made.
enum class survive : std::uint8_t {
  process,  ///< the end of its process, however it comes: a crash, a kill, an upgrade
  power_cut ///< that of the machine as well: at once where the medium allows that, else what `sync` has covered
};
/// Whether `open` may make a file.
enum class opening : std::uint8_t { any, only_new, only_existing };

/// The options of a durable table: one struct, so that `{.capacity = 1000, .sync_every = 10ms}` names any of them. `capacity`, `growth`
/// and `survives` count when the file is made. The seed of the hash is at random, and in the file.
struct durable_options {
  std::size_t capacity = 0; ///< these three as in `cubby::options`
  growth_policy growth = growth_policy::incremental;
  shrink_policy shrink = shrink_policy::manual;
  survive survives = survive::power_cut;
  opening how = opening::any;
  /// Group commit: a thread of the table syncs this long after its last sync. 0: you call `sync`.
  std::chrono::milliseconds sync_every{0};
  /// Of a log of changes in the file, where only a sync makes them durable (`persistence::page`). A sync then writes the log and not all changed
  /// pages. 0: 64 MiB if `sync_every` is set, else this opening uses no log. From 64 KiB to 2 GiB: other sizes become the nearest of these.
  /// A file keeps the size of the log that it has.
  std::size_t log_bytes = 0;
  bool accept_power_cut = false; ///< also open a `survive::process` file after a power cut; check its contents then
  bool write_lines_back = false; ///< work as on directly mapped memory, on any file: for tests and benches
  /// Addresses to reserve: the file cannot become larger while it is open.
  std::uint64_t most_bytes = std::uint64_t{1} << 40;
  std::uint32_t grow_at = iceberg::options().grow_at; ///< these three as in `iceberg::options`
  std::size_t move_bins = iceberg::options().move_bins;
  std::size_t chunk_bins = iceberg::options().chunk_bins;
};

/// What `open` has found.
struct recovered {
  bool created = false;   ///< there was no table
  bool clean = false;     ///< it had been closed, so nothing had to be repaired
  bool power_cut = false; ///< the machine had stopped since, or the file comes from another one
  std::size_t entries = 0;
  std::size_t bytes = 0;      ///< of the file
  std::size_t finished = 0;   ///< entries that a growth or a shrink still had to move
  std::size_t duplicates = 0; ///< second copies of such entries, dropped
  std::size_t torn = 0;       ///< entries that no sync had covered, dropped
  std::size_t logged = 0;     ///< changes that were carried out again, because a sync had covered them in the log alone
  std::size_t restored = 0;   ///< entries with the value before the one that no sync had covered
  std::size_t damaged = 0;    ///< entries that contradict each other, dropped: the medium has lost something
  std::chrono::nanoseconds time{};
};

/// What `check` has found. `ok`: nothing is wrong.
struct checked {
  std::size_t entries = 0;
  std::size_t lost = 0;    ///< entries that a scan meets and a lookup does not
  std::size_t damaged = 0; ///< entries whose checksum does not agree
  [[nodiscard]] bool ok() const noexcept { return lost == 0 && damaged == 0; }
};

/// The statistics of a durable table.
struct durable_stats : detail::engines::iceberg::table_stats {
  persistence domain = persistence::process;
  std::size_t file_bytes = 0;  ///< in use
  std::size_t block_bytes = 0; ///< blocks of records in use
  std::size_t log_bytes = 0;   ///< of the log; 0: changes have no log, and a sync writes all changed pages
  std::size_t log_syncs = 0;   ///< groups of changes that were written to it
  std::size_t checkpoints = 0; ///< syncs of the pages since, after which the log is used again
};

namespace detail {
template <template <class, class> class Api, class Derived, class K, class V, class Hash> class durable_table;
} // namespace detail

/// The result of `open`: a table, or why there is none.
template <class Table> class opened {
public:
  [[nodiscard]] explicit operator bool() const noexcept { return table_ != nullptr; }
  [[nodiscard]] Table& operator*() const noexcept { return *table_; }
  [[nodiscard]] Table* operator->() const noexcept { return table_.get(); }
  [[nodiscard]] open_error error() const noexcept { return error_.code; }
  /// One line: what, where, and what to do. Empty if there is a table.
  [[nodiscard]] const char* message() const noexcept { return error_.text; }
  [[nodiscard]] const cubby::recovered& recovered() const noexcept { return report_; }
  /// Hands the table over.
  [[nodiscard]] std::unique_ptr<Table> take() noexcept { return std::move(table_); }

private:
  template <template <class, class> class, class, class, class, class> friend class detail::durable_table;
  std::unique_ptr<Table> table_;
  detail::pool_error error_;
  cubby::recovered report_;
};

namespace detail {

/// A std::string or a std::filesystem::path.
template <class Path>
concept file_name = requires(const Path& p) {
  { p.c_str() } -> std::same_as<const char*>;
};

template <class K, class V, class Hash> constexpr auto choose_durable_codec() noexcept {
  constexpr bool no_values = std::is_same_v<V, no_value>;
  if constexpr (slot_key<K> && bits_are_equality<K> && (no_values || word_value<V>)) {
    return std::type_identity<durable_words<K, V, Hash>>{};
  } else if constexpr (tuple_key<K> && bits_are_equality<K> && !is_spaced<K> && words_of<K> <= 6 &&
                       (no_values || word_value<V>)) {
    return std::type_identity<durable_tuples<K, V, Hash>>{};
  } else {
    return std::type_identity<durable_records<K, V, Hash>>{};
  }
}

/// The types that a durable table takes, each with a line of its own.
template <class K, class V, class Hash> struct checked_durable {
  using codec = typename decltype(choose_durable_codec<K, V, Hash>())::type;
  static constexpr bool lacks_equality = plain_key<K> && !durable_text<K> && !bits_are_equality<K>;
  static_assert(
      !lacks_equality,
      "a durable key is compared by its bits, and the class of this one has an operator==: specialize as true "
      "cubby::bits_are_equality<K> if both mean the same");
  static_assert(durable_key<K> || lacks_equality,
                "a durable key is text (std::string), or trivially copyable without padding, and compared by its bits");
  static_assert(durable_value<V>, "a durable value is text (std::string), or trivially copyable: it has no pointers");
  static_assert(hash_is_stable<Hash> != 0 || !durable_key<K>,
                "a durable table needs a hash that stays the same for ever: specialize cubby::hash_is_stable<Hash> "
                "with a number of yours");
};

template <template <class, class> class Api, class Derived, class K, class V, class Hash>
class durable_table : public Api<Derived, iceberg_engine<typename checked_durable<K, V, Hash>::codec>> {
  using codec = typename checked_durable<K, V, Hash>::codec;

public:
  using engine_type = iceberg_engine<codec>;
  using handle_type = cubby::handle<Api, engine_type>;
  using options_type = durable_options;

  /// Opens the table in this file, or makes it. Repairs what a crash has left. O(capacity). It takes the file for itself: another process, or another
  /// call, gets `in_use` until this table ends. Errors are results; nothing is thrown, and a file that cannot be opened stays as it was.
  [[nodiscard]] static opened<Derived> open(const char* path, const durable_options& wanted = {}) noexcept {
    return open_as<Derived>(path, wanted, false);
  }
  /// The same, of a std::string or a std::filesystem::path.
  template <file_name Path>
  [[nodiscard]] static opened<Derived> open(const Path& path, const durable_options& wanted = {}) noexcept {
    return open_as<Derived>(path.c_str(), wanted, false);
  }
  /// Options of tables in memory do not compile, with one line that says so.
  template <class Path, std::derived_from<options> O> static opened<Derived> open(const Path&, const O&) {
    return refuse_options<Derived, O>();
  }
  /// Opens an existing file for lookups, beside other readers. `in_use` while a process has it open for writing. Repairs are made in
  /// memory alone.
  [[nodiscard]] static opened<const Derived> open_read_only(const char* path,
                                                            const durable_options& wanted = {}) noexcept {
    return open_as<const Derived>(path, wanted, true);
  }
  template <file_name Path>
  [[nodiscard]] static opened<const Derived> open_read_only(const Path& path,
                                                            const durable_options& wanted = {}) noexcept {
    return open_as<const Derived>(path.c_str(), wanted, true);
  }

  template <class Path, std::derived_from<options> O>
  static opened<const Derived> open_read_only(const Path&, const O&) {
    return refuse_options<const Derived, O>();
  }

  /// `close`, if that was not called; its failure is lost. No other thread may use the table any more.
  ~durable_table() { (void)close(); }
  durable_table(const durable_table&) = delete;
  durable_table& operator=(const durable_table&) = delete;

  /// Makes everything that returned before this call survive a power cut. Blocks while the system writes. False: the system could not write. That is
  /// final, because it may have dropped what it could not write: later calls answer false as well; close the table and look at the disk.
  [[nodiscard]] bool sync() { return engine_.sync(caller_thread_record(engine_)); }
  /// Syncs, and marks the file as closed, so that it opens without repairs. Only the destructor may be called after that, and the file is in use
  /// until that has ended. False as in `sync`; the file is then recovered when it is opened. In the child of a fork it does nothing: the file is its
  /// parent's.
  bool close() noexcept {
    if (closed_) return true;
    closed_ = true;
    home_->file.note_closed();
    engine_.stop_worker();
    if (home_->file.is_read_only() || !home_->file.is_owner()) return true;
    thread_record* const mine = engine_.local_thread_record();
    if (mine == nullptr) return false;
    (void)engine_.end_move(*mine); // if there is no space, the next opening ends it
    return engine_.checkpoint(*mine) && home_->file.close(engine_.size());
  }
  /// Looks each entry up that a scan meets, and recomputes its checksum. O(capacity). Exact while no thread writes.
  [[nodiscard]] checked check() const {
    checked out;
    const auto s = context();
    [[maybe_unused]] const auto pin = s.engine.pin(s.at);
    s.engine.for_each(s.at, [&](const auto& key, const auto& value) {
      ++out.entries;
      if (!s.codec().is_whole(key, value)) ++out.damaged;
      else if (!s.engine.find(s.at, s.codec().probe_of_slot(key, value)).found) ++out.lost;
    });
    return out;
  }
  [[nodiscard]] persistence domain() const noexcept { return home_->file.medium().domain(); }
  [[nodiscard]] durable_stats stats() const {
    durable_stats out;
    static_cast<engines::iceberg::table_stats&>(out) = context().engine.stats();
    out.domain = domain();
    out.file_bytes = static_cast<std::size_t>(home_->file.bytes());
    out.block_bytes = static_cast<std::size_t>(home_->heap.bytes_in_use());
    out.log_bytes = static_cast<std::size_t>(home_->log.bytes());
    out.log_syncs = static_cast<std::size_t>(home_->log.groups());
    out.checkpoints = static_cast<std::size_t>(home_->log.checkpoints());
    return out;
  }

  [[nodiscard]] handle_type handle() { return handle_type(engine_); }
  [[nodiscard]] auto guard() const { return table_guard<engine_type>(engine_, caller_thread_record(engine_)); }
  [[nodiscard]] detail::context<engine_type> context() const { return {engine_, caller_thread_record(engine_)}; }
  [[nodiscard]] static thread_record* own_thread_record() noexcept { return nullptr; }
  static constexpr bool has_own_thread_record = false;

  /// For `open` alone.
  class opener {
    friend class durable_table;
    opener() = default;
  };
  durable_table(opener, durable_home& home, const iceberg::options& wanted, std::uint64_t seed)
      : engine_(wanted, codec(Hash(), seed, home)) {}

private:
  friend struct detail::engine_access;
  template <class Table, class O> static opened<Table> refuse_options() {
    static_assert(!std::derived_from<O, options>,
                  "these are the options of a table in memory: a table in a file takes cubby::durable_options");
    return {};
  }
  static constexpr std::uint64_t fixed_at_0 =
      ~std::uint64_t{0}; // in the file: a bound of 0 entries, where 0 says that there is none

  static pool_layout::identity identity_for(const durable_options& wanted) noexcept {
    using slot = engines::iceberg::slot_of<codec>;
    constexpr bool no_values = std::is_same_v<V, no_value>;
    pool_layout::identity out;
    out.mode = codec::mode;
    out.key_bytes = durable_text<K> ? 0 : sizeof(K);
    out.key_alignment = durable_text<K> ? 0 : alignof(K);
    out.value_bytes = no_values ? ~std::uint32_t{0} : durable_text<V> ? 0 : sizeof(V);
    out.value_alignment = no_values || durable_text<V> ? 0 : alignof(V);
    out.hash = hash_is_stable<Hash>;
    out.seed = random_seed();
    out.slot_bytes = sizeof(slot);
    out.key_words = static_cast<std::uint16_t>(engines::iceberg::word_count<typename codec::stored_key>);
    out.value_words = static_cast<std::uint16_t>(
        no_values && !codec::in_records ? 0 : engines::iceberg::word_count<typename codec::stored_value>);
    iceberg::options limited = options_of_engine(wanted);
    (void)engines::iceberg::limit<codec>(limited);
    out.fronts = engines::iceberg::fronts_for(limited);
    out.backs = engines::iceberg::backs_for(out.fronts);
    if (wanted.growth == growth_policy::fixed) out.capacity = wanted.capacity == 0 ? fixed_at_0 : wanted.capacity;
    out.promise = wanted.survives == survive::power_cut ? 1 : 0;
    return out;
  }

  static pool_request request_for(const char* path, const durable_options& wanted, bool read_only) noexcept {
    pool_request asked;
    asked.path = path;
    asked.wanted = identity_for(wanted);
    asked.may_create = !read_only && wanted.how != opening::only_existing;
    asked.must_create = wanted.how == opening::only_new && !read_only;
    asked.read_only = read_only;
    asked.accept_power_cut = wanted.accept_power_cut;
    asked.force_line = wanted.write_lines_back;
    asked.most_bytes = wanted.most_bytes;
    return asked;
  }
  static iceberg::options options_of_engine(const durable_options& wanted) noexcept {
    iceberg::options out;
    out.capacity = wanted.capacity;
    out.growth = wanted.growth;
    out.shrink = wanted.shrink;
    out.grow_at = wanted.grow_at;
    out.move_bins = wanted.move_bins;
    out.chunk_bins = wanted.chunk_bins;
    return out;
  }
  /// The options as the file has them.
  static iceberg::options settings_for(const durable_options& wanted, const pool_layout::identity& is) noexcept {
    iceberg::options out = options_of_engine(wanted);
    if (is.capacity != 0) {
      out.growth = growth_policy::fixed;
      out.capacity = is.capacity == fixed_at_0 ? 0 : static_cast<std::size_t>(is.capacity);
    } else if (out.growth == growth_policy::fixed) {
      out.growth = growth_policy::incremental;
    }
    return out;
  }
  template <class Table>
  static opened<Table> open_as(const char* path, const durable_options& wanted, bool read_only) noexcept {
    opened<Table> out;
    const auto begin = std::chrono::steady_clock::now();
    std::unique_ptr<durable_home> home(new (std::nothrow) durable_home);
    if (home == nullptr || wanted.capacity > engines::iceberg::most_capacity) {
      out.error_ = pool_error::of(open_error::no_memory, "%s: no memory for a table of this capacity", path);
      return out;
    }
    out.error_ = home->file.open(request_for(path, wanted, read_only));
    if (!out.error_.ok()) return out;
    const iceberg::options settings = settings_for(wanted, home->file.state().what);
    const std::uint64_t seed = home->file.state().what.seed;
    home->epoch.store(home->file.opening_number(), sync::relaxed); // relaxed: the table is not shared yet
    if (wanted.sync_every.count() > 0)
      home->sync_every = static_cast<std::uint64_t>(wanted.sync_every.count()) * 1000000;
    home->log_bytes = wanted.log_bytes != 0 || home->sync_every == 0 ? wanted.log_bytes : std::uint64_t{64} << 20;
    std::unique_ptr<Derived> made;
    const bool done = fail::attempt([&] { made.reset(new (std::nothrow) Derived(opener(), *home, settings, seed)); });
    if (!done || made == nullptr || !made->engine_.ok()) {
      if (made != nullptr) made->closed_ = true; // nothing says that the file is complete
      made.reset();
      if (home->file.is_new()) home->file.undo_create(path, wanted.how == opening::only_new, 0);
      out.error_ = why_not_made(*home, path);
      return out;
    }
    out.report_ = report_of(*home, begin);
    made->home_ = std::move(home);
    out.table_ = std::move(made);
    return out;
  }
  static pool_error why_not_made(const durable_home& home, const char* path) noexcept {
    if (const int error = home.file.failure(); error != 0)
      return pool_error::of(open_error::io, "%s: cannot sync it: %s; check the disk", path, std::strerror(error));
    return pool_error::of(open_error::no_memory,
                          home.file.is_new()
                              ? "%s: no memory or disk space for its capacity; free some, or ask for less"
                              : "%s: no memory or disk space to recover it; free some and open it again",
                          path);
  }
  static cubby::recovered report_of(const durable_home& home, std::chrono::steady_clock::time_point begin) noexcept {
    cubby::recovered out;
    out.created = home.file.is_new();
    out.clean = home.file.was_clean() && home.report.moved + home.report.dropped == 0;
    out.power_cut = home.file.was_power_cut();
    out.entries = static_cast<std::size_t>(home.report.entries);
    out.bytes = static_cast<std::size_t>(home.file.bytes());
    out.finished = static_cast<std::size_t>(home.report.moved);
    out.duplicates = static_cast<std::size_t>(home.report.dropped);
    // without a power cut nothing is torn: what does not agree is damaged
    out.torn = out.power_cut ? static_cast<std::size_t>(home.report.torn) : 0;
    out.logged = static_cast<std::size_t>(home.report.logged);
    out.restored = static_cast<std::size_t>(home.report.restored);
    out.damaged = static_cast<std::size_t>(home.report.damaged + home.report.torn) - out.torn;
    out.time = std::chrono::steady_clock::now() - begin;
    return out;
  }

  std::unique_ptr<durable_home> home_; // set when the table is open
  mutable engine_type engine_;
  bool closed_ = false;
};

} // namespace detail

} // namespace cubby::inline v0
