// SPDX-License-Identifier: Apache-2.0
// gzip through ISA-L: any number of members one after another, so bgzf as well. Checks each member's sums, and
// that what ends with bgzf ends with its mark.
#pragma once

#include <memory>
#include <string>

#include "input.hpp"

namespace kmer {

std::unique_ptr<byte_source> inflate(std::unique_ptr<byte_source> compressed, std::string name);

} // namespace kmer
