// SPDX-License-Identifier: Apache-2.0
// The runs over partitioned maps, which answer no write. Two handles of one thread send; each key is one handle's to write.
// Until that handle has flushed, a look may show what the key was before any of the writes since, but never goes back.
#include <cubby/delegated_map.hpp>

#include <array>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "play.hpp"

namespace cubby_fuzz {
namespace {

using table_type = cubby::delegated_map<std::uint64_t, std::uint64_t, masked_hash>;
using state = std::optional<std::uint64_t>; // of a key: absent, or its value
constexpr std::size_t handles = 2;

/// The states of a key from the one that was seen last to the one that its last write leads to.
using states = std::vector<state>;

struct sent_run {
  sent_run(const choice& wanted, input& bytes)
      : in(bytes), bounded(wanted.options.growth == cubby::growth_policy::fixed),
        table(options_of(wanted, bytes), wanted.hash) {
    for (std::size_t i = 0; i < handles; ++i) senders.push_back(table.handle());
  }
  static cubby_test::table_options options_of(const choice& wanted, input& bytes) {
    cubby_test::table_options o = wanted.options;
    o.partitions = 1 + bytes.byte() % 4u;
    return o;
  }

  input& in;
  const bool bounded;
  table_type table;
  std::vector<table_type::handle_type> senders;
  std::array<std::map<std::uint64_t, states>, handles> model; // of each handle's keys

  std::uint64_t key() { return number_key(in.two_bytes()); }
  std::uint64_t value() { return number_key(in.two_bytes()); }
  static std::size_t sender_of(std::uint64_t k) { return k % handles; }
  states& of(std::uint64_t k) {
    states& all = model[sender_of(k)][k];
    if (all.empty()) all.emplace_back();
    return all;
  }

  /// What was seen is one of the states, and none before it is seen again.
  void saw(std::uint64_t k, const state& seen) {
    states& all = of(k);
    auto at = all.begin();
    while (at != all.end() && *at != seen) ++at;
    require(at != all.end(), "a look showed what the key cannot be");
    all.erase(all.begin(), at);
  }
  void sent(std::uint64_t k, cubby::outcome how, const state& leads_to) {
    states& all = of(k);
    if (how == cubby::outcome::done) return all.push_back(leads_to);
    bool may_be_absent = false;
    for (const state& s : all) may_be_absent |= !s.has_value();
    require(bounded && may_be_absent, "full for no reason");
  }
  void flush(std::size_t i) {
    require(senders[i].flush(), "a flush told of a lost write");
    keep_last_state(i);
  }
  /// All that the handle has sent is carried out.
  void keep_last_state(std::size_t i) {
    for (auto& [k, all] : model[i]) all.erase(all.begin(), all.end() - 1);
  }
  std::size_t flush_all() {
    std::size_t entries = 0;
    for (std::size_t i = 0; i < handles; ++i) {
      flush(i);
      for (const auto& [k, all] : model[i]) entries += all.back() ? 1 : 0;
    }
    return entries;
  }
};

void assign(sent_run& r) {
  const std::uint64_t k = r.key(), v = r.value();
  r.sent(k, r.senders[sent_run::sender_of(k)].insert_or_assign(k, v), v);
}
void add(sent_run& r) {
  const std::uint64_t k = r.key(), n = r.value();
  const std::uint64_t before = r.of(k).back().value_or(0);
  r.sent(k, r.senders[sent_run::sender_of(k)].insert_or_add(k, n), before + n);
}
void add_many(sent_run& r) {
  const std::uint64_t first = r.key();
  for (std::uint64_t n = r.in.byte() * 4u, k = first; n != 0; --n, ++k)
    r.sent(k, r.senders[sent_run::sender_of(k)].insert_or_add(k, 1), r.of(k).back().value_or(0) + 1);
}
void erase(sent_run& r) {
  const std::uint64_t k = r.key();
  r.senders[sent_run::sender_of(k)].erase(k);
  r.sent(k, cubby::outcome::done, std::nullopt);
}
void flush(sent_run& r) { r.flush(r.in.byte() % handles); }
void serve(sent_run& r) { (void)r.senders[r.in.byte() % handles].serve(); }
void own(sent_run& r) {
  auto& h = r.senders[r.in.byte() % handles];
  h.own(r.in.byte() % 5u); // one more than there may be: it means none
}
void disown(sent_run& r) {
  auto& h = r.senders[r.in.byte() % handles];
  h.disown(r.in.byte() % 5u);
}

void find(sent_run& r) {
  const std::uint64_t k = r.key();
  const unsigned who = r.in.byte() % (handles + 1u);
  r.saw(k, who == handles ? r.table.find(k) : r.senders[who].find(k));
}
void contains(sent_run& r) {
  const std::uint64_t k = r.key();
  const bool there = r.table.contains(k);
  bool may_be = false;
  for (const state& s : r.of(k)) may_be |= s.has_value() == there;
  require(may_be, "contains");
}
void find_batch(sent_run& r) {
  std::array<std::uint64_t, 12> keys{}, values{};
  std::array<bool, 12> found{};
  for (auto& k : keys) k = r.key();
  const std::size_t hits = r.table.find_batch(keys, values, found);
  std::size_t counted = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    counted += found[i] ? 1 : 0;
    r.saw(keys[i], found[i] ? state(values[i]) : state());
  }
  require(hits == counted, "find_batch counts other keys than it has found");
}
/// Nothing is sent meanwhile, so each entry is met once, and what is not met is not there.
void scan(sent_run& r) {
  std::map<std::uint64_t, std::uint64_t> met;
  r.table.visit_all(
      [&](std::uint64_t k, std::uint64_t v) { require(met.emplace(k, v).second, "a scan met a key twice"); });
  for (const auto& [k, v] : met) r.saw(k, v);
  for (auto& keys : r.model)
    for (auto& [k, all] : keys)
      if (met.count(k) == 0) r.saw(k, std::nullopt);
}
void size(sent_run& r) {
  const std::size_t entries = r.flush_all();
  const cubby::table_stats now = r.table.stats();
  require(r.table.size() == entries && now.size == entries && r.table.empty() == (entries == 0), "size");
}
void reserve(sent_run& r) { require(r.table.reserve(r.in.two_bytes() % 4096u) || r.bounded, "reserve"); }
void shrink(sent_run& r) { require(r.table.shrink_to_fit(), "shrink_to_fit"); }
void ask_ahead(sent_run& r) { r.table.prefetch(r.key()); }
/// A handle's end flushes.
void open_again(sent_run& r) {
  const std::size_t i = r.in.byte() % handles;
  auto fresh = r.table.handle();
  r.senders[i] = std::move(fresh);
  {
    const auto ended = std::move(fresh);
  }
  r.keep_last_state(i);
}

constexpr verb_entry<sent_run> sent_verbs[] = {
    {"insert_or_assign", &assign},
    {"insert_or_add", &add},
    {"many insert_or_add", &add_many},
    {"erase", &erase},
    {"flush", &flush},
    {"serve", &serve},
    {"own", &own},
    {"disown", &disown},
    {"find", &find},
    {"contains", &contains},
    {"find_batch", &find_batch},
    {"visit_all", &scan},
    {"size", &size},
    {"reserve", &reserve},
    {"shrink_to_fit", &shrink},
    {"prefetch", &ask_ahead},
    {"a new handle", &open_again},
};

} // namespace

/// Words alone, whatever the kind.
template <> void play_engine<cubby::partitioned>(unsigned, const choice& chosen, input& in) {
  here() = {"partitioned map of words", "", 0};
  sent_run r(chosen, in);
  while (!in.ended()) {
    const verb_entry<sent_run>& verb = sent_verbs[in.byte() % std::size(sent_verbs)];
    begin_verb(verb.name);
    verb.call(r);
  }
  begin_verb("the end");
  size(r);
  scan(r);
}

} // namespace cubby_fuzz
