/* SPDX-License-Identifier: Apache-2.0 */
/* Thread records, epochs and the bag of retired words, with store buffers: other threads see a plain store some time later, and
 * the loads behind it run ahead of it. One reader enters twice, at any time. Two writers unlink a word and retire it, inside pins of
 * their own; they free what is due, and collect. MODE_READERS: two readers, and writers that do not collect.
 * Line for line:
 *   domain.hpp claim, enter, leave, advance, oldest; barrier.hpp publish, all_threads;
 *   epoch.hpp add, turn, collect, dispose: one stripe for all, a batch of one word.
 * MODE_FALLBACK: a kernel without membarrier, where a thread that enters fences for itself.
 * Holds: no thread reads a word that has been freed. No word is freed twice, or while it is linked. When no thread is inside,
 * one `collect` frees all words that wait.
 * Left out: nested pins (a counter of the owner), claims and releases of thread records and their tree (thread_records.pml), a
 * barrier that the kernel begins to refuse (refusal.pml), loads out of order (acquire forbids it). Compare-and-swaps are seen
 * at once. Waiting blocks, so a wait without end is a deadlock. */
#define THREADS 4
#define NEW(me) (me + me) /* words are the bits of a set: 1 is linked at first, 2 and 4 come from the writers 1 and 2 */
chan buffer[THREADS] = [4] of { byte }; /* stores to one's own thread record that others do not see yet */
byte epoch[THREADS], listed;                     /* what they see: 0 outside; which thread records are in the list */
byte clock = 1, linked = 1;
byte open, sealed, stripe_epoch, lock; /* the stripe */
byte freed; /* ghost */
#ifdef BREAK_PUBLISH /* a plain store on entering, though no other thread fences for it */
#define MODE_FALLBACK
#endif

inline enter() {
  listed = listed | (1 << me); now = clock;
#if defined(MODE_FALLBACK) && !defined(BREAK_PUBLISH)
  atomic { empty(buffer[me]) -> epoch[me] = now; now = 0 }
#else
  atomic { buffer[me] ! now; now = 0 }
#endif
}

inline oldest() {
  least = 255;
#if defined(MODE_FALLBACK)
  empty(buffer[me]);
#elif !defined(BREAK_MEMBARRIER) /* does not make the others pass a fence */
  do :: atomic { p < THREADS -> empty(buffer[p]) -> p++ } :: atomic { p == THREADS -> p = 0; break } od;
#endif
  mask = listed;
  do
  :: atomic { p < THREADS -> if :: (mask >> p) & 1 && epoch[p] != 0 && epoch[p] < least -> least = epoch[p] :: else fi; p++ }
  :: atomic { p == THREADS -> p = 0; mask = 0; break }
  od }

inline turn() { /* the lock is ours, and what it guards; what is due is freed when the lock has been given back */
  if :: sealed != 0 -> oldest() :: else fi;
  atomic {
    if :: sealed != 0 && least < stripe_epoch -> skip
    :: else -> ready = sealed; sealed = open; open = 0; clock++;
#ifdef BREAK_OPEN /* what has no epoch yet goes with what is due */
      if :: ready != 0 -> ready = ready | sealed; sealed = 0 :: else fi;
#endif
#ifdef BREAK_EPOCH /* the epoch that ends, and not the one that begins: a thread that is in it may still hold the words */
      stripe_epoch = clock - 1
#else
      stripe_epoch = clock
#endif
    fi;
    least = 0 }
  lock = 0;
  d_step { assert((ready & (freed | linked)) == 0); freed = freed | ready; ready = 0 } }

inline collect() {
  do
  :: step < 2 -> atomic { !lock -> lock = 1 };
    if :: open != 0 || sealed != 0 -> turn() :: else -> lock = 0 fi; step++
  :: atomic { step == 2 -> step = 0; break }
  od }

proctype reader(byte me, stays) {
  byte now, word;
  do
  :: stays > 0 -> stays--;
#ifdef BREAK_ENTER /* looks before it has said that it is inside */
    word = linked; enter();
#else
    enter(); word = linked;
#endif
#ifdef BREAK_LEAVE /* looks after it has left */
    buffer[me] ! 0;
#endif
    assert((word & freed) == 0); assert((word & freed) == 0);
#ifndef BREAK_LEAVE
    buffer[me] ! 0;
#endif
    word = 0
  :: else -> break
  od }

proctype writer(byte me) {
  byte now, word, p, least, mask, ready, step;
  enter();
#ifdef BREAK_RETIRE /* retires what can still be found */
  word = linked; atomic { !lock -> lock = 1; open = open | word }; turn(); linked = NEW(me);
#else
  atomic { word = linked; linked = NEW(me); assert((word & freed) == 0) };
  atomic { !lock -> lock = 1; open = open | word }; turn();
#endif
  atomic { buffer[me] ! 0; word = 0 };
#ifndef MODE_READERS
  collect()
#endif
}

proctype memory() { /* lets buffered stores be seen, in their order */
end: do :: buffer[0] ? epoch[0] :: buffer[1] ? epoch[1] :: buffer[2] ? epoch[2] :: buffer[3] ? epoch[3] od }

init {
  byte me, p, least, mask, ready, step;
  atomic { run memory(); run writer(1); run writer(2);
#ifdef MODE_READERS
    run reader(3, 1); run reader(0, 1) }
#else
    run reader(0, 2) }
#endif
  _nr_pr == 2 -> for (p : 0 .. THREADS - 1) { empty(buffer[p]) }
  collect();
  assert((freed | linked) == 7 && (freed & linked) == 0)
}
