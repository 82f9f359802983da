// SPDX-License-Identifier: Apache-2.0
// DDDS and the reader-writer lock as engines of the bench alone: 8-byte keys and values, no batches.
#include "ddds.hpp"
#include "rwlock.hpp"
#include "table_of.hpp"

namespace bench {

namespace {

chain_options options_for(const table_spec& spec) {
  chain_options o;
  o.buckets = std::max(o.buckets, std::bit_ceil<std::uint64_t>(spec.capacity));
  o.seed = spec.seed;
  o.shrinks = spec.shrinks;
  return o;
}

template <class Table> class chains_adapter {
public:
  using key = std::uint64_t;
  using value = std::uint64_t;
  static constexpr bool stores = true;
  static constexpr std::size_t most_threads = static_cast<std::size_t>(-1);

  explicit chains_adapter(const table_spec& spec) : table_(options_for(spec)) {}
  std::size_t own_bytes() const { return 0; }

  class thread_record {
  public:
    explicit thread_record(chains_adapter& a) : table_(a.table_), mine_(*cubby::detail::registry::local()) {}
    bool find(key k, value& v) {
      if constexpr (requires { table_.find(mine_, k, v); }) return table_.find(mine_, k, v);
      else return table_.find(k, v);
    }
    bool insert(key k, value v) { return table_.insert(k, v); }
    bool erase(key k) { return table_.erase(k); }
    bool assign(key k, value v) {
      return table_.update(k, [v](value) { return v; });
    }
    bool modify(key k) {
      return table_.update(k, [](value v) { return v + 1; });
    }

  private:
    Table& table_;
    cubby::detail::thread_record& mine_;
  };

private:
  Table table_;
};

} // namespace

std::unique_ptr<table> make_ddds(const table_spec& spec) {
  return std::make_unique<table_of<chains_adapter<ddds_table>>>(spec);
}
std::unique_ptr<table> make_rwlock(const table_spec& spec) {
  return std::make_unique<table_of<chains_adapter<rwlock_table>>>(spec);
}

} // namespace bench
