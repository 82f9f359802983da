// SPDX-License-Identifier: Apache-2.0
// One run: a table, a handle on it, what std::unordered_map says it holds, and the keys that reservations hide.
// Every verb of the table is answered by the model, too, and the two must agree.
#pragma once

#include <unordered_map>
#include <utility>
#include <vector>

#include "kinds.hpp"

namespace cubby_fuzz {

template <class Kind, class Engine> struct run {
  using kind = Kind;
  using table_type = typename Kind::template table<Engine>;
  using key_type = typename Kind::key_type;
  using value_type = typename Kind::value_type;
  static constexpr cubby::capability_set capabilities = table_type::capabilities;
  struct no_reservation {};
  using reservation = std::conditional_t<capabilities.shadow_insert,
                                         cubby::reservation<typename table_type::engine_type>, no_reservation>;
  static constexpr bool has_values = Kind::has_values;
  static constexpr bool in_records = table_type::mode == cubby::storage_mode::records;
  static constexpr bool is_reference = std::is_same_v<Engine, cubby::reference>;
  static constexpr bool is_dramhit = std::is_same_v<Engine, cubby::dramhit>;
  static constexpr bool is_relativistic = std::is_same_v<Engine, cubby::relativistic>;
  struct hidden_entry {
    reservation ticket;
    key_type key;
    value_type value;
  };

  run(const choice& wanted, input& bytes)
      : chosen(wanted), in(bytes), table(wanted.options, hash_of(wanted)), handle(table.handle()) {}

  const choice& chosen;
  input& in;
  table_type table;
  typename table_type::handle_type handle;
  std::unordered_map<key_type, value_type> model;
  std::vector<hidden_entry> held;
  bool by_handle = false;

  static typename Kind::hash hash_of(const choice& c) {
    if constexpr (std::is_same_v<typename Kind::hash, masked_hash>) return c.hash;
    else return {};
  }

  /// `f` of the table, or of the handle.
  template <class F> decltype(auto) api(F f) { return by_handle ? f(handle) : f(table); }

  key_type key() { return Kind::key(in.two_bytes()); }
  value_type value() { return Kind::value(in.two_bytes()); }

  [[nodiscard]] bool has(const key_type& k) const { return model.count(k) != 0; }
  [[nodiscard]] bool hides(const key_type& k) const {
    for (const hidden_entry& e : held) {
      if (e.key == k) return true;
    }
    return false;
  }

  /// `full` needs a bound that is reached. What nobody has finished does not count here: there is one thread. The exception is
  /// F.4's: many keys in records whose hashes have the low bits 0.
  [[nodiscard]] bool may_be_full() const {
    const bool is_reached = model.size() + held.size() >= chosen.options.capacity;
    return chosen.options.growth == cubby::growth_policy::fixed &&
           (is_reached || (is_dramhit && chosen.hashes_are_few()));
  }
  /// `crowded` needs as many keys as a bin holds, or 64 where they have to share a hash.
  [[nodiscard]] bool may_be_crowded() const {
    const std::size_t entries = model.size() + held.size();
    if (is_reference) return false;
    if (is_relativistic) return entries >= 64 && chosen.hashes_are_few();
    constexpr bool hash_is_plain = !std::is_same_v<typename Kind::hash, masked_hash>;
    return entries >= 15 && (hash_is_plain || chosen.hashes_are_few());
  }

  /// What an insert of an absent key may answer; the model follows.
  void expect_insert(const key_type& k, const value_type& v, cubby::outcome how) {
    if (how == cubby::outcome::full) {
      require(may_be_full(), "full for no reason");
      return;
    }
    if (how == cubby::outcome::crowded) {
      require(may_be_crowded(), "crowded for no reason");
      return;
    }
    require(how == cubby::outcome::inserted, "an absent key was not inserted");
    model.emplace(k, v);
  }
  /// The same for any key.
  void judge_insert(const key_type& k, const value_type& v, cubby::outcome how) {
    if (has(k) || hides(k)) require(how == cubby::outcome::exists, "a key that is there was not in the way");
    else expect_insert(k, v, how);
  }

  void check_size() { require(table.size() == model.size(), "size"); }
};

/// Runs `f() -> bool`: an insert that throws what `outcome` would have told.
template <class F> cubby::outcome outcome_of_throwing(F f) {
  try {
    return f() ? cubby::outcome::inserted : cubby::outcome::exists;
  } catch (const cubby::table_crowded&) {
    return cubby::outcome::crowded;
  } catch (const cubby::table_full&) {
    return cubby::outcome::full;
  }
}

} // namespace cubby_fuzz
