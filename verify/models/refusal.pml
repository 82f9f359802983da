/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel that begins to refuse the membarrier, at any moment, to one reclaimer or to all threads, with store buffers. One
 * reader claims a thread record, enters twice, and keeps the record or not; another reader enters once and gives its record back. A
 * reclaimer unlinks a word. It asks once for the oldest epoch, as a bag does, or it begins a grace period and asks once whether that has
 * elapsed. Other threads, whose own words do not matter, ask the kernel at any moment, too, and mark the thread records by its answer.
 * MODE_FALLBACK: a kernel that never had the barrier. MODE_WORKS: one that always grants it.
 * Line for line: domain.hpp claim, release, enter, enter_fenced, leave, advance, pass_barrier, fence_readers, oldest, oldest_shown,
 *   least_of; rcu.hpp begin, elapsed; barrier.hpp publish, publish_fenced, all_threads.
 * Holds: no thread reads a word that has been freed. Readers fence only after a refusal. When all are outside, `oldest` holds up
 * nothing, unless the barrier is refused to the caller and a thread record has been neither entered since nor given back.
 * Left out: a second question of the same reclaimer, nested pins, pins of reclaimers (they hold up like those of readers), the tree of
 * thread records (thread_records.pml), bags (epoch.pml), loads out of order. Compare-and-swaps, and what adds to the clock, are seen at once. Waiting blocks. */
#define READERS 2
#define NONE 255
#define BIT 128 /* of the clock, and so of epochs: readers fence for themselves */
#define ALL 3   /* threads to which the barrier is refused: bits of the reclaimer (which is `init` in the end), and of others */
/* Words that stores wait for: the thread records' epochs, whether their owners fence, which thread records are taken, the lock. */
#define EPOCH(s) (s)
#define FENCED(s) (2 + (s))
#define TAKEN 4
#define LOCK 5
chan buffer[READERS] = [5] of { byte, byte };
byte word[6], linked = 1, freed /* ghost */;
#ifdef MODE_FALLBACK
byte clock = BIT + 1, refused = ALL;
#else
byte clock = 1, refused;
#endif

inline claim() {
  atomic { !word[LOCK] && empty(buffer[me]) -> word[LOCK] = 1;
    mine = word[TAKEN] & 1; buffer[me] ! TAKEN, word[TAKEN] | (1 << mine);
#ifdef BREAK_CLAIM /* trusts a thread record because it is claimed */
    fences = 1;
#else
    fences = clock / BIT;
#endif
    buffer[me] ! FENCED(mine), fences; buffer[me] ! LOCK, 0 } }

inline give() {
  atomic { !word[LOCK] && empty(buffer[me]) -> word[LOCK] = 1;
    buffer[me] ! TAKEN, word[TAKEN] & ~(1 << mine); buffer[me] ! LOCK, 0; mine = 0; fences = 0 } }

inline stay() {
  now = clock;
  if
  :: atomic { now < BIT -> buffer[me] ! EPOCH(mine), now; now = 0 }
  :: atomic { now >= BIT -> if :: !fences -> buffer[me] ! FENCED(mine), 1; fences = 1 :: else fi };
#ifdef BREAK_PLAIN /* says that it fences, and does not */
     atomic { buffer[me] ! EPOCH(mine), now; now = 0 }
#else
     atomic { empty(buffer[me]) -> word[EPOCH(mine)] = now; now = 0 }
#endif
  fi;
  seen = linked;
  atomic { assert((seen & freed) == 0); seen = 0; buffer[me] ! EPOCH(mine), 0 } }

proctype reader(byte me) {
  byte mine, now, seen; bit fences;
  claim(); stay();
  if :: me == 0 -> stay(); if :: give() :: skip fi
     :: else -> give() fi }

inline all_threads() { /* worked: whether it has */
  if
  :: atomic { refused & (1 << me) -> worked = 0 }
  :: atomic { !(refused & (1 << me)) -> worked = 1; s = 0 };
     do :: atomic { s < READERS -> empty(buffer[s]) -> s++ } :: atomic { s == READERS -> s = 0; break } od
  fi }

inline fence_readers() { atomic { !word[LOCK] -> if :: clock < BIT -> clock = clock + BIT :: else fi } }

inline pass_barrier() { /* the caller's own stores are seen at once, so that its own fence is none */
  if
  :: clock >= BIT
  :: clock < BIT -> all_threads();
#ifndef BREAK_REFUSED /* takes a barrier that was refused for one that has worked */
     if
     :: !worked -> fence_readers()
#ifdef BREAK_ALL /* says of each thread record that its reader fences */
       ; word[FENCED(0)] = 1; word[FENCED(1)] = 1
#endif
     :: else
     fi
#endif
  fi }

inline least_of() { /* trust: thread records whose owners do not fence tell nothing */
  atomic { least = NONE; mask = word[TAKEN]; s = 0 };
  do
  :: atomic { s < READERS && !((mask >> s) & 1) -> s++ }
  :: atomic { s < READERS && (mask >> s) & 1 -> if :: trust && !word[FENCED(s)] -> least = 0 :: else fi };
     atomic { if :: word[EPOCH(s)] != 0 && word[EPOCH(s)] < least -> least = word[EPOCH(s)] :: else fi; s++ }
  :: atomic { s == READERS -> s = 0; mask = 0; trust = 0; break }
  od }

inline oldest_shown() {
#ifndef BREAK_TRUST /* takes each thread record for what it shows */
  trust = clock / BIT;
#endif
  least_of() }

inline oldest() {
  pass_barrier(); oldest_shown();
  if
  :: least == 0 -> all_threads();
#ifdef BREAK_SECOND /* looks again though the barrier has not worked */
     worked = 1;
#endif
     if :: worked -> least_of() :: else fi
  :: else
  fi }

proctype reclaimer(byte me) {
  byte epoch, least, mask, s; bit worked, trust, asks;
  linked = 2;
  atomic { clock++; epoch = clock; if :: asks = 0 :: asks = 1 fi }; /* a bag, or a grace period */
#ifndef BREAK_BEGIN /* begins its grace period without the barrier */
  if :: asks -> pass_barrier() :: else fi;
#endif
  if :: asks -> oldest_shown(); if :: least == 0 -> oldest() :: else fi
     :: else -> oldest() fi;
  if :: least >= epoch -> freed = 1 :: else fi }

proctype kernel() {
  if :: refused = ALL :: refused = 1 :: refused = 2 :: skip fi;
  if :: refused & 2 -> fence_readers() :: skip fi }

proctype memory() { /* lets buffered stores be seen, in their order */
  byte a, v;
end: do :: atomic { buffer[0] ? a, v -> word[a] = v; a = 0; v = 0 } :: atomic { buffer[1] ? a, v -> word[a] = v; a = 0; v = 0 } od }

init {
  byte me, least, mask, s; bit worked, trust;
  atomic { run memory(); run reader(0); run reader(1); run reclaimer(0);
#ifndef MODE_WORKS
#ifndef MODE_FALLBACK
    run kernel()
#endif
#endif
  }
  atomic { _nr_pr == 2 && empty(buffer[0]) && empty(buffer[1]) -> assert(clock < BIT || refused) };
  oldest();
  if :: word[TAKEN] && clock >= BIT && !word[FENCED(word[TAKEN] / 2)] && refused & 1 -> assert(least == 0)
     :: else -> assert(least == NONE) fi }
