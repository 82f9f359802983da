// SPDX-License-Identifier: Apache-2.0
// DRAMHiT's pipeline: requests go in one after another, with a window as large as the batch of other engines, and are
// answered in the order in which they are ready. A slice of the stream is drained before the next begins.
#include <memory>

#include <cubby/pipeline.hpp>

#include "engine_cubby.hpp"

namespace bench {

namespace {

template <class K, class V> class pipe_adapter {
public:
  using map = cubby_map<K, V, cubby::dramhit, engine_id::dramhit_pipe>;
  using key = K;
  using value = V;
  static constexpr bool stores = true;
  static constexpr std::size_t most_threads = static_cast<std::size_t>(-1);

  explicit pipe_adapter(const table_spec& spec) : map_(map_adapter<map>::options_for(spec)) {}
  std::size_t own_bytes() const { return map_.stats().bytes; }

  class thread_record {
  public:
    explicit thread_record(pipe_adapter& a) : handle_(a.map_.handle()) {}

    bool insert(const K& k, const V& v) { return handle_.insert(k, v); }
    bool erase(const K& k) { return handle_.erase(k); }

    std::size_t stream(const K* keys, std::size_t n, std::size_t window) {
      return run(n, window, [&](std::size_t i) { return request{cubby::verb::find, keys[i], V{}, i}; });
    }
    std::size_t stream(const K* keys, const verb* verbs, std::size_t n, std::size_t window) {
      return run(n, window, [&](std::size_t i) { return request{verb_of(verbs[i]), keys[i], from_word<V>(7), i}; });
    }

    // One at a time, which no workload asks of this engine.
    bool find(const K& k, V& v) {
      auto seen = handle_.find(k);
      if (seen) v = *seen;
      return seen.has_value();
    }
    bool assign(const K& k, const V& v) { return handle_.assign(k, v); }
    bool modify(const K& k) {
      return handle_.update(k, [](const V& v) { return static_cast<V>(v + 1); });
    }

  private:
    using pipe = typename map::handle_type::template pipeline_type<>;
    using request = typename pipe::request_type;

    static cubby::verb verb_of(verb v) {
      using to = cubby::verb;
      // In the order of bench::verb.
      constexpr to same[] = {to::find, to::insert, to::erase, to::assign, to::insert_or_add, to::insert_or_assign};
      return same[static_cast<std::size_t>(v)];
    }

    template <class Make> std::size_t run(std::size_t n, std::size_t window, Make make) {
      if (!pipe_ || window_ != window) pipe_.reset(new pipe(handle_.pipeline({.window = window})));
      window_ = window;
      std::size_t done = 0;
      const auto sink = [&done](auto&& r) {
        done += r.result == cubby::outcome::done ? 1 : 0;
        keep(r.value);
      };
      for (std::size_t i = 0; i < n; ++i) pipe_->submit(make(i), sink);
      pipe_->drain(sink);
      return done;
    }

    typename map::handle_type handle_;
    std::unique_ptr<pipe> pipe_; // a pipeline does not move
    std::size_t window_ = 0;
  };

private:
  map map_;
};

} // namespace

std::unique_ptr<table> make_dramhit_pipe(const table_spec& spec) { return build_small<pipe_adapter>(spec); }

} // namespace bench
