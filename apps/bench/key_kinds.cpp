// SPDX-License-Identifier: Apache-2.0
// Dispatch on the size of keys, how many operations a stream has, and whether a run fits into memory.
#include "key_kinds.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fmt/core.h>
#include <fstream>
#include <unordered_set>

#include "features.hpp"
#include "machine.hpp"
#include "made_texts.hpp"
#include "session.hpp"

namespace bench {

namespace {

// A stream touches up to this many lines of a table, 128 MB for each thread: more than the caches of most machines.
constexpr std::size_t most_operations = std::size_t{2} << 20;
constexpr std::size_t fewest_operations = std::size_t{64} << 10;
constexpr std::size_t most_stream_bytes = std::size_t{96} << 20;

// Of very long keys some batches, whatever they take.
constexpr std::size_t fewest_of_long_keys = 256;

std::size_t operations_for(std::size_t keys, std::size_t bytes_each) {
  const std::size_t wanted = std::clamp(keys, fewest_operations, most_operations);
  return std::min(wanted, std::max(most_stream_bytes / bytes_each, fewest_of_long_keys));
}

template <class F> decltype(auto) with_key_type(bool text, std::size_t key_size, F&& f) {
  if (text) return f.template operator()<std::string>();
  switch (key_size) {
  case 16: return f.template operator()<block<16>>();
  case 32: return f.template operator()<block<32>>();
  case 64: return f.template operator()<block<64>>();
  case 128: return f.template operator()<block<128>>();
  case 256: return f.template operator()<block<256>>();
  default: return f.template operator()<std::uint64_t>();
  }
}

std::size_t bytes_in_memory(std::size_t key_size, bool text) { return text ? sizeof(std::string) : key_size; }

void check_file(const std::string& path) {
  if (std::filesystem::is_directory(path))
    throw bad_request(fmt::format("--keys-from '{}': is a folder; give a file of lines", path));
  std::error_code none;
  // It is read for each number of keys, and what came through a pipe does not come again.
  if (std::filesystem::exists(path, none) && !std::filesystem::is_regular_file(path, none))
    throw bad_request(fmt::format(
        "--keys-from '{}': is no regular file, and it is read more than once; write the lines to a file", path));
  std::ifstream in(path);
  if (!in) throw bad_request(fmt::format("--keys-from '{}': cannot be read; give a file of lines", path));
  for (std::string line; std::getline(in, line);)
    if (!line.empty()) return;
  throw bad_request(fmt::format("--keys-from '{}': has no line that could be a key; give a file of lines", path));
}

// With fewer, a small table may have space for all of them.
constexpr std::size_t fewest_resized_keys = 1024;

// Fewer than `enough` only if the run has no more anywhere.
std::size_t fewest_keys(const run_spec& run, std::size_t enough) {
  const std::size_t asked = *std::min_element(run.keys.begin(), run.keys.end());
  if (run.keys_from.empty()) return asked;
  return lines_of(run.keys_from, asked == 0 ? enough : std::min(asked, enough)).size(); // 0: all lines
}

// Where a run has fewer keys than it says, its figures are those of another run.
void check_lines(const run_spec& run) {
  check_file(run.keys_from);
  const std::size_t most = *std::max_element(run.keys.begin(), run.keys.end());
  if (most == 0) return;
  const std::size_t there = lines_of(run.keys_from, most).size();
  if (there < most)
    throw bad_request(
        fmt::format("--keys {}: '{}' has {} different lines; give at most --keys {}, or leave it out for all of them",
                    most, run.keys_from, there, there));
}

void check_growth(const run_spec& run) {
  const auto w = std::find_if(run.workloads.begin(), run.workloads.end(), updates_beside_finds);
  if (w == run.workloads.end()) return;
  const std::size_t keys = fewest_keys(run, fewest_resized_keys);
  if (keys < fewest_resized_keys)
    throw bad_request(fmt::format("--workload {}: with so few keys ({}) a table need not change its size; give {} or "
                                  "more",
                                  name_of(*w), keys, fewest_resized_keys));
}

} // namespace

std::vector<std::string> lines_of(const std::string& path, std::size_t most) {
  check_file(path);
  std::ifstream in(path);
  std::vector<std::string> lines;
  std::unordered_set<std::string> seen;
  for (std::string line; (most == 0 || lines.size() < most) && std::getline(in, line);)
    if (!line.empty() && seen.insert(line).second) lines.push_back(line);
  return lines;
}

std::unique_ptr<key_source> make_keys(const run_spec& spec, std::size_t key_size, std::size_t keys) {
  if (!spec.key_kind.empty())
    return std::make_unique<key_set<std::string>>(text_of_kind(spec.key_kind), keys, spec.seed);
  if (!spec.keys_from.empty()) return std::make_unique<key_set<std::string>>(lines_of(spec.keys_from, keys));
  return with_key_type(false, key_size, [&]<class K>() -> std::unique_ptr<key_source> {
    if constexpr (std::is_same_v<K, std::string>) return nullptr;
    else return std::make_unique<key_set<K>>(keys, spec.seed);
  });
}

std::unique_ptr<op_streams> make_ops(const key_source& keys, bool text, std::size_t key_size, stream_order order) {
  if (order.operations == 0)
    order.operations = operations_for(keys.count, bytes_in_memory(key_size, text) + keys.bytes_beside);
  return with_key_type(text, key_size,
                       [&]<class K>() { return make_streams(static_cast<const key_set<K>&>(keys), order); });
}

double expected_bytes(engine_id engine, std::size_t keys, std::size_t key_size, std::size_t value_size, bool grows) {
  // For 8-byte keys and values, with the space left that a table filled to a power of two can have. Read sections have none.
  constexpr auto words = std::to_array<double>({64, 48, 48, 48, 48, 72, 72, 42, 66, 56, 64, 56, 56, 56, 64, 0, 0,
                                                0,  0,  0,  56, 48, 54, 64, 40, 20, 40, 40, 40, 80, 80, 80, 96});
  static_assert(words.size() == named_engine_count);
  const double records = static_cast<double>(key_size + value_size - 16);
  const double header = is_durable(engine) ? 80 : 16; // of a record, with its key and value where those are words
  const double extra = is_limit(engine) || records == 0 ? 0 : records * 1.25 + header;
  // While a table grows the old one and the new one are both there.
  return static_cast<double>(keys) *
         (words[is_feature_engine(engine) ? 0 : static_cast<std::size_t>(engine)] * (grows ? 1.5 : 1.0) + extra);
}

namespace {

struct keys_of_run {
  std::size_t count = 0;
  std::size_t bytes = 0;     // of one, in a table
  std::size_t in_stream = 0; // of one, in a stream of operations
};
keys_of_run most_keys(const run_spec& run) {
  const std::size_t asked = *std::max_element(run.keys.begin(), run.keys.end());
  if (!run.keys_from.empty()) {
    const std::vector<std::string> lines = lines_of(run.keys_from, asked);
    std::size_t sum = 0;
    for (const std::string& line : lines) sum += line.size();
    return {lines.size(), std::max(sum / lines.size(), sizeof(std::uint64_t)),
            sizeof(std::string) + mean_beside(lines)};
  }
  const std::size_t size =
      is_text(run) ? bytes_of_made_text : *std::max_element(run.key_sizes.begin(), run.key_sizes.end());
  return {asked, size, bytes_in_memory(size, is_text(run))};
}

double needed_bytes(const run_spec& run, engine_id engine, const keys_of_run& keys) {
  const std::size_t value_size = *std::max_element(run.value_sizes.begin(), run.value_sizes.end());
  const std::size_t threads = *std::max_element(run.threads.begin(), run.threads.end()) + run.updaters;
  const bool grows = std::any_of(run.workloads.begin(), run.workloads.end(), wants_fresh_table);
  double need = expected_bytes(engine, keys.count, keys.bytes, value_size, grows);
  // The space of --space has no records.
  if (run.space > 100)
    need += expected_bytes(engine, keys.count, 8, 8, grows) * static_cast<double>(run.space - 100) / 100;
  need += static_cast<double>(threads) * static_cast<double>(operations_for(keys.count, keys.in_stream)) *
          static_cast<double>(keys.in_stream + 1);
  // All keys may be inserted and erased again.
  if (grows) need += 2 * static_cast<double>(keys.count) * static_cast<double>(keys.bytes + 1);
  return need;
}

} // namespace

void check_run(const run_spec& all) {
  const run_spec run = tables_of(all);
  if (run.workloads.empty()) return;
  if (!run.keys_from.empty()) check_lines(run);
  check_growth(run);
  const keys_of_run keys = most_keys(run);
  const auto free_bytes = static_cast<double>(memory_available());
  for (const engine_id e : run.engines) {
    const double need = needed_bytes(run, e, keys);
    if (need > 0.95 * free_bytes)
      throw bad_request(
          fmt::format("--keys {}: {} needs about {:.1f} GB and {:.1f} GB of memory are free; give at most "
                      "--keys {}",
                      keys.count, name_of(e), need * 1e-9, free_bytes * 1e-9,
                      static_cast<std::size_t>(static_cast<double>(keys.count) * 0.9 * free_bytes / need)));
  }
}

} // namespace bench
