// SPDX-License-Identifier: Apache-2.0
// The operations of a workload, made before the clock starts: one list of keys and verbs for each thread, the same for
// every engine. The timed loops read them front to back and start over.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "keys.hpp"
#include "workload.hpp"

namespace bench {

class op_streams {
public:
  op_streams() = default;
  op_streams(const op_streams&) = delete;
  op_streams& operator=(const op_streams&) = delete;
  virtual ~op_streams() = default;
  workload of;
};

template <class K> struct stream {
  std::vector<K> keys;
  std::vector<verb> verbs; // empty when all are finds
};

template <class K> class typed_streams final : public op_streams {
public:
  std::vector<stream<K>> threads;
};

struct stream_order {
  workload of;
  std::size_t threads = 1;
  std::size_t updaters = 0;   // of the threads: the first ones
  std::size_t operations = 0; // for each thread
  std::uint64_t seed = 0;
};

template <class K> std::unique_ptr<op_streams> make_streams(const key_set<K>& keys, const stream_order& order);

} // namespace bench
