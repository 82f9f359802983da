// SPDX-License-Identifier: Apache-2.0
// The keys of a run: numbered, present ones from 0, absent ones from 0, all different. Random keys are computed from
// their number by a bijection, so 100 million of them need no memory; keys of a file are its lines.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <cubby/hash.hpp>

namespace bench {

// A key or value of N bytes that is compared and hashed as a whole.
template <std::size_t N> struct block {
  static_assert(N % 8 == 0 && N > 8);
  std::array<std::uint64_t, N / 8> words{};
  bool operator==(const block&) const = default;
};

} // namespace bench

template <std::size_t N> inline constexpr bool cubby::bits_are_equality<bench::block<N>> = true;

namespace bench {

// One to one on 64-bit words (the finalizer of MurmurHash3): different numbers stay different keys.
inline std::uint64_t scramble(std::uint64_t x) noexcept {
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccdULL;
  x ^= x >> 33;
  x *= 0xc4ceb9fe1a85ec53ULL;
  return x ^ (x >> 33);
}

template <class T> T from_word(std::uint64_t word) noexcept {
  if constexpr (sizeof(T) == 8) {
    return static_cast<T>(word);
  } else if constexpr (requires { typename T::traits_type; }) {
    // A string of the feature engines: as many bytes as their other values have.
    const block<32> same = from_word<block<32>>(word);
    return T(reinterpret_cast<const char*>(same.words.data()), sizeof same);
  } else {
    T made;
    for (std::size_t i = 0; i < made.words.size(); ++i) made.words[i] = word + i * 0x9e3779b97f4a7c15ULL;
    return made;
  }
}

inline std::uint64_t first_word_of_bytes(const char* at) noexcept {
  std::uint64_t word = 0;
  std::memcpy(&word, at, sizeof word);
  return word;
}

template <class T> std::uint64_t first_word(const T& value) noexcept {
  if constexpr (sizeof(T) == 8) return static_cast<std::uint64_t>(value);
  else if constexpr (requires { typename T::traits_type; }) return first_word_of_bytes(value.data());
  else return value.words[0];
}

// The text with this number. Different numbers have different texts, whatever the seed.
using text_of_number = std::string (*)(std::uint64_t number, std::uint64_t seed);

class key_source {
public:
  key_source() = default;
  key_source(const key_source&) = delete;
  key_source& operator=(const key_source&) = delete;
  virtual ~key_source() = default;
  std::size_t count = 0;
  std::size_t bytes_beside = 0; // of a key of a file, beside its object: the mean
};

template <class K> class key_set final : public key_source {
public:
  key_set(std::size_t keys, std::uint64_t seed) : base_(scramble(seed)) { count = keys; }
  K present(std::size_t i) const noexcept { return from_word<K>(scramble(base_ + i)); }
  K absent(std::size_t i) const noexcept { return from_word<K>(scramble(base_ + count + i)); }

private:
  std::uint64_t base_;
};

// Of these texts, beside their objects; a short one lies in its object.
inline std::size_t mean_beside(const std::vector<std::string>& lines) {
  std::size_t sum = 0;
  for (const std::string& line : lines) sum += line.size() > std::string().capacity() ? line.size() + 1 : 0;
  return lines.empty() ? 0 : sum / lines.size();
}

// The lines of a file, or made-up texts that are computed from their number like random words.
template <> class key_set<std::string> final : public key_source {
public:
  explicit key_set(std::vector<std::string> lines) : lines_(std::move(lines)) {
    count = lines_.size();
    bytes_beside = mean_beside(lines_);
  }
  key_set(text_of_number text, std::size_t keys, std::uint64_t seed) : text_(text), seed_(seed) { count = keys; }
  std::string present(std::size_t i) const { return text_ != nullptr ? text_(i, seed_) : lines_[i]; }
  // A line end cannot be part of a line, so no line is equal to this.
  std::string absent(std::size_t i) const {
    return text_ != nullptr ? text_(count + i, seed_) : lines_[i % count] + '\n' + std::to_string(i / count);
  }

private:
  std::vector<std::string> lines_;
  text_of_number text_ = nullptr;
  std::uint64_t seed_ = 0;
};

// Asks for the hash that all engines share: cubby's own, for each kind of key.
template <class K> struct key_hash {
  using is_avalanching = void;
  std::uint64_t seed = 0;
  std::size_t operator()(const K& key) const noexcept { return cubby::hash<K>{seed}(key); }
};

template <> struct key_hash<std::string> {
  using is_avalanching = void;
  using is_transparent = void;
  std::uint64_t seed = 0;
  std::size_t operator()(std::string_view key) const noexcept {
    return cubby::hash_bytes(key.data(), key.size(), seed);
  }
};

template <class K> struct key_equal : std::equal_to<K> {};
template <> struct key_equal<std::string> {
  using is_transparent = void;
  bool operator()(std::string_view a, std::string_view b) const noexcept { return a == b; }
};

// What a table is asked with: texts by a view, so that no table can make use of the object.
template <class K> const K& asked_with(const K& key) noexcept { return key; }
inline std::string_view asked_with(const std::string& key) noexcept { return key; }

template <std::size_t N> struct key_hash<block<N>> {
  using is_avalanching = void;
  std::uint64_t seed = 0;
  std::size_t operator()(const block<N>& key) const noexcept { return cubby::hash_bytes(&key, N, seed); }
};

} // namespace bench
