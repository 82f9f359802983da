// SPDX-License-Identifier: Apache-2.0
// The published protocol as an adapter: the control, in which the explorer must find the holes.
#include "dlht/paper_bin.hpp"
#include "explore/driver.hpp"
#include "explore/scenario.hpp"

namespace cubby_test {
namespace {

class paper_adapter final : public adapter {
public:
  explicit paper_adapter(const scenario& s) : kind_(s.table) {
    lanes.resize(s.threads.size() + 1);
    for (const call& c : s.before) perform(0, c);
  }
  void perform(unsigned at, const call& c) override {
    event e;
    e.r.thread = static_cast<std::uint16_t>(at);
    e.r.key = c.key;
    e.r.argument = c.value;
    e.r.called = driver::instance().stamp();
    carry_out(c, e.r);
    e.r.returned = driver::instance().stamp();
    lanes[at].push_back(e);
    keys_ |= std::uint64_t{1} << c.key;
  }
  void inspect() override {
    for (std::uint64_t key = 0; key < 64; ++key) {
      if ((keys_ >> key & 1) != 0) perform(0, {act::find, key});
    }
  }
  std::string name_of(const void* address) override {
    const auto offset = static_cast<const std::byte*>(address) - reinterpret_cast<const std::byte*>(&bin_);
    if (offset < 16) return "header";
    return "slot " + std::to_string((offset - 16) / 16) + (offset % 16 == 0 ? " key" : " value");
  }

private:
  void carry_out(const call& c, record& r) {
    std::optional<std::uint64_t> got;
    switch (c.what) {
    case act::find:
      r.what = verb::find;
      got = kind_ == table_kind::paper_hasty ? bin_.find_without_recheck(c.key) : bin_.find(c.key);
      break;
    case act::extract:
      r.what = verb::extract;
      got = bin_.extract(c.key);
      break;
    case act::insert:
      r.what = verb::insert;
      r.ok = bin_.insert(c.key, c.value);
      return;
    case act::assign:
      r.what = verb::assign;
      r.ok = kind_ == table_kind::paper_late ? bin_.assign_late(c.key, c.value) : bin_.assign(c.key, c.value);
      return;
    case act::erase:
      r.what = verb::erase;
      r.ok = bin_.extract(c.key).has_value();
      return;
    default: return complain("the published bin has no such verb");
    }
    r.ok = got.has_value();
    r.result = got.value_or(0);
  }
  paper_bin bin_;
  table_kind kind_;
  std::uint64_t keys_ = 0;
};

} // namespace

run_state make_paper(const scenario& s) { return {std::make_unique<paper_adapter>(s), nullptr, nullptr}; }

} // namespace cubby_test
