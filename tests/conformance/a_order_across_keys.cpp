// SPDX-License-Identifier: Apache-2.0
// A.1 across keys: of two threads that each change a key and then look up the other's, at least one sees the other's change.
// Every engine, every storage mode, each pair of changes. Both keys are in the caches of both threads, and each change
// has to fetch its line back. Nothing between a change and its find is locked but what the table itself locks.
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>

#include "engines.hpp"
#include "support/random.hpp"
#include "support/two_keys.hpp"

namespace cubby_test {
namespace {

enum class change : std::uint8_t {
  insert,
  assign,
  insert_or_assign_absent,
  insert_or_assign_present,
  insert_or_add,
  update,
  compute,
  modify,
  erase,
  commit
};
constexpr change every_change[] = {change::insert,
                                   change::assign,
                                   change::insert_or_assign_absent,
                                   change::insert_or_assign_present,
                                   change::insert_or_add,
                                   change::update,
                                   change::compute,
                                   change::modify,
                                   change::erase,
                                   change::commit};
constexpr const char* change_names[] = {"insert",
                                        "assign",
                                        "insert_or_assign of an absent key",
                                        "insert_or_assign of a present key",
                                        "insert_or_add",
                                        "update",
                                        "compute",
                                        "modify",
                                        "erase",
                                        "commit"};

template <class Mode>
constexpr bool has(change what) {
  if (what == change::modify) return Mode::map::capabilities.exclusive_modify;
  if (what == change::commit) return Mode::map::capabilities.shadow_insert;
  if (what == change::insert_or_add) return requires(typename Mode::mapped_type v) { v + v; };
  return true;
}
constexpr bool begins_absent(change what) {
  return what == change::insert || what == change::insert_or_assign_absent || what == change::commit;
}

/// One thread: its handle, its keys and the other's, and the change that it makes.
template <class Mode>
class changer {
  using handle = decltype(std::declval<typename Mode::map&>().handle());
  using key = typename Mode::key_type;
  using value = typename Mode::mapped_type;

public:
  changer(typename Mode::map& m, unsigned me, change mine, change others)
      : handle_(m.handle()), what_(mine), shown_before_(!begins_absent(others)) {
    for (unsigned n = 0; n < keys_of_a_side; ++n) {
      mine_[n] = Mode::key(100 + 2 * n + me);
      others_[n] = Mode::key(100 + 2 * n + 1 - me);
    }
  }
  void prepare(unsigned n) {
    if (begins_absent(what_)) handle_.erase(mine_[n]);
    else handle_.insert_or_assign(mine_[n], old_);
    if constexpr (has<Mode>(change::commit))
      if (what_ == change::commit) reservations_[n] = handle_.shadow_insert(mine_[n], new_);
  }
  void act(unsigned n) {
    const key& k = mine_[n];
    switch (what_) {
    case change::insert: (void)handle_.insert(k, new_); return;
    case change::assign: (void)handle_.assign(k, new_); return;
    case change::insert_or_assign_absent:
    case change::insert_or_assign_present: (void)handle_.insert_or_assign(k, new_); return;
    case change::update: (void)handle_.update(k, [&](const value&) { return new_; }); return;
    case change::erase: (void)handle_.erase(k); return;
    case change::compute:
      (void)handle_.compute(k, [&](const value*) -> cubby::computed<value> { return new_; });
      return;
    case change::insert_or_add:
      if constexpr (has<Mode>(change::insert_or_add)) (void)handle_.insert_or_add(k, new_);
      return;
    case change::modify:
      if constexpr (has<Mode>(change::modify)) (void)handle_.modify(k, [&](value& v) { v = new_; });
      return;
    case change::commit:
      if constexpr (has<Mode>(change::commit)) reservations_[n].commit();
    }
  }
  void warm(unsigned n) { (void)look(n); }
  /// Whether the other's key still is as it was before the change.
  bool look(unsigned n) {
    const auto seen = handle_.find(others_[n]);
    return seen.has_value() == shown_before_ && (!seen || *seen == old_);
  }

private:
  struct nothing {};
  template <class Handle>
  static auto reservation_of() {
    if constexpr (has<Mode>(change::commit))
      return decltype(std::declval<Handle&>().shadow_insert(std::declval<key>(), std::declval<value>())){};
    else return nothing{};
  }

  handle handle_;
  change what_;
  bool shown_before_;
  key mine_[keys_of_a_side], others_[keys_of_a_side];
  value old_ = Mode::value(1), new_ = Mode::value(2);
  decltype(reservation_of<handle>()) reservations_[keys_of_a_side];
};

template <class Mode>
class order_across_keys : public ::testing::Test {};
template <class Line>
using order_modes_of = join<types_if<Line::tuples, mode_of<Line, word_mode>>, shared_modes_of<Line>>;
/// Values that do not fit a word also where the key does.
template <class Line>
using wide_modes_of = types_if<Line::records && Line::shared && !Line::lookups_lock, mode_of<Line, wide_mode>>;
using all_order_modes = join<join_over<order_modes_of, listed_engines>, join_over<wide_modes_of, listed_engines>>;
using order_modes = std::conditional_t<few_modes, few_shared_modes, all_order_modes>;
TYPED_TEST_SUITE(order_across_keys, order_modes);

TYPED_TEST(order_across_keys, one_of_two_threads_sees_the_change_of_the_other) {
  for (const change first : every_change) {
    for (const change second : every_change) {
      if (second < first || !has<TypeParam>(first) || !has<TypeParam>(second)) continue;
      typename TypeParam::map m(table_options{.capacity = 1000});
      changer<TypeParam> one(m, 0, first, second), two(m, 1, second, first);
      EXPECT_FALSE(both_miss(one, two, scaled(24), std::chrono::milliseconds(scaled(25))))
          << change_names[static_cast<unsigned>(first)] << " beside " << change_names[static_cast<unsigned>(second)];
    }
  }
}

} // namespace
} // namespace cubby_test
