// SPDX-License-Identifier: Apache-2.0
// Counters over cubby::map: k-mers of up to 32 bases lie in the table itself, longer ones in records, or in tuples where
// the engine has them. Of an engine with pipelines each batch goes through one.
#include "counter.hpp"

#include <algorithm>
#include <array>
#include <cubby/delegated_map.hpp>
#include <cubby/dramhit.hpp>
#include <cubby/dramhit_tuples.hpp>
#include <cubby/map.hpp>
#include <cubby/pipeline.hpp>
#include <optional>

namespace kmer {

namespace {

struct named_engine {
  std::string_view name;
  engine_id engine;
};
constexpr std::array<named_engine, 4> engines = {{{"dlht-single", engine_id::dlht_single},
                                                  {"dlht", engine_id::dlht},
                                                  {"dramhit", engine_id::dramhit},
                                                  {"partitioned", engine_id::partitioned}}};

struct two_words {
  std::uint64_t high;
  std::uint64_t low;
  bool operator==(const two_words&) const = default;
};

} // namespace

} // namespace kmer

template <> inline constexpr bool cubby::bits_are_equality<kmer::two_words> = true;

namespace kmer {

namespace {

struct two_words_hash {
  using is_avalanching = void;
  std::uint64_t operator()(const two_words& key) const noexcept {
    return cubby::hash<std::uint64_t>{cubby::hash<std::uint64_t>{}(key.high)}(key.low);
  }
};

template <class Word> struct key_of;
template <> struct key_of<narrow_word> {
  using type = std::uint64_t;
  using hash = cubby::hash<std::uint64_t>;
  static type from(narrow_word word) { return word; }
  static narrow_word word(type key) { return key; }
};
template <> struct key_of<wide_word> {
  using type = two_words;
  using hash = two_words_hash;
  static type from(wide_word word) { return {high_of(word), low_of(word)}; }
  static wide_word word(const type& key) { return join(key.high, key.low); }
};

template <class Word, class Engine> class map_counter final : public counter<Word> {
  using key = key_of<Word>;
  using map = cubby::map<typename key::type, std::uint64_t, Engine, typename key::hash>;

public:
  map_counter() { renew(0); }

  void add(std::span<const Word> kmers) override {
    if constexpr (map::capabilities.pipelined) {
      add_in_turns(kmers);
    } else {
      auto here = map_->handle();
      for (const Word word : kmers) here.insert_or_add(key::from(word), std::uint64_t{1});
    }
  }
  void add(const entry<Word>& counted) override {
    map_->insert_or_add(key::from(counted.word), std::uint64_t{counted.count});
  }
  std::size_t size() const override { return map_->size(); }
  std::size_t bytes() const override { return map_->stats().bytes; }

  void take(std::vector<entry<Word>>& into) override {
    const std::size_t before = into.size();
    map_->visit_all(
        [&](const typename key::type& k, std::uint64_t count) { into.push_back({key::word(k), saturated(count)}); });
    const std::size_t held = into.size() - before;
    constexpr bool leaves_dead_slots = !map::capabilities.slots_freed_at_once;
    if (leaves_dead_slots || map_->capacity() > largest_waste * std::max(held, least_capacity)) renew(held);
    else map_->clear();
  }

private:
  static constexpr std::size_t least_capacity = 256;
  static constexpr std::size_t largest_waste = 16;

  void add_in_turns(std::span<const Word> kmers) {
    const auto check = [](const auto& reply) {
      if (reply.result != cubby::outcome::done) throw std::bad_alloc(); // the only way in which a sum can fail
    };
    auto pending = map_->handle().pipeline(check);
    for (const Word word : kmers) pending.insert_or_add(key::from(word), 1, 0);
    pending.drain();
  }

  // A table that is kept has its memory mapped already; a new one pays for each page again. It is given back when it has
  // become much larger than what it is used for.
  void renew(std::size_t expected) {
    map_.reset();
    map_.emplace(typename map::options_type{{.capacity = std::max(expected, least_capacity)}, {.growth_factor = 2}});
  }

  std::optional<map> map_;
};

// One partition, which the counting thread owns: what it sends itself it carries out when a section is full.
class partitioned_counter final : public counter<narrow_word> {
  using map = cubby::delegated_map<std::uint64_t, std::uint64_t>;

public:
  partitioned_counter() { renew(0); }

  void add(std::span<const narrow_word> kmers) override {
    for (const narrow_word word : kmers) (void)here_->insert_or_add(word, 1); // never full: the table grows
    flush();
  }
  void add(const entry<narrow_word>& counted) override {
    (void)here_->insert_or_add(counted.word, counted.count);
    flush();
  }
  std::size_t size() const override { return map_->size(); }
  std::size_t bytes() const override { return map_->stats().bytes; }
  void take(std::vector<entry<narrow_word>>& into) override {
    const std::size_t before = into.size();
    map_->visit_all([&](std::uint64_t word, std::uint64_t count) { into.push_back({word, saturated(count)}); });
    renew(into.size() - before);
  }

private:
  void flush() {
    if (!here_->flush()) throw std::bad_alloc(); // something was dropped for want of memory
  }
  // A slot of an erased k-mer would stay dead.
  void renew(std::size_t expected) {
    here_.reset();
    map_.reset();
    map_.emplace(cubby::partitioned::options{{.capacity = expected}, {.partitions = 1, .growth_factor = 2}});
    here_.emplace(map_->handle());
    here_->own(0);
  }

  std::optional<map> map_;
  std::optional<map::handle_type> here_;
};

} // namespace

const engine_id* engine_named(std::string_view name) {
  std::string spelled(name);
  std::replace(spelled.begin(), spelled.end(), '_', '-');
  for (const named_engine& e : engines)
    if (e.name == spelled) return &e.engine;
  return nullptr;
}

std::string_view name_of(engine_id engine, unsigned k) {
  if (engine == engine_id::dramhit && k > longest_narrow_k) return "dramhit-tuples";
  for (const named_engine& e : engines)
    if (e.engine == engine) return e.name;
  return {};
}

std::string engine_names() {
  std::string all;
  for (const named_engine& e : engines) all += (all.empty() ? "" : ", ") + std::string(e.name);
  return all;
}

bool can_hold(engine_id engine, unsigned k) { return engine != engine_id::partitioned || k <= longest_narrow_k; }

template <class Word> std::unique_ptr<counter<Word>> make_counter(engine_id engine) {
  constexpr bool narrow = std::is_same_v<Word, narrow_word>;
  using dramhit = std::conditional_t<narrow, cubby::dramhit, cubby::dramhit_tuples>;
  if constexpr (narrow)
    if (engine == engine_id::partitioned) return std::make_unique<partitioned_counter>();
  if (engine == engine_id::dlht) return std::make_unique<map_counter<Word, cubby::dlht>>();
  if (engine == engine_id::dramhit) return std::make_unique<map_counter<Word, dramhit>>();
  return std::make_unique<map_counter<Word, cubby::dlht_single>>();
}
template std::unique_ptr<counter<narrow_word>> make_counter(engine_id);
template std::unique_ptr<counter<wide_word>> make_counter(engine_id);

} // namespace kmer
