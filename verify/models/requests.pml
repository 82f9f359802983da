/* SPDX-License-Identifier: Apache-2.0 */
/* Included by transfer.pml, which runs it beside its movers: a thread that makes requests of any verb, all on key K.
 * A compare-and-swap loop that retries until it succeeds is one step here. Every other access is a step of its own. */
mtype = { find, insert, assign, erase };
#define AT(n) (b * SLOTS + (n))
#define WAS(v) ((seen[me] >> (v)) & 1)
#define BECOMES(v) now = v; seen[0] = seen[0] | (1 << v); seen[1] = seen[1] | (1 << v)
#define LOAD h = head[b]; watched[me] = b; changed[me] = 0
#ifdef BREAK_VERSION /* a header that was changed and changed back looks unchanged */
#define SAME (head[b] == h)
#else
#define SAME (changed[me] == 0)
#endif

inline search_present() { /* how: 0 absent, 1 here, 2 about to be shown in slot n - 1; free: a cleared slot */
  n = 0; how = 0; free = NONE;
  do
  :: n < SLOTS && how == 0 && SLOT(h, n) == VALID ->
#ifdef BREAK_PRESENCE /* the key first: an entry that is shown between the reads is not seen in either form */
    x = key[AT(n)]; v = value[AT(n)]; d_step { n++;
#else
    v = value[AT(n)]; d_step { x = key[AT(n)]; n++;
#endif
      if :: x == WORD -> how = 1 :: x == PENDING && v == WORD -> how = 2
         :: x == Cleared && free == NONE -> free = n - 1 :: else fi; x = 0; v = 0 }
  :: n < SLOTS && how == 0 && SLOT(h, n) != VALID -> n++
  :: else -> break
  od }

proctype worker(bit me; byte requests) {
  mtype verb; byte at, b, n, v, x, how, free, mine, h;
begin: atomic {
    at = 0; b = 0; n = 0; v = 0; x = 0; how = 0; free = 0; h = 0; mine = 0; verb = 0; watched[me] = NONE; changed[me] = 0;
    if :: requests == 0 -> seen[me] = 0; goto ended :: else -> requests--; seen[me] = 1 << now fi;
    if :: me == 0 -> verb = find :: verb = insert :: verb = assign :: verb = erase fi }
look: atomic { b = BIN(at); LOAD;
    if :: STATE(h) == IN_TRANSFER -> STATE(head[b]) != IN_TRANSFER -> goto look
       :: STATE(h) == DONE -> at = 1; goto look
       :: verb == insert && STATE(h) == NO_TRANSFER -> goto insert_here
       :: else -> n = 0; mine = NONE fi }
  do :: n < SLOTS -> d_step { if :: key[AT(n)] == WORD -> mine = n :: else fi; n++ } :: else -> break od;
  if :: mine != NONE -> v = value[AT(mine)] :: else -> v = 0 fi;
  atomic {
    if
#ifndef BREAK_RECHECK /* a key that has just been captured looks absent */
       :: !SAME -> goto look
#endif
       :: else -> if :: mine == NONE || verb == find || (verb == assign && v == NEW) -> assert(WAS(v)); goto begin
                     :: else fi fi }
  atomic { /* the swap of an assign or erase */
    if :: key[AT(mine)] != WORD || value[AT(mine)] != v -> goto look
       :: else -> assert(now == v);
          if :: verb == assign -> value[AT(mine)] = NEW; BECOMES(NEW)
             :: else -> key[AT(mine)] = Cleared; BECOMES(0) fi; goto begin fi }
insert_here: search_present();
  atomic {
    if :: how == 1 && SAME -> assert(WAS(OLD) || WAS(NEW)); goto begin
       :: how == 2 -> !SAME || key[AT(n - 1)] != PENDING -> goto look
       :: how != 2 && !SAME -> goto look
       :: else -> mine = (SLOT(h, 0) == INVALID -> 0 : (SLOT(h, 1) == INVALID -> 1 : NONE));
          mine = (free < mine -> free : mine); assert(mine != NONE);
          CHANGE(b, WITH_SLOT(h, mine, FILLING)); LOAD fi }
#ifdef BREAK_PENDING /* the paper: an entry shows its key before it is valid */
  value[AT(mine)] = OLD; key[AT(mine)] = WORD;
#else
  value[AT(mine)] = WORD; key[AT(mine)] = PENDING;
#endif
commit: atomic {
    if :: SAME -> CHANGE(b, WITH_SLOT(h, mine, VALID));
#ifdef BREAK_PENDING
          assert(now == 0); BECOMES(OLD); goto begin
#else
          goto reveal
#endif
       :: else fi }
contended: atomic { LOAD;
    if :: STATE(h) == IN_TRANSFER -> STATE(head[b]) != IN_TRANSFER -> goto contended
       :: STATE(h) == DONE -> goto withdraw
       :: else fi }
#ifdef BREAK_CONTENDED /* commits under a header that it has not searched under */
  goto commit;
#endif
  search_present(); if :: how == 0 -> goto commit :: else fi;
withdraw: key[AT(mine)] = Cleared;
  atomic { STATE(head[b]) != IN_TRANSFER ->
    if :: STATE(head[b]) != DONE -> CHANGE(b, WITH_SLOT(head[b], mine, INVALID)) :: else fi; goto look }
reveal: atomic {
    if :: key[AT(mine)] == PENDING && value[AT(mine)] == WORD -> assert(now == 0);
          key[AT(mine)] = WORD; value[AT(mine)] = OLD; BECOMES(OLD); goto begin
#ifdef BREAK_SHOW /* does not follow its entry to where a transfer took it */
       :: else -> goto begin fi }
#else
       :: else fi }
#endif
follow: atomic { b = BIN(at); LOAD;
    if :: STATE(h) == IN_TRANSFER -> STATE(head[b]) != IN_TRANSFER -> goto follow
       :: STATE(h) == DONE -> at = 1; goto follow
       :: else -> mine = 0 fi }
  do :: mine < SLOTS -> x = key[AT(mine)]; v = value[AT(mine)];
        if :: SLOT(h, mine) == VALID && x == PENDING && v == WORD -> goto reveal :: else -> mine++ fi
     :: else -> break od;
  atomic { changed[me] -> goto follow } /* under this header another look would meet no more */
ended: skip }
