// SPDX-License-Identifier: Apache-2.0
// What stands at the end of a whole file, in the formats that have such a mark: bgzf (so BAM as well) and CRAM from 2.1 on.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace kmer {

enum class end_mark { none, bgzf, cram_2, cram_3 };

inline constexpr std::size_t longest_end_mark = 38;
// A block of bgzf is no longer than that.
inline constexpr std::size_t longest_bgzf_block = std::size_t{1} << 16;

// The mark of a CRAM file with this beginning.
end_mark mark_of_cram(std::string_view head);
// Whether a file that ends with `tail` ends with the mark.
bool is_marked(end_mark mark, std::string_view tail);
// Whether a file that ends with `tail` ends with a block of bgzf that is not the mark. For a check before the work begins:
// `tail` holds that block. A block with a header of more than 1024 bytes is not recognised.
bool ends_unmarked(std::string_view tail);

// The last bytes of a stream, as many as a mark has.
class last_bytes {
public:
  void add(std::string_view bytes);
  std::string_view view() const { return kept_; }

private:
  std::string kept_;
};

} // namespace kmer
