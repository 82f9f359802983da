// SPDX-License-Identifier: Apache-2.0
#include "explore/groups.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include <gtest/gtest.h>

#include <cubby/detail/platform/cpu.hpp>

#include "explore/search.hpp"
#include "support/random.hpp"

namespace cubby_test {
namespace {

using clock = explorer::clock;
using explorers = std::vector<std::unique_ptr<explorer>>;

double budget_seconds() {
  if (const char* const given = std::getenv("CUBBY_EXPLORE_SECONDS")) return std::strtod(given, nullptr);
  return cubby::detail::cpu::thread_sanitizer ? 7 : 17; // one thread of the system: nothing for that tool to find
}

unsigned bound_asked_for() {
  const char* const given = std::getenv("CUBBY_EXPLORE_BOUND");
  const auto asked = given == nullptr ? 2ul : std::strtoul(given, nullptr, 10);
  return static_cast<unsigned>(std::min(asked, 0ul + coverage::most_bound));
}

/// A row of the table: all scenarios of a group, or one.
struct row {
  std::string name;
  std::size_t scenarios = 0;
  std::size_t exhausted[coverage::most_bound + 1] = {};
  std::uint64_t schedules = 0;
  std::uint64_t random = 0;
  std::uint64_t longest = 0;
  void add(const coverage& c) {
    ++scenarios;
    for (int b = 0; b <= c.bound(); ++b) ++exhausted[b];
    schedules += c.bounded();
    random += c.random;
    longest = std::max(longest, c.longest);
  }
};

class table final : public ::testing::Environment {
public:
  std::vector<row> rows;
  unsigned shares = 0; ///< of the groups that ran
  void TearDown() override {
    if (rows.empty()) return;
    const auto& run = *::testing::UnitTest::GetInstance();
    if (run.test_to_run_count() == run.total_test_count()) {
      EXPECT_EQ(shares, all_shares);
    }
    const unsigned bound = bound_asked_for();
    std::printf(
        "\nscenarios of which every schedule of at most so many preemptions was run (`cut`: time was up before)\n");
    std::printf("%-24s %9s", "group", "scenarios");
    for (unsigned b = 0; b <= bound; ++b) std::printf(" %5u", b);
    std::printf(" %12s %12s %8s  bound %u\n", "schedules", "at random", "longest", bound);
    row sum;
    for (const row& r : rows) {
      print(r, bound);
      sum.scenarios += r.scenarios;
      for (unsigned b = 0; b <= bound; ++b) sum.exhausted[b] += r.exhausted[b];
      sum.schedules += r.schedules;
      sum.random += r.random;
      sum.longest = std::max(sum.longest, r.longest);
    }
    sum.name = "all";
    print(sum, bound);
    std::fflush(stdout);
  }

private:
  static void print(const row& r, unsigned bound) {
    std::printf("%-24s %9zu", r.name.c_str(), r.scenarios);
    for (unsigned b = 0; b <= bound; ++b) std::printf(" %5zu", r.exhausted[b]);
    std::printf(" %12llu %12llu %8llu  %s\n", static_cast<unsigned long long>(r.schedules),
                static_cast<unsigned long long>(r.random), static_cast<unsigned long long>(r.longest),
                r.exhausted[bound] == r.scenarios ? "exhausted" : "cut");
  }
};

table& the_table() {
  static auto* const made = new table;
  static const bool known = ::testing::AddGlobalTestEnvironment(made) != nullptr; // GoogleTest deletes it
  (void)known;
  return *made;
}
const table& made_before_the_tests = the_table();

void write_rows(const std::string& group, const explorers& all) {
  const char* const path = std::getenv("CUBBY_EXPLORE_TABLE");
  if (path == nullptr) return;
  std::FILE* const file = std::fopen(path, "a");
  ASSERT_NE(file, nullptr) << path;
  for (const auto& e : all) {
    const coverage& c = e->covered();
    std::fprintf(file, "%s\t%s\t%s\tbound %d exhausted%s\t%llu schedules\t%llu at random\n", group.c_str(),
                 name_of(e->what().table), e->what().name.c_str(), c.bound(),
                 c.bound() < static_cast<int>(bound_asked_for()) ? ", then cut" : "",
                 static_cast<unsigned long long>(c.bounded()), static_cast<unsigned long long>(c.random));
  }
  std::fclose(file);
}

/// True when the scenario to replay is of this group.
bool replay(const std::string& wanted, const std::vector<scenario>& scenarios) {
  const auto at = wanted.rfind('@');
  for (const scenario& s : scenarios) {
    if (at == std::string::npos || s.name != wanted.substr(0, at)) continue;
    schedule chosen;
    EXPECT_TRUE(read(wanted.substr(at + 1), chosen)) << "not a schedule";
    explorer e(s);
    const action v = e.run(chosen);
    std::printf("%s\n%s", s.name.c_str(), e.trace(chosen).c_str());
    EXPECT_EQ(v.complaint, "");
    return true;
  }
  return false;
}

/// Gives each explorer an equal part of what is left until `end`. False when one failed.
template <class Search>
bool share_out(const explorers& all, clock::time_point end, Search search) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto now = clock::now();
    const auto part = end > now ? (end - now) / static_cast<long>(all.size() - i) : clock::duration::zero();
    search(*all[i], now + part);
    if (all[i]->failed()) {
      ADD_FAILURE() << all[i]->failed()->text;
      return false;
    }
  }
  return true;
}

/// One bound after another. Schedules without a preemption are few, and all run even if time is up. With one they take
/// what they need. Then small scenarios come first, so that they leave what they do not need to the large ones.
bool search_by_bounds(explorers& all, clock::time_point end) {
  for (unsigned bound = 0; bound <= bound_asked_for(); ++bound) {
    const auto search = [&](explorer& e, clock::time_point until) {
      const auto limit = bound == 0 ? clock::time_point::max() : bound == 1 ? end : until;
      if (e.covered().bound() + 1 == static_cast<int>(bound)) (void)e.search(bound, limit);
    };
    if (!share_out(all, end, search)) return false;
    std::sort(all.begin(), all.end(), [&](const auto& a, const auto& b) {
      return a->covered().schedules[bound] < b->covered().schedules[bound];
    });
  }
  return true;
}

} // namespace

void explore_group(const std::string& name, std::vector<scenario> scenarios, unsigned share) {
  if (const char* const wanted = std::getenv("CUBBY_EXPLORE_REPLAY")) {
    if (!replay(wanted, scenarios)) GTEST_SKIP() << "the schedule to replay is of another group";
    return;
  }
  the_table().shares += share;
  if (const char* const wanted = std::getenv("CUBBY_EXPLORE_ONLY")) {
    std::erase_if(scenarios, [wanted](const scenario& s) { return s.name.find(wanted) == std::string::npos; });
    if (scenarios.empty()) GTEST_SKIP() << "no scenario of that name in this group";
    share = all_shares;
  }
  explorers all;
  for (const scenario& s : scenarios) all.push_back(std::make_unique<explorer>(s));
  const std::chrono::duration<double> mine(budget_seconds() * share / all_shares);
  const auto whole = std::chrono::duration_cast<clock::duration>(mine);
  if (search_by_bounds(all, clock::now() + whole * 3 / 4)) {
    const auto at_random = [seed = run_seed()](explorer& e, clock::time_point until) mutable {
      (void)e.search_at_random(seed += 1000003, ~std::uint64_t{0}, until);
    };
    (void)share_out(all, clock::now() + whole / 4, at_random);
  }
  row r;
  r.name = name;
  for (const auto& e : all) {
    r.add(e->covered());
    EXPECT_GE(e->covered().resizes, e->what().resizes) << e->what().name << " never resized as it should";
  }
  the_table().rows.push_back(r);
  write_rows(name, all);
}

void explore_to_the_end(const std::vector<scenario>& all, const std::string& kind, unsigned most) {
  std::size_t explored = 0;
  if (sparse()) most = std::min(most, 1u);
  for (const scenario& s : all) {
    if (!s.name.starts_with(kind)) continue;
    explorer e(s);
    for (unsigned bound = 0; bound <= most; ++bound) {
      ASSERT_TRUE(e.search(bound, explorer::no_end)) << (e.failed() ? e.failed()->text : std::string());
    }
    EXPECT_GE(e.covered().resizes, s.resizes) << s.name << " never resized as it should";
    ++explored;
  }
  EXPECT_NE(explored, 0u) << "no scenario of this kind: " << kind;
}

void explore_and_draw(const std::vector<scenario>& all, const std::string& kind, unsigned most, std::uint64_t draws) {
  explore_to_the_end(all, kind, most);
  for (const scenario& s : all) {
    if (!s.name.starts_with(kind)) continue;
    explorer e(s);
    ASSERT_TRUE(e.search(0, explorer::no_end)); // learns how long schedules are
    ASSERT_TRUE(e.search_at_random(1, scaled(draws) / sparse_stride(3), explorer::no_end))
        << (e.failed() ? e.failed()->text : std::string());
  }
}

} // namespace cubby_test
