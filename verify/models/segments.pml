/* SPDX-License-Identifier: Apache-2.0 */
/* One path of a seph tree: level segments 0, 1 and 2, of which each comes from the split of the one before. Two threads insert, change, erase or look
 * up one key; the second thread then does so once more. A third one splits. All who meet a split help it. Other keys of the path are in the way.
 * Segment s has bucket s as its lower one and bucket s + 1 as its higher one; its split copies bucket s to bucket s + 2. A slot is a part. The order
 * of the key is slot 0, then slot 1. `turned`: that of the other keys is slot 1, then slot 0.
 * Line for line: insert.hpp try_insert, take_slot, insert_at; find.hpp search; mutate.hpp mutate; reorganise.hpp freeze, put_copy, move_bucket, publish,
 *   help, reorganise, resolve; table.hpp leaf_below.
 * Holds: each answer was true at some moment of its call. An insert adds only a key that was absent. At the end the entry is in one slot of the
 * last segment, or in none (S1 to S5 of layout.hpp).
 * MODE_ONE_LOOK: a thread that met a mark does not ask whether the segment is done. That holds, too: the segment was a leaf at some moment of the call.
 * Left out: more than one bucket of a source, foreseers, rewrites and merges (the explorer), directories, freeing (epoch.pml), holds. */
#define EMPTY 0 /* words of slots; others are the value of the entry */
#define DEAD 6
#define OTHER 7
#define KEY(w) (w != EMPTY && w < DEAD)
#define FIND 0
#define INSERT 1
#define ASSIGN 2
#define ERASE 3
#define LEAF 0 /* next of a segment */
#define SPLITS 1
#define DONE 2
bit turned; byte word[8], next[3], state /* 0: not there, else its value */, may[2] /* states that a thread may answer */;
bit mark[8], taken[2], moved[2];
#define MAY(p) may[p] = (may[p] == 0 -> 0 : may[p] | (1 << state))
inline becomes(v) { state = v; MAY(0); MAY(1) }
#define COPIED (u == 0 -> w : x)
#define TO s * 2 + 4 + to /* the first slot in the order of the copied key that is not in `used` */
/* Helps the split of segment s: used, to, w, x and u are the caller's, and 0 before and after. */
inline help() {
  if :: atomic { !taken[s] -> taken[s] = 1 } /* the cursor */
     :: atomic { taken[s] ->
#ifndef BREAK_PUBLISH /* a bucket that another thread has taken is not waited for, nor done again */
          if :: !moved[s] -> skip :: else -> goto visible fi
#else
          goto visible
#endif
        } fi;
  do :: atomic { u < 2 ->
#ifdef BREAK_MARK /* empty slots get no mark */
       if :: word[s * 2 + u] != EMPTY -> mark[s * 2 + u] = 1 :: else fi;
#else
       mark[s * 2 + u] = 1;
#endif
       if :: u == 0 -> w = word[s * 2] :: else -> x = word[s * 2 + 1] fi; u++ }
     :: atomic { u == 2 -> u = 0; break } od;
  do :: atomic { u < 2 && COPIED != EMPTY && COPIED != DEAD ->
#ifdef BREAK_ORDER /* a copy keeps the number of its slot, whatever the order of its key */
       to = u;
#else
       if :: COPIED == OTHER && turned -> to = (used & 2 -> 0 : 1) :: else -> to = (used & 1 -> 1 : 0) fi;
#endif
#ifdef BREAK_PLAIN /* a copy is stored, whatever is there */
       word[TO] = COPIED; mark[TO] = 0;
#else
       if :: word[TO] == EMPTY && !mark[TO] -> word[TO] = COPIED :: else fi;
#endif
       used = used | (1 << to); to = 0; u++ }
     :: atomic { u < 2 && (COPIED == EMPTY || COPIED == DEAD) -> u++ }
     :: atomic { u == 2 -> break } od;
  moved[s] = 1; visible: atomic { next[s] = DONE; used = 0; u = 0; w = 0; x = 0 } }
#define AT (s + side) * 2 + i
#ifdef BREAK_MARKED
#define MAY_CHANGE true
#else
#define MAY_CHANGE !mark[AT]
#endif
#ifdef BREAK_ERASE /* an erase leaves an empty slot before used ones */
#define GONE EMPTY
#else
#define GONE DEAD
#endif
#define START i = 0; side = 0; seen = 0; end[0] = 0; end[1] = 0; met = 0; at_mark = 0; taking = 0
proctype thread(byte me, verb) {
  byte s, i, used, to, w, x, u, side, seen, end[2]; bit met, at_mark, taking;
begin: atomic { may[me] = 1 << state };
leaf: atomic { s = 0; START }; below: if :: atomic { next[s] == DONE -> s++; goto below } :: next[s] != DONE fi;
look: if :: verb != INSERT -> goto parts :: else fi;
    atomic { /* an insert. end[]: the first empty slot of each bucket, or 2 */
    if :: i < 2 -> met = met | mark[AT];
         if :: KEY(word[AT]) -> seen = word[AT]; at_mark = mark[AT]; goto looked :: word[AT] != EMPTY && !KEY(word[AT]) -> i++; goto look
            :: word[AT] == EMPTY -> skip fi
       :: else fi;
    end[side] = i; i = 0;
    if :: taking -> if :: met -> goto again :: else -> i = end[side]; goto take fi
       :: !taking && side == 0 -> side = 1; goto look
       :: else fi };
parts: atomic { /* a lookup: the first slots of both buckets, then what is behind those that were not empty. end[]: 1 for those */
    met = met | mark[AT];
    if :: KEY(word[AT]) -> seen = word[AT]; at_mark = mark[AT]; goto looked :: else fi;
    if :: i == 0 -> end[side] = (word[AT] == EMPTY -> 0 : 1) :: else fi;
    if :: i == 0 && side == 0 -> side = 1; goto parts
       :: i == 0 && side == 1 && end[0] -> i = 1; side = 0; goto parts
       :: i == 0 && side == 1 && !end[0] && end[1] -> i = 1; goto parts
       :: i == 1 && side == 0 && end[1] -> side = 1; goto parts
       :: else fi };
looked: atomic { skip;
#ifndef MODE_ONE_LOOK
    if :: met && (verb != INSERT || seen != 0) && next[s] == DONE -> goto leaf :: else fi;
#endif
    if :: verb == INSERT && seen == 0 && met -> goto again
       :: verb == INSERT && seen == 0 && !met -> taking = 1; side = 0;
#ifdef BREAK_HIGHER /* an insert tries the higher bucket first */
            side = 1;
#endif
            i = end[side]; goto take
       :: verb == INSERT && seen != 0 -> assert(may[me] & 62); goto ended
       :: verb == FIND || (verb != INSERT && seen == 0) -> assert(may[me] & (1 << seen)); goto ended
#ifdef BREAK_MARKED /* a change goes on in spite of a mark */
       :: else -> goto change fi };
#else
       :: else -> if :: at_mark -> goto again :: else -> goto change fi fi };
#endif
take: atomic {
    if :: i < 2 && word[AT] == EMPTY && !mark[AT] -> assert(state == 0); word[AT] = me + 1; becomes(me + 1); goto ended
       :: i < 2 && word[AT] == EMPTY && mark[AT] -> goto again
       :: i < 2 && word[AT] != EMPTY ->
#ifdef BREAK_FILLED /* what others have put there meanwhile is not compared */
            i++; goto take
#else
            goto look
#endif
       :: i == 2 -> skip fi;
#ifdef BREAK_HIGHER
    if :: side == 1 -> side = 0; i = end[0]; goto take :: else fi;
#else
    if :: side == 0 -> side = 1; i = end[1]; goto take :: else fi;
#endif
    if :: s == 2 -> goto ended /* here another split would come */
       :: s < 2 -> if :: next[s] == LEAF -> next[s] = SPLITS :: else fi; goto again fi };
change: atomic {
    if :: word[AT] == seen && MAY_CHANGE -> assert(state == seen); word[AT] = (verb == ERASE -> GONE : me + 4);
         becomes((verb == ERASE -> 0 : me + 4)); goto ended
       :: else -> goto leaf fi };
again: if :: atomic { next[s] != SPLITS -> goto leaf } :: atomic { next[s] == SPLITS -> START }; help(); goto leaf fi;
ended: atomic { may[me] = 0; s = 0; START;
    if :: me == 1 && verb != FIND -> verb = FIND; goto begin :: else fi } }
proctype splitter(byte most) { byte s, used, to, w, x, u;
  do :: atomic { s == most -> s = 0; most = 0; break }
     :: atomic { s < most -> if :: next[s] == LEAF -> next[s] = SPLITS :: else fi };
       if :: atomic { next[s] == DONE -> skip } :: next[s] == SPLITS -> help() fi; s++ od }
init { byte p, n, v, w; atomic { if :: skip :: turned = 1 fi;
    if :: skip :: turned -> word[1] = OTHER :: word[0] = DEAD; word[1] = 3; state = 3
       :: word[0] = OTHER; if :: skip :: word[1] = OTHER :: word[1] = 3; state = 3 fi fi; /* the lower bucket */
    if :: skip :: turned -> word[3] = OTHER :: word[2] = OTHER; if :: skip :: word[3] = OTHER :: state == 0 -> word[3] = 3; state = 3 fi fi; /* the higher one */
    if :: v = FIND :: v = INSERT :: v = ASSIGN :: v = ERASE fi; if :: w = INSERT :: w = ASSIGN :: w = ERASE fi;
    if :: p = 1 :: p = 2 fi; run splitter(p); run thread(0, v); run thread(1, w); v = 0; w = 0; p = 0 }
  _nr_pr == 1 -> d_step { do :: p < 3 && next[p] == DONE -> p++ :: else -> break od; assert(next[p] == LEAF); v = p * 2;
    for (w : v .. v + 3) { if :: KEY(word[w]) -> assert(word[w] == state && !mark[w]); n++ :: else fi }
    assert(n == (state != 0 -> 1 : 0)) } }
