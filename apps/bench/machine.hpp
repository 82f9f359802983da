// SPDX-License-Identifier: Apache-2.0
// What the machine is and what the process holds: read from the kernel, never assumed.
#pragma once

#include <cstddef>
#include <string>

namespace bench {

struct machine_info {
  std::string cpu;
  std::size_t cores = 0;
  std::size_t memory_bytes = 0;
  std::size_t l3_bytes = 0;
  std::string kernel;
  std::string huge_pages; // the kernel's transparent_hugepage setting in force
  std::string compiler;
};

struct resident {
  std::size_t bytes = 0;
  std::size_t huge_bytes = 0;
};

machine_info describe_machine();
// MemAvailable, lowered to what a memory cgroup still leaves.
std::size_t memory_available();
resident resident_now();
// The most that was resident at a time since the program began.
std::size_t peak_resident_bytes();
// Binds the calling thread to one of the CPUs that the process may use, counted round.
void pin_to_cpu(std::size_t worker);

} // namespace bench
