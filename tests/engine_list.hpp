// SPDX-License-Identifier: Apache-2.0
// The list of engines: conformance tests, histories, fuzzing, the explorer's and the bench's adapters, the table of docs/choose.md
// and the pages of docs/ follow it. A new engine is one line here, the include of its header in engine_headers.hpp, and
// its folder. The house check and static assertions name each place that misses an engine of the list.
#pragma once

/// X(engine, storage, threads, modes...), where
///  - engine: the tag, a type of namespace cubby;
///  - storage: `records` (small keys and values in slots, all others in records), `tuples` (plain keys and values in slots,
///    no records), or `delegated`. Writes of `delegated` are sent and not answered, and it has tests of its own;
///  - threads: `shared`, or `single` for an engine that one thread at a time uses;
///  - modes: the storage modes of modes.hpp that the whole suite runs over. More modes cost compile time: a mode stands
///    here when the engine has code of its own for it.
#define CUBBY_FOR_EACH_ENGINE(X)                                                                                       \
  X(reference, records, shared, word_mode, named_text_mode)                                                            \
  X(dlht, records, shared, word_mode, text_mode, wide_mode, named_mode)                                                \
  X(dlht_single, records, single, word_mode, text_mode)                                                                \
  X(dramhit, records, shared, word_mode, text_mode, named_mode)                                                        \
  X(dramhit_tuples, tuples, shared, word_mode, tuple_mode)                                                             \
  X(relativistic, records, shared, word_mode, text_mode)                                                               \
  X(iceberg, records, shared, word_mode, text_mode, slot_text_mode, wide_text_mode, tuple_mode)                        \
  X(seph, records, shared, word_mode, text_mode)                                                                       \
  X(partitioned, delegated, shared, word_mode)
