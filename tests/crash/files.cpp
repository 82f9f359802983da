// SPDX-License-Identifier: Apache-2.0
// Files and images of crash states. Threads are refused: a recovery then does all shares itself, in one order.
#include "crash/files.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include <pthread.h>

#include <cubby/detail/core/pool_layout.hpp>

namespace layout = cubby::detail::pool_layout;
namespace file = cubby::detail::file;

// The linker sends the library's calls here.
extern "C" int __wrap_pthread_create(pthread_t*, const pthread_attr_t*, void* (*)(void*),
                                     void*); // NOLINT: the linker's name
extern "C" int __wrap_pthread_create(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*) {
  return EAGAIN;
} // NOLINT: as above

namespace cubby_test::crash {

temporary_folder::temporary_folder() {
  std::error_code none;
  const std::filesystem::path memory = "/dev/shm";
  const auto above = std::filesystem::is_directory(memory, none) ? memory : std::filesystem::temp_directory_path();
  std::string name = above / "cubby-crash-XXXXXX";
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no folder " + name);
  path_ = name;
}
temporary_folder::~temporary_folder() {
  std::error_code none;
  std::filesystem::remove_all(path_, none);
}

void write_file(const std::string& path, const image& words) {
  file::descriptor to;
  const std::size_t bytes = words.size() * 8;
  // the pages stay: to take new ones costs more than the rest of a recovery
  if (to.open(path.c_str(), O_RDWR | O_CREAT) != 0 || ::ftruncate(to.number(), static_cast<off_t>(bytes)) != 0 ||
      ::pwrite(to.number(), words.data(), bytes, 0) != static_cast<ssize_t>(bytes))
    throw std::runtime_error("cannot write " + path);
}

void restart_machine(image& words) {
  for (const std::uint64_t from : layout::copy_at) {
    layout::superblock block;
    if (words.size() * 8 < from + sizeof block) continue;
    std::memcpy(static_cast<void*>(&block), &words[from / 8], sizeof block);
    if (block.magic != layout::file_magic || block.checksum != layout::checksum_of(block)) continue;
    block.boot[0] = 1;
    block.checksum = layout::checksum_of(block);
    std::memcpy(&words[from / 8], &block, sizeof block);
  }
}
std::uint64_t hash_of(const image& words) { return cubby::hash_bytes(words.data(), words.size() * 8, 7); }

unrecorded::unrecorded() : outer_(medium::install(nullptr)) {}
unrecorded::~unrecorded() { (void)medium::install(outer_); }

} // namespace cubby_test::crash
