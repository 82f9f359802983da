// SPDX-License-Identifier: Apache-2.0
// The verbs of maps that insert a value or look at the one that is there, in one step: `insert_or_visit`, `try_emplace_or_visit`,
// `find_or_emplace`, and `add_and_fetch`, which also answers with the value. No lock is held while the user's code runs.
// Each takes effect at one moment: when it inserts, or when it reads the value that it shows. A key that is handed over (`K&&`) is
// moved from only if the call builds a value.
#pragma once

#include <concepts>
#include <cstddef>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include <cubby/detail/api/moved_keys.hpp>

namespace cubby::inline v0::detail {

/// What makes a value: `factory() -> V`, or something that a V is constructed from.
template <class F, class V>
concept factory_of = std::invocable<F&> && std::constructible_from<V, std::invoke_result_t<F&>>;

/// `f(const V&)` of the value that is there, else inserts one constructed from `args`. That value is built once, because its
/// constructor may move from `args`, and another round is necessary if an entry appears and disappears meanwhile.
template <class Engine, class Q, class F, class... A>
upserted visit_or_insert(context<Engine> s, typename Engine::probe p, Q&& key, F& f, A&&... args) {
  std::optional<fresh_word<Engine>> built;
  const auto look = [&] {
    const auto seen = s.engine.find(s.at, p);
    if (!seen.found) return changed::absent;
    const value_of<Engine>& value = s.codec().value(seen.word);
    f(value);
    return changed::done;
  };
  return change_or_insert(s, p, look, [&] {
    if (!built) {
      built.emplace(s, p, std::forward<Q>(key), std::forward<A>(args)...);
      p = probe_behind<Q>(s, p, *built);
    }
    return built->ok() ? built->insert(p) : insert_outcome::no_memory;
  });
}

/// Puts a copy of the value that is there into `out`; else inserts `factory()`, whose copy is in `out` before the entry can be seen. So
/// a copy that throws leaves the table as it was.
template <class Engine, class Q, class F>
upserted find_or_build(context<Engine> s, typename Engine::probe p, Q&& key, F& factory,
                       std::optional<value_of<Engine>>& out) {
  std::optional<fresh_word<Engine>> built;
  const auto look = [&] {
    const auto seen = s.engine.find(s.at, p);
    if (!seen.found) return changed::absent;
    out.emplace(s.codec().value(seen.word));
    return changed::done;
  };
  return change_or_insert(s, p, look, [&] {
    if (!built) {
      out.emplace(factory());
      built.emplace(s, p, std::forward<Q>(key), std::as_const(*out));
      p = probe_behind<Q>(s, p, *built);
    }
    return built->ok() ? built->insert(p) : insert_outcome::no_memory;
  });
}

template <class Derived, class Engine> class get_or_create_api : public moved_key_api<Derived, Engine> {
  using base = moved_key_api<Derived, Engine>;
  using K = typename base::key_type;
  using V = typename Engine::policy::mapped_type;
  static constexpr bool moves = has_object_keys<typename Engine::policy>;

public:
  using typename base::codec_type;

  /// Inserts if the key is absent, and answers true; else calls `f(const V&)` once, on the value that is there, and answers false. The
  /// value is built only for an absent key; it may be built in vain if another thread inserts the key meanwhile. `f` never runs
  /// again and may call the table. O(1). Waits for nothing but an open reservation of the key. Throws like `insert`.
  template <class U = V, class F> bool insert_or_visit(const K& k, U&& v, F&& f) {
    return add_or_look<value_source<U, V>>(k, f, std::forward<U>(v));
  }
  template <lookup_key<codec_type> Q, class U = V, class F> bool insert_or_visit(const Q& k, U&& v, F&& f) {
    return add_or_look<value_source<U, V>>(k, f, std::forward<U>(v));
  }
  template <class U = V, class F>
    requires moves
  bool insert_or_visit(K&& k, U&& v, F&& f) {
    return add_or_look<value_source<U, V>>(std::move(k), f, std::forward<U>(v));
  }
  template <class F>
  auto insert_or_visit(const std::pair<const K, V>&, F&&) = delete; // use insert_or_visit(key, value, f)
  /// The same, with a value constructed from the arguments between the key and `f`, as in Boost: `try_emplace_or_visit(k, args..., f)`.
  template <class... A>
    requires(sizeof...(A) != 0)
  bool try_emplace_or_visit(const K& k, A&&... args_and_f) {
    return visitor_last(k, std::forward_as_tuple(std::forward<A>(args_and_f)...),
                        std::make_index_sequence<sizeof...(A) - 1>{});
  }
  template <lookup_key<codec_type> Q, class... A>
    requires(sizeof...(A) != 0)
  bool try_emplace_or_visit(const Q& k, A&&... args_and_f) {
    return visitor_last(k, std::forward_as_tuple(std::forward<A>(args_and_f)...),
                        std::make_index_sequence<sizeof...(A) - 1>{});
  }

  template <class... A>
    requires(moves && sizeof...(A) != 0)
  bool try_emplace_or_visit(K&& k, A&&... args_and_f) {
    return visitor_last(std::move(k), std::forward_as_tuple(std::forward<A>(args_and_f)...),
                        std::make_index_sequence<sizeof...(A) - 1>{});
  }

  /// Get or create: a copy of the value that is there, or of `factory()`, which it inserts if the key is absent. `factory` runs at most
  /// once in a call, and only for an absent key. It runs without a lock. So two threads that ask for an absent key may both run theirs.
  /// One value then enters the table, and both calls answer with it; the other is destroyed. `factory` may call the table. An
  /// exception of it or of a copy leaves the table as it was. O(1). Waits for nothing but an open reservation of the key. Throws
  /// like `insert`; without exceptions, lack of space answers nothing.
  template <class F> [[nodiscard]] std::optional<V> find_or_emplace(const K& k, F&& factory) {
    return find_or_make(k, factory);
  }
  template <lookup_key<codec_type> Q, class F>
  [[nodiscard]] std::optional<V> find_or_emplace(const Q& k, F&& factory) {
    return find_or_make(k, factory);
  }

  template <class F>
    requires moves
  [[nodiscard]] std::optional<V> find_or_emplace(K&& k, F&& factory) {
    return find_or_make(std::move(k), factory);
  }

  /// `insert_or_add`, which also answers with the value that it leaves in the table: the sum, or `n` if the key was absent. No two
  /// additions of other threads lie between the two. The `+` may run again. Throws like `insert`; without exceptions, lack of space
  /// answers nothing.
  std::optional<V> add_and_fetch(const K& k, const V& n)
    requires addable<V>
  {
    return sum_of(k, n);
  }
  template <lookup_key<codec_type> Q>
    requires addable<V>
  std::optional<V> add_and_fetch(const Q& k, const V& n) {
    return sum_of(k, n);
  }
  std::optional<V> add_and_fetch(K&& k, const V& n)
    requires(moves && addable<V>)
  {
    return sum_of(std::move(k), n);
  }

private:
  // An assertion, because the error of a constraint would list all overloads.
  template <bool Builds, class Q, class F, class... A> bool add_or_look(Q&& k, F& f, A&&... args) {
    constexpr bool fits = Builds && is_called_with_the_value_alone<F, const V&>;
    static_assert(fits, "this call takes a key, then what the value is made of, and last a function of a const V&");
    if constexpr (fits) {
      return this->about_new(k, false, [&](const auto& s, const auto& p) {
        return detail::report_failure(
            detail::visit_or_insert(s, p, std::forward<Q>(k), f, std::forward<A>(args)...).how);
      });
    } else {
      return false;
    }
  }
  template <class Q, class Arguments, std::size_t... Index>
  bool visitor_last(Q&& k, Arguments all, std::index_sequence<Index...>) {
    auto& f = std::get<sizeof...(Index)>(all);
    constexpr bool builds = std::constructible_from<V, std::tuple_element_t<Index, Arguments>...>;
    return add_or_look<builds>(std::forward<Q>(k), f,
                               std::forward<std::tuple_element_t<Index, Arguments>>(std::get<Index>(all))...);
  }
  template <class Q, class F> std::optional<V> find_or_make(Q&& k, F& factory) {
    constexpr bool copied = std::copy_constructible<V>;
    constexpr bool makes = factory_of<F, V>;
    static_assert(copied, "find_or_emplace copies the value, and this type cannot be copied: use try_emplace_or_visit");
    static_assert(makes || !copied, "find_or_emplace takes a key and a function that makes the value: factory() -> V");
    std::optional<V> out;
    if constexpr (copied && makes) {
      const bool is_there = this->about_new(k, false, [&](const auto& s, const auto& p) {
        const upserted how = detail::find_or_build(s, p, std::forward<Q>(k), factory, out);
        return detail::report_failure(how.how) || how.how == outcome::exists;
      });
      if (!is_there) out.reset();
    }
    return out;
  }
  template <class Q> std::optional<V> sum_of(Q&& k, const V& n) {
    std::optional<V> alone(n); // copied before the change, because a copy may throw
    std::optional<V> sum;
    const auto add = [&](const V& v) { return sum.emplace(static_cast<V>(v + n)); };
    const insert_outcome how = this->about_new(k, insert_outcome::full, [&](const auto& s, const auto& p) {
      const upserted done = detail::update_or_insert(s, p, std::forward<Q>(k), add, n);
      (void)detail::report_failure(done.how);
      return done.how;
    });
    if (how == outcome::inserted) return alone;
    if (how != outcome::exists) sum.reset();
    return sum;
  }
};

} // namespace cubby::inline v0::detail
