// SPDX-License-Identifier: Apache-2.0
// The tables of names; what the program prints as known is what it accepts.
#include "workload.hpp"

#include <algorithm>
#include <array>

#include "../../tests/engine_list.hpp"
#include "features.hpp"

namespace bench {

namespace {

constexpr std::array<std::string_view, named_engine_count> engines = {"dlht",
                                                                      "dramhit",
                                                                      "dramhit-pipe",
                                                                      "dramhit-tuples",
                                                                      "partitioned",
                                                                      "reference",
                                                                      "tbb",
                                                                      "cuckoo",
                                                                      "lfht",
                                                                      "std",
                                                                      "limit",
                                                                      "relativistic",
                                                                      "ddds",
                                                                      "rwlock",
                                                                      "limit-swap",
                                                                      "rcu",
                                                                      "rcu-record",
                                                                      "urcu-memb",
                                                                      "urcu-bp",
                                                                      "urcu-qsbr",
                                                                      "boost",
                                                                      "phmap",
                                                                      "folklore",
                                                                      "line-locks",
                                                                      "iceberg",
                                                                      "iceberg-full",
                                                                      "durable",
                                                                      "durable-line",
                                                                      "durable-page",
                                                                      "durable-seph",
                                                                      "durable-seph-line",
                                                                      "seph",
                                                                      "iceberg-wide"};

/// Whether an engine of the list, whose words are joined by `_`, has an adapter here.
constexpr bool is_measured(std::string_view engine) {
  return std::ranges::any_of(engines, [&](std::string_view name) {
    return std::ranges::equal(name, engine, [](char a, char b) { return a == b || (a == '-' && b == '_'); });
  });
}
#define CUBBY_MEASURED_single(engine) true
#define CUBBY_MEASURED_shared(engine) is_measured(#engine)
#define CUBBY_MEASURED(engine, storage, threads, ...)                                                                  \
  static_assert(CUBBY_MEASURED_##threads(engine), "the bench has no adapter for " #engine);
CUBBY_FOR_EACH_ENGINE(CUBBY_MEASURED)
#undef CUBBY_MEASURED
#undef CUBBY_MEASURED_shared
#undef CUBBY_MEASURED_single

struct named {
  std::string_view name;
  kind what;
};

constexpr std::array<named, 17> workloads = {{{"get", kind::get},
                                              {"miss", kind::miss},
                                              {"insdel", kind::insdel},
                                              {"put", kind::put},
                                              {"upsert", kind::upsert},
                                              {"add", kind::add},
                                              {"add-zipf", kind::add_zipf},
                                              {"populate", kind::populate},
                                              {"resize", kind::resize},
                                              {"grow-shrink", kind::grow_shrink},
                                              {"ycsb-a", kind::ycsb_a},
                                              {"ycsb-b", kind::ycsb_b},
                                              {"ycsb-c", kind::ycsb_c},
                                              {"ycsb-d", kind::ycsb_d},
                                              {"ycsb-f", kind::ycsb_f},
                                              {"skew", kind::skew},
                                              {"read-section", kind::read_section}}};

constexpr std::array<int, 6> hot_shares = {0, 25, 50, 75, 90, 100};

std::string with_dashes(std::string_view name) {
  std::string spelled(name);
  std::replace(spelled.begin(), spelled.end(), '_', '-');
  return spelled;
}

} // namespace

std::string_view name_of(engine_id engine) {
  return is_feature_engine(engine) ? feature_engine_of(engine).name : engines[static_cast<std::size_t>(engine)];
}

std::string name_of(const workload& w) {
  for (const named& n : workloads)
    if (n.what == w.what)
      return w.what == kind::skew ? std::string(n.name) + "-" + std::to_string(w.hot_percent) : std::string(n.name);
  return {};
}

bool shrinks(engine_id e) {
  switch (e) {
  case engine_id::dlht:
  case engine_id::dramhit:
  case engine_id::dramhit_tuples:
  case engine_id::relativistic:
  case engine_id::iceberg:
  case engine_id::iceberg_wide:
  case engine_id::seph:
  case engine_id::durable:
  case engine_id::durable_line:
  case engine_id::durable_page:
  case engine_id::durable_seph:
  case engine_id::durable_seph_line:
  case engine_id::ddds:
  case engine_id::rwlock: return true;
  default: return false;
  }
}

std::string engine_names() {
  std::string all;
  for (const std::string_view name : engines) all += (all.empty() ? "" : ", ") + std::string(name);
  return all + ", " + std::string(all_feature_engines);
}

std::string workload_names() {
  std::string all;
  for (const named& n : workloads) all += (all.empty() ? "" : ", ") + std::string(n.name);
  return all;
}

std::vector<engine_id> engines_named(std::string_view name) {
  const std::string spelled = with_dashes(name);
  std::vector<engine_id> found;
  for (std::size_t i = 0; i < engine_count; ++i) {
    const auto engine = static_cast<engine_id>(i);
    if (name_of(engine) == spelled || (spelled == all_feature_engines && is_feature_engine(engine)))
      found.push_back(engine);
  }
  return found;
}

std::vector<workload> workloads_named(std::string_view name) {
  const std::string spelled = with_dashes(name);
  std::vector<workload> found;
  for (const named& n : workloads) {
    if (n.name == spelled && n.what != kind::skew) found.push_back({n.what, 0});
    for (const int share : hot_shares)
      if (n.what == kind::skew && (n.name == spelled || spelled == std::string(n.name) + "-" + std::to_string(share)))
        found.push_back({n.what, share});
  }
  return found;
}

} // namespace bench
