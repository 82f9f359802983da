/* SPDX-License-Identifier: Apache-2.0 */
/* One pair of front buckets of the iceberg engine splits in a growth and merges in a shrink. A writer inserts, assigns and erases two
 * keys meanwhile, of which one lies in the upper bucket while there is one, and a lookup starts at any moment.
 * Line for line: layout.hpp state, root_word; find.hpp begin_lookup, end_lookup, is_same_state; change.hpp lock_home, put_new, remove;
 *   mutate.hpp mutate; move.hpp split_front, merge_front; grow.hpp begin_move, end_move; table.hpp level_of_front.
 * Holds: the answer of a lookup was true at some moment of the lookup. The writer, which alone changes entries, finds exactly those
 * that are there, with their values. At the end each key that is there has one entry in the lower bucket.
 * Left out: the back yard and chains; wide values; several movers (`done` counts); stores that are seen late. */
#ifdef BREAK_VERSION /* an error that needs three changes */
#define UPDATES 3
#else
#define UPDATES 2
#endif
/* 0: one bucket; 1: splits; 2: two buckets; 3: merges; 4: one bucket */
byte root;
bit locked[2], ready[2];
byte version[2], tag[4], key[4], value[4]; /* slots 0 and 1 of the lower bucket, then those of the upper one */
byte state[2]; /* of a key: 0, or its value */
byte wanted, may; /* the lookup's key, and a bit for each state that it may answer */
bit inside;

inline becomes(k, s) { state[k] = s; if :: inside && wanted == k -> may = may | (1 << s) :: else fi }
inline lock_line(b) { atomic { !locked[b] -> locked[b] = 1 } }
/* The bucket of key k under root r; key 1 goes up. */
#define BUCKET(r, k) ((k) == 1 && ((r) == 2 || (((r) == 1 || (r) == 3) && ready[1])) -> 1 : 0)
#define SLOT(b, k) (tag[2 * (b)] == (k) + 1 -> 2 * (b) : (tag[2 * (b) + 1] == (k) + 1 -> 2 * (b) + 1 : 9))
#define FREE(b) (tag[2 * (b)] == 0 -> 2 * (b) : 2 * (b) + 1)

proctype writer() {
  byte k, r, b, v, s, old, updates;
again:
  do :: updates == UPDATES -> break
     :: updates < UPDATES ->
       if :: k = 0 :: k = 1 fi;
       atomic { r = root; b = BUCKET(r, k) };
       if
       :: r != 1 && r != 3 -> /* the usual path of a change: a lookup without a lock, then the lock */
         v = version[b];
         atomic { s = SLOT(b, k); if :: s == 9 -> goto again :: else fi };
         atomic { key[s] == k + 1 -> old = value[s] };
         lock_line(b);
         if
         :: version[b] != v || value[s] != old -> locked[b] = 0; goto again
#ifndef BREAK_ROOT /* a write trusts a bucket that a merge has emptied */
         :: version[b] == v && value[s] == old && root != r -> locked[b] = 0; goto again
#endif
         :: else
         fi
       :: true ->
         lock_line(b);
#ifdef BREAK_AGAIN /* the lock is taken for that of the right bucket */
         if :: root != r -> locked[b] = 0; goto again :: else fi;
#else
         if :: root != r || BUCKET(r, k) != b -> locked[b] = 0; goto again :: else fi;
#endif
         s = SLOT(b, k)
       fi;
       assert((s == 9) == (state[k] == 0));
       if
       :: s == 9 -> atomic { s = FREE(b); value[s] = 1 }; key[s] = k + 1; atomic { tag[s] = k + 1; becomes(k, 1) }
       :: s != 9 -> assert(value[s] == state[k]); atomic { value[s] = 3 - value[s]; becomes(k, value[s]) }
       :: s != 9 -> atomic { tag[s] = 0; becomes(k, 0) }; version[b]++
       fi;
       atomic { locked[b] = 0; updates++; k = 0; r = 0; b = 0; v = 0; s = 0; old = 0 }
  od }

proctype mover() {
  byte s, n;
  root = 1;
  lock_line(0); /* split_front */
#ifdef BREAK_SHOWN /* the upper bucket is shown before it has its entries */
  ready[1] = 1;
#endif
  s = SLOT(0, 1);
  if :: s != 9 -> value[2 + s] = value[s]; key[2 + s] = key[s]; tag[2 + s] = tag[s]
#ifdef BREAK_HIDDEN /* the lower bucket loses its entries before the upper one is shown */
     ; tag[s] = 0
#endif
     :: else fi;
  ready[1] = 1;
  if :: s != 9 -> tag[s] = 0 :: else fi;
#ifdef BREAK_VERSION /* the version of the lower bucket stays */
  locked[0] = 0;
#else
  atomic { version[0]++; locked[0] = 0 };
#endif
  root = 2;
  root = 3;
  lock_line(0); lock_line(1); /* merge_front */
#ifdef BREAK_ENDED /* the upper bucket ends before the lower one has its entries */
  ready[1] = 0;
#endif
  s = SLOT(1, 1);
  if :: s != 9 -> n = FREE(0); value[n] = value[s]; key[n] = key[s]; tag[n] = tag[s] :: else fi;
  version[0]++;
  atomic { ready[1] = 0; version[1]++; locked[1] = 0 };
  locked[0] = 0;
  root = 4 }

proctype lookup() {
  byte r, b, v, s, answer;
  bit was_ready;
  atomic { if :: wanted = 0 :: wanted = 1 fi; may = 1 << state[wanted]; inside = 1 };
again:
  r = root;
  b = BUCKET(r, wanted);
  atomic { v = version[b]; was_ready = ready[b] };
  s = SLOT(b, wanted);
  if
  :: s != 9 ->
    if :: key[s] != wanted + 1 -> goto miss :: else fi;
    answer = value[s];
    if :: version[b] != v || ready[b] != was_ready -> answer = 0; goto again :: else goto done fi
  :: else
  fi;
miss:
  if :: root != r -> goto again :: else fi;
#ifndef BREAK_MISS /* a miss while buckets move does not look whether the bucket has moved */
  if :: (r == 1 || r == 3) && (version[b] != v || ready[b] != was_ready || BUCKET(r, wanted) != b) -> goto again
     :: else fi;
#endif
done:
  atomic { assert(may & (1 << answer)); inside = 0; may = 0; wanted = 0; r = 0; b = 0; v = 0; s = 0; answer = 0; was_ready = 0 } }

init {
  byte k;
  atomic { ready[0] = 1;
    for (k : 0 .. 1) {
      if :: skip
         :: state[k] = 1; tag[k] = k + 1; key[k] = k + 1; value[k] = 1
      fi }
    k = 0; run writer(); run mover(); run lookup() };
  _nr_pr == 1 -> d_step { for (k : 0 .. 1) {
      assert((tag[0] == k + 1) + (tag[1] == k + 1) == (state[k] != 0));
      if :: state[k] != 0 -> assert(value[SLOT(0, k)] == state[k]) :: else fi } } }
