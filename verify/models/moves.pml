/* SPDX-License-Identifier: Apache-2.0 */
/* One chain of a DRAMHiT table whose arrays move, A to B to C; one thread moves slots. Two threads insert, change, erase
 * or look up one key; the second thread looks it up once more after that. Another key lies before it in the chain.
 * Line for line: search.hpp search, words_of, is_carried, wait_for_move; table.hpp beyond; insert.hpp insert; mutate.hpp mutate, wait_for_older_place;
 *   find.hpp find_while_moving, find_slowly; move.hpp move_slot, place; migration.hpp: only the oldest array is moved from.
 * Holds: each answer was true at some moment of its call. An insert adds only a key that was absent; a change or an erase meets
 * the newest entry. At the end the entry is in one slot, or in none.
 * Left out: space that is kept for moves (whether an insert may stay is chosen at random), side regions, more than one unit (growth.pml),
 * freeing (epoch.pml), tuples (tuples.pml); the first look of calls at the home line (find_from, mutate_at_home), batches, pipelines. */
#define SLOTS(a) (a == 2 -> 3 : 2)
#define EMPTY 0 /* key words; an empty slot with value 1 is sealed */
#define DEAD 1
#define MOVING 2
#define MOVED 3
#define OTHER 4
#define WORD 5
#define HIT 1 /* how a search ended */
#define CARRIED 2
#define END 3
#define CLOSED 4
#define FIND 0
#define INSERT 1
#define ASSIGN 2
#define ERASE 3
#define AT (a * 2 + i)
#define SWAP(at, k, v, k2, v2) key[at] == k && val[at] == v -> key[at] = k2; val[at] = v2
byte key[7], val[7], cell[2], root, state /* 0: not there, else its value */, may[2] /* states that a thread may answer */;
#define MAY(p) may[p] = (may[p] == 0 -> 0 : may[p] | (1 << state))
bit next[3]; inline becomes(s) { state = s; MAY(0); MAY(1) }
inline search(matches) { i = 0;
slot: atomic { if :: i == SLOTS(a) -> how = CLOSED; goto searched :: else -> x = key[AT] fi;
    if :: x == DEAD || x == OTHER || (x == WORD && !(matches)) -> i++; goto slot
       :: x == MOVED -> passed = 1; i++; goto slot
       :: else fi };
value: atomic { v = val[AT];
    if :: x == EMPTY && v == 0 -> how = END; goto searched
       :: x == EMPTY && v != 0 -> skip
       :: x == WORD && matches -> how = HIT; goto searched
       :: x == MOVING -> passed = 1; goto carried
       :: else -> goto slot fi };
  atomic { x = key[AT]; if :: x == EMPTY -> how = CLOSED; goto searched :: else -> goto value fi };
carried: atomic { if :: a < 2 && cell[a] == WORD && matches -> skip :: else -> i++; goto slot fi };
#ifndef BREAK_CELL /* the cell may describe a later slot already */
  atomic { if :: key[AT] == MOVING -> skip :: else -> i++; goto slot fi };
#endif
  how = CARRIED; searched: skip }

proctype thread(byte me, verb) {
  byte first, a, i, x, v, how, to, met, was; bit passed, ahead;
begin: atomic { met = 255; may[me] = 1 << state; first = root; a = first;
    if :: verb == FIND && next[a] -> a++; ahead = 1 :: else fi }; /* find_while_moving: the next array is asked before */
look: search(true);
  if :: atomic { met != 255 -> if :: how == CARRIED -> key[AT] != MOVING :: else fi; /* wait_for_older_place */
       x = 0; v = 0; how = 0; i = 0; passed = 0; goto change }
  :: atomic { met == 255 && (how == HIT || (how == CARRIED && !ahead)) && verb < ASSIGN -> goto answer }
  :: atomic { met == 255 && how == HIT && verb >= ASSIGN -> met = AT; was = v; to = a; x = 0; v = 0; how = 0; i = 0; passed = 0;
       goto older }
  :: atomic { met == 255 && how == CARRIED && verb >= ASSIGN &&
#ifndef BREAK_CARRIED /* changes do not wait until the entry has been moved */
       key[AT] != MOVING &&
#endif
       true -> goto beyond }
  :: atomic { met == 255 && how != HIT && ahead -> ahead = 0; a = first - 1; goto beyond } /* find_slowly */
  :: atomic { met == 255 && how >= END && !ahead && verb == INSERT -> goto decide }
  :: atomic { met == 255 && how >= END && !ahead && verb != INSERT ->
       if :: (how == END && !passed) || !next[a] -> v = 0; goto answer :: else -> goto beyond fi } fi;
decide: if :: atomic { how == END &&
#ifndef BREAK_PASSED /* takes a free slot behind one that has moved */
       !passed &&
#endif
       true -> if :: SWAP(AT, EMPTY, 0, WORD, me + 1); assert(state == 0); becomes(me + 1); goto ended :: else -> a--; goto beyond fi }
  :: atomic { a == 2 && (how != END || passed) -> goto ended } /* full: here another array would come */
  :: atomic { a < 2 -> next[a] = 1;
#ifndef BREAK_SEAL /* goes on and leaves the slot free that ends the chain */
       if :: how != END -> skip :: how == END && SWAP(AT, EMPTY, 0, EMPTY, 1) :: else -> a-- fi;
#endif
       goto beyond } fi;
older: atomic { a = root;
#ifdef BREAK_BEGAN /* looks where its search began */
  a = first;
#endif
#ifndef BREAK_OLDER /* an older slot still shows what the entry was */
  if :: to != first && to != a -> goto look :: else fi
#endif
};
change: atomic { if :: SWAP(met, WORD, was, (verb == ERASE -> DEAD : WORD), (verb == ERASE -> was : me + 1));
         assert(state == was); becomes((verb == ERASE -> 0 : me + 1)); goto ended
       :: else -> met = 255; was = 0; a = to - 1; to = 0; goto beyond fi };
beyond: atomic { a++; x = 0; v = 0; how = 0; i = 0; passed = 0; goto look };
answer: assert(may[me] & (1 << v));
ended: atomic { may[me] = 0; first = 0; a = 0; i = 0; x = 0; v = 0; how = 0; to = 0; met = 0; was = 0; passed = 0; ahead = 0;
    if :: me == 1 && verb != FIND -> verb = FIND; goto begin :: else fi } }
#define FROM (from * 2 + j)
proctype mover() { byte from, j, k, w, a, i, x, v, how; bit passed;
  do :: atomic { j == 2 -> root = from + 1; from++; j = 0; if :: from == 2 || !next[from] -> break :: else fi }
  :: atomic { j < 2 -> k = key[FROM] };
words: w = val[FROM];
    if :: atomic { k == DEAD -> j++ }
    :: atomic { k == EMPTY && w != 0 ->
#ifndef BREAK_SEALED /* takes the value of the thread that has taken the slot meanwhile for a mark */
         k = key[FROM];
#endif
         if :: k == EMPTY -> j++ :: else -> goto words fi }
    :: atomic { k == EMPTY && w == 0 -> if :: SWAP(FROM, EMPTY, 0, EMPTY, 1); j++ :: else fi }
    :: atomic { k >= OTHER -> cell[from] = k };
      if :: atomic { SWAP(FROM, k, w, MOVING, w) -> a = from + 1 };
look:     search(false);
          atomic { if :: how == END && SWAP(AT, EMPTY, 0, k, w)
             :: else -> if :: how != END -> next[a] = 1; a++ :: else fi; i = 0; x = 0; v = 0; how = 0; passed = 0; goto look fi };
          atomic { key[FROM] = MOVED; j++ } :: else fi fi;
    atomic { k = 0; w = 0; a = 0; i = 0; x = 0; v = 0; how = 0; passed = 0 } od }

init { byte p, n, v, w;
  atomic { next[0] = 1; if :: skip :: next[1] = 1 fi;
    if :: key[0] = OTHER :: key[0] = OTHER; p = 1; state = 3 :: state = 3 fi;
    if :: state == 3 -> key[p] = WORD; val[p] = 3 :: else fi; p = 0;
    if :: v = FIND :: v = INSERT :: v = ASSIGN :: v = ERASE fi; if :: w = INSERT :: w = ASSIGN :: w = ERASE fi;
    run mover(); run thread(0, v); run thread(1, w); v = 0; w = 0 }
  _nr_pr == 1 -> d_step { for (p : 0 .. 6) { if :: key[p] == WORD -> assert(val[p] == state); n++ :: else fi }
    assert(n == (state != 0 -> 1 : 0)) } }
