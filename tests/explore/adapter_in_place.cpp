// SPDX-License-Identifier: Apache-2.0
// An `in_place_map` as an adapter, over two engines. A value has two words, which are changed one after the other with a step between
// them. So a schedule in which two holds of an entry overlap shows words that differ.
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include <cubby/in_place_map.hpp>
#include <cubby/relativistic.hpp>

#include "explore/arena.hpp"
#include "explore/driver.hpp"
#include "explore/parts.hpp"
#include "explore/scenario.hpp"

namespace cubby_test {
namespace {

struct no_value : std::exception {};
struct torn_value : std::exception {
  [[nodiscard]] const char* what() const noexcept override { return "a value was seen while it was being changed"; }
};

/// Two words that are equal whenever nobody has the value to himself.
class halves {
public:
  explicit halves(std::uint64_t number, bool fails = false) : first_(number) {
    between();
    if (fails) throw no_value();
    second_ = number;
  }
  halves(const halves& other) : halves(other.number()) {}
  halves(halves&& other) noexcept(false) : halves(other.number()) { other.set(taken); }
  halves& operator=(const halves& other) {
    set(other.number());
    return *this;
  }
  void set(std::uint64_t number) {
    first_ = number;
    between();
    second_ = number;
  }
  [[nodiscard]] std::uint64_t number() const {
    const std::uint64_t seen = first_;
    between();
    if (second_ != seen || first_ != seen) throw torn_value();
    return seen;
  }

private:
  static constexpr std::uint64_t taken = ~std::uint64_t{0};
  void between() const { cubby::detail::sync::hook(step::rmw8, this); }
  std::uint64_t first_;
  std::uint64_t second_ = 0;
};

template <class Engine, class Hash>
class in_place_adapter final : public adapter {
  using map = cubby::in_place_map<std::uint64_t, halves, Engine, Hash, arena_allocator<std::byte>>;

public:
  in_place_adapter(const scenario& s, arena& home) : map_(s.options, Hash(), arena_allocator<std::byte>(&home)) {
    lanes.resize(s.threads.size() + 1);
    for (std::size_t i = 0; i < lanes.size(); ++i) handles_.push_back(map_.handle());
    for (const call& c : s.before) perform(0, c);
    resizes_before_ = all_resizes();
  }

  void perform(unsigned at, const call& c) override {
    event e;
    e.r.thread = static_cast<std::uint16_t>(at);
    e.r.key = c.key;
    e.r.argument = c.value;
    e.r.called = driver::instance().stamp();
    try {
      carry_out(at, c, e);
    } catch (const std::exception& thrown) {
      complain(std::string("a call threw: ") + thrown.what());
    }
  }

  void inspect() override {
    std::size_t there = 0;
    for (const std::uint64_t key : touched_keys(lanes)) {
      perform(0, {act::find, key});
      there += lanes[0].back().r.ok ? 1 : 0;
    }
    std::size_t shown = 0;
    map_.visit_all([&](std::uint64_t, const halves& v) { shown += v.number() == v.number() ? 1 : 0; });
    if (map_.size() != there || shown != there) complain("finds, size() and a scan do not agree at the end");
  }
  [[nodiscard]] std::uint64_t resizes() const override { return all_resizes() - resizes_before_; }
  std::string name_of(const void*) override { return {}; }

private:
  [[nodiscard]] std::uint64_t all_resizes() const {
    const auto now = map_.stats();
    return now.growths + now.shrinks + now.rebuilds;
  }
  void done(unsigned at, event& e, verb what, bool ok) {
    e.r.what = what;
    e.r.ok = ok;
    e.r.returned = driver::instance().stamp();
    lanes[at].push_back(e);
  }
  void found(unsigned at, event& e, verb what, const std::optional<halves>& got) {
    if (got) e.r.result = got->number();
    done(at, e, what, got.has_value());
  }
  void carry_out(unsigned at, const call& c, event& e) {
    auto& h = handles_[at];
    switch (c.what) {
    case act::find: return found(at, e, verb::find, h.find(c.key));
    case act::contains: return done(at, e, verb::contains, h.contains(c.key));
    case act::visit_batch: return look_up(at, c, e);
    case act::extract: return found(at, e, verb::extract, h.extract(c.key));
    case act::insert: return done(at, e, verb::insert, h.try_insert(c.key, c.value) == cubby::outcome::done);
    case act::assign: return done(at, e, verb::assign, h.assign(c.key, halves(c.value)));
    case act::erase: return done(at, e, verb::erase, h.erase(c.key));
    case act::insert_or_assign: return done(at, e, verb::insert_or_assign, h.insert_or_assign(c.key, halves(c.value)));
    case act::modify: return done(at, e, verb::update, h.modify(c.key, once(c, e)));
    case act::upsert: return upsert(at, c, e);
    case act::erase_if: return done(at, e, verb::extract, erase_seen(at, c, e));
    case act::abort: return fail(at, c);
    case act::scan: return h.modify_all([](std::uint64_t, halves& v) { v.set(v.number()); });
    default: return complain("no scenario may ask for this");
    }
  }
  /// Sets the value, and notes what it was.
  static auto once(const call& c, event& e) {
    return [&, runs = 0](halves& v) mutable {
      if (++runs != 1) throw std::logic_error("a function ran twice");
      e.r.result = v.number();
      v.set(c.value);
    };
  }
  void upsert(unsigned at, const call& c, event& e) {
    const bool inserted = handles_[at].insert_or_modify(c.key, once(c, e), c.value);
    done(at, e, inserted ? verb::insert : verb::update, true);
  }
  bool erase_seen(unsigned at, const call& c, event& e) {
    return handles_[at].erase_if(c.key, [&](halves& v) {
      e.r.result = v.number();
      return true;
    });
  }
  void look_up(unsigned at, const call& c, event& e) {
    const std::uint64_t keys[] = {c.key};
    std::optional<halves> got;
    const std::size_t count = handles_[at].visit_batch(keys, [&](std::size_t, const halves* v) {
      if (v != nullptr) got.emplace(v->number());
    });
    if (count != (got ? 1U : 0U)) complain("a batch counts wrongly");
    found(at, e, verb::find, got);
  }
  /// An insert whose constructor throws. It leaves no event: the key was never there.
  void fail(unsigned at, const call& c) {
    try {
      if (handles_[at].try_emplace(c.key, c.value, true)) complain("a value whose constructor throws was inserted");
    } catch (const no_value&) {
    }
  }

  map map_;
  std::vector<typename map::handle_type> handles_;
  std::uint64_t resizes_before_ = 0;
};

template <class Engine, class Hash> run_state make(const scenario& s) {
  const auto home = std::make_shared<arena>();
  return {std::make_unique<in_place_adapter<Engine, Hash>>(s, *home), home,
          [](void* a) { return static_cast<arena*>(a)->account(); }};
}

} // namespace

run_state make_adapter(const scenario& s) {
  if (s.table == table_kind::in_place) return make<cubby::dlht, placed_hash>(s);
  if (s.table == table_kind::in_place_relativistic) return make<cubby::relativistic, low_placed_hash>(s);
  std::fprintf(stderr, "this program has no table for %s\n", s.name.c_str());
  std::abort();
}

} // namespace cubby_test
