// SPDX-License-Identifier: Apache-2.0
// One table for the processes of a host: one of them fills it in shared memory and closes it, any number of others look up in the same
// pages. While a process has it open for writing, readers are refused (docs/durability.md says why).
#include <cubby/durable_map.hpp>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using prices = cubby::durable_map<std::string, std::uint64_t>;
constexpr std::uint64_t articles = 100'000;

std::string article(std::uint64_t number) { return "article " + std::to_string(number); }

bool publish(const std::string& path) {
  // It need not survive a power cut: shared memory does not.
  const auto table = prices::open(path, {.capacity = articles, .survives = cubby::survive::process});
  if (!table) return std::fprintf(stderr, "%s\n", table.message()), false;
  for (std::uint64_t i = 0; i < articles; ++i) table->insert(article(i), i * 10);
  return table->close();
}

/// What each reading process does.
int look_up(const char* path) {
  const auto table = prices::open_read_only(path);
  if (!table) return std::fprintf(stderr, "%s\n", table.message()), 2;
  for (std::uint64_t i = 0; i < articles; ++i)
    if (table->find(article(i)) != i * 10) return 1;
  return 0;
}

pid_t start_reader(const char* program, const char* path) {
  std::string words[] = {program, "read", path};
  char* arguments[] = {words[0].data(), words[1].data(), words[2].data(), nullptr};
  pid_t made = -1;
  return posix_spawn(&made, "/proc/self/exe", nullptr, nullptr, arguments, environ) == 0 ? made : -1;
}
bool has_succeeded(pid_t reader) {
  int status = -1;
  return reader > 0 && waitpid(reader, &status, 0) == reader && status == 0;
}

} // namespace

int main(int count, char** words) {
  if (count == 3 && std::strcmp(words[1], "read") == 0) return look_up(words[2]);
  const std::string folder = std::filesystem::exists("/dev/shm") ? "/dev/shm" : ".";
  const std::string path = folder + "/cubby_prices." + std::to_string(getpid());
  bool done = publish(path);
  if (done) {
    const pid_t readers[] = {start_reader(words[0], path.c_str()), start_reader(words[0], path.c_str())};
    for (const pid_t one : readers) done = has_succeeded(one) && done;
  }
  std::filesystem::remove(path);
  if (done) std::puts("two processes have looked up in one table");
  return done ? 0 : 1;
}
