// SPDX-License-Identifier: Apache-2.0
// What bench_stores and bench_ycsb ask of a store of texts in a file: changes of several threads, and a sync that covers those before it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace bench::stores {

struct settings {
  std::string folder;        // empty, and removed by the caller
  std::uint64_t entries = 0; // in the end
  bool words = false;        // keys and values of 8 bytes each
  bool space = false;        // for all entries, from the beginning
  bool log = false;          // a log, so that a sync does not write all changed pages
  bool each = false;         // each change is durable when it has returned, without a sync
};

class store {
public:
  virtual ~store() = default;
  virtual void put(std::string_view key, std::string_view value) = 0;
  /// False: no such key. `value` keeps the memory of earlier calls.
  virtual bool get(std::string_view key, std::string& value) = 0;
  /// When it returns, a power cut takes nothing that was put before it began.
  virtual void sync() = 0;
};

/// A way to use a store, and what it promises while no sync has covered a change.
struct kind {
  const char* name;
  const char* promise;
  std::unique_ptr<store> (*open)(const settings&);
};

std::vector<kind> cubby_kinds();
std::vector<kind> lmdb_kinds();    // none where the program was built without LMDB
std::vector<kind> rocksdb_kinds(); // none where the program was built without RocksDB

/// Ends the program with status 2 and one line.
[[noreturn]] void give_up(const std::string& what);

} // namespace bench::stores
