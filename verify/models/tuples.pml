/* SPDX-License-Identifier: Apache-2.0 */
/* One chain of a table of DRAMHiT's tuples whose arrays move, A to B to C. One thread moves tuples; a writer moves a tuple that a
 * mover has left to it. Two threads insert, change, erase or look up one key; the second thread looks it up once more after that.
 * Another key lies before it. A value is two words, which are written and read one after the other.
 * Line for line: search_tuple.hpp search, look_at, wait_while; table.hpp beyond; find_tuple.hpp find; insert.hpp insert; mutate.hpp mutate, make_tombstone,
 *   wait_for_older_place; write_tuple.hpp fill, seal, place, carry, overwrite, move_slot; migration.hpp: only the oldest array is moved from.
 * Holds: each answer was true at some moment of its call, and whole. An insert adds only a key that was absent; a change or an erase
 * meets the newest value. No thread waits for ever. At the end the entry is in one tuple, or in none.
 * Left out: space that is kept for moves (whether an insert may stay is chosen at random), keys with the same tag, versions that wrap, more
 * than one unit (growth.pml), freeing (epoch.pml), batches, pipelines. */
#define SLOTS(a) (a == 2 -> 3 : 2)
#define EMPTY 0 /* states of a tuple */
#define FILLING 1
#define LIVE 2
#define MOVING 3
#define MOVED 4
#define DEAD 5
#define SEALED 6
#define HIT 1 /* how a search ended */
#define CARRIED 2
#define FILLS 3
#define END 4
#define CLOSED 5
#define FIND 0
#define INSERT 1
#define ASSIGN 2
#define ERASE 3
#define AT (a * 2 + i)
#define TO (b * 2 + j)
byte what[7], version[7], low[7], high[7], done[2], root;
byte state /* 0: the key is not there; else its value */, may[2] /* states that a thread may answer */;
bit due[7], word[7] /* 0: the other key */, next[3];
#define MAY(p) may[p] = (may[p] == 0 -> 0 : may[p] | (1 << state))
inline becomes(s) { state = s; MAY(0); MAY(1) }
inline count(a) { done[a]++; do :: root < 2 && done[root] == 2 && next[root] -> root++ :: else -> break od }
inline search() { i = 0; passed = 0;
slot: atomic { if :: i == SLOTS(a) -> how = CLOSED; goto searched :: else -> s = what[AT]; n = version[AT]; d = due[AT] fi;
    if :: s == EMPTY -> how = END; goto searched
       :: s == SEALED -> how = CLOSED; goto searched
       :: s == MOVED || (s == MOVING && !word[AT]) -> passed = 1; i++; goto slot
       :: s == DEAD || ((s == LIVE || s == FILLING) && !word[AT]) -> i++; goto slot
       :: s == FILLING && word[AT] ->
#ifndef BREAK_FILLING /* an insert passes by another one of its key */
            if :: verb == INSERT -> how = FILLS; goto searched :: else fi;
#endif
            i++; goto slot
       :: (s == LIVE || s == MOVING) && word[AT] -> how = (s == LIVE -> HIT : CARRIED); if :: s == MOVING -> passed = 1 :: else fi;
            if :: verb == INSERT -> goto searched
               :: verb != INSERT && n % 2 == 1 -> version[AT] != n; goto slot
               :: else fi fi };
  v = low[AT]; w = high[AT];
#ifndef BREAK_AGAIN /* believes the value without a second look at the version */
  atomic { if :: what[AT] == s && version[AT] == n && due[AT] == d -> skip :: else -> goto slot fi };
#endif
  assert(v == w); searched: skip }
/* The key, or the other one, into the first empty tuple of its chain in array b or further on. */
inline place(k, value) { j = 0;
again: atomic { if :: j < SLOTS(b) && what[TO] == EMPTY -> what[TO] = FILLING; version[TO] = 1; word[TO] = k; low[TO] = value; high[TO] = value
       :: j < SLOTS(b) && what[TO] != EMPTY && what[TO] != SEALED -> j++; goto again
       :: else -> next[b] = 1; b++; j = 0; goto again fi };
  atomic { assert(!due[TO]); /* no mover comes to b before all from here has arrived: so this fill is never given up */
    what[TO] = LIVE; version[TO] = 2 } }

proctype thread(byte me, verb) {
  byte first, a, i, s, n, v, w, how, to, met, was, b, j; bit passed, d;
begin: atomic { met = 255; may[me] = 1 << state; first = root; a = first };
look: search();
  if :: atomic { met != 255 -> if :: how == CARRIED -> what[AT] != MOVING :: else fi; /* wait_for_older_place */
       a = to; i = met - to * 2; n = b; goto change }
  :: atomic { met == 255 && verb == FIND && how <= CARRIED -> goto answer }
  :: atomic { met == 255 && verb == INSERT && how <= CARRIED -> assert(may[me] & 30); goto ended }
  :: atomic { met == 255 && how == FILLS -> what[AT] != FILLING; goto look }
  :: atomic { met == 255 && verb >= ASSIGN && how == HIT -> was = v; b = n;
       if :: a == first -> goto change :: else -> met = AT; to = a; goto older fi }
  :: atomic { met == 255 && verb >= ASSIGN && how == CARRIED && what[AT] != MOVING -> goto beyond }
  :: atomic { met == 255 && how >= END && verb == INSERT -> goto stay }
  :: atomic { met == 255 && how >= END && verb != INSERT ->
       if :: (how == END && !passed) || !next[a] -> v = 0; goto answer :: else -> goto beyond fi } fi;
stay: if :: atomic { how == END &&
#ifndef BREAK_PASSED /* fills an empty tuple behind one that has moved */
       !passed &&
#endif
       true -> if :: what[AT] == EMPTY -> what[AT] = FILLING; version[AT] = 1; word[AT] = 1; low[AT] = me + 1; high[AT] = me + 1
         :: else -> goto look fi };
     atomic { if
#ifndef BREAK_SHOW /* shows the key though a mover wants the tuple */
       :: due[AT] -> what[AT] = MOVED; due[AT] = 0; count(a); goto look
#endif
       :: else -> what[AT] = LIVE; version[AT] = 2; due[AT] = 0; assert(state == 0); becomes(me + 1); goto ended fi }
  :: atomic { a == 2 && (how != END || passed) -> goto ended } /* full: here another array would come */
  :: atomic { a < 2 -> next[a] = 1;
#ifndef BREAK_SEAL /* goes on and leaves the tuple empty that ends the chain */
       if :: how != END -> skip :: how == END && what[AT] == EMPTY -> what[AT] = SEALED :: else -> goto look fi;
#endif
       goto beyond } fi;
older: atomic { a = root;
#ifdef BREAK_BEGAN /* looks where its search began */
  a = first;
#endif
#ifndef BREAK_OLDER /* an older tuple still shows what the entry was */
  if :: to != a -> goto look :: else fi;
#endif
  a = to; i = met - to * 2; n = b };
change: atomic { if :: what[AT] == LIVE && version[AT] == n && verb == ERASE -> what[AT] = DEAD; assert(state == was); becomes(0); goto ended
       :: what[AT] == LIVE && version[AT] == n && verb == ASSIGN -> version[AT] = n + 1; assert(state == was)
       :: else -> met = 255; goto look fi };
  low[AT] = me + 1; high[AT] = me + 1;
  atomic { assert(state == was); becomes(me + 1); version[AT] = n + 2;
    if :: !due[AT] -> goto ended :: else -> what[AT] = MOVING; due[AT] = 0; b = a + 1 fi };
  place(1, me + 1); atomic { what[AT] = MOVED; count(a); goto ended };
beyond: atomic { a++; goto look };
answer: assert(may[me] & (1 << v));
ended: atomic { may[me] = 0; first = 0; a = 0; i = 0; s = 0; n = 0; v = 0; w = 0; how = 0; to = 0; met = 0; was = 0; b = 0; j = 0;
    passed = 0; d = 0;
    if :: me == 1 && verb != FIND -> verb = FIND; goto begin :: else fi } }

proctype mover() { byte a, i, b, j, v; bit k;
  do :: atomic { i == 2 -> root > a; a++; i = 0; if :: a == 2 || !next[a] -> break :: else fi }
  :: atomic { i < 2 ->
      if :: what[AT] == EMPTY -> what[AT] = SEALED; count(a); i++
      :: what[AT] >= MOVED -> count(a); i++
      :: what[AT] == FILLING || (what[AT] == LIVE && version[AT] % 2 == 1) ->
#ifndef BREAK_DUE /* goes on and does not tell a thread that is writing the tuple */
           due[AT] = 1;
#endif
#ifdef BREAK_COUNT /* counts a tuple that is left to its writer */
           count(a);
#endif
           i++
      :: else -> what[AT] = MOVING; k = word[AT]; v = low[AT]; b = a + 1; goto carry fi; goto carried };
carry:
#ifdef BREAK_MOVED /* says that the key has moved before it has */
    what[AT] = MOVED;
#endif
    place(k, v); atomic { what[AT] = MOVED; count(a); i++ };
carried: atomic { b = 0; j = 0; v = 0; k = 0 } od }

init { byte p, n, v, w;
  atomic { next[0] = 1; if :: skip :: next[1] = 1 fi;
    if :: what[0] = LIVE; version[0] = 2 :: what[0] = LIVE; version[0] = 2; p = 1; state = 3 :: state = 3 fi;
    if :: state == 3 -> what[p] = LIVE; version[p] = 2; word[p] = 1; low[p] = 3; high[p] = 3 :: else fi; p = 0;
    if :: v = FIND :: v = INSERT :: v = ASSIGN :: v = ERASE fi; if :: w = INSERT :: w = ASSIGN :: w = ERASE fi;
    run mover(); run thread(0, v); run thread(1, w); v = 0; w = 0 }
  _nr_pr == 1 -> d_step {
    for (p : 0 .. 6) { if :: word[p] && (what[p] == LIVE || what[p] == MOVING) -> assert(low[p] == state); n++ :: else fi }
    assert(n == (state != 0 -> 1 : 0)) } }
