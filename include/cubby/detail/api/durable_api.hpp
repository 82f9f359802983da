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

#include <cubby/detail/api/durable_options.hpp>
#include <cubby/detail/api/engine_access.hpp>
#include <cubby/detail/api/handle.hpp>
#include <cubby/detail/api/map_api.hpp>
#include <cubby/detail/api/refused_types.hpp>
#include <cubby/detail/api/set_api.hpp>
#include <cubby/detail/core/contract/durable.hpp>
#include <cubby/detail/core/durable_records.hpp>

namespace cubby::inline v0 {

namespace detail {
template <template <class, class> class Api, class Derived, class K, class V, class Hash, class Engine>
class durable_table;
} // namespace detail

/// The result of `open`: a table, or why there is none.
template <class Table> class opened {
public:
  [[nodiscard]] explicit operator bool() const noexcept { return table_ != nullptr; }
  /// The table, which must be there. If it is not, builds without NDEBUG say the message and end the program.
  [[nodiscard]] Table& operator*() const noexcept { return *operator->(); }
  [[nodiscard]] Table* operator->() const noexcept {
    if constexpr (detail::fail::checks) {
      if (table_ == nullptr) [[unlikely]]
        detail::fail::stop(*message() != '\0' ? message() : "cubby: this result of an open has no table any more");
    }
    return table_.get();
  }
  [[nodiscard]] open_error error() const noexcept { return error_.code; }
  /// One line: what, where, and what to do. Empty if there is a table.
  [[nodiscard]] const char* message() const noexcept { return error_.text; }
  [[nodiscard]] const cubby::recovered& recovered() const noexcept { return report_; }
  /// Hands the table over.
  [[nodiscard]] std::unique_ptr<Table> take() noexcept { return std::move(table_); }

private:
  template <template <class, class> class, class, class, class, class, class> friend class detail::durable_table;
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
/// What `open` does not take as a path.
template <class Path> concept no_file_name = !file_name<Path> && !std::convertible_to<const Path&, const char*>;

template <class Engine, class K, class V, class Hash> constexpr auto choose_durable_codec() noexcept {
  constexpr bool no_values = std::is_same_v<V, no_value>;
  if constexpr (keeps_records<Engine>) {
    return std::type_identity<durable_records<K, V, Hash>>{};
  } else if constexpr (slot_key<K> && bits_are_equality<K> && (no_values || word_value<V>)) {
    return std::type_identity<durable_words<K, V, Hash>>{};
  } else if constexpr (tuple_key<K> && bits_are_equality<K> && !is_spaced<K> && words_of<K> <= 6 &&
                       (no_values || word_value<V>)) {
    return std::type_identity<durable_tuples<K, V, Hash>>{};
  } else {
    return std::type_identity<durable_records<K, V, Hash>>{};
  }
}

/// The types that a durable table takes, each with a line of its own.
template <class Engine, class K, class V, class Hash> struct checked_durable {
  using codec = typename decltype(choose_durable_codec<Engine, K, V, Hash>())::type;
  static constexpr bool lacks_equality = plain_key<K> && !durable_text<K> && !bits_are_equality<K>;
  static_assert(
      !lacks_equality,
      "a durable key is compared by its bits, and the class of this one has an operator==: specialize as true "
      "cubby::bits_are_equality<K> if both mean the same");
  static_assert(durable_key<K> || lacks_equality,
                "a durable key is text (std::string), or trivially copyable without padding, and compared by its bits");
  static_assert(durable_value<V>, "a durable value is text (std::string), or trivially copyable: it has no pointers");
  static_assert(!engine_tag<Hash>, "this is an engine, and the engine of a durable table comes after the hash: write "
                                   "cubby::durable_map<K, V, cubby::hash<K>, cubby::seph>");
  static_assert(hash_is_stable<Hash> != 0 || !durable_key<K> || engine_tag<Hash>,
                "a durable table needs a hash that stays the same for ever: specialize cubby::hash_is_stable<Hash> "
                "with a number of yours");
};

/// The engine of a table in a file. `Usual` stands in for one that keeps none, beside an error that says so.
template <class Engine, class Usual>
using file_engine = std::conditional_t<keeps_files<Engine>, Engine, Usual>;

template <template <class, class> class Api, class Derived, class K, class V, class Hash, class Engine>
class durable_table
    : public Api<Derived, typename Engine::template engine<typename checked_durable<Engine, K, V, Hash>::codec>> {
  using codec = typename checked_durable<Engine, K, V, Hash>::codec;

public:
  using engine_type = typename Engine::template engine<codec>;
  static_assert(contract::durable<engine_type>);
  using handle_type = cubby::handle<Api, engine_type>;
  using options_type = durable_options;
  using own_options = typename engine_type::file_options; ///< of the engine alone
  using stats_type = durable_stats<typename engine_type::stats_type>;

  /// Opens the table in this file, or makes it. Repairs what a crash has left. O(capacity). It takes the file for itself: another process, or another
  /// call, gets `in_use` until this table ends. Errors are results; nothing is thrown, and a file that cannot be opened keeps its contents.
  [[nodiscard]] static opened<Derived> open(const char* path, const durable_options& wanted = {},
                                            const own_options& own = {}) noexcept {
    return open_as<Derived>(path, wanted, own, false);
  }
  /// The same, of a std::string or a std::filesystem::path.
  template <file_name Path>
  [[nodiscard]] static opened<Derived> open(const Path& path, const durable_options& wanted = {},
                                            const own_options& own = {}) noexcept {
    return open_as<Derived>(path.c_str(), wanted, own, false);
  }
  /// What does not compile, with one line that says so: other paths, and options of tables in memory.
  template <no_file_name Path> static opened<Derived> open(const Path&, const durable_options& = {},
                                                           const own_options& = {}) {
    return refuse_path<Derived, Path>();
  }
  template <class Path, std::derived_from<options> O> static opened<Derived> open(const Path&, const O&) {
    return refuse_options<Derived, O>();
  }
  /// Opens an existing file for lookups, beside other readers. `in_use` while a process has it open for writing. Repairs are made in
  /// memory alone.
  [[nodiscard]] static opened<const Derived> open_read_only(const char* path, const durable_options& wanted = {},
                                                            const own_options& own = {}) noexcept {
    return open_as<const Derived>(path, wanted, own, true);
  }
  template <file_name Path>
  [[nodiscard]] static opened<const Derived> open_read_only(const Path& path, const durable_options& wanted = {},
                                                            const own_options& own = {}) noexcept {
    return open_as<const Derived>(path.c_str(), wanted, own, true);
  }
  template <no_file_name Path> static opened<const Derived> open_read_only(const Path&, const durable_options& = {},
                                                                           const own_options& = {}) {
    return refuse_path<const Derived, Path>();
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
  [[nodiscard]] stats_type stats() const {
    stats_type out;
    static_cast<typename engine_type::stats_type&>(out) = context().engine.stats();
    out.domain = domain();
    out.file_bytes = home_->file.bytes();
    out.block_bytes = home_->heap.bytes_in_use();
    out.log_bytes = home_->log.bytes();
    out.log_syncs = home_->log.groups();
    out.checkpoints = home_->log.checkpoints();
    return out;
  }

  [[nodiscard]] handle_type handle() { return handle_type(engine_); }
  [[nodiscard]] auto guard() const { return table_guard<engine_type>(engine_, caller_thread_record(engine_)); }
  [[nodiscard]] static thread_record* own_thread_record() noexcept { return nullptr; }
  static constexpr bool has_own_thread_record = false;

  /// For `open` alone.
  class opener {
    friend class durable_table;
    opener() = default;
  };
  durable_table(opener, durable_home& home, const typename engine_type::options_type& wanted, std::uint64_t seed)
      : engine_(wanted, codec(Hash(), seed, home)) {}

private:
  friend struct detail::engine_access;
  [[nodiscard]] detail::context<engine_type> context() const { return {engine_, caller_thread_record(engine_)}; }
  template <class Table, class Path> static opened<Table> refuse_path() {
    static_assert(file_name<Path>,
                  "a path has a terminator: pass a const char*, a std::string or a std::filesystem::path");
    return {};
  }
  template <class Table, class O> static opened<Table> refuse_options() {
    static_assert(!std::derived_from<O, options>,
                  "these are the options of a table in memory: a table in a file takes cubby::durable_options");
    return {};
  }
  static constexpr std::uint64_t fixed_at_0 =
      ~std::uint64_t{0}; // in the file: a bound of 0 entries, where 0 says that there is none

  /// What a new file says of its types. False: the capacity is too large.
  static bool identity_for(pool_layout::identity& out, const durable_options& wanted, const own_options& own) noexcept {
    constexpr bool no_values = std::is_same_v<V, no_value>;
    out.engine = engine_type::code;
    out.mode = codec::mode;
    out.key_bytes = durable_text<K> ? 0 : sizeof(K);
    out.key_alignment = durable_text<K> ? 0 : alignof(K);
    out.value_bytes = no_values ? ~std::uint32_t{0} : durable_text<V> ? 0 : sizeof(V);
    out.value_alignment = no_values || durable_text<V> ? 0 : alignof(V);
    out.hash = hash_is_stable<Hash>;
    out.seed = random_seed();
    if (wanted.growth == growth_policy::fixed) out.capacity = wanted.capacity == 0 ? fixed_at_0 : wanted.capacity;
    out.promise = wanted.survives == survive::power_cut ? 1 : 0;
    return engine_type::describe(out, options_of_engine(wanted, own));
  }

  static pool_request request_for(const char* path, const durable_options& wanted, bool read_only) noexcept {
    pool_request asked;
    asked.path = path;
    asked.former_hash = seedless_identity<Hash>;
    asked.may_create = !read_only && wanted.how != opening::only_existing;
    asked.must_create = wanted.how == opening::only_new && !read_only;
    asked.read_only = read_only;
    asked.accept_power_cut = wanted.accept_power_cut;
    asked.force_line = wanted.write_lines_back;
    asked.most_bytes = wanted.most_bytes;
    return asked;
  }
  static typename engine_type::options_type options_of_engine(const durable_options& wanted,
                                                              const own_options& own) noexcept {
    typename engine_type::options_type out;
    out.capacity = wanted.capacity;
    out.growth = wanted.growth;
    out.shrink = wanted.shrink;
    static_cast<own_options&>(out) = own;
    return out;
  }
  /// The options as the file has them.
  static typename engine_type::options_type settings_for(const durable_options& wanted, const own_options& own,
                                                         const pool_layout::identity& is) noexcept {
    typename engine_type::options_type out = options_of_engine(wanted, own);
    if (is.capacity != 0) {
      out.growth = growth_policy::fixed;
      out.capacity = is.capacity == fixed_at_0 ? 0 : static_cast<std::size_t>(is.capacity);
    } else if (out.growth == growth_policy::fixed) {
      out.growth = growth_policy::incremental;
    }
    return out;
  }
  /// Opens the file. A table is made of it afterwards.
  static pool_error open_file(durable_home* home, const char* path, const durable_options& wanted,
                              const own_options& own, bool read_only) noexcept {
    pool_request asked = request_for(path, wanted, read_only);
    if (home == nullptr || !identity_for(asked.wanted, wanted, own))
      return pool_error::of(open_error::no_memory, path, "no memory for a table of this capacity");
    if (!engine_type::has_log && wanted.log_bytes != 0)
      return pool_error::of(open_error::other_layout, path, "tables of this engine have no log; leave log_bytes at 0");
    pool_error out = home->file.open(asked);
    if (!out.ok()) return out;
    home->epoch.store(home->file.opening_number(), sync::relaxed); // relaxed: the table is not shared yet
    if (wanted.sync_every.count() > 0)
      home->sync_every = static_cast<std::uint64_t>(wanted.sync_every.count()) * 1000000;
    home->log_bytes = wanted.log_bytes;
    if (engine_type::has_log && home->log_bytes == 0 && home->sync_every != 0)
      home->log_bytes = std::uint64_t{64} << 20;
    return out;
  }
  template <class Table>
  static opened<Table> open_as(const char* path, const durable_options& wanted, const own_options& own,
                               bool read_only) noexcept {
    opened<Table> out;
    const auto begin = std::chrono::steady_clock::now();
    std::unique_ptr<durable_home> home(new (std::nothrow) durable_home);
    out.error_ = open_file(home.get(), path, wanted, own, read_only);
    if (!out.error_.ok()) return out;
    const auto settings = settings_for(wanted, own, home->file.state().what);
    const std::uint64_t seed = home->file.state().what.seed;
    std::unique_ptr<Derived> made;
    const bool done = fail::attempt([&] { made.reset(new (std::nothrow) Derived(opener(), *home, settings, seed)); });
    if (!done || made == nullptr || !made->engine_.ok()) {
      if (made != nullptr) made->closed_ = true; // nothing says that the file is complete
      made.reset();
      home->file.undo_open(path);
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
      return pool_error::of(open_error::io, path, "cannot sync it: %s; check the disk", std::strerror(error));
    if (home.has_foreign_hashes)
      return pool_error::of(
          open_error::other_hash, path,
          "no slot leads to a record of its key: the hash function has changed, the file was copied "
          "while it was written, or many of its slots are damaged; use that function, or another copy");
    return pool_error::of(open_error::no_memory, path,
                          home.file.is_new() ? "no memory, disk space or most_bytes for its capacity; free some, raise "
                                               "most_bytes, or ask for less"
                                             : "no memory, disk space or most_bytes to recover it; free some, or raise "
                                               "most_bytes, and open it again");
  }
  static cubby::recovered report_of(const durable_home& home, std::chrono::steady_clock::time_point begin) noexcept {
    cubby::recovered out;
    out.created = home.file.is_new();
    out.clean = home.file.was_clean() && home.report.moved + home.report.dropped == 0;
    out.power_cut = home.file.was_power_cut();
    out.entries = home.report.entries;
    out.bytes = home.file.bytes();
    out.finished = home.report.moved;
    out.duplicates = home.report.dropped;
    // without a power cut nothing is torn: what does not agree is damaged
    out.torn = out.power_cut ? home.report.torn : 0;
    out.logged = home.report.logged;
    out.restored = home.report.restored;
    out.damaged = home.report.damaged + home.report.torn - out.torn;
    out.time = std::chrono::steady_clock::now() - begin;
    return out;
  }

  std::unique_ptr<durable_home> home_; // set when the table is open
  mutable engine_type engine_;
  bool closed_ = false;
};

} // namespace detail

} // namespace cubby::inline v0
