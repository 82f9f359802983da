// SPDX-License-Identifier: Apache-2.0
// The remnants of a unit, and the mixes of them.
#include "crash/states.hpp"

#include <algorithm>

namespace cubby_test::crash {
namespace {

constexpr std::size_t most_words_mixed = 8; // of a group: all 256 parts of it

void put(remnant& to, const placed_word& w) {
  for (placed_word& is : to) {
    if (is.at != w.at) continue;
    is.value = w.value;
    return;
  }
  to.push_back(w);
}
void add(std::vector<remnant>& to, const remnant& one) {
  if (std::find(to.begin(), to.end(), one) == to.end()) to.push_back(one);
}
/// Everything that may be left of these words, behind `before`.
void add_parts(std::vector<remnant>& to, const remnant& before, const group& words, random_source& random) {
  const std::size_t count = words.size();
  const bool few = count <= most_words_mixed;
  const std::uint64_t parts = few ? (std::uint64_t{1} << count) - 1 : 64;
  for (std::uint64_t i = 1; i < parts; ++i) {
    const std::uint64_t mask = few ? i : random.next() & random.next();
    remnant one = before;
    for (std::size_t w = 0; w < count; ++w)
      if ((mask >> w % 64 & 1) != 0) put(one, words[w]);
    add(to, one);
  }
}
std::vector<remnant> remnants_of(const pending_unit& unit, random_source& random) {
  std::vector<remnant> out{{}};
  remnant prefix;
  for (const group& words : unit) {
    if (words.size() > 1) add_parts(out, prefix, words, random);
    for (const placed_word& w : words) put(prefix, w);
    out.erase(std::remove(out.begin() + 1, out.end(), prefix), out.end()); // so that the last one is all stores
    out.push_back(prefix);
  }
  return out;
}

} // namespace

crash_states::crash_states(const snapshot& of, std::uint64_t most, random_source& random)
    : most_(most), random_(random) {
  std::uint64_t product = 1;
  for (const pending_unit& unit : of.units) {
    units_.push_back(remnants_of(unit, random));
    product = product > most ? product : product * units_.back().size();
  }
  exhaustive_ = product <= most;
}

bool crash_states::next(std::vector<std::uint32_t>& choice) {
  if (shown_ == 0) choice.assign(units_.size(), 0);
  const bool more = shown_ == 0 || (exhaustive_ ? next_of_all(choice) : next_of_sample(choice));
  ++shown_;
  return more;
}
bool crash_states::next_of_all(std::vector<std::uint32_t>& choice) const {
  for (std::size_t unit = 0; unit < units_.size(); ++unit) {
    if (++choice[unit] < units_[unit].size()) return true;
    choice[unit] = 0;
  }
  return false;
}
bool crash_states::next_of_sample(std::vector<std::uint32_t>& choice) {
  if (shown_ >= most_) return false;
  const std::size_t count = units_.size();
  const auto last = [&](std::size_t unit) { return static_cast<std::uint32_t>(units_[unit].size() - 1); };
  const bool corners = 4 * count <= most_;
  if (shown_ == 1 || (corners && shown_ <= 2 * count)) {
    const std::uint64_t corner = shown_ - 1; // 0: everything
    const bool alone = corner % 2 == 1;
    for (std::size_t unit = 0; unit < count; ++unit) choice[unit] = alone ? 0 : last(unit);
    if (corner != 0) choice[corner / 2 % count] = alone ? last(corner / 2 % count) : 0;
    return true;
  }
  const std::uint64_t how =
      random_.below(3); // each unit by itself; all or nothing; mostly everything or mostly nothing
  const bool most = random_.one_in(2);
  for (std::size_t unit = 0; unit < count; ++unit) {
    const bool whole = how == 2 ? most != random_.one_in(8) : random_.one_in(2);
    if (how == 0) choice[unit] = static_cast<std::uint32_t>(random_.below(units_[unit].size()));
    else choice[unit] = whole ? last(unit) : 0;
  }
  return true;
}

} // namespace cubby_test::crash
