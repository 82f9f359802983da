// SPDX-License-Identifier: Apache-2.0
// The verbs of maps that insert a key which is handed over (`K&&`): upserts.hpp.
#pragma once

#include <concepts>
#include <iterator>
#include <utility>

#include <cubby/detail/api/contents.hpp>
#include <cubby/detail/api/upserts.hpp>

namespace cubby::inline v0::detail {

/// The verbs of a map that take a key by `K&&`. They exist for keys that are objects in records; all other keys have the verbs
/// that take `const K&`.
template <class Derived, class Engine> class moved_key_api : public contents_api<Derived, Engine> {
  using base = contents_api<Derived, Engine>;
  using K = typename base::key_type;
  using V = typename Engine::policy::mapped_type;
  static constexpr bool moves = has_object_keys<typename Engine::policy>;

public:
  /// The same as `insert` and so on of a `const K&`, and moves the key into the table instead of copying it. The key is left as it was
  /// if the table has it when the call begins. Otherwise it may be moved from, also if the call then finds no space, a
  /// constructor of the value throws, or another thread inserts the key at the same time.
  template <class U = V>
    requires(moves && value_source<U, V>)
  bool insert(K&& k, U&& v) {
    return detail::report_failure(add_moved(k, std::forward<U>(v)));
  }
  template <class... A>
    requires(moves && std::constructible_from<V, A...>)
  bool try_emplace(K&& k, A&&... args) {
    return detail::report_failure(add_moved(k, std::forward<A>(args)...));
  }
  template <class... A>
    requires(moves && std::constructible_from<V, A...>)
  outcome try_insert(K&& k, A&&... args) {
    return add_moved(k, std::forward<A>(args)...);
  }
  template <class U = V>
    requires(moves && value_source<U, V>)
  bool insert_or_assign(K&& k, U&& v) {
    return this->about_new(k, false, [&](const auto& s, const auto& p) {
      return detail::report_failure(detail::assign_or_insert_moved(s, p, std::move(k), std::forward<U>(v)).how);
    });
  }

  template <class F, class... A>
    requires moves
  bool insert_or_update(K&& k, F&& f, A&&... args) {
    return renew_anyway(std::move(k), f, std::forward<A>(args)...);
  }
  bool insert_or_add(K&& k, const V& n)
    requires(moves && addable<V>)
  {
    return add_anyway(std::move(k), n);
  }
  /// The key's type must be copyable: another record of it is made if another thread inserts the key meanwhile.
  template <class F>
    requires moves
  change compute(K&& k, F&& f) {
    return computed_by(std::move(k), f);
  }

  auto insert(const std::pair<const K, V>&) = delete; // use insert(key, value)
  template <std::input_iterator It>
    requires(!std::convertible_to<It, K> && !lookup_key<It, typename Engine::policy>)
  auto insert(It, It) = delete; // use insert_range(pairs), or try_insert of each

protected:
  template <class Q, class F, class... A> bool renew_anyway(Q&& k, F&& given, A&&... args) {
    if constexpr (!detail::renews_or_makes<V, F, A...>()) return false;
    else if constexpr (detail::made_by_a_cast<V, A...>)
      return renew_anyway(std::forward<Q>(k), given, V(std::forward<A>(args)...));
    else
      return this->about_new(k, false, [&](const auto& s, const auto& p) {
        return detail::report_failure(
            detail::update_or_insert(s, p, std::forward<Q>(k), given, std::forward<A>(args)...).how);
      });
  }
  template <class Q> bool add_anyway(Q&& k, const V& n) {
    return renew_anyway(std::forward<Q>(k), [&n](const V& v) { return static_cast<V>(v + n); }, n);
  }
  template <class Q, class F> change computed_by(Q&& k, F& given) {
    auto& f = detail::that_computes<V>(given);
    return this->about_new(k, change::none, [&](const auto& s, const auto& p) {
      return detail::compute_value(s, p, std::forward<Q>(k), f);
    });
  }

private:
  template <class... A> insert_outcome add_moved(K& k, A&&... args) {
    return this->about_new(k, insert_outcome::full, [&](const auto& s, const auto& p) {
      return detail::insert_moved(s, p, std::move(k), std::forward<A>(args)...);
    });
  }
};

} // namespace cubby::inline v0::detail
