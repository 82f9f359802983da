// SPDX-License-Identifier: Apache-2.0
// A durable table of texts, as the commands use it. Every failure is a `refused` that names the file.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace store {

enum class table_engine : std::uint8_t { iceberg, seph };
constexpr std::string_view name_of(table_engine e) { return e == table_engine::seph ? "seph" : "iceberg"; }

struct table_shape {
  std::size_t capacity = 0;
  bool fixed = false;
  bool survives_power_cut = true;
  table_engine engine = table_engine::iceberg;
};

// What the superblock says of the file (docs/format.md).
struct table_identity {
  std::uint64_t file = 0;
  std::uint64_t note = 0; // of the load that was here last; 0: none was
  std::uint64_t fixed_capacity = 0;
  bool survives_power_cut = false;
  table_engine engine = table_engine::iceberg;
};

// What opening has found, and the figures of the table.
struct table_figures {
  std::size_t entries = 0, slots = 0, chained = 0, file_bytes = 0, block_bytes = 0;
  std::size_t finished = 0, duplicates = 0, torn = 0, damaged = 0;
  bool clean = false, power_cut = false;
  double seconds_to_open = 0;
};

struct check_result {
  std::size_t entries = 0, lost = 0, damaged = 0;
  bool sound() const { return lost == 0 && damaged == 0; }
};

class table {
public:
  enum class access { read, write };

  static table create(const std::string& path, const table_shape& shape);
  table(const std::string& path, access how);
  ~table();
  table(table&&) noexcept;
  table& operator=(table&&) = delete;

  const std::string& path() const { return path_; }
  table_identity identity() const;
  bool get(std::string_view key, const std::function<void(std::string_view)>& see) const;
  // True: the key is new.
  bool put(const std::string& key, const std::string& value);
  // False: the key was there, and keeps its value.
  bool add(const std::string& key, const std::string& value);
  bool erase(const std::string& key);
  // Each entry once, in no order.
  void each(const std::function<void(std::string_view key, std::string_view value)>& see) const;
  // Durable after the next sync.
  void set_note(std::uint64_t note);
  void sync();
  // A sync, and the file is marked as closed.
  void close();
  check_result check() const;
  table_figures figures() const;
  const char* domain() const;

private:
  struct opened_table;
  explicit table(std::string path);
  [[noreturn]] void refuse_entry(bool is_full) const;
  void warn_of_losses() const;

  std::string path_;
  std::unique_ptr<opened_table> is_;
};

} // namespace store
