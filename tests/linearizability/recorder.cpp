// SPDX-License-Identifier: Apache-2.0
// A program that records histories of every engine into files, judges such files, and plants errors into them that
// every checker has to see. tools/verify/histories.py has Porcupine judge the same files.
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "linearizability/acts.hpp"
#include "linearizability/checker.hpp"
#include "linearizability/history_file.hpp"

namespace cubby_test {
namespace {

std::uint64_t& seed_of_run() {
  static std::uint64_t seed = 0;
  return seed;
}

struct recorder {
  std::string name;
  std::vector<record> (*make)(const plan&, std::uint64_t salt);
  bool shared; // by threads
};

/// The recorders of a line of the list: words and records, each also with all hot keys in one place; texts in slots; tuples.
template <class Line>
void add_recorders(std::vector<recorder>& all) {
  using engine = typename Line::engine;
  using hot = typename hashes_of<engine>::hot;
  const std::string name = Line::name;
  if constexpr (Line::records) {
    all.push_back({name + "-words", &record_history<word_coding<engine>>, Line::shared});
    all.push_back({name + "-records", &record_history<record_coding<engine>>, Line::shared});
    if constexpr (Line::shared && !Line::lookups_lock) {
      all.push_back({name + "-words-hot", &record_history<word_coding<engine, hot>>, true});
      all.push_back({name + "-records-hot", &record_history<record_coding<engine, hot>>, true});
    }
    if constexpr (Line::wide_slots) {
      using usual = typename hashes_of<engine>::usual;
      all.push_back({name + "-texts", &record_history<text_coding<engine, usual>>, Line::shared});
      all.push_back({name + "-texts-hot", &record_history<text_coding<engine, hot>>, Line::shared});
    }
  } else if constexpr (Line::tuples) {
    all.push_back({name, &record_history<record_coding<engine>>, Line::shared});
    all.push_back({name + "-hot", &record_history<record_coding<engine, hot>>, Line::shared});
  }
}
template <class... Lines>
std::vector<recorder> recorders_of(::testing::Types<Lines...>) {
  std::vector<recorder> all;
  (add_recorders<Lines>(all), ...);
  all.push_back({"reference-set", &record_history<set_coding<cubby::reference>>, true});
  all.push_back({"dlht-set", &record_history<set_coding<cubby::dlht>>, true});
  all.push_back({"dlht-set-hot", &record_history<set_coding<cubby::dlht, clustered_hash>>, true});
  return all;
}

struct kind {
  const char* name;
  unsigned threads;
  std::uint64_t keys, calls, rounds, rarity;
  bool resize, scarce, together;
};
// At most 20,000 records a key: Porcupine's memory grows with the square.
constexpr kind kinds[] = {
    {"plain", 3, 64, 8000, 1, 0, false, false, false},   {"perturbed", 3, 8, 6000, 1, 8, false, false, false},
    {"resized", 3, 16, 6000, 1, 20, true, false, false}, {"hot", 8, 1, 20, 85, 8, false, false, false},
    {"starved", 3, 40, 6000, 1, 20, true, true, false},  {"batches", 3, 3, 25, 20, 6, true, false, true},
};

plan plan_of(const kind& k, const recorder& of) {
  plan p;
  p.threads = of.shared ? k.threads : 1;
  p.keys = k.keys;
  p.calls = k.calls;
  p.rounds = k.rounds;
  p.rarity = k.rarity;
  p.resize = k.resize && of.shared;
  p.scarce = k.scarce;
  p.options = tiny_options(growing_policies[seed_of_run() % std::size(growing_policies)]);
  if (k.together) {
    p.favoured = {act::execute, act::execute_stopping, act::find, act::extract};
    p.favoured_only = true;
  }
  return p;
}

int fail(const char* what, const std::string& about) {
  std::fprintf(stderr, "cubby_histories: %s: %s\n", what, about.c_str());
  return 2;
}

/// Each kind of history from each recorder, into `folder`/<recorder>.<kind>.his.
int record_all(const std::string& folder, const std::string& only) {
  for (const recorder& r : recorders_of(listed_engines{})) {
    for (const kind& k : kinds) {
      const std::string name = r.name + "." + k.name;
      if (!only.empty() && only != name) continue;
      const std::string path = folder + "/" + name + ".his";
      const recorded_history h{r.make(plan_of(k, r), 1), k.together};
      if (h.records.empty()) return fail("nothing was recorded", path);
      if (!write_history(path, h)) return fail("cannot write", path);
      std::printf("%s\t%zu records\tseed %" PRIu64 "\n", path.c_str(), h.records.size(), seed_of_run());
    }
  }
  return 0;
}

const char* name_of(judgement what) {
  if (what == judgement::linearizable) return "linearizable";
  return what == judgement::refused ? "refused" : "not checked";
}

/// A line for each file: path, result, records, objects judged, the first line of why; divided by tabs. Then all of it.
int judge_files(int count, char** paths) {
  for (int i = 0; i < count; ++i) {
    recorded_history h;
    if (!read_history(paths[i], h)) return fail("no history", paths[i]);
    const finding f = h.together ? check_together(h.records) : check_history(h.records);
    const std::string why = f.text.substr(0, f.text.find('\n'));
    std::printf("%s\t%s\t%zu\t%zu\t%s\n", paths[i], name_of(f.what), h.records.size(), f.keys, why.c_str());
    // On the same stream, so that it cannot come into the middle of a line.
    if (f.what != judgement::linearizable) std::printf("%s\n", f.text.c_str());
  }
  return 0;
}

bool writes(const record& r) {
  const bool always = r.what == verb::put || r.what == verb::insert_or_assign;
  const bool if_done = r.what == verb::insert || r.what == verb::assign;
  return r.how == status::answered && (always || (if_done && r.ok));
}

/// The last find of a key that had been written twice, one write after the other, shows the first of the two.
bool plant_stale_value(std::vector<record>& all) {
  for (const record& first : all) {
    if (!writes(first)) continue;
    for (const record& second : all) {
      if (!writes(second) || second.key != first.key || second.called <= first.returned) continue;
      for (record& look : all) {
        const bool shows = look.what == verb::find && look.ok && look.key == first.key;
        if (!shows || look.called <= second.returned || look.result == first.argument) continue;
        look.result = first.argument;
        return true;
      }
    }
  }
  return false;
}

/// A find shows a value that nobody wrote: in the middle of the history, or where its key has been found 500 times. A
/// checker that refuses it goes back over all that came before, and Porcupine needs a minute for 10,000 operations on a key.
bool plant_invented_value(std::vector<record>& all) {
  std::vector<record*> finds;
  for (record& r : all) {
    if (r.what == verb::find && r.ok) finds.push_back(&r);
  }
  if (finds.empty()) return false;
  std::sort(finds.begin(), finds.end(), [](const record* a, const record* b) { return a->called < b->called; });
  std::map<std::uint64_t, unsigned> of_key;
  std::size_t chosen = 0;
  while (chosen < finds.size() / 2 && ++of_key[finds[chosen]->key] < 500) ++chosen;
  finds[chosen]->result = ~std::uint64_t{0};
  return true;
}

/// Two requests of a batch change places: an insert that succeeded, and a find that saw its value.
bool plant_swapped_requests(std::vector<record>& all) {
  for (std::size_t i = 1; i < all.size(); ++i) {
    record &a = all[i - 1], &b = all[i];
    const bool follows = a.group != grouping::single && a.group == b.group && a.called == b.called &&
                         b.position == a.position + 1 && a.key == b.key;
    if (!follows || a.what != verb::insert || !a.ok || b.what != verb::find || b.result != a.argument) continue;
    std::swap(a, b);
    std::swap(a.position, b.position);
    return true;
  }
  return false;
}

int plant(const std::string& what, const std::string& from, const std::string& to) {
  recorded_history h;
  if (!read_history(from, h)) return fail("no history", from);
  const bool done = what == "stale"      ? plant_stale_value(h.records)
                    : what == "invented" ? plant_invented_value(h.records)
                    : what == "swapped"  ? plant_swapped_requests(h.records)
                                         : false;
  if (!done) return fail("no place for this error", what + " in " + from);
  return write_history(to, h) ? 0 : fail("cannot write", to);
}

} // namespace

std::uint64_t run_seed() { return seed_of_run(); }
std::uint64_t scaled(std::uint64_t count) { return count; }
bool sparse() { return false; }

} // namespace cubby_test

int main(int argc, char** argv) {
  using namespace cubby_test;
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "judge" && argc > 2) return judge_files(argc - 2, argv + 2);
  if (what == "plant" && argc == 5) return plant(argv[2], argv[3], argv[4]);
  if (what == "record" && (argc == 4 || argc == 5)) {
    seed_of_run() = std::strtoull(argv[2], nullptr, 0);
    return record_all(argv[3], argc == 5 ? argv[4] : "");
  }
  std::fprintf(stderr, "usage: cubby_histories record SEED FOLDER [RECORDER.KIND]\n"
                       "       cubby_histories judge FILE...\n"
                       "       cubby_histories plant stale|invented|swapped FILE OUT\n");
  return 2;
}
