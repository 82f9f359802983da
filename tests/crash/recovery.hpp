// SPDX-License-Identifier: Apache-2.0
// One recovery, and what it has found. And the judge: whether that is what the oracle allows.
#pragma once

#include <map>
#include <string>

#include "crash/codings.hpp"
#include "crash/files.hpp"

namespace cubby_test::crash {

/// Where a table is in its life. It decides what `open` may say of the file.
enum class phase : std::uint8_t {
  making,  ///< its `open` has not returned: there may be no file
  opening, ///< the same, for a file that was there
  open,
  closing,
  closed
};

/// What a recovery has found. `trouble`: why it is wrong in itself.
struct found {
  std::map<token, token> contents;
  cubby::recovered report;
  std::string trouble;
};

/// The options of the tables under test: the domain `line` on an ordinary file.
inline cubby::durable_options table_options(std::size_t capacity,
                                            cubby::growth_policy growth = cubby::growth_policy::incremental) {
  cubby::durable_options out;
  out.capacity = capacity;
  out.growth = growth;
  out.write_lines_back = true;
  out.most_bytes = std::uint64_t{1} << 26;
  return out;
}

/// The contents of a table that no thread changes, and whether it agrees with itself.
template <class Coding> found look_at(const typename Coding::table& m) {
  found out;
  std::uint64_t blocks = 0;
  Coding::each(m, [&](token key, token value) {
    if (key == torn_value || value == torn_value) out.trouble = "an entry is torn";
    else if (!out.contents.emplace(key, value).second) out.trouble = "key " + std::to_string(key) + " is there twice";
    else blocks += Coding::block_bytes(key, value);
  });
  if (!out.trouble.empty()) return out;
  if (m.size() != out.contents.size()) out.trouble = "size() is " + std::to_string(m.size());
  else if (!m.check().ok()) out.trouble = "check() finds lost or damaged entries";
  return out;
}
/// Whether a record of a change that has not returned may be there in parts, and say so. Where there are slots, none leads to it yet.
template <class Coding> inline constexpr bool may_tear = !has_slots<typename Coding::engine>;
/// The same for one that has just been recovered, with what only holds then.
template <class Coding> found look_at_recovered(const cubby::opened<typename Coding::table>& opened) {
  found out;
  if (!opened) {
    out.trouble = std::string("open: ") + opened.message();
    return out;
  }
  out = look_at<Coding>(*opened);
  out.report = opened.recovered();
  std::uint64_t blocks = 0;
  for (const auto& [key, value] : out.contents) blocks += Coding::block_bytes(key, value);
  if (!out.trouble.empty()) return out;
  if (out.report.entries != out.contents.size()) out.trouble = "recovered().entries is not what is there";
  else if ((out.report.torn != 0 && !may_tear<Coding>) || out.report.damaged != 0)
    out.trouble = "recovery reports torn or damaged entries";
  else if (opened->stats().block_bytes != blocks)
    out.trouble = "blocks of " + std::to_string(opened->stats().block_bytes) +
                  " bytes are in use, and the entries reach " + std::to_string(blocks);
  return out;
}

/// Works with a recovered table, closes it, and opens it again. Empty if all is right.
template <class Coding>
std::string exercise(typename Coding::table& m, const std::map<token, token>& contents) {
  for (const auto& [key, value] : contents) {
    if (!Coding::run(m, {verb::erase, key, 0}).done) return "an entry cannot be erased";
    if (!Coding::run(m, {verb::insert, key, value}).done) return "an entry cannot be inserted again";
  }
  constexpr token fresh = 500;
  for (token key = fresh; key < fresh + 8; ++key)
    if (!contents.contains(key) && !Coding::run(m, {verb::insert, key, 1}).done) return "a new key cannot be inserted";
  for (token key = fresh; key < fresh + 8; ++key)
    if (!contents.contains(key) && !Coding::run(m, {verb::erase, key, 0}).done) return "a new key cannot be erased";
  const found after = look_at<Coding>(m);
  if (!after.trouble.empty()) return after.trouble;
  return after.contents == contents ? "" : "other contents after erasing and inserting";
}

/// Why what was found is wrong; empty if it is not.
std::string judge(const found& got, const allowed_values& allowed, phase when);

} // namespace cubby_test::crash
