// SPDX-License-Identifier: Apache-2.0
// Guarantee H of seph on an ordinary file, where changes go on while a sync is under way. A sync is taken to cover what was there when it began:
// each sector may have its contents of then, or of any moment since. After each change the file is recovered as a kill leaves it, and as power
// cuts leave it.
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <cubby/seph.hpp>

#include "durable/files.hpp"
#include "support/random.hpp"

#include <sys/stat.h>

namespace cubby_test {
namespace {

using table = cubby::durable_map<std::string, std::string, cubby::hash<std::string>, cubby::seph>;
using maybe = std::optional<std::string>;
constexpr std::uint64_t keys = 3;
constexpr std::size_t sector_bytes = 512;

class syncs_of_seph : public testing::Test {
protected:
  void SetUp() override {
    running() = this;
    cubby::detail::file::installed_sync() = [](int file) {
      running()->sync_begins(file);
      return 0;
    };
    reopen();
  }
  void TearDown() override {
    in_sync_ = 0;
    table_.reset();
    cubby::detail::file::installed_sync() = nullptr;
  }
  static syncs_of_seph*& running() {
    static syncs_of_seph* one = nullptr;
    return one;
  }
  /// The table is opened; what it has then is durable.
  void reopen() {
    in_sync_ = 0;
    table_.reset();
    table_ = must_open<table>(path_);
    ASSERT_EQ(table_->domain(), cubby::persistence::page);
    images_.assign(1, bytes_in(path_));
    for (std::uint64_t k = 0; k < keys; ++k) {
      now_[k] = table_->find(name(k));
      allowed_[k] = {now_[k]};
    }
  }
  static std::string name(std::uint64_t k) { return "key " + std::to_string(k); }

  void change() {
    const std::uint64_t k = random_() % keys;
    if (random_() % 3 == 0) {
      EXPECT_EQ(table_->erase(name(k)), now_[k].has_value());
      now_[k] = std::nullopt;
    } else { // of several sectors, and of few contents, so that a block gets again what it has had
      const std::string value(600 + random_() % 2 * 700, static_cast<char>('a' + random_() % 3));
      EXPECT_EQ(table_->insert_or_assign(name(k), value), !now_[k].has_value());
      now_[k] = value;
    }
    if (random_() % 8 == 0) (void)table_->shrink_to_fit(); // disposes of what was retired
    allowed_[k].insert(now_[k]);
    since_[k].insert(now_[k]);
    images_.push_back(bytes_in(path_));
    look();
  }
  void sync() {
    in_sync_ = 2;
    ASSERT_TRUE(table_->sync());
    in_sync_ = 0;
    allowed_ = since_; // of the moment when it began, or later
    images_.push_back(bytes_in(path_));
    look();
  }
  void sync_begins(int file) {
    struct stat synced = {};
    struct stat watched = {};
    if (in_sync_ == 0 || fstat(file, &synced) != 0 || stat(path_.c_str(), &watched) != 0 ||
        synced.st_ino != watched.st_ino)
      return;
    if (in_sync_-- == 2) {
      for (std::uint64_t k = 0; k < keys; ++k) since_[k] = {now_[k]};
    }
    images_.push_back(bytes_in(path_));
    const auto begun = static_cast<std::ptrdiff_t>(images_.size()) - 1;
    const int still = std::exchange(in_sync_, 0); // the copies that are recovered sync as well
    for (std::uint64_t i = random_() % 5; i != 0 && !HasFailure(); --i) change();
    in_sync_ = still;
    images_.erase(images_.begin(), images_.begin() + begun);
  }

  void look() {
    if (HasFailure()) return;
    std::map<std::uint64_t, std::set<maybe>> exact;
    for (std::uint64_t k = 0; k < keys; ++k) exact[k] = {now_[k]};
    bytes killed = images_.back();
    forge_not_closed(killed);
    recover(killed, exact, "a kill");
    for (int i = 0; i < 2; ++i) recover(power_cut(), allowed_, "a power cut");
  }
  bytes power_cut() {
    bytes out = images_.back();
    const auto how = random_() % 3;
    for (std::size_t at = 0; at < out.size(); at += sector_bytes) {
      const std::size_t drawn = how == 0 || random_() % 8 == 0 ? random_() % images_.size() : images_.size() - 1;
      const bytes& from = how == 2 && random_() % 2 == 0 ? images_.front() : images_[drawn];
      for (std::size_t i = at; i < at + sector_bytes; ++i) out[i] = i < from.size() ? from[i] : 0;
    }
    for (const std::uint64_t at : pool_layout::copy_at) { // superblocks stay as they are now
      std::copy_n(images_.back().begin() + static_cast<std::ptrdiff_t>(at), sector_bytes,
                  out.begin() + static_cast<std::ptrdiff_t>(at));
    }
    forge_power_cut(out);
    return out;
  }
  void recover(const bytes& left, const std::map<std::uint64_t, std::set<maybe>>& allowed, const char* after) {
    const std::string path = folder_.file("left");
    write_file(path, left);
    for (int again = 0; again < 2; ++again) {
      const auto found = must_open<table>(path);
      std::size_t count = 0;
      for (std::uint64_t k = 0; k < keys; ++k) {
        const maybe is = found->find(name(k));
        count += is.has_value() ? 1 : 0;
        ASSERT_TRUE(allowed.at(k).contains(is))
            << name(k) << (is ? " has a value that it must not have" : " is lost") << " after " << after;
      }
      EXPECT_EQ(found->size(), count);
    }
  }

  own_folder folder_;
  std::string path_ = folder_.file("table");
  std::unique_ptr<table> table_;
  std::mt19937_64 random_{run_seed()};
  std::map<std::uint64_t, maybe> now_;
  std::map<std::uint64_t, std::set<maybe>> allowed_; // after a power cut
  std::map<std::uint64_t, std::set<maybe>> since_;   // since the last sync began
  std::vector<bytes> images_;                        // the file when the last sync of it began, and at moments since
  int in_sync_ = 0;                                  // how often the file is synced still
};

TEST_F(syncs_of_seph, take_nothing_and_bring_nothing_back_beside_changes) {
  for (std::uint64_t round = 0; round < scaled(40) && !HasFailure(); ++round) {
    for (std::uint64_t i = random_() % 6; i != 0; --i) change();
    if (random_() % 4 != 0) sync();
    if (random_() % 16 == 0) reopen();
  }
}

} // namespace
} // namespace cubby_test
