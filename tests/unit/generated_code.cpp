// SPDX-License-Identifier: Apache-2.0
// A.1 on AArch64, which no test can run here: what compilers make of the first load of each verb. From Armv8.3 on an acquire
// load is `ldapr`, which the processor may carry out before an earlier release store of its own thread is seen by others. `ldar`, a
// sequentially consistent load, stays behind. Reads the assembly of tests/generated/first_loads.cpp.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace cubby_test {
namespace {

std::string output_of(const std::string& command) {
  std::string all;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> from(popen(command.c_str(), "r"), pclose);
  char part[4096];
  while (from != nullptr && std::fgets(part, sizeof part, from.get()) != nullptr) all += part;
  return all;
}

/// Instructions and local labels of each function, in the order in which they are listed.
class listing {
public:
  explicit listing(const std::string& assembly) {
    std::istringstream lines(assembly);
    std::string function;
    for (std::string line; std::getline(lines, line);) {
      if (line.size() < 2 || line[0] == ' ' || line[0] == '/' || (line[0] == '\t' && line[1] == '.')) continue;
      const std::size_t colon = line.find(':');
      if (line[0] == '\t') all_[function].push_back(line.substr(1));
      else if (line[0] == '.') all_[function].push_back(line.substr(0, colon));
      else function = line.substr(0, colon);
    }
  }
  /// `ldar` or `ldapr`, whichever comes first where no branch is taken that depends on something; empty: neither.
  std::string first_acquire(const std::string& function, unsigned depth = 0) const {
    const auto found = all_.find(function);
    if (found == all_.end() || depth > 20) return {};
    const auto& code = found->second;
    unsigned steps = 0;
    for (auto at = code.begin(); at != code.end() && ++steps < 1000; ++at) {
      const std::string what = at->substr(0, at->find('\t'));
      if (what == "ldar" || what == "ldapr") return what;
      if (what != "bl" && what != "b") continue;
      const std::string target = at->substr(at->find('\t') + 1);
      if (const auto label = std::find(code.begin(), code.end(), target); label != code.end()) {
        at = label;
        continue;
      }
      const std::string inside = first_acquire(target, depth + 1);
      if (!inside.empty() || what == "b") return inside;
    }
    return {};
  }
  /// The functions of first_loads.cpp: those whose names are not mangled.
  std::vector<std::string> verbs() const {
    std::vector<std::string> out;
    for (const auto& [name, unused] : all_)
      if (is_verb(name)) out.push_back(name);
    return out;
  }

private:
  static bool is_verb(const std::string& name) {
    if (name.rfind("_Z", 0) == 0) return false;
    return name.ends_with("_find") || name.ends_with("_insert") || name.ends_with("_erase");
  }
  std::map<std::string, std::vector<std::string>> all_;
};

class generated_code : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(aarch64, generated_code, ::testing::Values("-march=armv8.3-a", "-mcpu=neoverse-n1"),
                         [](const auto& one) { return std::string(one.param[2] == 'a' ? "armv8_3" : "neoverse_n1"); });

TEST_P(generated_code, of_each_verb_begins_with_a_load_that_stays_behind_earlier_stores) {
  if (output_of("clang++-19 --version 2>&1").find("clang version") == std::string::npos)
    GTEST_SKIP() << "no clang++-19";
  const std::string source = CUBBY_SOURCE_DIR "/tests/generated/first_loads.cpp";
  const std::string assembly = output_of(
      std::string("clang++-19 --target=aarch64-linux-gnu -std=c++20 -O2 -S -o - -I" CUBBY_SOURCE_DIR "/include ") +
      GetParam() + " " + source + " 2>&1");
  if (assembly.find("file not found") != std::string::npos) GTEST_SKIP() << "no C++ headers for AArch64:\n" << assembly;
  ASSERT_NE(assembly.find("\tldapr\t"), std::string::npos) << "acquire loads are not what they are looked for as\n"
                                                           << assembly.substr(0, 2000);
  const listing code(assembly);
  const std::vector<std::string> verbs = code.verbs();
  EXPECT_EQ(verbs.size(), 20u);
  for (const std::string& verb : verbs) EXPECT_EQ(code.first_acquire(verb), "ldar") << verb;
}

} // namespace
} // namespace cubby_test
