// SPDX-License-Identifier: Apache-2.0
// Read-copy-update with a user's own structure: a configuration that every request reads, and that one thread replaces by swapping a
// pointer. Readers never wait and write to no shared memory. The writer retires the old configuration into a bag and
// goes on, or waits until no thread reads it.
#include <cubby/rcu.hpp>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

std::atomic<int> alive = 0; // configurations

struct config {
  std::uint64_t version;
  std::vector<std::string> servers;
  std::uint64_t link = 0; // the bag's, once it is retired; readers do not look at it
  explicit config(std::uint64_t v) : version(v), servers(v % 8 + 1, "server of version " + std::to_string(v)) {
    ++alive;
  }
  ~config() { --alive; }
  config(const config&) = delete;
  config& operator=(const config&) = delete;
};

/// What the bag asks: a word that it may write to, so that retiring allocates nothing, and how to free.
struct config_policy {
  static constexpr bool unique_words = true;
  static std::uint64_t word_of(config* c) { return reinterpret_cast<std::uint64_t>(c); }
  static config* at(std::uint64_t word) { return reinterpret_cast<config*>(word); }
  static std::uint64_t& retire_link(std::uint64_t word) noexcept { return at(word)->link; }
  static void dispose(std::uint64_t word) { delete at(word); }
};

class live_config {
public:
  explicit live_config(std::unique_ptr<config> first) : shown_(first.release()) {}
  ~live_config() { delete shown_.load(); } // no thread reads any more; the bag frees what it still has
  live_config(const live_config&) = delete;
  live_config& operator=(const live_config&) = delete;

  /// What `f` is given stays alive and as it is until it returns.
  template <class F> auto read(F f) const {
    const cubby::rcu::read_section inside;
    return f(static_cast<const config&>(*shown_.load()));
  }
  /// The old one is freed by a later call, when no thread reads it any more.
  void replace(std::unique_ptr<config> next) {
    cubby::rcu::thread_record* const mine = cubby::rcu::registry::local();
    if (mine == nullptr) throw std::bad_alloc();
    bag_.add(*mine, config_policy::word_of(shown_.exchange(next.release())));
  }
  /// When it returns true no thread reads the old one, which has been freed. False inside a `read` of one's own, where it
  /// would wait for itself: then nothing was replaced.
  bool replace_and_wait(std::unique_ptr<config> next) {
    if (cubby::rcu::registry::inside()) return false;
    const std::unique_ptr<config> old(shown_.exchange(next.release()));
    return cubby::rcu::synchronize() == cubby::rcu::waited::elapsed;
  }

private:
  std::atomic<config*> shown_;
  config_policy policy_;
  cubby::rcu::retire_bag<config_policy> bag_{policy_};
};

constexpr unsigned readers = 3;
constexpr std::uint64_t requests = 100000; // of each

/// A configuration is whole, and none comes after a later one.
void serve(const live_config& current, std::atomic<unsigned>& serving, std::atomic<std::uint64_t>& wrong) {
  std::uint64_t latest = 0;
  for (std::uint64_t n = 0; n < requests; ++n) {
    const bool right = current.read([&](const config& c) {
      bool good = c.version >= latest && c.servers.size() == c.version % 8 + 1;
      for (const std::string& s : c.servers) good = good && s == "server of version " + std::to_string(c.version);
      latest = c.version;
      return good;
    });
    if (!right) ++wrong;
  }
  --serving;
}

} // namespace

int main() {
  std::atomic<std::uint64_t> wrong = 0;
  std::uint64_t version = 0;
  std::uint64_t late = 0;
  int most = 0;
  {
    live_config current(std::make_unique<config>(version));
    std::atomic<unsigned> serving = readers;
    std::vector<std::thread> worker_threads;
    for (unsigned i = 0; i < readers; ++i)
      worker_threads.emplace_back(serve, std::cref(current), std::ref(serving), std::ref(wrong));
    while (version < 1000 || serving.load() != 0) {
      const int before = alive.load();
      auto next = std::make_unique<config>(++version);
      if (version % 100 != 0) current.replace(std::move(next));
      else if (!current.replace_and_wait(std::move(next)) || alive.load() != before) ++late;
      if (alive.load() > most) most = alive.load();
    }
    for (auto& one : worker_threads) one.join();
    if (current.read([](const config& c) { return c.version; }) != version) return 1;
  }
  std::printf("%llu configurations, at most %d at a time; %llu requests, %llu saw a wrong one\n",
              static_cast<unsigned long long>(version), most, static_cast<unsigned long long>(requests) * readers,
              static_cast<unsigned long long>(wrong.load()));
  return wrong.load() == 0 && late == 0 && alive.load() == 0 ? 0 : 1;
}
