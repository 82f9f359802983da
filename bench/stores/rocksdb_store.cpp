// SPDX-License-Identifier: Apache-2.0
// RocksDB with its log, which a sync or each change makes durable; without compression, and with memory enough for all entries.
#include "store.hpp"

#if CUBBY_HAS_ROCKSDB
#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/options.h>
#include <rocksdb/table.h>

namespace bench::stores {
namespace {

void must(const rocksdb::Status& status) {
  if (!status.ok()) give_up("RocksDB: " + status.ToString());
}

rocksdb::Options options() {
  rocksdb::Options out;
  out.create_if_missing = true;
  out.error_if_exists = true;
  out.compression = rocksdb::kNoCompression;
  out.write_buffer_size = std::size_t{256} << 20;
  out.max_write_buffer_number = 4;
  out.IncreaseParallelism(2);
  rocksdb::BlockBasedTableOptions blocks;
  blocks.block_cache = rocksdb::NewLRUCache(std::size_t{2} << 30);
  blocks.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  out.table_factory.reset(rocksdb::NewBlockBasedTableFactory(blocks));
  return out;
}

class rocksdb_store final : public store {
public:
  explicit rocksdb_store(const settings& s) {
    rocksdb::DB* made = nullptr;
    must(rocksdb::DB::Open(options(), s.folder, &made));
    db_.reset(made);
    how_.sync = s.each;
  }
  void put(std::string_view key, std::string_view value) override {
    must(db_->Put(how_, rocksdb::Slice(key.data(), key.size()), rocksdb::Slice(value.data(), value.size())));
  }
  bool get(std::string_view key, std::string& value) override {
    const rocksdb::Status found = db_->Get(rocksdb::ReadOptions(), rocksdb::Slice(key.data(), key.size()), &value);
    if (!found.IsNotFound()) must(found);
    return found.ok();
  }
  void sync() override { must(db_->SyncWAL()); }

private:
  std::unique_ptr<rocksdb::DB> db_;
  rocksdb::WriteOptions how_;
};

std::unique_ptr<store> open_rocksdb(const settings& s) { return std::make_unique<rocksdb_store>(s); }

} // namespace

std::vector<kind> rocksdb_kinds() {
  return {{"rocksdb", "a killed process loses nothing; a power cut leaves a prefix of the changes", open_rocksdb}};
}

} // namespace bench::stores
#else
namespace bench::stores {
std::vector<kind> rocksdb_kinds() { return {}; }
} // namespace bench::stores
#endif
