/* SPDX-License-Identifier: Apache-2.0 */
/* The tree of bitmaps in which thread records are claimed and given back, while a reclaimer scans it without a lock, with store
 * buffers. Three readers claim a thread record, enter, look, leave and give it back; one of them does so twice. A block has two thread
 * records, the root two blocks. The second block is linked in when the first one is full. The reclaimer unlinks a word, and scans
 * until it may free it. MODE_FALLBACK: a kernel without membarrier, where readers fence for themselves.
 * Line for line: thread_record_tree.hpp claim, release, for_each_taken; domain.hpp claim, release, enter, leave, advance, oldest, least_of.
 * Holds: no thread reads a word that has been freed: each scan that could free it has met the pin of a reader that may see it. A
 * thread record has one owner. A claim finds the lowest free thread record. A scan meets no block that is not there. The tree ends empty.
 * Left out: more levels (each is like the root), want of memory, the count of holders (its locked instruction would empty the store
 * buffer of a reader that has claimed), bags (epoch.pml), a refused barrier (refusal.pml), forks. What is done under the lock is one
 * step, but its stores are seen one after the other. Waiting blocks, so a wait without end is a deadlock. */
#define READERS 3
#define RECORDS 4
#define NONE 255
/* Words that stores wait for: the root's bits, those of two blocks, the way to the second block, the lock, epochs of thread records. */
#define ROOT 0
#define BLOCK(b) (1 + (b))
#define WAY 3
#define LOCK 4
#define EPOCH(s) (5 + (s))
chan buffer[READERS] = [6] of { byte, byte }; /* stores that others do not see yet */
byte word[9];
byte filled, clock = 1, linked = 1;
byte freed; bit owned[RECORDS]; /* ghosts */
#ifdef BREAK_LOCK /* claims and releases without the lock */
#define FREE true
#else
#define FREE (!word[LOCK] && empty(buffer[me]))
#endif

inline claim() { /* is: the block's bits, or those of the root */
  do
  :: atomic { FREE -> word[LOCK] = 1;
       if :: !(filled & 1) -> n = 0 :: filled == 1 -> n = 1 :: filled == 3 -> n = NONE fi;
       if
       :: n == 1 && !word[WAY] && !spare -> buffer[me] ! LOCK, 0; spare = 1 /* made without the lock */
       :: n == NONE -> buffer[me] ! LOCK, 0; mine = NONE; break
       :: else ->
#ifndef BREAK_HANG /* shows the block before it is linked in */
            if :: n == 1 && !word[WAY] -> buffer[me] ! WAY, 1 :: else fi;
#endif
            is = word[BLOCK(n)]; mine = 2 * n + (is & 1); is = is | (1 << (mine & 1));
            buffer[me] ! BLOCK(n), is;
            if :: is == 3 -> filled = filled | (1 << n) :: else fi;
            is = word[ROOT] | (1 << n);
#ifdef BREAK_LATE /* gives the lock back before the root's bit is set */
            buffer[me] ! LOCK, 0;
#endif
            if :: is != word[ROOT] -> buffer[me] ! ROOT, is :: else fi; /* the same again is not seen */
#ifdef BREAK_HANG
            if :: n == 1 && !word[WAY] -> buffer[me] ! WAY, 1 :: else fi;
#endif
#ifndef BREAK_LATE
            buffer[me] ! LOCK, 0;
#endif
            assert(!owned[mine]); owned[mine] = 1;
            is = 0; do :: is < mine -> assert(owned[is]); is++ :: else -> break od;
            break
       fi }
  od;
  atomic { n = 0; is = 0; spare = 0 } }

inline release() {
  atomic { FREE -> word[LOCK] = 1; n = mine / 2; owned[mine] = 0;
    is = word[BLOCK(n)] & ~(1 << (mine & 1)); buffer[me] ! BLOCK(n), is;
#ifndef BREAK_FULL /* a block that was full once stays so */
    filled = filled & ~(1 << n);
#endif
#ifndef BREAK_EMPTY /* takes the block from the scan though its other thread record is taken */
    if :: is == 0 ->
#endif
      is = word[ROOT] & ~(1 << n); buffer[me] ! ROOT, is
#ifndef BREAK_EMPTY
       :: else fi
#endif
    ; buffer[me] ! LOCK, 0; n = 0; is = 0 } }

proctype reader(byte me, stays) {
  byte mine, n, is, now, seen; bit spare;
  do
  :: stays > 0 -> stays--;
    claim(); assert(mine != NONE);
    now = clock;
#ifdef MODE_FALLBACK
    atomic { empty(buffer[me]) -> word[EPOCH(mine)] = now; now = 0 };
#else
    atomic { buffer[me] ! EPOCH(mine), now; now = 0 };
#endif
    seen = linked;
#ifdef BREAK_GIVEN /* gives the thread record back while it looks */
    buffer[me] ! EPOCH(mine), 0; release();
#endif
    atomic { assert((seen & freed) == 0); seen = 0;
#ifndef BREAK_GIVEN
      buffer[me] ! EPOCH(mine), 0 };
    release();
    atomic {
#endif
      mine = 0 }
  :: else -> break
  od }

inline barrier() {
#if !defined(BREAK_BARRIER) && !defined(MODE_FALLBACK) /* others need not have passed a fence */
  do :: atomic { n < READERS -> empty(buffer[n]) -> n++ } :: atomic { n == READERS -> n = 0; break } od
#else
  skip
#endif
}

proctype reclaimer() {
  byte epoch, least, n, blocks, used, s;
  do
  :: linked == 1 -> linked = 2; atomic { clock++; epoch = clock };
    do ::
#ifdef BREAK_ROOT /* looks at the root before the barrier */
      blocks = word[ROOT]; barrier();
#else
      barrier(); blocks = word[ROOT];
#endif
      least = NONE;
      do
      :: atomic { blocks != 0 -> n = (blocks & 1 -> 0 : 1); blocks = blocks & ~(1 << n); assert(n == 0 || word[WAY]); used = word[BLOCK(n)] };
        do
        :: atomic { used != 0 -> s = (used & 1 -> 0 : 1); used = used & ~(1 << s); s = word[EPOCH(2 * n + s)];
             if :: s != 0 && s < least -> least = s :: else fi; s = 0 }
        :: atomic { used == 0 -> n = 0; break }
        od
      :: atomic { blocks == 0 -> break }
      od;
      atomic { if :: least >= epoch -> freed = 1; epoch = 0; least = 0; break :: else -> least = 0 fi }
    od
  :: linked == 2 -> break
  od }

proctype memory() { /* lets buffered stores be seen, in their order */
  byte a, v;
end: do
  :: atomic { buffer[0] ? a, v -> word[a] = v; a = 0; v = 0 }
  :: atomic { buffer[1] ? a, v -> word[a] = v; a = 0; v = 0 }
  :: atomic { buffer[2] ? a, v -> word[a] = v; a = 0; v = 0 }
  od }

init {
  byte me, mine, n, is; bit spare;
  atomic { run memory(); run reclaimer(); run reader(0, 2); run reader(1, 1); run reader(2, 1) }
  _nr_pr == 2 -> atomic { empty(buffer[0]) && empty(buffer[1]) && empty(buffer[2]) ->
    assert(freed == 1 && word[ROOT] == 0 && word[BLOCK(0)] == 0 && word[BLOCK(1)] == 0 && filled == 0) };
  do :: claim(); if :: mine == RECORDS - 1 -> break :: else fi od }
