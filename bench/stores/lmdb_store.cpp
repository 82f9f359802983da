// SPDX-License-Identifier: Apache-2.0
// LMDB, in the two ways that come near the promise. It has no way that gives both halves. Without syncs of its own a power cut
// may leave a file that does not open. Changes that wait for a common transaction end with their process.
#include "store.hpp"

#if CUBBY_HAS_LMDB
#include <condition_variable>
#include <mutex>
#include <utility>

#include <lmdb.h>

namespace bench::stores {
namespace {

void must(int status, const char* what) {
  if (status != MDB_SUCCESS) give_up(std::string("LMDB: ") + what + ": " + mdb_strerror(status));
}
MDB_val of(std::string_view from) { return {from.size(), const_cast<char*>(from.data())}; }

class lmdb_store : public store {
public:
  lmdb_store(const settings& s, unsigned flags) : words_(s.words) {
    must(mdb_env_create(&env_), "create");
    must(mdb_env_set_mapsize(env_, std::size_t{64} << 30), "size of the map");
    must(mdb_env_open(env_, s.folder.c_str(), MDB_NORDAHEAD | MDB_NOTLS | flags, 0600), "open");
    MDB_txn* first = begin();
    must(mdb_dbi_open(first, nullptr, words_ ? MDB_INTEGERKEY : 0U, &table_), "open the table");
    must(mdb_txn_commit(first), "commit");
  }
  ~lmdb_store() override { mdb_env_close(env_); }
  lmdb_store(const lmdb_store&) = delete;
  lmdb_store& operator=(const lmdb_store&) = delete;

  /// A reader renews its transaction for each lookup, as one must that wants to see others' changes.
  bool get(std::string_view key, std::string& value) override {
    thread_local reader mine;
    mine.renew(env_);
    MDB_val wanted = of(key);
    MDB_val found{};
    const int status = mdb_get(mine.of_thread, table_, &wanted, &found);
    if (status == MDB_SUCCESS) value.assign(static_cast<const char*>(found.mv_data), found.mv_size);
    mdb_txn_reset(mine.of_thread);
    if (status != MDB_NOTFOUND) must(status, "get");
    return status == MDB_SUCCESS;
  }

protected:
  MDB_txn* begin() {
    MDB_txn* out = nullptr;
    must(mdb_txn_begin(env_, nullptr, 0, &out), "begin");
    return out;
  }
  void put_in(MDB_txn* t, std::string_view key, std::string_view value) {
    MDB_val k = of(key);
    MDB_val v = of(value);
    must(mdb_put(t, table_, &k, &v, 0), "put");
  }
  MDB_env* env() { return env_; }

private:
  struct reader {
    MDB_env* made_for = nullptr;
    MDB_txn* of_thread = nullptr;
    void renew(MDB_env* env) {
      if (made_for == env) return must(mdb_txn_renew(of_thread), "renew");
      must(mdb_txn_begin(env, nullptr, MDB_RDONLY, &of_thread), "begin to read");
      made_for = env;
    }
    ~reader() {
      if (of_thread != nullptr) mdb_txn_abort(of_thread);
    }
  };

  MDB_env* env_ = nullptr;
  MDB_dbi table_ = 0;
  bool words_;
};

/// A transaction for each change, no sync but those that are asked for, or one for each change.
class single final : public lmdb_store {
public:
  explicit single(const settings& s) : lmdb_store(s, s.each ? 0U : MDB_NOSYNC) {}
  void put(std::string_view key, std::string_view value) override {
    MDB_txn* const t = begin(); // waits for the other writer
    put_in(t, key, value);
    must(mdb_txn_commit(t), "commit");
  }
  void sync() override { must(mdb_env_sync(env(), 1), "sync"); }
};

/// Changes wait in memory for a sync, which makes one transaction of them. So LMDB's one writer never waits for another.
class grouped final : public lmdb_store {
public:
  explicit grouped(const settings& s) : lmdb_store(s, 0) {}
  ~grouped() override { sync(); }
  void put(std::string_view key, std::string_view value) override {
    std::unique_lock alone(lock_);
    fewer_.wait(alone, [this] { return waiting_.size() < most_waiting; });
    waiting_.emplace_back(key, value);
  }
  void sync() override {
    std::vector<std::pair<std::string, std::string>> now;
    {
      const std::lock_guard alone(lock_);
      now.swap(waiting_);
    }
    MDB_txn* const t = begin();
    for (const auto& [key, value] : now) put_in(t, key, value);
    must(mdb_txn_commit(t), "commit");
    fewer_.notify_all();
  }

private:
  static constexpr std::size_t most_waiting = 1 << 17;
  std::mutex lock_;
  std::condition_variable fewer_;
  std::vector<std::pair<std::string, std::string>> waiting_;
};

template <class Store> std::unique_ptr<store> open_as(const settings& s) { return std::make_unique<Store>(s); }

} // namespace

std::vector<kind> lmdb_kinds() {
  return {
      {"lmdb", "a power cut between syncs may leave a file that does not open", open_as<single>},
      {"lmdb-group", "a killed process loses what no sync has covered, and lookups do not see it", open_as<grouped>}};
}

} // namespace bench::stores
#else
namespace bench::stores {
std::vector<kind> lmdb_kinds() { return {}; }
} // namespace bench::stores
#endif
