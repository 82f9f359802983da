// SPDX-License-Identifier: Apache-2.0
// A `fixed` table of `iceberg` at its bound, where 96.5 of 100 slots are in use, under churn for as long as you like. Each thread
// erases one of its entries at random and inserts another one. None of these inserts may be refused. Between two slices of time as
// many entries must fit as are missing at the bound, and no more. Prints the rates, and where the entries are, after the fill and
// slice by slice. At the end each entry is looked up, and a scan must meet exactly these. Status 1 if anything was wrong. With
// `--live 98` the threads leave 2 % of the bound free.
//   bench_full_churn [--seconds S] [--entries N] [--threads N] [--slices N] [--live PERCENT]   a day: --seconds 86400 --slices 96
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include <cubby/iceberg.hpp>
#include <cubby/map.hpp>

#include "clock.hpp"
#include "rounds.hpp"

namespace {

namespace iceberg = cubby::detail::engines::iceberg;
using word = std::uint64_t;
using codec = cubby::detail::codec<word, word, cubby::hash<word>, std::allocator<std::byte>>;
using table = iceberg::table<codec>;

struct plan {
  word seconds = 20;
  word entries = 10'000'000; // the bound
  word live = 100;           // percent of them, which are in the table while threads write
  word threads = 2;
  word slices = 10;
  [[nodiscard]] word present() const { return entries / 100 * live + entries % 100 * live / 100; }
};

iceberg::options bounded(const plan& p) {
  iceberg::options o;
  o.capacity = p.entries;
  o.growth = cubby::growth_policy::fixed;
  return o;
}

/// One thread's entries. Its keys are the mixed numbers number * threads + its own; a value is the number, mixed once more.
class alignas(64) churn {
public:
  churn(table& t, const plan& p, word own)
      : table_(t), threads_(p.threads), own_(own),
        live_(p.present() * (own + 1) / p.threads - p.present() * own / p.threads) {}

  word fill() {
    cubby::detail::thread_record& who = *cubby::detail::registry::local();
    for (word& one : live_) {
      one = next_++;
      if (insert(who, one) != cubby::outcome::inserted) note(refused);
    }
    return live_.size();
  }
  /// Erases and inserts until the time is over; how many of both.
  word run(double seconds) {
    cubby::detail::thread_record& who = *cubby::detail::registry::local();
    word writes = 0;
    for (const double end = bench::seconds_now() + seconds; bench::seconds_now() < end; writes += 2 * in_turn)
      for (word i = 0; i < in_turn; ++i) replace(who);
    return writes;
  }
  /// Looks up as many of its entries, at random, or as many that were never there.
  void find(word count, bool present) {
    for (word i = 0; i < count; ++i) {
      const word number = present ? live_[random_below_live()] : next_ + i;
      const auto got = find_one(number);
      if (got.found != present || (present && got.word != value_of(number))) note(present ? lost : appeared);
    }
  }
  void find_all() {
    for (const word number : live_) {
      const auto got = find_one(number);
      if (!got.found) note(lost);
      else if (got.word != value_of(number)) note(changed);
    }
  }
  /// What the sum over a scan of this thread's entries must be.
  [[nodiscard]] word sum() const {
    word sum = 0;
    for (const word number : live_) sum += cubby::mix(key_of(number) ^ value_of(number));
    return sum;
  }
  /// Whether exactly so many entries more fit; they are erased again. Only while no other thread writes.
  bool fit_exactly(word spare) {
    cubby::detail::thread_record& who = *cubby::detail::registry::local();
    word fitted = 0;
    for (; fitted < spare && insert(who, next_ + fitted) == cubby::outcome::inserted; ++fitted) {
    }
    const bool refused_more = insert(who, next_ + fitted) == cubby::outcome::full;
    if (fitted != spare) note(refused);
    else if (!refused_more) note(unbounded);
    for (word i = 0; i < fitted; ++i) erase(who, next_ + i);
    return fitted == spare && refused_more;
  }
  word print_errors() const {
    static constexpr const char* names[] = {"inserts refused below the bound", "entries lost", "values changed",
                                            "entries that should not be there", "inserts above the bound"};
    word all = 0;
    for (unsigned e = 0; e < kinds; ++e) {
      if (errors_[e] != 0) std::printf("thread %zu: %zu %s\n", as_size(own_), as_size(errors_[e]), names[e]);
      all += errors_[e];
    }
    return all;
  }
  static std::size_t as_size(word w) { return static_cast<std::size_t>(w); }

private:
  enum error : unsigned { refused, lost, changed, appeared, unbounded, kinds };
  static constexpr word in_turn = 64;

  void note(error e) { ++errors_[e]; }
  [[nodiscard]] word key_of(word number) const { return cubby::mix(number * threads_ + own_); }
  [[nodiscard]] word value_of(word number) const { return cubby::mix(key_of(number)); }
  [[nodiscard]] cubby::detail::found_word find_one(word number) const {
    const cubby::detail::thread_pin inside(*cubby::detail::registry::local());
    return iceberg::find(table_, table_.policy.probe_of(key_of(number)));
  }
  cubby::outcome insert(cubby::detail::thread_record& who, word number) {
    const cubby::detail::thread_pin inside(who);
    return iceberg::insert(table_, who, table_.policy.probe_of(key_of(number)), value_of(number)).outcome;
  }
  void erase(cubby::detail::thread_record& who, word number) {
    const cubby::detail::thread_pin inside(who);
    const auto always = [](word) { return cubby::detail::decision{cubby::action::erase, 0}; };
    const auto was = iceberg::mutate(table_, who, table_.policy.probe_of(key_of(number)), always);
    if (!was.found) note(lost);
    else if (was.before != value_of(number)) note(changed);
  }
  void replace(cubby::detail::thread_record& who) {
    word& one = live_[random_below_live()];
    erase(who, one);
    if (one % 64 == 0 && find_one(one).found) note(appeared);
    one = next_++;
    if (insert(who, one) != cubby::outcome::inserted) note(refused);
  }
  std::size_t random_below_live() {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return static_cast<std::size_t>((state_ >> 32) * live_.size() >> 32);
  }

  table& table_;
  word threads_;
  word own_;
  std::vector<word> live_; // the numbers of the entries
  word next_ = 0;
  word state_ = own_ + 1;
  word errors_[kinds] = {};
};

/// Where the entries are, in percent, and bytes of the table for each. Only while no thread writes.
struct yards {
  double back = 0, chains = 0, load = 0, bytes = 0;
  explicit yards(const table& t) {
    const auto figures = iceberg::stats(t);
    const auto& s = iceberg::segment_at(t, 0);
    word behind = 0;
    // relaxed: no thread writes
    for (word i = 0; i < s.backs; ++i)
      behind += iceberg::back::used(s.back_lines[i].load(cubby::detail::sync::relaxed));
    const auto all = static_cast<double>(figures.size);
    back = 100 * static_cast<double>(behind) / all;
    chains = 100 * static_cast<double>(figures.chained) / all;
    load = 100 * all / static_cast<double>(figures.capacity);
    bytes = static_cast<double>(figures.bytes) / all;
  }
};

struct run {
  plan p;
  table t;
  std::vector<churn> threads;
  double begin = 0;

  explicit run(const plan& chosen) : p(chosen), t(bounded(p), codec({}, {}, 0)) {
    if (!iceberg::open(t)) std::abort();
    for (word i = 0; i < p.threads; ++i) threads.emplace_back(t, p, i);
  }
  run(const run&) = delete;
  run& operator=(const run&) = delete;
  ~run() { iceberg::close(t); }

  /// What every thread does, in operations a microsecond.
  template <class Work> double together(Work work) {
    std::vector<word> done(p.threads);
    const double seconds =
        bench::together(static_cast<unsigned>(p.threads), [&](unsigned i) { done[i] = work(threads[i]); });
    word sum = 0;
    for (const word one : done) sum += one;
    return static_cast<double>(sum) / seconds * 1e-6;
  }
  /// The table holds as many entries as its bound says, and refuses each further one.
  bool is_exact() {
    bool right = iceberg::live_entries(t) == p.present();
    for (churn& one : threads) right = one.fit_exactly(p.entries - p.present()) && right;
    return right && iceberg::live_entries(t) == p.present() && iceberg::stats(t).growths == 0;
  }
  void print_slice(double writes) {
    constexpr word finds = 1 << 20;
    const double hits = together([](churn& one) { return one.find(finds, true), finds; });
    const double misses = together([](churn& one) { return one.find(finds, false), finds; });
    const yards y(t);
    std::printf("%9.0f %12.2f %10.2f %10.2f %10.2f %12.3f %14.5f %12.2f\n", bench::seconds_now() - begin, writes, hits,
                misses, y.load, y.back, y.chains, y.bytes);
    std::fflush(stdout);
  }
  /// False: a scan meets other entries than those that the threads have.
  bool scan_agrees() {
    const cubby::detail::thread_pin inside(*cubby::detail::registry::local());
    word count = 0;
    word sum = 0;
    auto add = [&](word key, word value) {
      ++count;
      sum += cubby::mix(key ^ value);
    };
    iceberg::for_each(t, add);
    for (const churn& one : threads) sum -= one.sum();
    return count == p.present() && sum == 0;
  }

  int go() {
    bool right = true;
    std::printf("%zu entries of at most %zu, %zu threads; millions a second\n%9s %12s %10s %10s %10s %12s %14s %12s\n",
                static_cast<std::size_t>(p.present()), static_cast<std::size_t>(p.entries),
                static_cast<std::size_t>(p.threads), "seconds", "writes", "finds", "misses", "% in use", "% in back",
                "% in chains", "bytes/entry");
    begin = bench::seconds_now();
    print_slice(together([](churn& one) { return one.fill(); }));
    right = is_exact();
    const double slice = static_cast<double>(p.seconds) / static_cast<double>(p.slices);
    for (word i = 0; i < p.slices && right; ++i) {
      print_slice(together([slice](churn& one) { return one.run(slice); }));
      right = is_exact();
    }
    if (!right) std::printf("the table was not full at its bound, or it grew\n");
    (void)together([](churn& one) { return one.find_all(), word{0}; });
    if (!scan_agrees()) right = false, std::printf("a scan met other entries\n");
    for (const churn& one : threads) right = one.print_errors() == 0 && right;
    std::printf(right ? "all entries are right\n" : "wrong\n");
    return right ? 0 : 1;
  }
};

bool read(plan& p, int count, char** words) {
  const struct {
    std::string_view name;
    word& value;
  } flags[] = {{"--seconds", p.seconds},
               {"--entries", p.entries},
               {"--threads", p.threads},
               {"--slices", p.slices},
               {"--live", p.live}};
  for (int i = 1; i < count; i += 2) {
    const auto* const flag =
        std::find_if(std::begin(flags), std::end(flags), [&](const auto& f) { return f.name == words[i]; });
    if (flag == std::end(flags) || i + 1 == count) return false;
    flag->value = bench::number(count, words, i + 1, 0);
  }
  return p.seconds != 0 && p.live != 0 && p.live <= 100 && p.slices != 0 && p.threads != 0 && p.threads <= 512 &&
         p.present() / p.threads >= 1000 && p.entries >> 32 == 0;
}

} // namespace

int main(int count, char** words) {
  plan p;
  if (!read(p, count, words)) {
    std::fprintf(
        stderr,
        "bench_full_churn: [--seconds S] [--entries N] [--threads N] [--slices N] [--live PERCENT], each at least "
        "1, and 1000 entries or more for each thread\n");
    return 2;
  }
  return run(p).go();
}
