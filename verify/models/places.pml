/* SPDX-License-Identifier: Apache-2.0 */
/* The places of a `fixed` table: three threads, each of which has at most one place, and three places in two stripes.
 * An insert takes a place of its own stripe or of the other one; an erase gives it to its own stripe, and so moves it.
 * After places.hpp: take_from, the passes of take_elsewhere, sum_of_given, give. Which stripe comes first, and which one gets a place, is a hint
 * there, and does not matter here.
 * Holds: no thread is refused, because at every moment there is a place for each. At the end each place is there, once.
 * Left out: plain stores that are seen late (each word here is changed by locked instructions only). */
#define PLACES 3
#define ROUNDS 3
byte given[2], taken[2];

inline take_from(s) { /* leaves `has` */
  g = given[s];
  do
  :: t = taken[s];
    if
    :: t >= g -> sum = sum + g; break
    :: else ->
#ifdef BREAK_SWAP /* looks and then stores: another one has taken the place meanwhile */
      taken[s] = t + 1; has = 1; break
#else
      atomic { if :: taken[s] == t -> taken[s] = t + 1; has = 1 :: else fi };
      if :: has -> break :: else fi
#endif
    fi
  od;
  g = 0; t = 0 }

inline take() {
  take_from(own);
  do
  :: has -> break
  :: else -> sum = 0; first = 0;
    if :: first = 0 :: first = 1 fi;
    take_from(first);
    if :: !has -> take_from(1 - first) :: else fi;
    if
    :: has -> break
    :: else ->
#ifdef BREAK_SECOND_PASS /* refuses when each stripe was empty, one after the other */
      assert(false)
#else
      second = given[0]; second = second + given[1];
      assert(second != sum) /* or it would be refused */
#endif
    fi
  od;
  sum = 0; second = 0; first = 0 }

proctype worker(bit own) {
  byte g, t, sum, second, n; bit has, first;
  do
  :: n < ROUNDS -> n++;
    take();
    has = 0;
#ifdef BREAK_GIVEN_TWICE /* an insert that lost and its caller both give the place back */
    given[own] = given[own] + 1;
#endif
    given[own] = given[own] + 1
  :: else -> break
  od }

init {
  atomic { given[0] = 1; given[1] = 2;
    run worker(0);
    if :: run worker(0) :: run worker(1) fi;
    if :: run worker(0) :: run worker(1) fi }
  _nr_pr == 1 -> assert(given[0] + given[1] == taken[0] + taken[1] + PLACES) }
