// SPDX-License-Identifier: Apache-2.0
// The engines of features.hpp: each one a map whose types have the features of its row, and no others.
#include "features.hpp"

#include <string_view>
#include <utility>

#include "engine_cubby.hpp"
#include "from_malloc.hpp"

namespace bench {

namespace {

// A key of varying size, as its user would have it: up to eight bytes, of which the table knows nothing but bytes and size.
// Made from a key of the run without cost. Not trivially copyable: it owns bytes, like a string.
class sized_key {
public:
  sized_key() = default;
  sized_key(const sized_key& other) noexcept : word_(other.word_), size_(other.size_) {}
  sized_key& operator=(const sized_key&) = default;
  ~sized_key() = default;
  explicit sized_key(std::uint64_t word) noexcept : word_(word), size_(sizeof word) {}
  sized_key(const char* bytes, std::size_t size) noexcept : size_(size) { std::memcpy(&word_, bytes, size); }
  operator std::string_view() const noexcept { return {reinterpret_cast<const char*>(&word_), size_}; }
  bool operator==(const sized_key&) const = default;

private:
  std::uint64_t word_ = 0;
  std::size_t size_ = 0;
};

} // namespace

} // namespace bench

template <> inline constexpr bool cubby::stored_as_bytes<bench::sized_key> = true;

namespace bench {

namespace {

// The key modulo the number of bins, for each form of key.
struct modulo_of_bytes {
  using is_modulo = void;
  using is_transparent = void;
  std::uint64_t operator()(std::string_view key) const noexcept {
    std::uint64_t word = 0;
    std::memcpy(&word, key.data(), key.size() < sizeof word ? key.size() : sizeof word);
    return word;
  }
};

template <unsigned Features> struct types_of {
  static constexpr bool has(feature f) { return (Features & f) != 0; }
  template <std::size_t Index, class T>
  using allocator = std::conditional_t<has(system_malloc), from_malloc<T>, arena_allocator<T, Index>>;
  using inner_key = std::conditional_t<has(sized_keys), sized_key, std::uint64_t>;
  using key = std::conditional_t<has(namespaces), cubby::in_namespace<inner_key>, inner_key>;
  template <std::size_t Index>
  using value =
      std::conditional_t<has(sized_values), std::basic_string<char, std::char_traits<char>, allocator<Index, char>>,
                         block<feature_value_size>>;
  using modulo = std::conditional_t<has(sized_keys), modulo_of_bytes, cubby::modulo_hash<std::uint64_t>>;
  using hash = std::conditional_t<has(hashing), cubby::hash<inner_key>, modulo>;
  template <std::size_t Index>
  using map = cubby::map<key, value<Index>, cubby::dlht, hash, allocator<Index, std::byte>>;
};

template <std::size_t I> class adapter final
    : public map_adapter<typename types_of<feature_engines[I].features>::template map<named_engine_count + I>,
                         std::uint64_t> {
  using base =
      map_adapter<typename types_of<feature_engines[I].features>::template map<named_engine_count + I>, std::uint64_t>;

public:
  explicit adapter(const table_spec& spec) : base(options_for(spec)) {}

private:
  static cubby::options options_for(const table_spec& spec) {
    cubby::options o = base::options_for(spec);
    const bool grows = (feature_engines[I].features & resizing) != 0;
    o.growth = grows ? cubby::growth_policy::incremental : cubby::growth_policy::fixed;
    if (!grows) o.capacity += o.capacity / 16 + 64; // a bound: for what threads insert beside the keys, and erase again
    return o;
  }
};

template <std::size_t... I>
std::unique_ptr<table> make_one(const table_spec& spec, std::index_sequence<I...>) {
  std::unique_ptr<table> made;
  ((spec.engine == feature_engine_id(I) ? void(made = std::make_unique<table_of<adapter<I>>>(spec)) : void()), ...);
  return made;
}

} // namespace

std::unique_ptr<table> make_dlht_with_features(const table_spec& spec) {
  return make_one(spec, std::make_index_sequence<feature_engine_count>());
}

} // namespace bench
