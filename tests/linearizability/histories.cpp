// SPDX-License-Identifier: Apache-2.0
// Guarantee A with threads: histories of every verb, recorded on hot keys of tiny tables while noise makes them grow,
// shrink and reuse slots, under random pauses between atomic steps, each have an order for every key.
#include <atomic>
#include <memory>
#include <vector>

#include "engines.hpp"
#include "linearizability/checker.hpp"
#include "linearizability/client.hpp"
#include "support/hooks.hpp"

namespace cubby_test {
namespace {

/// What a thread may call: the model's verbs, then three compound ones.
enum class act : std::uint8_t {
  find,
  insert,
  assign,
  erase,
  extract,
  insert_or_assign,
  update,
  upsert,
  toggle,
  reserve
};
constexpr std::uint64_t acts = 10;
constexpr std::uint64_t first_noise_key = 1000;

struct plan {
  cubby::options options = tiny_options();
  unsigned threads = 3;
  std::uint64_t keys = 1;
  std::uint64_t calls = 1500; // of each thread
  std::uint64_t rarity = 20;  // of pauses
  bool resize = true;         // one thread more grows and shrinks the table
  std::vector<act> favoured;  // three calls of four; any other verb is drawn for the fourth
};

template <class Coding>
void act_once(client<Coding>& c, act what, std::uint64_t key, std::uint64_t number, bool coin) {
  switch (what) {
  case act::upsert: return c.upsert(key, number);
  case act::toggle: return c.toggle(key, number);
  case act::reserve: return c.reserve_then(coin, key, number);
  default: return c.call(static_cast<verb>(what), key, number);
  }
}

template <class Coding>
void record_calls(typename Coding::map& m, trace& t, const plan& p, std::uint64_t salt) {
  perturber pauses(salt, p.rarity);
  client<Coding> c(m, t);
  random_source random(salt + 1);
  for (std::uint64_t i = 0; i < p.calls; ++i) {
    act what = static_cast<act>(random.below(acts));
    if (!p.favoured.empty() && !random.one_in(4)) what = p.favoured[random.below(p.favoured.size())];
    act_once(c, what, random.below(p.keys), t.fresh_value(), random.one_in(2));
  }
}

/// Other keys come and go, so that the bins of the hot keys move, chain and fill up.
template <class Coding>
void make_noise(typename Coding::map& m, const std::atomic<unsigned>& working, std::uint64_t salt) {
  perturber pauses(salt, 50);
  random_source random(salt + 1);
  while (working.load() != 0) {
    const std::uint64_t burst = 20 + random.below(200);
    for (std::uint64_t k = 0; k < burst; ++k) m.insert(first_noise_key + k, Coding::encode(k));
    for (std::uint64_t k = 0; k < burst; ++k) m.erase(first_noise_key + k);
    m.shrink_to_fit();
  }
}

template <class Coding>
void expect_linearizable(const plan& p, std::uint64_t salt) {
  auto m = std::make_unique<typename Coding::map>(p.options);
  std::vector<std::unique_ptr<trace>> traces;
  for (unsigned t = 0; t < p.threads; ++t) {
    traces.push_back(std::make_unique<trace>(static_cast<std::uint16_t>(t), p.calls * 2));
  }
  std::atomic<unsigned> working{p.threads};
  run_threads(p.threads + (p.resize ? 1 : 0), [&](unsigned t) {
    if (t == p.threads) return make_noise<Coding>(*m, working, salt * 64 + 60);
    record_calls<Coding>(*m, *traces[t], p, salt * 64 + t * 2);
    working.fetch_sub(1);
  });
  std::vector<record> history;
  for (const auto& t : traces) {
    ASSERT_FALSE(t->overflowed());
    history.insert(history.end(), t->records().begin(), t->records().end());
  }
  ASSERT_GE(history.size(), p.threads * p.calls);
  const finding f = check_history(history);
  ASSERT_EQ(f.what, judgement::linearizable) << f.text;
}

template <class Coding>
class linearizability : public ::testing::Test {};
using codings = ::testing::Types<word_coding<cubby::reference>, record_coding<cubby::reference>,
                                 word_coding<cubby::dlht>, record_coding<cubby::dlht>,
                                 word_coding<cubby::dlht, clustered_hash>, record_coding<cubby::dlht, clustered_hash>>;
TYPED_TEST_SUITE(linearizability, codings);

TYPED_TEST(linearizability, of_mixed_verbs_while_the_table_grows_and_shrinks) {
  std::uint64_t salt = 1000;
  for (const auto growth : growing_policies) {
    for (const unsigned threads : {2u, 3u, 4u}) {
      plan p;
      p.options = tiny_options(growth);
      p.threads = threads;
      p.keys = threads == 2 ? 1 : threads == 3 ? 3 : 8;
      p.calls = scaled(600);
      expect_linearizable<TypeParam>(p, ++salt);
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

TYPED_TEST(linearizability, of_mixed_verbs_on_one_key_at_rest) {
  plan p;
  p.calls = scaled(3000);
  p.resize = false;
  for (const std::uint64_t rarity : {4u, 30u, 1000u}) {
    p.rarity = rarity;
    expect_linearizable<TypeParam>(p, 1100 + rarity);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

TYPED_TEST(linearizability, of_each_pair_of_verbs) {
  std::uint64_t salt = 1200;
  for (std::uint64_t a = 0; a < acts; ++a) {
    for (std::uint64_t b = a; b < acts; ++b) {
      plan p;
      p.favoured = {static_cast<act>(a), static_cast<act>(b), act::insert};
      p.keys = 1 + (a + b) % 2;
      p.calls = scaled(150);
      p.resize = b % 2 == 0;
      p.rarity = 8;
      expect_linearizable<TypeParam>(p, ++salt);
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

/// Few distinct values, so that an old value comes back while a call is on its way: what unique values cannot show.
TYPED_TEST(linearizability, of_values_that_come_back) {
  for (std::uint64_t salt = 1300; salt < 1310; ++salt) {
    plan p;
    p.calls = scaled(400);
    typename TypeParam::map m(p.options);
    std::vector<std::unique_ptr<trace>> traces;
    for (std::uint16_t t = 0; t < 4; ++t) traces.push_back(std::make_unique<trace>(t, p.calls * 2));
    run_threads(4, [&](unsigned t) {
      perturber pauses(salt * 16 + t, 6);
      client<TypeParam> c(m, *traces[t]);
      random_source random(salt * 16 + t + 8);
      for (std::uint64_t i = 0; i < p.calls; ++i) {
        act_once(c, static_cast<act>(random.below(acts)), 0, random.below(2), random.one_in(2));
      }
    });
    std::vector<record> history;
    for (const auto& t : traces) history.insert(history.end(), t->records().begin(), t->records().end());
    const finding f = check_history(history);
    ASSERT_EQ(f.what, judgement::linearizable) << f.text;
  }
}

} // namespace
} // namespace cubby_test
