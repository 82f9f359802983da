// SPDX-License-Identifier: Apache-2.0
// A pipeline whose answers all go to one function, with a call for each verb: `auto p = handle.pipeline(sink)`. The
// requests, their tags and what they cost are those of `cubby::pipeline` (DRAMHiT section 3.1).
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <cubby/pipeline.hpp>

namespace cubby::inline v0 {

/// One thread's pipeline and the function `sink(reply_type&&)` that its answers go to, inside any later call, in any
/// order. All that is promised of `cubby::pipeline` holds: every request is answered once, at the latest by `drain`; what
/// the destructor finds pending is carried out without an answer. It has a thread record of its own: it may outlive the handle
/// that made it, not the table. Not movable. The sink may use the table, not this pipeline.
template <class Engine, class Sink> class sink_pipeline {
public:
  using key_type = typename Engine::policy::key_type;
  using mapped_type = typename Engine::policy::mapped_type;
  using reply_type = tagged_reply<mapped_type>;
  static_assert(std::is_invocable_v<Sink&, reply_type>,
                "a pipeline's sink is called with each answer: sink(tagged_reply<value type>&&)");

  /// Throws std::bad_alloc without memory for the ring or a thread record (without exceptions: `ok`).
  explicit sink_pipeline(Engine& e, Sink sink, pipeline_options chosen = {})
      : pending_(e, chosen), sink_(std::move(sink)) {}

  [[nodiscard]] bool ok() const noexcept { return pending_.ok(); }
  /// Requests that were taken and are not answered.
  [[nodiscard]] std::size_t pending() const noexcept { return pending_.pending(); }

  /// Each takes one request, and answers others first while the window is full: one line of memory a request at rest.
  /// None waits but as its verb alone does (docs/guarantees.md, P).
  void find(const key_type& k, std::uint64_t tag) { take(pipeline_verb::find, tag, k); }
  void erase(const key_type& k, std::uint64_t tag) { take(pipeline_verb::erase, tag, k); }
  void insert(const key_type& k, const mapped_type& v, std::uint64_t tag) { take(pipeline_verb::insert, tag, k, v); }
  void assign(const key_type& k, const mapped_type& v, std::uint64_t tag) { take(pipeline_verb::assign, tag, k, v); }
  void insert_or_assign(const key_type& k, const mapped_type& v, std::uint64_t tag) {
    take(pipeline_verb::insert_or_assign, tag, k, v);
  }
  void insert_or_add(const key_type& k, const mapped_type& n, std::uint64_t tag)
    requires requires(const mapped_type& v) { static_cast<mapped_type>(v + v); }
  {
    take(pipeline_verb::insert_or_add, tag, k, n);
  }
  /// Of sets.
  void insert(const key_type& k, std::uint64_t tag)
    requires(!Engine::policy::has_values)
  {
    take(pipeline_verb::insert, tag, k);
  }

  /// Answers all that is pending.
  void drain() { pending_.drain(sink_); }

private:
  void take(pipeline_verb what, std::uint64_t tag, const key_type& k) { pending_.submit({what, tag, k}, sink_); }
  void take(pipeline_verb what, std::uint64_t tag, const key_type& k, const mapped_type& v) {
    pending_.submit({what, tag, k, v}, sink_);
  }

  cubby::pipeline<Engine> pending_;
  Sink sink_;
};

} // namespace cubby::inline v0
