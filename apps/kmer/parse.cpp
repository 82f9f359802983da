// SPDX-License-Identifier: Apache-2.0
// Chooses how an input is read and goes through all of them.
#include "parse.hpp"

#include <fmt/core.h>

#include "alignment.hpp"
#include "input.hpp"
#include "text_parser.hpp"

namespace kmer {

batch_sources::batch_sources(std::vector<std::string> paths, unsigned k, std::string reference)
    : paths_(std::move(paths)), k_(k), reference_(std::move(reference)) {}

void batch_sources::open() {
  const std::string& path = paths_[turn_++];
  opened_input input = open_input(path);
  tells_its_end_ = input.kind == input_kind::text && input.is_packed;
  if (input.kind == input_kind::alignment) current_ = open_alignment(path, std::move(input), reference_);
  else current_ = std::make_unique<text_parser>(std::move(input.bytes), shown_name(path), k_);
}

bool batch_sources::next(batch& out) {
  while (true) {
    if (!current_) {
      if (turn_ == paths_.size()) return false;
      open();
    }
    if (current_->next(out)) return true;
    ended_ = figures();
    if (const std::string doubt = current_->doubt(); !doubt.empty() && !tells_its_end_)
      warnings_.push_back(
          fmt::format("{}: {}; whether it is whole cannot be checked", shown_name(paths_[turn_ - 1]), doubt));
    current_.reset();
  }
}

input_figures batch_sources::figures() const {
  if (!current_) return ended_;
  const input_figures now = current_->figures();
  return {ended_.records + now.records, ended_.bases + now.bases};
}

} // namespace kmer
