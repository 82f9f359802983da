// SPDX-License-Identifier: Apache-2.0
// The files of the rig: a folder that ends with it, and a file that takes one crash state after the other.
#pragma once

#include <filesystem>
#include <string>

#include "crash/medium.hpp"

namespace cubby_test::crash {

class temporary_folder {
public:
  temporary_folder();
  ~temporary_folder();
  temporary_folder(const temporary_folder&) = delete;
  temporary_folder& operator=(const temporary_folder&) = delete;
  [[nodiscard]] std::string file(const char* name) const { return path_ / name; }

private:
  std::filesystem::path path_;
};

/// Makes a file that has exactly these words.
void write_file(const std::string& path, const image& words);
/// What the same file looks like after the machine has started again: both superblocks name another boot.
void restart_machine(image& words);
[[nodiscard]] std::uint64_t hash_of(const image& words);

/// While it lives, nothing is recorded, and no step of this thread is watched.
class unrecorded {
public:
  unrecorded();
  ~unrecorded();
  unrecorded(const unrecorded&) = delete;
  unrecorded& operator=(const unrecorded&) = delete;

private:
  quiet nobody_;
  medium* outer_;
};

} // namespace cubby_test::crash
