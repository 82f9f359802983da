// SPDX-License-Identifier: Apache-2.0
// The two fastest designs for one key a call, re-stated from their papers, as engines of the bench alone: 8-byte keys and values, no
// batches.
#include "folklore.hpp"
#include "line_locks.hpp"
#include "table_of.hpp"

namespace bench {

namespace {

template <class Table> class design_adapter {
public:
  using key = std::uint64_t;
  using value = std::uint64_t;
  using thread_record = typename Table::thread_record;
  static constexpr bool stores = true;
  static constexpr std::size_t most_threads = static_cast<std::size_t>(-1);

  explicit design_adapter(const table_spec& spec) : table_(spec.capacity, spec.seed) {}
  std::size_t own_bytes() const { return 0; }

  operator Table&() { return table_; } // for a thread record

private:
  Table table_;
};

} // namespace

std::unique_ptr<table> make_folklore(const table_spec& spec) {
  return std::make_unique<table_of<design_adapter<folklore_table>>>(spec);
}
std::unique_ptr<table> make_line_locks(const table_spec& spec) {
  return std::make_unique<table_of<design_adapter<line_locks_table>>>(spec);
}

} // namespace bench
