/* SPDX-License-Identifier: Apache-2.0 */
/* Order across keys, with store buffers: a plain store waits in its thread's buffer, in order, until other threads see it; the
 * loads behind it run ahead. Each of two threads changes its own key and then looks up the other thread's key, several times.
 * Line for line:
 *   relativistic/insert.hpp link_node, mutate.hpp apply, modify.hpp publish, shadow.hpp shadow_commit: the lock of a stripe, the
 *   plain store that is the linearization point, the end of the lock; find.hpp first_link, search: the root, then the key;
 *   lock.hpp lock, unlock.
 * MODE_PARTITIONS: delegate.hpp send, flush, serve, drain_lane and partition.hpp find_in. A change is sent. A thread that takes
 * the partition's lock, the sender or another one, carries it out. The flush ends when the sender sees it consumed.
 * MODE_ARM: the end of the lock is a release store like others; a verb's first load waits until such stores are seen (`ldar`).
 * Holds: the changes and lookups of both threads have one order, which keeps the order of each thread.
 * Left out: searches, resizes, several keys of a lock; loads out of order among themselves (acquire forbids it). A locked
 * instruction waits for an empty buffer and is seen at once. */
#define ROUNDS 3
#define KEY(t) (t)       /* what the key of thread t shows: the number of its last change */
#define LOCK(t) (2 + t)  /* of its stripe or partition */
#define SENT(t) (4 + t)  /* the count that the sender of partition t publishes */
#define DONE(t) (6 + t)  /* the count that is consumed there */
byte memory[8];
chan buffer[3] = [5] of { byte, byte }; /* place and value; of both threads and of the one that only serves */
byte seen[2 * ROUNDS];                  /* ghost: what the lookups have shown */
#define SAW(t, round) seen[t * ROUNDS + round - 1]
#ifdef BREAK_UNLOCK /* the stripe's lock ends in a plain store */
#define PLAIN_END
#endif
#ifdef BREAK_FLUSH /* the partition's lock does */
#define MODE_PARTITIONS
#define PLAIN_END
#endif
#ifdef BREAK_LDAPR /* the first load may run ahead of release stores */
#define MODE_ARM
#endif
#ifdef MODE_ARM
#define PLAIN_END
#endif

/* A thread reads its own latest store to a place, if that still waits. */
inline read(place, to) {
  d_step { to = memory[place]; at = 0;
    do :: at < len(buffer[me]) -> buffer[me] ? where, what; buffer[me] ! where, what;
            if :: where == place -> to = what :: else fi; at++
       :: else -> break od;
    at = 0; where = 0; what = 0 } }
inline first_load() {
#if defined(MODE_ARM) && !defined(BREAK_LDAPR)
  empty(buffer[me]);
#endif
  skip }
#define MAY_LOCK(t) (len(buffer[me]) == 0 && memory[LOCK(t)] == 0)
inline unlock(t) {
#ifdef PLAIN_END
  buffer[me] ! LOCK(t), 0
#else
#ifdef BREAK_ONE_PATH /* one of the verbs ends its lock in another way */
  if :: me == 1 -> buffer[me] ! LOCK(t), 0
     :: else -> atomic { empty(buffer[me]) -> memory[LOCK(t)] = 0 } fi
#else
  atomic { empty(buffer[me]) -> memory[LOCK(t)] = 0 }
#endif
#endif
}

#ifdef MODE_PARTITIONS
inline serve(t) { /* the lock is ours */
  read(SENT(t), sent); read(DONE(t), done);
  if :: sent != done -> buffer[me] ! KEY(t), sent; buffer[me] ! DONE(t), sent :: else fi;
  atomic { sent = 0; done = 0 }; unlock(t) }
inline change() {
  buffer[me] ! SENT(me), round;
  do :: read(DONE(me), done);
        if :: atomic { done == round -> done = 0; break }
           :: atomic { done != round && MAY_LOCK(me) -> done = 0; memory[LOCK(me)] = 1 }; serve(me)
           :: atomic { done != round && !MAY_LOCK(me) -> done = 0 }; memory[DONE(me)] == round || MAY_LOCK(me) fi od }
#else
inline change() {
#ifdef BREAK_EARLY /* the store that shows the change comes behind the end of the lock */
  atomic { MAY_LOCK(me) -> memory[LOCK(me)] = 1 }; unlock(me); buffer[me] ! KEY(me), round
#else
  atomic { MAY_LOCK(me) -> memory[LOCK(me)] = 1 }; buffer[me] ! KEY(me), round; unlock(me)
#endif
}
#endif

proctype thread(byte me) { byte round, shown, at, where, what, sent, done;
  do :: round < ROUNDS -> round++; change(); first_load(); read(KEY(1 - me), shown);
        atomic { SAW(me, round) = shown; shown = 0 }
     :: else -> break od }

proctype server(byte me) { byte t, at, where, what, sent, done; /* serves a few times, or not */
#ifdef MODE_PARTITIONS
  byte turns;
  do :: turns < 2 -> turns++; if :: t = 0 :: t = 1 fi; atomic { MAY_LOCK(t) -> memory[LOCK(t)] = 1 }; serve(t)
     :: break od
#else
  skip
#endif
}

proctype others_see() { byte where, what;
end: do :: atomic { buffer[0] ? where, what -> memory[where] = what; where = 0; what = 0 }
        :: atomic { buffer[1] ? where, what -> memory[where] = what; where = 0; what = 0 }
        :: atomic { buffer[2] ? where, what -> memory[where] = what; where = 0; what = 0 } od }

init { byte i, j;
  atomic { run others_see(); run thread(0); run thread(1); run server(2) };
  _nr_pr == 2 -> d_step {
    for (i : 1 .. ROUNDS) { for (j : 1 .. ROUNDS) { /* neither lookup has seen the change in front of the other one */
      assert(!(SAW(0, i) < j && SAW(1, j) < i)) } } } }
