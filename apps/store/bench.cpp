// SPDX-License-Identifier: Apache-2.0
// The table has a name until the end: some file systems sync a file without one sooner than others.
#include "bench.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <csignal>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fmt/core.h>
#include <random>
#include <thread>
#include <unistd.h>
#include <vector>

#include "error.hpp"
#include "table.hpp"
#include "views.hpp"

namespace store {

namespace {

using clock = std::chrono::steady_clock;
constexpr std::size_t value_bytes = 100;

double seconds_since(clock::time_point begin) { return std::chrono::duration<double>(clock::now() - begin).count(); }

// The name that a signal removes.
std::array<char, 4096> name_to_remove;

extern "C" void remove_and_end(int signal) {
  ::unlink(name_to_remove.data());
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

// The name of the temporary table; the file disappears with this.
class temporary_name {
public:
  explicit temporary_name(const std::string& beside) {
    std::error_code none;
    const bool is_folder = std::filesystem::is_directory(beside, none);
    std::random_device random;
    name_ = fmt::format("{}{}bench.{:08x}{:08x}", beside, is_folder ? "/" : ".", random(), random());
    if (name_.size() >= name_to_remove.size()) throw refused(fmt::format("{}: the name is too long", beside));
    std::strcpy(name_to_remove.data(), name_.c_str());
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, remove_and_end);
  }
  ~temporary_name() {
    ::unlink(name_.c_str());
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, SIG_DFL);
  }
  temporary_name(const temporary_name&) = delete;
  temporary_name& operator=(const temporary_name&) = delete;
  const std::string& get() const { return name_; }

private:
  std::string name_;
};

// Texts of 12 to 40 bytes, all different.
std::vector<std::string> made_keys(std::size_t count) {
  std::mt19937_64 random(1);
  std::vector<std::string> keys;
  keys.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    std::string key = fmt::format("{:012}", i);
    for (std::uint64_t more = random() % 29; more != 0; --more) key.push_back(static_cast<char>('a' + random() % 26));
    keys.push_back(std::move(key));
  }
  std::shuffle(keys.begin(), keys.end(), random);
  return keys;
}

// Syncs of a table, each with its time.
class syncer {
public:
  explicit syncer(table& of) : of_(of) {}
  void sync() {
    const clock::time_point begin = clock::now();
    of_.sync();
    seconds_.push_back(seconds_since(begin));
  }
  // From another thread, so often, until `end`, which throws what a sync has thrown.
  void begin(std::chrono::milliseconds every) {
    thread_ = std::jthread([this, every](const std::stop_token& ended) {
      try {
        for (clock::time_point next = clock::now() + every; !ended.stop_requested(); next = clock::now() + every) {
          std::this_thread::sleep_until(next);
          sync();
        }
      } catch (...) {
        failure_ = std::current_exception();
      }
    });
  }
  void end() {
    thread_.request_stop();
    thread_.join();
    if (failure_) std::rethrow_exception(failure_);
  }
  nlohmann::ordered_json figures() {
    std::sort(seconds_.begin(), seconds_.end());
    const auto at = [this](double share) {
      return 1e3 * seconds_[static_cast<std::size_t>(share * static_cast<double>(seconds_.size() - 1))];
    };
    return {{"number", seconds_.size()}, {"median_ms", at(0.5)}, {"ms_of_99_percent", at(0.99)}, {"longest_ms", at(1)}};
  }

private:
  table& of_;
  std::vector<double> seconds_;
  std::exception_ptr failure_;
  std::jthread thread_;
};

double measure_inserts(table& to, const std::vector<std::string>& keys, std::chrono::milliseconds every,
                       syncer& syncs) {
  const std::string value(value_bytes, 'v');
  const clock::time_point begin = clock::now();
  syncs.begin(every);
  try {
    for (const std::string& key : keys) to.add(key, value);
  } catch (...) {
    syncs.end();
    throw;
  }
  syncs.end();
  syncs.sync(); // the last ones are durable, too
  return static_cast<double>(keys.size()) / seconds_since(begin);
}

double measure_gets(const table& from, std::vector<std::string>& keys) {
  std::mt19937_64 random(2);
  std::shuffle(keys.begin(), keys.end(), random);
  const clock::time_point begin = clock::now();
  std::size_t bytes = 0;
  for (const std::string& key : keys) from.get(key, [&](std::string_view value) { bytes += value.size(); });
  const double seconds = seconds_since(begin);
  if (bytes != keys.size() * value_bytes)
    throw refused(fmt::format("{}: lost entries while it was measured; this is an error of cubby", from.path()));
  return static_cast<double>(keys.size()) / seconds;
}

// A change and a sync by turns, for half a second.
void measure_single(table& to, const std::vector<std::string>& keys, syncer& syncs) {
  const std::string value(value_bytes, 'w');
  const clock::time_point begin = clock::now();
  for (std::size_t i = 0; i < keys.size() && (i < 10 || seconds_since(begin) < 0.5); ++i) {
    to.put(keys[i], value);
    syncs.sync();
  }
}

double rounded(double figure) { return std::round(figure * 1e3) / 1e3; }

} // namespace

void bench(const bench_request& request) {
  std::vector<std::string> keys = made_keys(request.entries);
  const temporary_name name(request.beside);
  table made = table::create(name.get(), {.survives_power_cut = request.survives_power_cut, .engine = request.engine});
  syncer grouped(made);
  syncer single(made);
  nlohmann::ordered_json all;
  all["beside"] = request.beside;
  all["survives"] = request.survives_power_cut ? "power-cut" : "process";
  all["engine"] = name_of(request.engine);
  all["domain"] = made.domain();
  all["entries"] = request.entries;
  all["sync_every_ms"] = request.sync_every.count();
  all["inserts_per_second"] = std::llround(measure_inserts(made, keys, request.sync_every, grouped));
  all["syncs"] = grouped.figures();
  all["gets_per_second"] = std::llround(measure_gets(made, keys));
  measure_single(made, keys, single);
  all["syncs_of_one_change"] = single.figures();
  all["file_bytes"] = made.figures().file_bytes;
  for (const char* const part : {"syncs", "syncs_of_one_change"})
    for (auto& one : all[part])
      if (one.is_number_float()) one = rounded(one);
  print_figures(all, request.json);
}

} // namespace store
