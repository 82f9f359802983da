// SPDX-License-Identifier: Apache-2.0
// A key that converts to std::string_view and is more than its text: its own equality decides, and the whole object comes
// back. Lookups by std::string_view work as for strings.
#include <cctype>
#include <string>
#include <string_view>

#include "engines.hpp"

namespace cubby_test {
namespace {

std::string folded(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

/// Equal whatever the case of its letters.
struct header_name {
  std::string text;
  header_name(const char* at, std::size_t size) : text(at, size) {}
  explicit header_name(std::string_view from) : text(from) {}
  operator std::string_view() const noexcept { return text; }
  friend bool operator==(const header_name& a, const header_name& b) { return folded(a.text) == folded(b.text); }
  friend bool operator==(const header_name& a, std::string_view b) { return folded(a.text) == folded(b); }
};
struct header_hash {
  using is_transparent = void;
  std::uint64_t operator()(std::string_view text) const { return cubby::hash<std::string>{}(folded(text)); }
};

/// A text and something beside it that no comparison looks at.
struct token : std::string {
  int line = 0;
  token() = default;
  token(const char* at, std::size_t size) : std::string(at, size) {}
  explicit token(std::string_view text, int where = 0) : std::string(text), line(where) {}
};

/// Everything, of a table that has snapshots.
template <class Map> auto all_of(Map& m) {
  if constexpr (Map::capabilities.snapshot) return m.snapshot();
  else return cubby::snapshot_list<std::pair<typename Map::key_type, typename Map::mapped_type>>();
}

/// In the slot as bytes, if bytes they were; and behind it.
constexpr std::string_view texts[] = {"", "Host", "Host:88", "Content-Length", "X-A-Name-That-Is-Long-Enough"};

template <class Engine> class keys_that_look_like_text : public ::testing::Test {};
TYPED_TEST_SUITE(keys_that_look_like_text, every_engine);

TYPED_TEST(keys_that_look_like_text, are_one_key_when_they_are_equal) {
  cubby::map<header_name, int, TypeParam, header_hash> m(tiny_options());
  cubby::set<header_name, TypeParam, header_hash> s(tiny_options());
  for (const auto text : texts) {
    ASSERT_TRUE(m.insert(header_name(text), 1)) << text;
    ASSERT_TRUE(s.insert(header_name(text))) << text;
  }
  EXPECT_TRUE(m.reserve(1000));
  for (const auto text : texts) {
    const std::string small = folded(text);
    ASSERT_FALSE(m.insert(header_name(small), 2)) << text;
    ASSERT_FALSE(m.insert_or_assign(header_name(small), 3)) << text;
    ASSERT_FALSE(s.insert(header_name(small))) << text;
    ASSERT_EQ(m.find(header_name(small)), 3) << text;
    ASSERT_EQ(m.find(std::string_view(small)), 3) << text;
  }
  EXPECT_EQ(m.size(), std::size(texts));
  EXPECT_EQ(s.size(), std::size(texts));
  m.visit_all([](const header_name& name, int) { EXPECT_TRUE(name.text.empty() || std::isupper(name.text[0])); });
  for (const auto text : texts) ASSERT_TRUE(m.erase(std::string_view(folded(text)))) << text;
  EXPECT_TRUE(m.empty());
}

TYPED_TEST(keys_that_look_like_text, come_back_whole) {
  cubby::map<token, int, TypeParam> m(tiny_options());
  cubby::map<cubby::in_namespace<token>, int, TypeParam> spaced(tiny_options());
  int line = 0;
  for (const auto text : texts) {
    ++line;
    ASSERT_TRUE(m.insert(token(text, line), line)) << text;
    ASSERT_TRUE(spaced.insert({3, token(text, line)}, line)) << text;
  }
  EXPECT_TRUE(m.reserve(1000));
  const auto is_whole = [](const token& k, int v) { EXPECT_EQ(k.line, v) << k; };
  for (const auto text : texts) {
    ASSERT_TRUE(m.update(text, [](int v) { return v; })) << text;
    ASSERT_TRUE(m.contains(std::string(text))) << text;
    ASSERT_TRUE(m.contains(token(text, 77))) << text;
  }
  m.visit_all(is_whole);
  spaced.visit_all([&](const cubby::in_namespace<token>& k, int v) { is_whole(k.key, v); });
  for (const auto& [k, v] : all_of(spaced)) is_whole(k.key, v);
  for (const auto& [k, v] : all_of(m)) is_whole(k, v);
  EXPECT_EQ(m.erase_if([](const token& k, int v) { return k.line == v; }), std::size(texts));
}

} // namespace
} // namespace cubby_test
