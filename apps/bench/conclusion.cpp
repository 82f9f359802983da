// SPDX-License-Identifier: Apache-2.0
// Finds the first engine at each point, then words.
#include "conclusion.hpp"

#include <algorithm>
#include <fmt/core.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "descriptions.hpp"

namespace bench {

namespace {

bool is_ours(engine_id e) {
  return !is_rival(e) && !is_limit(e) && e != engine_id::std_map && e != engine_id::ddds && e != engine_id::rwlock;
}

template <class Predicate> const result* best_at(const result& point, const std::vector<result>& among, Predicate is) {
  const result* best = nullptr;
  for (const result& r : among)
    if (is(r.engine) && same_point(r, point) && (best == nullptr || r.median_mops > best->median_mops)) best = &r;
  return best;
}

bool even(const result& a, const result& b) {
  return in_batches(a.engine, a.what, a.batch) == in_batches(b.engine, b.what, b.batch);
}

// Whether a round of the slower one was faster than a round of the faster one.
bool overlap(const duel& d) {
  const result& first = d.won() ? d.ours : d.rival;
  const result& second = d.won() ? d.rival : d.ours;
  if (first.rounds_mops.size() < 2 || second.rounds_mops.size() < 2) return false;
  return *std::ranges::min_element(first.rounds_mops) < *std::ranges::max_element(second.rounds_mops);
}

// Two digits of a ratio. One below 1 is never shown as 1.00, which would not be a loss.
double shown(double ratio) { return ratio < 1 ? std::min(ratio, 0.99) : ratio; }

std::string named(const result& r) { return fmt::format("{} ({})", name_of(r.engine), calls_of(r)); }

std::size_t uneven_among(const comparison& c) {
  return static_cast<std::size_t>(std::ranges::count_if(c.duels, [](const duel& d) { return !even(d.ours, d.rival); }));
}

std::string words_of(const duel& d) {
  std::string text =
      d.won()
          ? fmt::format("{} is first with {:.2f} Mops/s, {:.2f} times the best rival, {}.", named(d.ours),
                        d.ours.median_mops, shown(d.ratio()), named(d.rival))
          : fmt::format("{} is first with {:.2f} Mops/s. cubby loses: its best engine, {}, reaches {:.2f} times that.",
                        named(d.rival), d.rival.median_mops, named(d.ours), shown(d.ratio()));
  if (!even(d.ours, d.rival)) text += " That is batches against single calls.";
  if (overlap(d)) text += " Rounds of the two overlap: another run may change the order.";
  return text;
}

comparison comparison_of(const chapter& c, const workload& w) {
  comparison found{heading_of(c), w, {}, {}};
  std::vector<result> seen;
  for (const result& r : c.results) {
    if (!(r.what == w) || std::ranges::any_of(seen, [&](const result& s) { return same_point(s, r); })) continue;
    seen.push_back(r);
    const result* const ours = best_at(r, c.results, is_ours);
    const result* const rival = best_at(r, c.results, is_rival);
    if (ours != nullptr && rival != nullptr && rival->median_mops > 0) found.duels.push_back({*ours, *rival});
  }
  std::ranges::sort(found.duels, {}, [](const duel& d) { return d.ratio(); });
  if (found.duels.size() > 1) found.where = sizes_of(found.duels.front().rival, c.results);
  return found;
}

std::string losses(const std::vector<comparison>& all) {
  std::vector<std::string> lost;
  for (const comparison& c : all) {
    const duel& worst = c.duels.front();
    if (!worst.won())
      lost.push_back(fmt::format(
          "{} of \"{}\" ({}{:.2f} times {}{}{}{})", name_of(c.what), c.heading,
          c.duels.size() == 1 ? ""
                              : fmt::format("at {} of {} points, lowest ", c.duels.size() - c.won(), c.duels.size()),
          shown(worst.ratio()), name_of(worst.rival.engine), c.where.empty() ? "" : " at", c.where,
          even(worst.ours, worst.rival) ? "" : ", batches against single calls"));
  }
  return lost.empty() ? "It loses none of them." : fmt::format("It loses: {}.", fmt::join(lost, ", "));
}

// "dlht under get (41 %), ...", the first few.
std::string list_of(const std::vector<std::string>& all) {
  constexpr std::size_t most = 6;
  const auto shown = static_cast<std::ptrdiff_t>(std::min(most, all.size()));
  std::string text = fmt::format("{}", fmt::join(all.begin(), all.begin() + shown, ", "));
  return all.size() > most ? text + fmt::format(" and {} more", all.size() - most) : text;
}

} // namespace

std::size_t comparison::won() const {
  return static_cast<std::size_t>(std::ranges::count_if(duels, [](const duel& d) { return d.won(); }));
}

std::vector<comparison> compare(const std::vector<chapter>& chapters) {
  std::vector<comparison> all;
  for (const chapter& c : chapters)
    for (const workload& w : c.run.workloads) {
      comparison found = comparison_of(c, w);
      if (!found.duels.empty()) all.push_back(std::move(found));
    }
  return all;
}

std::vector<std::string> conclusion_of(const std::vector<comparison>& all) {
  if (all.empty()) return {"No workload here has both an engine of cubby and a rival, so none is first."};
  std::size_t points = 0;
  std::size_t won = 0;
  std::size_t unequal = 0;
  for (const comparison& c : all) {
    points += c.duels.size();
    won += c.won();
    unequal += uneven_among(c);
  }
  std::vector<std::string> sentences = {
      fmt::format("cubby is first in {} of {} comparisons with the best rival.", won, points), losses(all)};
  if (unequal != 0)
    sentences.push_back(fmt::format("{} of the {} comparisons set batches against single calls; each of them says so.",
                                    unequal, points));
  return sentences;
}

std::string line_of(const comparison& c) {
  const duel& worst = c.duels.front();
  if (c.duels.size() == 1) return words_of(worst);
  const std::size_t unequal = uneven_among(c);
  return fmt::format("cubby is first at {} of {} points, with {:.2f} to {:.2f} times the best rival{}. Lowest at{}: {}",
                     c.won(), c.duels.size(), shown(worst.ratio()), shown(c.duels.back().ratio()),
                     unequal == 0 ? "" : fmt::format(" ({} of them batches against single calls)", unequal), c.where,
                     words_of(worst));
}

std::optional<plot> summary_of(const std::vector<comparison>& all) {
  plot p;
  p.title = "cubby over the best rival";
  p.x_label = "workload";
  p.y_label = "best engine of cubby, times the best rival";
  p.drawn = plot::form::columns;
  p.line_at = 1;
  for (const comparison& c : all) {
    if (c.duels.size() != 1) continue;
    // a series for each chapter, in the colour of some engine
    if (p.all.empty() || p.all.back().name != c.heading)
      p.all.push_back({c.heading, static_cast<engine_id>(p.all.size() % named_engine_count), false, {}});
    const auto at = static_cast<double>(p.x_names.size());
    const bool unequal = uneven_among(c) != 0;
    p.x_names.emplace_back(name_of(c.what) + (unequal ? " *" : ""), at);
    if (unequal) p.x_label = "workload (* batches against single calls)";
    p.all.back().points.emplace_back(at, c.duels.front().ratio());
  }
  if (p.x_names.size() < 2) return std::nullopt;
  return p;
}

bool is_doubtful(const result& r) { return r.spread > trusted_spread; }

bool is_uneven(const result& r, const std::vector<result>& among) {
  const result* const rival = best_at(r, among, is_rival);
  return rival != nullptr && r.times_best_rival && !is_limit(r.engine) && !even(r, *rival);
}

std::vector<std::string> notes_of(const chapter& c) {
  std::vector<std::string> doubtful;
  std::vector<std::string> uneven; // each workload at each point once
  for (const result& r : c.results) {
    const std::string point = name_of(r.what) + sizes_of(r, c.results);
    if (is_doubtful(r))
      doubtful.push_back(fmt::format("{} under {} ({:.0f} %)", name_of(r.engine), point, r.spread * 100));
    if (!is_uneven(r, c.results)) continue;
    const std::string pair = fmt::format("{} against {}", point, name_of(best_at(r, c.results, is_rival)->engine));
    if (std::ranges::find(uneven, pair) == uneven.end()) uneven.push_back(pair);
  }
  std::vector<std::string> notes;
  if (!doubtful.empty())
    notes.push_back(fmt::format("! The spread is above {:.0f} %, so do not rely on these figures: {}. Measure again on "
                                "an idle machine, with more --seconds and --rounds.",
                                trusted_spread * 100, list_of(doubtful)));
  if (!uneven.empty())
    notes.push_back(fmt::format(
        "* The ratio sets batches against single calls: {}. With --batch 1 all are single calls.", list_of(uneven)));
  return notes;
}

} // namespace bench
