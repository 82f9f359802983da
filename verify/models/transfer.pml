/* SPDX-License-Identifier: Apache-2.0 */
/* One unit moves from index A to index B while requests run on it. There are two movers, of which one may find no memory and
 * give the bin back. One thread has one request, another has two (requests.pml), of any verb, all on one key K, present or
 * absent at first. MODE_SIDE_BIN: K is one of the keys that are escaped and lie in the side bin.
 * Line for line, one step for each access to shared memory:
 *   transfer.hpp claim_bin, list_unit, secure_space, capture, place_unit, finish_bins; resize.hpp move_unit;
 *   find.hpp look_into; mutate.hpp mutate_here; table.hpp pass_on; insert.hpp search_present, put_entry, fill,
 *   commit_contended, withdraw, show, show_moved.
 * Holds: every request takes effect at the swap or read that the code names, and its answer about K is true there. At rest
 * K is there once or not, in the bin of its hash, with its last value, and no operation is half done.
 * Left out: link buckets, shadow and snapshot, record tables (no value returns to their slots), units of several bins,
 * weak memory (docs/memory-order.md). The version never wraps: a loaded header is the same until a thread changes it.
 * Waiting blocks, so a wait without end is a deadlock. */
#define Cleared 0
#define PENDING 1
#define WORD 4 /* how K is stored: user key 4 in an ordinary bin, or user key 0 in the side bin */
#define OLD 5  /* K's value at first, and of each insert: equal pairs come back to a slot. Looks like a key, too. */
#define NEW 6  /* of each assign */
#define NO_TRANSFER 0
#define IN_TRANSFER 1
#define DONE 2
#define INVALID 0
#define FILLING 1
#define VALID 2
#define SLOTS 2
#define NONE 15
#define STATE(h) ((h) >> 4)
#define SLOT(h, n) (((h) >> (2 * (n))) & 3)
#define WITH_STATE(h, s) (((h) & 15) + ((s) << 4))
#define WITH_SLOT(h, n, s) (((h) & ~(3 << (2 * (n)))) + ((s) << (2 * (n))))
/* Bins: 0 A, 1 its side bin; 2 and 3 B, by the last bit of the hash, 4 its side bin. */
#ifdef BREAK_SIDE_BIN /* entries of the side bin go by their hash, as all others do */
#define MODE_SIDE_BIN
#endif
#ifdef MODE_SIDE_BIN
#define SOURCE 1
#define BIN(at) (at == 0 -> 1 : 4)
#else
#define SOURCE 0
#define BIN(at) (at == 0 -> 0 : 2)
#endif
byte head[5], key[10], value[10];
byte watched[2] = NONE; /* for each thread with requests: the bin whose header it has loaded, */
bit changed[2];         /* and whether that header has changed since */
byte now, seen[2]; /* ghosts: what K is, 0 absent; for each thread the set of what it was since its request began */
#define CHANGE(bin, h) head[bin] = h; changed[0] = changed[0] || watched[0] == bin; \
  changed[1] = changed[1] || watched[1] == bin
#include "requests.pml"

proctype mover(bit gives_back) {
  byte n, x, v, at, into[SLOTS], rank[5], h;
  atomic {
#ifdef BREAK_CLAIM /* helps itself to a bin that another thread is moving */
    if :: STATE(head[SOURCE]) == DONE -> goto ended :: else fi;
#else
    if :: STATE(head[SOURCE]) != NO_TRANSFER -> goto ended :: else fi;
#endif
    h = WITH_STATE(head[SOURCE], IN_TRANSFER); CHANGE(SOURCE, h) }
  do
  :: n < SLOTS && SLOT(h, n) == VALID ->
#ifdef BREAK_LIST /* the key first: an entry that is shown between the reads has its value taken for its key */
    x = key[SOURCE * SLOTS + n]; v = value[SOURCE * SLOTS + n];
#else
    v = value[SOURCE * SLOTS + n]; x = key[SOURCE * SLOTS + n];
#endif
    d_step {
      if :: x == PENDING -> at = 2 + (v & 1) :: else -> at = 2 + (x & 1) fi;
#if defined(MODE_SIDE_BIN) && !defined(BREAK_SIDE_BIN)
      at = 4;
#endif
      if :: x != Cleared -> into[n] = at * SLOTS + rank[at]; rank[at]++ :: else -> into[n] = NONE fi; n++ }
  :: n < SLOTS && SLOT(h, n) != VALID -> into[n] = NONE; n++
  :: else -> break
  od;
  if :: gives_back -> atomic { CHANGE(SOURCE, WITH_STATE(head[SOURCE], NO_TRANSFER)) }; goto ended
     :: n = 0 fi;
  do
  :: n < SLOTS && into[n] != NONE -> v = value[SOURCE * SLOTS + n]; x = key[SOURCE * SLOTS + n];
    if
    :: x == Cleared -> n++
    :: else -> atomic { if :: key[SOURCE * SLOTS + n] != x || value[SOURCE * SLOTS + n] != v -> goto again
                           :: else ->
#ifndef BREAK_TRANSFER_KEY /* the old slot goes on showing its entry */
                             key[SOURCE * SLOTS + n] = Cleared;
#endif
                             at = into[n] / SLOTS fi }
      value[into[n]] = v; key[into[n]] = x;
      atomic { CHANGE(at, WITH_SLOT(head[at], into[n] % SLOTS, VALID)) }; n++;
again: skip
    fi
  :: n < SLOTS && into[n] == NONE -> n++
  :: else -> break
  od;
  atomic { CHANGE(SOURCE, WITH_STATE(head[SOURCE], DONE)) }
ended: atomic { n = 0; x = 0; v = 0; at = 0; h = 0; into[0] = 0; into[1] = 0; rank[2] = 0; rank[3] = 0; rank[4] = 0 } }

init {
  byte n, entries, h; bit at;
  atomic {
    if :: skip :: key[SOURCE * SLOTS] = WORD; value[SOURCE * SLOTS] = OLD; now = OLD; head[SOURCE] = VALID fi;
    run worker(0, 1); run worker(1, 2); run mover(0); run mover(1) }
  d_step { _nr_pr == 1 -> at = (STATE(head[SOURCE]) == DONE);
    for (n : 0 .. 9) {
      if :: (n >= 2 * SLOTS) != at -> assert(!at || key[n] == Cleared)
         :: else -> h = SLOT(head[n / SLOTS], n % SLOTS);
          assert(h != FILLING && key[n] != PENDING && (key[n] == Cleared || h == VALID));
          if :: key[n] == WORD -> entries++; assert(n / SLOTS == BIN(at) && value[n] == now) :: else fi fi }
    assert(entries == (now != 0)) }
}
