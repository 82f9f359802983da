// SPDX-License-Identifier: Apache-2.0
// What a recovery may find, and what it may say.
#include "crash/recovery.hpp"

#include <algorithm>

namespace cubby_test::crash {
namespace {

std::string judge_report(const found& got, phase when) {
  if (got.report.created && when != phase::making) return "the table is taken for a new one";
  if (when == phase::open && got.report.clean) return "the table is taken for one that was closed";
  if (when == phase::closed && !got.report.clean) return "the table was closed, and open does not know";
  if (!got.report.clean && !got.report.created && !got.report.power_cut) return "open has not seen the power cut";
  return {};
}

} // namespace

std::string judge(const found& got, const allowed_values& allowed, phase when) {
  if (!got.trouble.empty()) return got.trouble;
  for (const auto& [key, values] : allowed) {
    const auto is = got.contents.find(key);
    const maybe value = is == got.contents.end() ? maybe{} : maybe(is->second);
    if (std::find(values.begin(), values.end(), value) == values.end())
      return "found " + describe(key, {value}) + "; allowed " + describe(key, values);
  }
  for (const auto& [key, value] : got.contents)
    if (!allowed.contains(key)) return "found " + describe(key, {value}) + ", which no call has inserted";
  return judge_report(got, when);
}

} // namespace cubby_test::crash
