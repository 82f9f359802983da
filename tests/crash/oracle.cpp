// SPDX-License-Identifier: Apache-2.0
// The meaning of each call for one key, and the orders in which calls of several threads may have happened.
#include "crash/oracle.hpp"

namespace cubby_test::crash {
namespace {

struct effect {
  maybe after;
  answer said;
};
effect effect_of(const call& c, const maybe& before) {
  const bool there = before.has_value();
  switch (c.what) {
  case verb::find: return {before, {there, before}};
  case verb::insert: return {there ? before : maybe(c.value), {!there, {}}};
  case verb::assign: return {there ? maybe(c.value) : before, {there, {}}};
  case verb::update:
  case verb::modify: return {there ? maybe(*before + c.value) : before, {there, {}}};
  case verb::insert_or_assign: return {c.value, {!there, {}}};
  case verb::erase: return {{}, {there, {}}};
  }
  return {};
}

} // namespace

void oracle::complete(key_state& of) {
  std::vector<way> left(of.ways.begin(), of.ways.end());
  while (!left.empty()) {
    const way from = left.back();
    left.pop_back();
    for (unsigned actor = 0; actor < most_actors; ++actor) {
      if (!of.flying[actor] || from.said[actor]) continue;
      const effect e = effect_of(*of.flying[actor], from.value);
      way to = from;
      to.value = e.after;
      to.said[actor] = e.said;
      if (of.ways.insert(to).second) left.push_back(to);
    }
  }
}

void oracle::begin(unsigned actor, const call& made) {
  key_state& of = keys_[made.key];
  of.flying[actor] = made;
  key_of_[actor] = made.key;
  complete(of);
  known_.reset();
}
bool oracle::end(unsigned actor, const answer& got) {
  key_state& of = keys_[key_of_[actor]];
  std::set<way> left;
  for (way one : of.ways) {
    if (one.said[actor] != got) continue;
    one.said[actor].reset();
    left.insert(one);
  }
  of.ways = std::move(left);
  of.flying[actor].reset();
  known_.reset();
  return !of.ways.empty();
}

std::shared_ptr<const allowed_values> oracle::allowed() {
  if (known_ != nullptr) return known_;
  auto made = std::make_shared<allowed_values>();
  for (const auto& [key, of] : keys_) {
    std::set<maybe> values;
    for (const way& one : of.ways) values.insert(one.value);
    (*made)[key].assign(values.begin(), values.end());
  }
  return known_ = made;
}
void oracle::restart(const std::map<token, token>& contents) {
  keys_.clear();
  for (const auto& [key, value] : contents) keys_[key].ways = {way{value, {}}};
  known_.reset();
}

std::string describe(token key, const std::vector<maybe>& values) {
  std::string out = std::to_string(key) + ": ";
  for (std::size_t i = 0; i < values.size(); ++i)
    out += (i == 0 ? "" : " or ") + (values[i] ? std::to_string(*values[i]) : std::string("absent"));
  return out;
}

} // namespace cubby_test::crash
