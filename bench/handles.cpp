// SPDX-License-Identifier: Apache-2.0
// What a handle costs: to make and end one, and to make many that all live; and how much live ones slow down a thread that retires records.
//   bench_handles [handles] [rounds]
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <cubby/map.hpp>

#include "rounds.hpp"

namespace {

using word = std::uint64_t;
using words_map = cubby::map<word, word>;
using texts_map = cubby::map<word, std::string>; // values are records, which an assign retires

double nanoseconds_each(word count, auto once) {
  const auto begin = std::chrono::steady_clock::now();
  for (word i = 0; i < count; ++i) once(i);
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count() /
         static_cast<double>(count);
}

struct figures {
  bench::rounds one, first, again, before, beside, after;
};

void take_turn(word handles, figures& out) {
  words_map m;
  out.one.add(nanoseconds_each(handles, [&](word) { (void)m.handle(); }));

  constexpr word keys = 1000;
  texts_map texts;
  auto own = texts.handle();
  for (word k = 0; k < keys; ++k) {
    if (!own.insert(k, std::string("first"))) std::abort();
  }
  const auto assign = [&](word i) {
    if (!own.assign(i % keys, std::string("other"))) std::abort();
  };
  constexpr word assigns = 200'000;
  out.before.add(nanoseconds_each(assigns, assign));
  {
    std::vector<decltype(texts.handle())> live;
    live.reserve(handles);
    // The records of threads belong to the program: a later round claims those of the first one again.
    bench::rounds& many = out.first.count() == 0 ? out.first : out.again;
    many.add(nanoseconds_each(handles, [&](word) { live.push_back(texts.handle()); }));
    out.beside.add(nanoseconds_each(assigns, assign));
  }
  out.after.add(nanoseconds_each(assigns, assign));
}

void print(const char* what, const bench::rounds& r) {
  std::printf("%-44s %8.0f %4.0f%%\n", what, r.median(), r.spread());
}

} // namespace

int main(int count, char** given) {
  const word handles = bench::number(count, given, 1, 30'000);
  const word rounds = bench::number(count, given, 2, 9);
  figures out;
  for (word r = 0; r < rounds; ++r) take_turn(handles, out);
  std::printf("%llu handles, one thread; nanoseconds each, medians of %llu rounds\n",
              static_cast<unsigned long long>(handles), static_cast<unsigned long long>(rounds));
  print("make and end", out.one);
  print("make, all live", out.first);
  print("make, again", out.again);
  print("assign, alone", out.before);
  print("assign, beside them", out.beside);
  print("assign, after them", out.after);
  return 0;
}
