// SPDX-License-Identifier: Apache-2.0
#include "explore/schedule.hpp"

#include <algorithm>
#include <cstdlib>

#include "support/random.hpp"

namespace cubby_test {

prioritizer::prioritizer(std::uint64_t seed, unsigned threads, unsigned changes, std::uint64_t expected_steps) {
  std::uint64_t state = splitmix(seed);
  const auto draw = [&](std::uint64_t bound) { return (state = splitmix(state)) % bound; };
  for (unsigned i = 0; i < threads; ++i) priority_[i] = i + 1;
  for (unsigned i = threads; i > 1; --i) std::swap(priority_[i - 1], priority_[draw(i)]);
  for (unsigned i = 0; i < changes; ++i) change_at_.push_back(1 + draw(expected_steps + 1));
  std::sort(change_at_.begin(), change_at_.end());
}

std::uint8_t prioritizer::choose(const decision_point& here) {
  ++steps_;
  const bool change = std::binary_search(change_at_.begin(), change_at_.end(), steps_);
  if (here.from != nobody && (change || here.forced)) priority_[here.from] = --lowest_;
  std::uint8_t best = here.usual;
  for (std::uint8_t t = 0; t < most_threads; ++t) {
    if ((here.ready >> t & 1) != 0 && priority_[t] > priority_[best]) best = t;
  }
  return best;
}

std::string write(const schedule& s) {
  std::string text;
  for (const departure& d : s) {
    if (!text.empty()) text += ',';
    text += (d.from == nobody ? std::string("n") : std::to_string(d.from)) + "." + std::to_string(d.at) + ">" +
            std::to_string(d.to);
  }
  return text;
}

bool read(const std::string& text, schedule& out) {
  const char* at = text.c_str();
  while (*at != '\0') {
    departure d;
    char* end = nullptr;
    if (*at == 'n') end = const_cast<char*>(at + 1);
    else d.from = static_cast<std::uint8_t>(std::strtoul(at, &end, 10));
    if (*end != '.') return false;
    d.at = static_cast<std::uint32_t>(std::strtoul(end + 1, &end, 10));
    if (*end != '>') return false;
    d.to = static_cast<std::uint8_t>(std::strtoul(end + 1, &end, 10));
    if (d.to >= most_threads || (*end != ',' && *end != '\0')) return false;
    out.push_back(d);
    at = *end == ',' ? end + 1 : end;
  }
  return true;
}

schedule departures_of(const std::vector<decision_point>& points) {
  schedule s;
  for (const decision_point& p : points) {
    if (p.chosen != p.usual) s.push_back({p.from, p.chosen, p.at});
  }
  return s;
}

unsigned preemptions_in(const std::vector<decision_point>& points) {
  unsigned count = 0;
  for (const decision_point& p : points) count += !p.forced && p.chosen != p.from ? 1 : 0;
  return count;
}

} // namespace cubby_test
