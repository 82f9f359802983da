// SPDX-License-Identifier: Apache-2.0
// cubby::map<K, V>: a concurrent map. Any number of threads may call any verb at the same time; nobody registers.
// The verbs are in map_api.hpp and table_api.hpp. The types choose the mode: keys and values of at most 8 bytes live in the
// table itself, everything else in records that the allocator gives (see `storage_mode`). In an engine of tuples
// (cubby::dramhit_tuples) plain keys and values of up to 56 bytes together live in the table. docs/processes.md says what
// holds between shared libraries, and what the child of a fork may do.
#pragma once

#include <cubby/detail/api/ending.hpp>
#include <cubby/detail/api/engine_access.hpp>
#include <cubby/detail/api/handle.hpp>
#include <cubby/detail/api/map_api.hpp>
#include <cubby/detail/engines/dlht/dlht.hpp>

namespace cubby::inline v0 {

/// K: any type with a hash and operator==, owned by the map. Equal by its bits or its bytes where it says so, else by its own
/// operator== (docs/guarantees/keys.md; `bits_are_equality`, `stored_as_bytes`, `always_in_record`).
/// V: any type that can be destroyed without throwing.
/// Engine: a tag such as cubby::dlht. Hash: see cubby/hash.hpp. Allocator: of records; it is called from every thread.
/// Neither copied nor moved; it must outlive its handles and reservations, and the calls of other threads.
template <class K, class V, class Engine = dlht, class Hash = hash<K>, class Allocator = std::allocator<std::byte>>
class map : public detail::map_api<map<K, V, Engine, Hash, Allocator>,
                                   typename Engine::template engine<detail::codec_in<Engine, K, V, Hash, Allocator>>> {
public:
  using engine_type = typename Engine::template engine<detail::codec_in<Engine, K, V, Hash, Allocator>>;
  using handle_type = cubby::handle<detail::map_api, engine_type>;
  /// `cubby::options` and those that only this engine reads.
  using options_type = typename engine_type::options_type;
  /// How entries are stored; known when the types are.
  static constexpr storage_mode mode = detail::mode_in<Engine, K, V>;

  /// Throws std::bad_alloc when there is no memory for the first index (without exceptions: see `ok`).
  explicit map(const options& wanted = {}, const Hash& h = Hash(), const Allocator& a = Allocator())
      : map(detail::contract::options_for<engine_type>(wanted), made_with{}, h, a) {}
  /// The same with the options of the engine: `map(cubby::dlht::options{{.capacity = 1000}, {.move_bins = 16}})`.
  template <detail::contract::options_of<engine_type> O>
  explicit map(const O& wanted, const Hash& h = Hash(), const Allocator& a = Allocator())
      : map(detail::contract::options_for<engine_type>(wanted), made_with{}, h, a) {}
  /// Nobody else may use the map any more. Destructors of its keys and values that run now may call every verb of it; what they
  /// insert goes as well, so one that always inserts keeps this from ending.
  ~map() {
    if (ok()) detail::empty_at_end(engine_);
  }
  map(const map&) = delete;
  map& operator=(const map&) = delete;

  /// False when the map could not be made, in builds without exceptions; then only destroy it.
  [[nodiscard]] bool ok() const noexcept { return engine_.ok(); }

  /// A thread record of one's own: the same verbs, a little faster, and `find_ref`. Throws std::bad_alloc without memory.
  [[nodiscard]] handle_type handle() { return handle_type(engine_); }

  /// `handle::guard` for the calling thread's calls without a handle. End it in the same thread.
  [[nodiscard]] auto guard() const {
    return detail::table_guard<engine_type>(engine_, detail::caller_thread_record(engine_));
  }

  [[nodiscard]] detail::context<engine_type> context() const {
    return {engine_, detail::caller_thread_record(engine_)};
  }
  [[nodiscard]] static detail::thread_record* own_thread_record() noexcept { return nullptr; }
  static constexpr bool has_own_thread_record = false;

private:
  friend struct detail::engine_access;
  struct made_with {}; // what the options of the engine are handed over with
  map(const options_type& wanted, made_with, const Hash& h, const Allocator& a)
      : engine_(wanted, typename engine_type::policy(h, a, wanted.seed)) {}

  static_assert(detail::contract::codec<typename engine_type::policy>,
                "the codec of this table lacks something: see contract::codec");
  static_assert(detail::contract::engine<engine_type>,
                "this engine lacks something that each table needs: see contract::engine");

  mutable engine_type engine_;
};

} // namespace cubby::inline v0
