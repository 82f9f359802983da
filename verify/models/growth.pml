/* SPDX-License-Identifier: Apache-2.0 */
/* Growth in a chain, A to B to C, and the collection of old indexes. Two threads, whose inserts find no space, move the bin
 * that they need, sweep, and free. A slow reader looks up keys at any later time. Each index has two units with one key each.
 * Line for line: generations.hpp create_next, count_done, is_complete, advance_root, release_retired; migration.hpp take_units,
 *   move_units, move_rest; dlht's resize.hpp move_unit, grow.hpp make_space, table.hpp pass_on; retired.hpp add, release;
 *   registry.hpp enter, leave, advance, oldest.
 * Holds: no thread touches an index that has been freed. A key that is there throughout is found by every look, at any
 * time. When all threads have left, one more collection frees every index before the root, and nothing else.
 * Left out: slots (transfer.pml), plain stores that are seen late (epoch.pml), shrinking; memory fails once at most.
 * Waiting blocks, so a wait without end is a deadlock. */
#define UNITS 2
#define LAST 2 /* A, B and C are 0, 1 and 2; C has space for all */
#define NO_TRANSFER 0 /* states of a bin, as in layout.hpp */
#define IN_TRANSFER 1
#define DONE 2
#define STATE(at, u) state[(at) * UNITS + (u)]
#define HOLDS(at, u) holds[(at) * UNITS + (u)]
#define TOUCH(at) assert(!freed[at])
byte state[6], done[3], cursor[3], retired_at[3], root;
bit holds[6], successor[3], missed[3], retired[3], freed[3], memory_failed, retired_lock;
byte clock = 1, epoch[3]; /* of thread records: 0 outside */

inline advance_root() {
  do
  :: atomic { old = root; TOUCH(old); if :: !successor[old] || done[old] < UNITS -> old = 0; break :: else fi };
#ifdef BREAK_EPOCH /* the epoch is taken before the index is unlinked: a thread that enters between the two still sees it */
    atomic { clock++; retired_at[old] = clock };
#endif
    if
    :: atomic { root == old -> root = old + 1 };
      atomic { !retired_lock -> retired_lock = 1 };
#ifndef BREAK_EPOCH
      atomic { clock++; retired_at[old] = clock };
#endif
      atomic { retired[old] = 1; retired_lock = 0 }
    :: atomic { root != old -> skip }
    fi
  od }

inline collect() { /* release_retired */
  atomic { !retired_lock -> retired_lock = 1; least = 255; p = 0 };
#ifndef BREAK_PINS /* frees what is unlinked without a look at the pins */
  do
  :: atomic { p < 3 -> if :: epoch[p] != 0 && epoch[p] < least -> least = epoch[p] :: else fi; p++ }
  :: atomic { p == 3 -> break }
  od;
#endif
  atomic { for (p : 0 .. LAST) { if :: retired[p] && least >= retired_at[p] -> retired[p] = 0; freed[p] = 1 :: else fi }
    p = 0; least = 0; retired_lock = 0 } }

proctype grower(byte me, u) {
  byte at, to, old, least, p;
  p = clock; epoch[me] = p; atomic { p = 0; at = root };
pass: atomic { TOUCH(at);
    if :: STATE(at, u) == IN_TRANSFER -> STATE(at, u) != IN_TRANSFER -> goto pass
       :: STATE(at, u) == DONE -> at++; goto pass
       :: at == LAST -> goto maintenance
       :: else fi }
  successor[at] = 1;
move: atomic { TOUCH(at);
    if :: STATE(at, u) != NO_TRANSFER ->
#ifdef BREAK_COUNT /* a unit that another thread is moving counts as moved */
          goto count
#else
          goto sweep
#endif
       :: else -> STATE(at, u) = IN_TRANSFER; to = at + 1 fi }
space: TOUCH(to);
  if
  :: STATE(to, u) != DONE -> goto place
  :: to < LAST -> successor[to] = 1;
    if
    :: STATE(to, u) != DONE ->
#ifndef BREAK_FURTHER /* the unit goes one index further, and its bins on the way seem empty */
      STATE(to, u) = DONE;
#endif
      atomic { TOUCH(to); done[to]++; if :: done[to] < UNITS -> goto further :: else fi };
      advance_root()
    :: else fi;
further: atomic { to++; goto space }
  :: atomic { !memory_failed -> memory_failed = 1 }; STATE(at, u) = NO_TRANSFER; missed[at] = 1; goto sweep
  fi;
place: HOLDS(at, u) = 0; HOLDS(to, u) = 1; atomic { TOUCH(to); TOUCH(at); STATE(at, u) = DONE };
count: atomic { to = 0; TOUCH(at); done[at]++; if :: done[at] < UNITS -> goto sweep :: else fi };
  advance_root();
sweep: atomic { to = 0; at = root };
  atomic { TOUCH(at); if :: !successor[at] -> goto maintenance :: successor[at] && cursor[at] < UNITS -> goto take :: else fi };
  atomic { if :: missed[at] -> missed[at] = 0 :: else -> goto maintenance fi };
  cursor[at] = 0;
take: atomic { u = cursor[at]; cursor[at] = u + 1; if :: u >= UNITS -> goto maintenance :: else -> goto move fi };
maintenance: atomic { at = 0; u = 0; to = 0 }; collect();
  epoch[me] = 0 }

proctype straggler(byte me, u) {
  byte at, p; bit seen;
  p = clock; epoch[me] = p; atomic { p = 0; at = root };
look: atomic { TOUCH(at);
    if :: STATE(at, u) == IN_TRANSFER -> STATE(at, u) != IN_TRANSFER -> goto look
       :: STATE(at, u) == DONE ->
#ifdef BREAK_SUCCESSOR /* goes to the newest index at once */
          at = (successor[1] -> 2 : 1); goto look
#else
          at++; goto look
#endif
       :: else fi }
  atomic { TOUCH(at); seen = HOLDS(at, u) };
  atomic { TOUCH(at); if :: STATE(at, u) != NO_TRANSFER -> goto look :: else -> assert(seen); at = 0; seen = 0 fi };
  epoch[me] = 0 }

init {
  byte least, p, u;
  atomic { HOLDS(0, 0) = 1; HOLDS(0, 1) = 1; run grower(0, 0);
    if :: run grower(1, 0) :: run grower(1, 1) fi;
    if :: run straggler(2, 0) :: run straggler(2, 1) fi }
  _nr_pr == 1 -> collect();
  d_step { for (p : 0 .. LAST) { assert(freed[p] == (p < root)) }
    for (u : 0 .. 1) { p = root;
      do :: STATE(p, u) == DONE -> p++ :: else -> break od;
      assert(STATE(p, u) == NO_TRANSFER && HOLDS(p, u)) } }
}
