// SPDX-License-Identifier: Apache-2.0
// The pauses of the recorded histories are where they are meant to be. Every verb of every engine that threads may share
// passes the seam at its atomic accesses, so a perturber may pause it there. And it does, by the run's seed, which main
// prints. But for `partitioned`, which has not these verbs: tests/partitioned/stops.cpp stops it at each step.
#include <array>

#include "linearizability/acts.hpp"

namespace cubby_test {
namespace {

/// How many steps of each kind its thread takes.
class census final : public watcher {
public:
  void before(step kind, const void*) override { ++counts_[static_cast<std::size_t>(kind)]; }
  [[nodiscard]] std::uint64_t of(step kind) const { return counts_[static_cast<std::size_t>(kind)]; }
  [[nodiscard]] std::uint64_t changes() const { return of(step::rmw8) + of(step::rmw16); }

private:
  std::array<std::uint64_t, static_cast<std::size_t>(step::fence) + 1> counts_{}; // the last kind is `fence`
};

constexpr std::uint64_t calls = 200;

/// One thread's calls of one verb on a table that holds some of the keys.
template <class Coding>
class caller {
public:
  explicit caller(act what) {
    plan_.keys = 8;
    plan_.favoured = {what};
    plan_.favoured_only = true;
    for (std::uint64_t k = 0; k < plan_.keys; k += 2) map_.insert(k, Coding::encode(k));
  }
  void run() {
    for (std::uint64_t i = 0; i < calls; ++i) actor_.act_once();
  }

private:
  plan plan_;
  trace trace_{0, calls* longest_batch};
  typename Coding::map map_{tiny_options()};
  actor<Coding> actor_{map_, trace_, plan_, 1900};
};

template <class Coding, bool Locks>
struct engine_of {
  using coding = Coding;
  static constexpr bool locks = Locks;
};

template <class Engine>
class perturbation : public ::testing::Test {};
template <class Line>
using perturbed_codings =
    types_if<(Line::records || Line::tuples) && Line::shared,
             engine_of<word_coding<typename Line::engine>, Line::records && Line::lookups_lock>,
             engine_of<record_coding<typename Line::engine>, Line::records && Line::lookups_lock>>;
using all_perturbed_codings = join_over<perturbed_codings, listed_engines>;
TYPED_TEST_SUITE(perturbation, all_perturbed_codings);

bool only_looks(act what) {
  switch (what) {
  case act::find:
  case act::contains:
  case act::visit:
  case act::find_ref:
  case act::find_batch:
  case act::visit_batch: return true;
  default: return false;
  }
}

TYPED_TEST(perturbation, sees_the_steps_of_every_verb) {
  for (std::uint64_t what = 0; what < recorded_acts; ++what) {
    caller<typename TypeParam::coding> c(static_cast<act>(what));
    const census seen;
    c.run();
    EXPECT_GE(seen.of(step::load), calls) << "verb " << what;
    EXPECT_GE(seen.of(step::store) + seen.of(step::rmw8), 2 * calls) << "into a pin and out, verb " << what;
    if (TypeParam::locks) {
      EXPECT_GE(seen.of(step::rmw8), calls) << "the lock, verb " << what;
    } else if (!only_looks(static_cast<act>(what))) {
      EXPECT_GT(seen.changes(), 0u) << "a lock, a header or a slot, verb " << what;
    }
  }
}

TYPED_TEST(perturbation, pauses_every_verb) {
  for (std::uint64_t what = 0; what < recorded_acts; ++what) {
    caller<typename TypeParam::coding> c(static_cast<act>(what));
    const perturber pauses(1901, 4);
    c.run();
    EXPECT_GT(pauses.pauses(), calls / 4) << "verb " << what; // of at least three steps a call, one in four
  }
}

/// The seed decides: the same steps meet the same pauses.
TEST(perturber_alone, repeats_its_pauses) {
  std::uint64_t counted[2] = {};
  for (std::uint64_t& count : counted) {
    perturber p(1902, 8);
    for (unsigned i = 0; i < 10000; ++i) p.before(step::load, nullptr);
    count = p.pauses();
  }
  EXPECT_EQ(counted[0], counted[1]);
  EXPECT_GT(counted[0], 900u); // of 10,000 one in eight
  EXPECT_LT(counted[0], 1600u);
}

/// The verbs of tables of one thread have no atomic access, so there is nothing to pause; their memory may.
TEST(perturbation_of_one_thread, finds_no_step_in_its_verbs) {
  cubby::map<std::uint64_t, std::uint64_t, cubby::dlht_single> m(tiny_options());
  const census seen;
  for (std::uint64_t k = 0; k < 1000; ++k) m.insert_or_assign(k % 300, k);
  EXPECT_LT(seen.changes() + seen.of(step::load) + seen.of(step::store), 50u);
}

} // namespace
} // namespace cubby_test
