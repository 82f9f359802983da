// SPDX-License-Identifier: Apache-2.0
// The interface to the table that counts: add a batch of k-mers, take all entries, report the memory.
// A counter belongs to one thread. No other file knows which engine is behind it.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "entry.hpp"
#include "word.hpp"

namespace kmer {

template <class Word> class counter {
public:
  virtual ~counter() = default;
  virtual void add(std::span<const Word> kmers) = 0;
  virtual void add(const entry<Word>& counted) = 0;
  // Different k-mers so far.
  virtual std::size_t size() const = 0;
  virtual std::size_t bytes() const = 0;
  // Appends every k-mer with its count, in no order, and leaves the counter empty.
  virtual void take(std::vector<entry<Word>>& into) = 0;
};

enum class engine_id { dlht_single, dlht, dramhit, partitioned };
inline constexpr engine_id default_engine = engine_id::dlht_single;

// Null when no engine has that name; `dlht_single`, as C++ spells it, is `dlht-single`.
const engine_id* engine_named(std::string_view name);
// The table that counts k-mers of so many bases for this engine.
std::string_view name_of(engine_id engine, unsigned k);
std::string engine_names();
// Whether the engine holds k-mers of so many bases.
bool can_hold(engine_id engine, unsigned k);

template <class Word> std::unique_ptr<counter<Word>> make_counter(engine_id engine);
extern template std::unique_ptr<counter<narrow_word>> make_counter(engine_id);
extern template std::unique_ptr<counter<wide_word>> make_counter(engine_id);

} // namespace kmer
