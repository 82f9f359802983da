// SPDX-License-Identifier: Apache-2.0
// A partitioned table as an adapter. Its writes have no answers. Each is a call that lasts from its sending to the end of the flush
// behind it. It is carried out in the order of its handle's others of that key, whether the key was there or not. What finds,
// batches of them and scans show must fit. A find between sending and flush sees the thread's own writes or not: it has a lane of
// its own.
#include <algorithm>
#include <memory>
#include <span>

#include <cubby/delegated_map.hpp>

#include "explore/name_words.hpp"

namespace cubby_test {
namespace {

namespace partitioned = cubby::detail::engines::partitioned;
using delegated = cubby::delegated_map<std::uint64_t, std::uint64_t, placed_hash>;
using writing_handle = delegated::handle_type;
using delegation = partitioned::delegation<delegated::engine_type::policy>;

/// Handles that scripts open take their thread records from those that were made once, in every run of a schedule alike.
void make_thread_records() {
  static const bool made = [] {
    delegated m;
    std::vector<writing_handle> many;
    while (many.size() < 2 * most_threads + 2) many.push_back(m.handle());
    return true;
  }();
  (void)made;
}

class delegated_adapter final : public adapter {
public:
  explicit delegated_adapter(const scenario& s) : still_(s.still), threads_(s.threads), map_(s.options) {
    make_thread_records();
    lanes.resize(s.threads.size() + 1);
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      handles_.push_back(map_.handle());
      thread_records.push_back(&cubby::detail::engine_access::context_of(handles_.back()).at);
    }
    for (const auto& [key, number] : still_) handles_[0].insert_or_assign(key, number);
    for (std::uint64_t n = 0; n < s.gone; ++n) come_and_go(key_at((2 + n % 12) << 12, first_gone + n));
    handles_[0].flush();
    for (const call& c : s.before) perform(0, c);
    resizes_before_ = all_resizes();
  }

  void perform(unsigned at, const call& c) override {
    auto& h = handles_[at];
    switch (c.what) {
    case act::find: return note(at, look_up(h, at, c.key));
    case act::insert_or_assign:
    case act::erase:
    case act::add: return write(h, at, {&c, 1});
    case act::execute: return write(h, at, c.inner);
    case act::newcomer: return write_as_newcomer(at, c);
    case act::find_batch: return look_up_all(h, at, c);
    case act::scan: return (void)scan(h, at);
    case act::reserve: return (void)h.reserve(c.value);
    case act::shrink: return (void)h.shrink_to_fit();
    default: return complain("no scenario may ask a partitioned table for this");
    }
  }

  void inspect() override {
    std::vector<entry> there;
    for (const std::uint64_t key : touched_keys(lanes)) {
      perform(0, {act::find, key});
      if (lanes[0].back().r.ok) there.emplace_back(key, lanes[0].back().r.result);
    }
    for (const auto& [key, number] : still_) {
      if (handles_[0].find(key) != number) complain("key " + std::to_string(key) + ", untouched, is not as it was");
    }
    const std::size_t size = there.size() + still_.size();
    if (map_.size() != size)
      complain("size() is " + std::to_string(map_.size()) + "; " + std::to_string(size) + " keys are found");
    auto shown = scan(handles_[0], 0);
    std::sort(shown.begin(), shown.end());
    std::sort(there.begin(), there.end());
    if (shown != there) complain("a scan at the end does not show what finds do");
  }

  [[nodiscard]] std::uint64_t resizes() const override { return all_resizes() - resizes_before_; }
  std::string name_of(const void* address) override;

private:
  static constexpr std::uint64_t first_gone = 1000;

  /// In lines of their own, so that chains of the scripts' keys stay short.
  void come_and_go(std::uint64_t key) {
    handles_[0].insert_or_assign(key, key);
    handles_[0].erase(key);
  }
  static std::uint64_t now() { return driver::instance().stamp(); }
  [[nodiscard]] std::uint64_t all_resizes() const {
    const auto seen = map_.stats();
    return seen.growths + seen.shrinks + seen.rebuilds;
  }
  static event begun(unsigned at, const call& c) {
    event e;
    e.r.thread = static_cast<std::uint16_t>(at);
    e.r.key = c.key;
    e.r.argument = c.value;
    e.r.called = now();
    return e;
  }

  void write(writing_handle& h, unsigned at, std::span<const call> calls) {
    std::vector<event> sent = send_all(h, at, calls);
    if (!h.flush()) complain("a write was dropped");
    carried_out(at, sent);
  }
  /// Its end flushes, and gives its queues to the next one.
  void write_as_newcomer(unsigned at, const call& c) {
    std::vector<event> sent;
    {
      writing_handle own = map_.handle();
      sent = send_all(own, at, c.inner);
    }
    carried_out(at, sent);
  }
  /// Those of one key have an order, which other keys of the group have no part in.
  void carried_out(unsigned at, std::vector<event>& sent) {
    const std::uint64_t returned = now();
    std::vector<std::pair<std::uint64_t, std::size_t>> lane_of;
    for (event& e : sent) {
      e.r.returned = returned;
      const auto is_here = [&e](const auto& one) { return one.first == e.r.key; };
      const auto known = std::find_if(lane_of.begin(), lane_of.end(), is_here);
      if (known != lane_of.end()) {
        lanes[known->second].push_back(e);
      } else if (lane_of.empty()) {
        lane_of.emplace_back(e.r.key, at);
        note(at, e);
      } else {
        lane_of.emplace_back(e.r.key, lanes.size());
        alone(e);
      }
    }
  }
  std::vector<event> send_all(writing_handle& h, unsigned at, std::span<const call> calls) {
    std::vector<event> sent;
    for (const call& one : calls) {
      if (one.what == act::find) {
        alone(look_up(h, at, one.key));
        continue;
      }
      event e = begun(at, one);
      e.either = true;
      e.r.ok = true;
      send(h, one, e);
      sent.push_back(e);
    }
    return sent;
  }
  void send(writing_handle& h, const call& one, event& e) {
    auto how = cubby::outcome::done;
    e.r.what = one.what == act::add ? verb::add : one.what == act::erase ? verb::erase : verb::insert_or_assign;
    if (one.what == act::add) how = h.insert_or_add(one.key, one.value);
    else if (one.what == act::erase) h.erase(one.key);
    else how = h.insert_or_assign(one.key, one.value);
    if (how != cubby::outcome::done) complain("a write found no space");
  }
  /// Behind whatever others have noted meanwhile.
  void note(unsigned at, const event& e) { lanes[at].push_back(e); }
  /// It has no order with the other calls of its thread.
  void alone(event e) {
    e.r.thread = static_cast<std::uint16_t>(lanes.size());
    lanes.push_back({e});
  }
  static event look_up(writing_handle& h, unsigned at, std::uint64_t key) {
    const event e = begun(at, {act::find, key});
    const auto got = h.find(key);
    return answered(e, got, now());
  }
  static event answered(event e, const std::optional<std::uint64_t>& got, std::uint64_t returned) {
    e.r.what = verb::find;
    e.r.ok = got.has_value();
    e.r.result = got.value_or(0);
    e.r.returned = returned;
    return e;
  }
  void look_up_all(writing_handle& h, unsigned at, const call& c) {
    std::vector<std::uint64_t> keys;
    for (const call& one : c.inner) keys.push_back(one.key);
    std::vector<std::uint64_t> values(keys.size());
    const auto found = std::make_unique<bool[]>(keys.size());
    const event like = begun(at, c);
    const std::size_t count = h.find_batch(keys, values, std::span(found.get(), keys.size()));
    const std::uint64_t returned = now();
    std::size_t hits = 0;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      event e = like;
      e.r.key = keys[i];
      hits += found[i] ? 1 : 0;
      alone(answered(e, found[i] ? std::optional(values[i]) : std::nullopt, returned));
    }
    if (count != hits) complain("a batch of lookups counted what it did not find, or not all that it found");
  }
  /// Each entry that it shows was there at some moment of it, and once unless it went and came back.
  std::vector<entry> scan(writing_handle& h, unsigned at) {
    std::vector<entry> shown, rest;
    const event like = begun(at, {act::scan});
    h.visit_all([&](std::uint64_t key, std::uint64_t value) { shown.emplace_back(key, value); });
    const std::uint64_t returned = now();
    std::size_t met = 0;
    for (const entry& one : shown) {
      if (std::find(still_.begin(), still_.end(), one) != still_.end()) {
        ++met;
        continue;
      }
      const auto same = [&one](const entry& before) { return before.first == one.first; };
      if (std::any_of(rest.begin(), rest.end(), same) && !is_erased(one.first))
        complain("a scan shows key " + std::to_string(one.first) + " twice, which no thread erases");
      rest.push_back(one);
      event e = like;
      e.r.key = one.first;
      if (at != 0) alone(answered(e, one.second, returned));
    }
    if (met != still_.size()) complain("a scan does not show every entry that was there throughout once");
    return rest;
  }

  [[nodiscard]] bool is_erased(std::uint64_t key) const {
    const auto erases = [key](const call& c) { return c.what == act::erase && c.key == key; };
    for (const script& calls : threads_) {
      for (const call& c : calls) {
        if (erases(c) || std::any_of(c.inner.begin(), c.inner.end(), erases)) return true;
      }
    }
    return false;
  }

  std::vector<entry> still_;
  std::vector<script> threads_;
  delegated map_;
  std::vector<writing_handle> handles_;
  std::uint64_t resizes_before_ = 0;
};

} // namespace

struct partitioned_key {
  friend constexpr delegation delegated::engine_type::* table_member(partitioned_key);
};
template struct open_door<partitioned_key, &delegated::engine_type::all_>;

namespace {

std::string name_in_partition(const partitioned::partition& p, const void* address) {
  if (address == &p.current) return "current";
  if (address == &p.owners) return "owners";
  if (address == &p.writing) return "writing";
  if (address == &p.live) return "live";
  const auto word = reinterpret_cast<std::uintptr_t>(address);
  const auto side = reinterpret_cast<std::uintptr_t>(&p.side);
  if (word >= side && word < side + sizeof p.side) return "side_" + slot_name(word - side);
  const partitioned::partition_array& a = *p.current.load(cubby::detail::sync::relaxed);
  const auto from = reinterpret_cast<std::uintptr_t>(a.slots());
  if (word >= from && word < from + a.slot_count() * 16) return slot_name(word - from);
  return {};
}

/// `of`: the number of the handle, the newest first.
std::string name_in_outbox(const partitioned::outbox& o, std::size_t of, const void* address) {
  const std::string handle = "handle -" + std::to_string(of) + ".";
  if (address == &o.taken) return handle + "taken";
  for (std::size_t i = 0; i < o.count; ++i) {
    const auto from = reinterpret_cast<std::uintptr_t>(&o.lanes[i]);
    const auto word = reinterpret_cast<std::uintptr_t>(address);
    if (word < from || word >= from + sizeof(partitioned::lane)) continue;
    return handle + "queue[" + std::to_string(i) + "] + " + std::to_string(word - from);
  }
  return {};
}

} // namespace

std::string delegated_adapter::name_of(const void* address) {
  for (std::size_t i = 0; i < thread_records.size(); ++i) {
    if (thread_records[i] == address) return "thread record of " + std::to_string(static_cast<int>(i) - 1);
  }
  const delegation& d = cubby::detail::engine_access::of(map_).*table_member(partitioned_key{});
  if (address == &d.outboxes) return "outboxes";
  if (address == &d.adding) return "adding";
  for (std::size_t i = 0; i < d.set.count; ++i) {
    const std::string name = name_in_partition(d.set.all[i], address);
    if (!name.empty()) return "partition[" + std::to_string(i) + "]." + name;
  }
  std::size_t of = 0;
  for (const partitioned::outbox* o = d.outboxes.load(cubby::detail::sync::relaxed); o != nullptr; o = o->next, ++of) {
    const std::string name = name_in_outbox(*o, of, address);
    if (!name.empty()) return name;
  }
  return {};
}

run_state make_partitioned(const scenario& s) { return {std::make_unique<delegated_adapter>(s), nullptr, nullptr}; }

} // namespace cubby_test
