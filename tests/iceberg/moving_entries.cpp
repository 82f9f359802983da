// SPDX-License-Identifier: Apache-2.0
// Each verb against entries that move. Iceberg grows, shrinks, or lets others of the same bucket come and go while a verb
// stands still at any of its steps. And a verb runs while the mover stands still at any of its own. The key lies in the front
// bucket, in the back yard or in a chain.
#include "linearizability/migrations.hpp"
#include "support/fiber_scheduler.hpp"
#include "support/random.hpp"

namespace cubby_test {
namespace {

using namespace scripted;

/// The keys of a schedule and the crowd share one bucket in a table of any size.
struct iceberg_bucket_hash {
  using is_avalanching = void;
  std::uint64_t operator()(std::uint64_t key) const noexcept { return key < 16 || key >= 1000 ? 5 : splitmix(key); }
};
/// The same, but a doubling parts each hot key from the crowd, or leaves it there.
struct iceberg_parting_hash {
  using is_avalanching = void;
  std::uint64_t operator()(std::uint64_t key) const noexcept { return key < 1000 ? splitmix(key) : splitmix(key % 8); }
};

constexpr std::uint64_t crowd_key = 1000;
template <class Coding>
void insert_crowd(typename Coding::map& m, std::uint64_t size) {
  for (std::uint64_t k = 0; k < size; ++k) EXPECT_TRUE(m.insert(crowd_key + k, Coding::encode(k)));
}
template <class Coding>
void erase_crowd(typename Coding::map& m, std::uint64_t from, std::uint64_t to) {
  for (std::uint64_t k = from; k < to; ++k) EXPECT_TRUE(m.erase(crowd_key + k));
}

/// Crowds that leave the hot keys the front bucket, the back yard, or a chain.
constexpr std::uint64_t crowds[] = {0, 56, 80};

/// The table stands at 64 or 128 slots; the crowd is there, and leaves space in front for what is moved.
template <class Coding>
migration<Coding> iceberg_growth(const char* name, std::uint64_t crowd, bool space) {
  using map = typename Coding::map;
  return {name, [crowd](map& m) { insert_crowd<Coding>(m, crowd); },
          [crowd, space](map& m) {
            if (space) erase_crowd<Coding>(m, 0, crowd / 2);
            EXPECT_TRUE(m.reserve(100));
            erase_crowd<Coding>(m, space ? crowd / 2 : 0, crowd);
          }};
}
template <class Coding>
migration<Coding> iceberg_shrink(const char* name, std::uint64_t crowd) {
  using map = typename Coding::map;
  return {name,
          [crowd](map& m) {
            EXPECT_TRUE(m.reserve(200));
            insert_crowd<Coding>(m, crowd);
          },
          [crowd](map& m) {
            erase_crowd<Coding>(m, 0, crowd / 2);
            EXPECT_TRUE(m.shrink_to_fit());
            erase_crowd<Coding>(m, crowd / 2, crowd);
          }};
}
/// Slots of the key's bucket become free and are filled again, in all levels.
template <class Coding>
migration<Coding> iceberg_churn(const char* name, std::uint64_t crowd) {
  using map = typename Coding::map;
  return {name, [crowd](map& m) { insert_crowd<Coding>(m, crowd); },
          [crowd](map& m) {
            if (crowd > 2) erase_crowd<Coding>(m, crowd - 2, crowd);
            for (std::uint64_t k = 500; k < 503; ++k) EXPECT_TRUE(m.insert(crowd_key + k, Coding::encode(k)));
            erase_crowd<Coding>(m, 500, 503);
            if (crowd > 2) erase_crowd<Coding>(m, 0, crowd - 2);
          }};
}

template <class Coding>
std::vector<migration<Coding>> iceberg_migrations() {
  std::vector<migration<Coding>> all;
  for (const std::uint64_t crowd : crowds) {
    all.push_back(iceberg_growth<Coding>("grow", crowd, false));
    if (crowd != 0) all.push_back(iceberg_growth<Coding>("grow into space", crowd, true));
    all.push_back(iceberg_shrink<Coding>("shrink", crowd));
    all.push_back(iceberg_churn<Coding>("churn", crowd));
  }
  return all;
}

template <class Coding>
class iceberg_moves : public ::testing::Test {};
using iceberg_codings = ::testing::Types<
    word_coding<cubby::iceberg, iceberg_bucket_hash>, word_coding<cubby::iceberg, iceberg_parting_hash>,
    record_coding<cubby::iceberg, iceberg_bucket_hash>, record_coding<cubby::iceberg, iceberg_parting_hash>>;
TYPED_TEST_SUITE(iceberg_moves, iceberg_codings);

constexpr std::uint64_t brought = 60; // the value that a caller brings

TYPED_TEST(iceberg_moves, past_a_verb_that_stands_still_at_any_step) {
  random_source random(3600);
  for_each_combination_of(iceberg_migrations<TypeParam>(), scripted_acts,
                          [&](auto& how, auto& where, bool present, act what, const std::string& name) {
                            if (!random.one_in(rarity(6))) return true;
                            for (std::uint64_t i = random.below(sparse_stride(5));; i += sparse_stride(5)) {
                              arena<TypeParam> a(how, where, present);
                              const auto caller = a.caller(what, brought);
                              const bool last = a.r.turns.run(caller, i) == scheduler::stopped::finished;
                              (void)a.r.turns.ends_alone(a.mover);
                              a.r.turns.run_until(caller, scheduler::never);
                              if (!a.ended(name + std::to_string(i))) return false;
                              if (last) return true;
                            }
                          });
}

template <class Coding>
migration<Coding> iceberg_shrink_and_growth() {
  using map = typename Coding::map;
  return {"shrink, grow", [](map& m) { EXPECT_TRUE(m.reserve(100)); },
          [](map& m) {
            EXPECT_TRUE(m.shrink_to_fit());
            EXPECT_TRUE(m.reserve(100));
          }};
}
/// The mover makes a table smaller, and begins to make it larger again. False: it waits for another thread.
template <class Coding>
bool begins_growth_after_shrink(arena<Coding>& a) {
  const std::size_t large = a.r.map.capacity();
  for (bool shrunk = false; !shrunk || a.r.map.capacity() < large; shrunk = shrunk || a.r.map.capacity() < large)
    if (a.r.turns.run(a.mover, 1) != scheduler::stopped::before_step) return false;
  return true;
}

/// A verb has read the root. The table shrinks and begins to grow. The verb locks a bucket that is not in use yet, stands still
/// again, and unlocks it when the growth has ended.
TYPED_TEST(iceberg_moves, past_a_verb_with_an_older_root_that_stands_still_twice) {
  random_source random(3900);
  const std::vector<migration<TypeParam>> all{iceberg_shrink_and_growth<TypeParam>()};
  for_each_combination_of(all, scripted_acts,
                          [&](auto& how, auto& where, bool present, act what, const std::string& name) {
                            for (std::uint64_t i = 1; i < 8; ++i) {
                              for (std::uint64_t j = 0; j < 16; ++j) {
                                if (!random.one_in(rarity(3))) continue;
                                arena<TypeParam> a(how, where, present);
                                const auto caller = a.caller(what, brought);
                                (void)a.r.turns.run(caller, i);
                                if (begins_growth_after_shrink(a)) (void)a.r.turns.run(caller, j);
                                (void)a.r.turns.ends_alone(a.mover);
                                a.r.turns.run_until(caller, scheduler::never);
                                if (!a.ended(name + std::to_string(i) + " " + std::to_string(j))) return false;
                              }
                            }
                            return true;
                          });
}

/// A move has thousands of steps, so chance chooses where it stands.
TYPED_TEST(iceberg_moves, that_stand_still_while_a_verb_runs) {
  random_source random(3700);
  for_each_combination_of(iceberg_migrations<TypeParam>(), scripted_acts,
                          [&](auto& how, auto& where, bool present, act what, const std::string& name) {
                            if (!random.one_in(rarity(6))) return true;
                            for (std::uint64_t j = random.below(100);; j += 1 + random.below(200)) {
                              arena<TypeParam> a(how, where, present);
                              const auto caller = a.caller(what, brought);
                              bool last = false;
                              for (std::uint64_t left = j; left != 0 && !last;) { // in slices, as `ends_alone`
                                const std::uint64_t slice = std::min<std::uint64_t>(left, 3000);
                                last = a.r.turns.run(a.mover, slice) == scheduler::stopped::finished;
                                left -= slice;
                              }
                              a.r.turns.run_until(caller, scheduler::never);
                              if (!a.ended(name + std::to_string(j))) return false;
                              if (last) return true;
                            }
                          });
}

/// How many steps the mover makes before a growth begins; 0: it begins none.
template <class Coding>
std::uint64_t steps_until_growth(const migration<Coding>& how) {
  arena<Coding> a(how, places[1], true);
  const std::size_t before = a.r.map.capacity();
  for (std::uint64_t steps = 0;; ++steps) {
    if (a.r.map.capacity() > before) return steps;
    if (a.r.turns.run(a.mover, 1) == scheduler::stopped::finished) return 0;
  }
}

/// A scan stands still, with a bucket locked that a growth is about to show: the bucket must not vanish when the scan goes on.
TYPED_TEST(iceberg_moves, past_a_scan_that_stands_still_at_any_step) {
  for (const auto& how : iceberg_migrations<TypeParam>()) {
    const std::uint64_t growth = steps_until_growth(how);
    for (std::uint64_t i = 0;; i += cubby::detail::cpu::thread_sanitizer ? 5 : sparse_stride(5)) {
      arena<TypeParam> a(how, places[1], true);
      std::vector<unsigned> met(hot_keys, 0);
      const auto scanner = a.r.turns.start([&] {
        a.r.map.handle().visit_all([&](const auto& k, const auto&) {
          if (k < hot_keys) ++met[k];
        });
      });
      const std::uint64_t begin = growth != 0 ? growth : i * 7 % 1500;
      for (std::uint64_t done = 0; done < begin; done += 1000) // in slices, as `ends_alone`
        (void)a.r.turns.run(a.mover, std::min<std::uint64_t>(begin - done, 1000));
      const bool last = a.r.turns.run(scanner, i) == scheduler::stopped::finished;
      (void)a.r.turns.ends_alone(a.mover);
      ASSERT_TRUE(a.ended(std::string(how.name) + ", scan stopped at " + std::to_string(i)));
      for (const std::uint64_t k : {4u, 5u, 6u, 7u, 8u, 10u}) ASSERT_GE(met[k], 1u) << how.name << " " << i;
      if (last) break;
    }
  }
}

/// A batch of lookups stands still before its step `i`, while a growth moves entries from behind their bucket to its front. Whether the batch
/// has such a step.
bool batch_stands_while_all_move(std::uint64_t i) {
  constexpr std::uint64_t keys = 60; // of 64 slots, of which 56 are in front
  const cubby::iceberg::options wanted{{.capacity = keys, .seed = 1 + i}, {.grow_at = 97}};
  cubby::map<std::uint64_t, std::uint64_t, cubby::iceberg> m(wanted);
  std::vector<std::uint64_t> asked;
  for (std::uint64_t k = 0; k < keys; ++k) {
    EXPECT_TRUE(m.insert(k, k));
    asked.push_back(keys - 1 - k);
  }
  auto one = m.handle(), two = m.handle();
  fiber_scheduler turns;
  std::uint64_t met = 0;
  const auto batch = turns.start([&] {
    one.visit_batch(asked, [&](std::size_t, const std::uint64_t* value) { met += value != nullptr ? 1 : 0; });
  });
  const auto mover = turns.start([&] { EXPECT_TRUE(two.reserve(200)); });
  const bool stands = turns.run(batch, i) == scheduler_words::stopped::before_step;
  while (turns.run(mover, 3000) == scheduler_words::stopped::before_step) {
  }
  EXPECT_TRUE(turns.finish_all());
  EXPECT_EQ(met, keys) << "stop " << i;
  return stands;
}
TEST(iceberg_batches, miss_nothing_that_moves_while_they_stand_still_at_any_step) {
  const std::uint64_t few = sparse_stride(5);
  for (std::uint64_t i = run_seed() % few; batch_stands_while_all_move(i) && !testing::Test::HasFailure(); i += few) {
  }
}

/// Two inserts of one key, and an erase that frees a slot in the front bucket between them: one insert succeeds. Random pairs of stops.
TYPED_TEST(iceberg_moves, of_places_do_not_double_a_key) {
  random_source random(3800);
  for (const std::uint64_t crowd : {std::uint64_t{56}, std::uint64_t{80}}) {
    for (std::uint64_t round = 0; round < scaled(400); ++round) {
      run<TypeParam> r(tiny_options());
      insert_crowd<TypeParam>(r.map, crowd);
      const script one{{act::insert, 10, 5}, {act::find, 10}},
          two{{act::insert, 10, 6}, {act::erase, 10}, {act::insert, 10, 7}};
      const auto a = r.thread(one), b = r.thread(two);
      const auto c = r.turns.start([&] {
        auto h = r.map.handle();
        for (std::uint64_t k = 0; k < 3; ++k) EXPECT_TRUE(h.erase(crowd_key + k));
      });
      const std::uint64_t stops[] = {random.below(80), random.below(80), random.below(40)};
      r.turns.run(a, stops[0]);
      r.turns.run(b, stops[1]);
      r.turns.run(c, stops[2]);
      r.turns.run(b, random.below(200));
      r.turns.run_until(a, scheduler::never);
      const finding f = r.end(hot_keys);
      ASSERT_EQ(f.what, judgement::linearizable)
          << "stops " << stops[0] << " " << stops[1] << " " << stops[2] << " seed " << run_seed() << "\n"
          << f.text;
      std::uint64_t met = 0;
      r.map.visit_all([&](const auto& k, const auto&) { met += k == 10 ? 1 : 0; });
      ASSERT_EQ(met, r.map.contains(10) ? 1u : 0u);
      ASSERT_EQ(r.map.size(), crowd - 3 + met);
    }
  }
}

} // namespace
} // namespace cubby_test
