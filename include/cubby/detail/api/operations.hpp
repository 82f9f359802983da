// SPDX-License-Identifier: Apache-2.0
// The verbs on one key, written once for words and for records: lookups, inserts, changes; erase.hpp has the erases. Each runs
// inside a pin that its caller holds. In record mode a value is built outside the engine and published by one comparison and swap of words. So no lock
// is held and no bin is blocked while the user's code runs, and a user's function may run again. The exception is
// `modify_value`, for engines that have it.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include <cubby/detail/api/outcome.hpp>
#include <cubby/detail/core/contract.hpp>
#include <cubby/detail/core/self_wait.hpp>
#include <cubby/detail/core/word_codec.hpp>
#include <cubby/detail/platform/fail.hpp>
#include <cubby/detail/platform/sync.hpp>

namespace cubby::inline v0::detail {

/// What each verb needs: an engine, its codec, and the thread record of the caller.
template <class Engine> struct context {
  using codec_type = typename Engine::policy;
  using probe = typename Engine::probe;
  Engine& engine;
  thread_record& at;
  [[nodiscard]] const codec_type& codec() const noexcept { return engine.slots(); }
};

/// The hashed key of a lookup: a query if the codec has queries, or else a probe.
template <class Codec, class Q>
  requires requires { Codec::in_records; }
[[nodiscard]] CUBBY_ALWAYS_INLINE auto query_of(const Codec& codec, const Q& k) {
  if constexpr (key_owning_policy<Codec>) return codec.query_of(k);
  else return codec.probe_of(k);
}

template <contract::with_policy Engine> [[nodiscard]] CUBBY_NEVER_INLINE thread_record&
wait_for_thread_record(Engine& e) {
  for (sync::backoff wait;; wait.pause()) {
    fail::with_no_memory();
    if (thread_record* const mine = e.local_thread_record()) return *mine;
  }
}
/// The calling thread's record. Throws std::bad_alloc if there is no memory for one; without exceptions it waits for memory.
template <contract::with_policy Engine> [[nodiscard]] CUBBY_ALWAYS_INLINE thread_record&
caller_thread_record(Engine& e) {
  thread_record* const mine = e.local_thread_record();
  return mine != nullptr ? *mine : wait_for_thread_record(e);
}
template <class Engine> using value_of = typename Engine::policy::mapped_type;
/// The form in which the engine stores a value: a word, or the words of a tuple.
template <class Engine> using word_of_value = typename Engine::policy::stored_value;
template <class Engine> using decision_of = decision_as<word_of_value<Engine>>;

/// Deciders that do not look at the entry's word: replace it, or erase the entry.
template <class Word> struct replace_by {
  Word word;
  CUBBY_ALWAYS_INLINE decision_as<Word> operator()(const Word&) const noexcept { return {action::replace, word}; }
};
template <class Word> struct erase_anyway {
  CUBBY_ALWAYS_INLINE decision_as<Word> operator()(const Word&) const noexcept { return {action::erase}; }
};

CUBBY_NEVER_INLINE inline void report(insert_outcome how) {
  if (how == insert_outcome::full) fail::with_table_full();
  if (how == insert_outcome::crowded) fail::with_table_crowded();
  if (how == insert_outcome::no_memory) fail::with_no_memory();
}
/// True if the insert has inserted. Throws if it had no space; without exceptions it then returns false.
CUBBY_ALWAYS_INLINE bool report_failure(insert_outcome how) {
  if (how != insert_outcome::inserted && how != insert_outcome::exists) [[unlikely]]
    report(how);
  return how == insert_outcome::inserted;
}

/// There is no memory for a record. Frees what no pin holds back of the retired ones, for the calls that follow. Otherwise a table
/// could refuse for ever, because a call that fails retires nothing.
template <class Engine> CUBBY_NEVER_INLINE void free_retired(Engine& engine, thread_record& at) {
  if constexpr (Engine::policy::in_records && contract::collecting<Engine>) engine.collect(at);
}

/// A value word that is built and not yet published. The destructor frees a record that was not published.
template <class Engine> class fresh_word {
public:
  template <class Q, class... A>
  fresh_word(context<Engine> s, const typename Engine::probe& p, Q&& key, A&&... args)
      : context_(s), made_(s.codec().make(p, std::forward<Q>(key), std::forward<A>(args)...)) {}
  ~fresh_word() {
    if (!made_.ok) return;
    if constexpr (Engine::policy::in_records) {
      // a slot that was being filled may have shown the word to a reader, which rejects it only after reading the record
      if (shown_) {
        context_.engine.retire(context_.at, made_.word);
      } else {
        context_.codec().dispose(made_.word);
      }
    }
  }
  /// A word that `make` has made.
  fresh_word(context<Engine> s, const made_as<word_of_value<Engine>>& made) noexcept : context_(s), made_(made) {}
  fresh_word(const fresh_word&) = delete;
  fresh_word& operator=(const fresh_word&) = delete;

  [[nodiscard]] bool is_made() const noexcept { return made_.ok; }
  /// The same; if it is not, frees retired records.
  [[nodiscard]] bool ok() const {
    if (!made_.ok) [[unlikely]]
      free_retired(context_.engine, context_.at);
    return made_.ok;
  }
  [[nodiscard]] const word_of_value<Engine>& word() const noexcept { return made_.word; }
  void published() noexcept { made_.ok = false; }

  insert_outcome insert(const typename Engine::probe& p) {
    return note(context_.engine.insert(context_.at, p, made_.word));
  }
  insert_outcome reserve(const typename Engine::probe& p) {
    return note(context_.engine.shadow_insert(context_.at, p, made_.word));
  }
  /// Replaces `expected` by this word if the entry still has it, and retires the old word.
  bool replace(const typename Engine::probe& p, const word_of_value<Engine>& expected) {
    if (!swap_word(context_, p, expected, {action::replace, made_.word})) return false;
    published();
    return true;
  }

private:
  insert_outcome note(const auto& result) noexcept {
    shown_ |= result.shown;
    if (result.outcome == insert_outcome::inserted) published();
    return result.outcome;
  }

  context<Engine> context_;
  made_as<word_of_value<Engine>> made_;
  bool shown_ = false;
};

/// Carries out the decision `wanted` if the entry's word is still `expected`.
template <class Engine>
bool swap_word(context<Engine> s, const typename Engine::probe& p, const word_of_value<Engine>& expected,
               const decision_of<Engine>& wanted) {
  const auto m =
      s.engine.mutate(s.at, p, [&](const auto& word) { return word == expected ? wanted : decision_of<Engine>{}; });
  if (!m.found || m.done != wanted.what) return false;
  if constexpr (Engine::policy::in_records) s.engine.retire(s.at, m.before);
  return true;
}

/// Inserts if the key is absent, and only then builds the value.
template <class Engine, class Q, class... A>
insert_outcome insert_entry(context<Engine> s, const typename Engine::probe& p, const Q& key, A&&... args) {
  if constexpr (!Engine::policy::in_records) {
    return s.engine.insert(s.at, p, s.codec().make(p, key, std::forward<A>(args)...).word).outcome;
  } else {
    if (s.engine.find(s.at, p).found) return insert_outcome::exists;
    fresh_word<Engine> next(s, p, key, std::forward<A>(args)...);
    return next.ok() ? next.insert(p) : insert_outcome::no_memory;
  }
}

/// The result of a change of an entry that should be present.
enum class changed : std::uint8_t { done, absent, no_memory };

/// Replaces the value by `make(const V& old) -> V` if the key is present. `make` may run again.
template <class Engine, class Q, class F>
changed replace_value(context<Engine> s, const typename Engine::probe& p, const Q& key, F&& make) {
  const auto& codec = s.codec();
  refuse_shown(s.engine, p);
  if constexpr (!Engine::policy::in_records) {
    const auto m = s.engine.mutate(s.at, p, [&](const auto& word) {
      const value_of<Engine> old = codec.value(word);
      [[maybe_unused]] const shown_entry<Engine> shown(s.engine, p, word);
      return decision_of<Engine>{action::replace, codec.make(p, key, make(old)).word};
    });
    return m.found ? changed::done : changed::absent;
  } else {
    for (;;) {
      const auto seen = s.engine.find(s.at, p);
      if (!seen.found) return changed::absent;
      const auto made = [&]() -> decltype(auto) {
        [[maybe_unused]] const shown_entry<Engine> shown(s.engine, p, seen.word);
        return make(codec.value(seen.word));
      };
      fresh_word<Engine> next(s, p, codec.kept_key(seen.word, key), made());
      if (!next.ok()) return changed::no_memory;
      if (next.replace(p, seen.word)) return changed::done;
    }
  }
}

/// Calls `f(V&)` exactly once, on a copy that then replaces the value. No other thread changes the entry meanwhile.
template <class Engine, class Q, class F>
changed modify_value(context<Engine> s, const typename Engine::probe& p, const Q& key, F&& f) {
  const auto& codec = s.codec();
  refuse_shown(s.engine, p);
  if constexpr (!Engine::policy::in_records) {
    const auto m = s.engine.modify(p, [&](const auto& word) {
      value_of<Engine> value = codec.value(word);
      [[maybe_unused]] const shown_entry<Engine> shown(s.engine, p, word, true);
      f(value);
      return decision_of<Engine>{action::replace, codec.make(p, key, value).word};
    });
    return m.found ? changed::done : changed::absent;
  } else {
    std::optional<fresh_word<Engine>> next;
    const auto m = s.engine.modify(p, [&](std::uint64_t word) {
      value_of<Engine> value(codec.value(word));
      [[maybe_unused]] const shown_entry<Engine> shown(s.engine, p, word, true);
      f(value);
      next.emplace(s, p, codec.kept_key(word, key), std::move(value));
      // not `ok`, which may free records: the entry is held
      return next->is_made() ? decision{action::replace, next->word()} : decision{};
    });
    if (!m.found) return changed::absent;
    if (!next->ok()) return changed::no_memory;
    next->published();
    s.engine.retire(s.at, m.before);
    return changed::done;
  }
}

/// Assigns the word if the key is present. For tables of words.
template <class Engine>
CUBBY_ALWAYS_INLINE changed assign_word(const context<Engine>& s, const typename Engine::probe& p,
                                        const word_of_value<Engine>& word) {
  refuse_shown(s.engine, p);
  auto m = s.engine.mutate(s.at, p, replace_by<word_of_value<Engine>>{word});
  return m.found ? changed::done : changed::absent;
}

/// Assigns the value if the key is present. It moves or copies the value only if the key is found.
template <class Engine, class Q, class U>
changed assign_value(context<Engine> s, const typename Engine::probe& p, const Q& key, U&& value) {
  const auto& codec = s.codec();
  if constexpr (!Engine::policy::in_records) {
    return assign_word(s, p, codec.make(p, key, std::forward<U>(value)).word);
  } else {
    refuse_shown(s.engine, p);
    const auto seen = s.engine.find(s.at, p);
    if (!seen.found) return changed::absent;
    fresh_word<Engine> next(s, p, codec.kept_key(seen.word, key), std::forward<U>(value));
    if (!next.ok()) return changed::no_memory;
    const std::uint64_t word = next.word();
    const auto m = s.engine.mutate(s.at, p, [word](std::uint64_t) { return decision{action::replace, word}; });
    if (!m.found) return changed::absent;
    next.published();
    s.engine.retire(s.at, m.before);
    return changed::done;
  }
}

/// The result of an insert-or-change. If `inserted` is false and `how` is `exists`, the entry that was there has been changed.
struct upserted {
  insert_outcome how = insert_outcome::inserted;
  [[nodiscard]] bool inserted() const noexcept { return how == insert_outcome::inserted; }
};

/// `insert_it() -> insert_outcome` if the key is absent, else `change_it() -> changed`. While a reservation of the key is open,
/// neither is possible, and this waits for its commit or abort. Inlined: otherwise the captures of the two functions would be
/// stored word by word and loaded in pairs, which stalls.
template <class Engine, class Change, class Insert>
CUBBY_ALWAYS_INLINE upserted change_or_insert(context<Engine> s, const typename Engine::probe& p,
                                              const Change& change_it, const Insert& insert_it) {
  for (sync::backoff wait;; wait.pause()) {
    const changed c = change_it();
    if (c == changed::done) return {insert_outcome::exists};
    if (c == changed::no_memory) return {insert_outcome::no_memory};
    const insert_outcome how = insert_it();
    if (how != insert_outcome::exists) return {how};
    refuse_own_wait(s.engine, p);
  }
}

/// Publishes a record in place of the present one, and retires that one. False: the key was absent.
template <class Engine>
CUBBY_ALWAYS_INLINE bool replace_record(const context<Engine>& s, const typename Engine::probe& p, std::uint64_t word) {
  const auto m = s.engine.mutate(s.at, p, replace_by<std::uint64_t>{word});
  if (m.found) s.engine.retire(s.at, m.before);
  return m.found;
}

/// What `put_record` leaves: the key was absent.
template <class Engine>
CUBBY_OUTLINED upserted put_absent(Engine& engine, thread_record& at, const typename Engine::probe& p,
                                   const made_word& made) {
  const context<Engine> s{engine, at};
  fresh_word<Engine> next(s, made);
  for (sync::backoff wait;; wait.pause()) {
    const insert_outcome how = next.insert(p);
    if (how != insert_outcome::exists) return {how};
    refuse_own_wait(engine, p);
    if (!replace_record(s, p, next.word())) continue;
    next.published();
    return {insert_outcome::exists};
  }
}

/// Stores a record of this key and value: as a new entry, or in place of the present one.
template <class Engine, class Q, class U>
CUBBY_ALWAYS_INLINE upserted put_record(const context<Engine>& s, const typename Engine::probe& p, const Q& key,
                                        U&& value) {
  refuse_shown(s.engine, p);
  if constexpr (contract::prefetching<Engine>) s.engine.prefetch(p); // it comes while the record is made
  const made_word made = s.codec().make(p, key, std::forward<U>(value));
  if (!made.ok) [[unlikely]] {
    free_retired(s.engine, s.at);
    return {insert_outcome::no_memory};
  }
  if (replace_record(s, p, made.word)) return {insert_outcome::exists};
  return put_absent(s.engine, s.at, p, made);
}

/// Assigns or inserts the word. For tables of words.
template <class Engine>
CUBBY_ALWAYS_INLINE upserted assign_or_insert_word(const context<Engine>& s, const typename Engine::probe& p,
                                                   const word_of_value<Engine>& word) {
  return change_or_insert(
      s, p, [&]() CUBBY_INLINED { return assign_word(s, p, word); },
      [&]() CUBBY_INLINED { return s.engine.insert(s.at, p, word).outcome; });
}

/// Assigns or inserts the value. If two equal keys differ, the first stays, unless both are stored at the same time.
template <class Engine, class Q, class U>
upserted assign_or_insert(context<Engine> s, const typename Engine::probe& p, const Q& key, U&& value) {
  if constexpr (!Engine::policy::in_records) {
    return assign_or_insert_word(s, p, s.codec().make(p, key, std::forward<U>(value)).word);
  } else {
    if constexpr (Engine::policy::keys_can_differ) {
      if (const auto seen = s.engine.find(s.at, p); seen.found) {
        return put_record(s, p, s.codec().kept_key(seen.word, key), std::forward<U>(value));
      }
    }
    return put_record(s, p, key, std::forward<U>(value));
  }
}

} // namespace cubby::inline v0::detail
