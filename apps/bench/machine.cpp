// SPDX-License-Identifier: Apache-2.0
// Reads /proc and /sys; a field that the kernel does not tell stays empty or 0.
#include "machine.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <sched.h>
#include <string_view>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

namespace bench {

namespace {

std::size_t number_in(std::string_view text) {
  const std::size_t at = text.find_first_of("0123456789");
  std::size_t value = 0;
  if (at != std::string_view::npos) std::from_chars(text.data() + at, text.data() + text.size(), value);
  return value;
}

// The line after `name` in a file of "name: value" lines.
std::string field(const char* path, std::string_view name) {
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    if (!std::string_view(line).starts_with(name)) continue;
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::size_t start = line.find_first_not_of(" \t", colon + 1);
    return start == std::string::npos ? std::string() : line.substr(start);
  }
  return {};
}

std::string first_line(const char* path) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  return line;
}

std::string chosen_in_brackets(const std::string& line) {
  const std::size_t open = line.find('[');
  const std::size_t close = line.find(']');
  return open == std::string::npos || close == std::string::npos ? line : line.substr(open + 1, close - open - 1);
}

std::size_t cgroup_left() {
  const std::string limit = first_line("/sys/fs/cgroup/memory.max");
  if (limit.empty() || limit == "max") return static_cast<std::size_t>(-1);
  const std::size_t most = number_in(limit);
  const std::size_t used = number_in(first_line("/sys/fs/cgroup/memory.current"));
  return most > used ? most - used : 0;
}

// What `ulimit -v` leaves.
std::size_t address_space_left() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return static_cast<std::size_t>(-1);
  const std::size_t used = number_in(field("/proc/self/status", "VmSize")) * 1024;
  return limit.rlim_cur > used ? limit.rlim_cur - used : 0;
}

} // namespace

machine_info describe_machine() {
  machine_info m;
  m.cpu = field("/proc/cpuinfo", "model name");
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) == 0) m.cores = static_cast<std::size_t>(CPU_COUNT(&set));
  m.memory_bytes = number_in(field("/proc/meminfo", "MemTotal")) * 1024;
  // What sysconf says in a virtual machine may be another machine's.
  m.l3_bytes = number_in(first_line("/sys/devices/system/cpu/cpu0/cache/index3/size")) * 1024;
  utsname names{};
  if (::uname(&names) == 0) m.kernel = std::string(names.sysname) + " " + names.release;
  m.huge_pages = chosen_in_brackets(first_line("/sys/kernel/mm/transparent_hugepage/enabled"));
  m.compiler = __VERSION__;
  return m;
}

std::size_t memory_available() {
  const std::size_t present = number_in(field("/proc/meminfo", "MemAvailable")) * 1024;
  return std::min({present, cgroup_left(), address_space_left()});
}

resident resident_now() {
  resident r;
  r.bytes = number_in(field("/proc/self/smaps_rollup", "Rss")) * 1024;
  for (const char* kind :
       {"AnonHugePages", "ShmemPmdMapped", "FilePmdMapped"}) // of memory, of files in memory, of others
    r.huge_bytes += number_in(field("/proc/self/smaps_rollup", kind)) * 1024;
  return r;
}

std::size_t peak_resident_bytes() { return number_in(field("/proc/self/status", "VmHWM")) * 1024; }

void pin_to_cpu(std::size_t worker) {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (::sched_getaffinity(::getpid(), sizeof allowed, &allowed) != 0) return;
  const auto count = static_cast<std::size_t>(CPU_COUNT(&allowed));
  std::size_t skip = count == 0 ? 0 : worker % count;
  for (std::size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed) || skip-- != 0) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    ::sched_setaffinity(0, sizeof one, &one);
    return;
  }
}

} // namespace bench
