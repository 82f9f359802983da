/* SPDX-License-Identifier: Apache-2.0 */
/* One family of chains of the relativistic engine grows by a factor of four and shrinks again. Each of the two waits once for
 * readers. A writer inserts, erases and assigns meanwhile, and a lookup starts at any moment. One lookup is enough: lookups write
 * nothing, and affect each other only by how long the resizer waits.
 * MODE_WIDE: the growth is so wide that it lists the buckets that get a chain; removals and cuts look at these only (N6).
 * MODE_SHORT: the list has space for one of them; if there are more, removals and cuts look at all buckets.
 * Line for line: layout.hpp add, for_each_sibling; resize.hpp do_family, end_pass, begin_cuts, end_resize;
 *   zip.hpp share_chain, join_chains, cut_chains; table.hpp array_of; insert.hpp link_for, link_node; erase.hpp detach, detach_everywhere, remove_node; mutate.hpp replace_node;
 *   find.hpp first_link, search, replacement.
 * Holds: the answer of a lookup was true at some moment of the lookup. No lookup reads a node that was unlinked before the lookup
 * began, or an array that was freed. The path of a bucket that is not listed has only its own nodes. At the end the chain holds the
 * entries in their order.
 * Left out: searches of inserts and changes before they take the lock; scans, reservations, `modify`; how a wait learns
 * that readers have left (epoch.pml); stores that are seen late. Waiting blocks, so a wait without end is a deadlock. */
#define UPDATES 2
/* Keys 0 to 3 are in the order of chains. Each has two nodes, one after the other: 1 to 4, and 5 to 8. Of the larger array's
 * buckets, in their order, the second has two keys and the third none. */
#define KEY(n) (((n) - 1) % 4)
#define NODE(k) (k + (state[k] == 2 -> 5 : 1))
#define BUCKET(k) ((k) == 0 -> 0 : ((k) == 3 -> 3 : 1))
/* Links: the head of the first array, four of the second, one of the third, then those of nodes. */
#define HEAD(at, k) ((at) == 1 -> 1 + BUCKET(k) : ((at) == 0 -> 0 : 5))
#define OF(n) (5 + (n))
#define MOVED 255
#ifdef BREAK_LISTED /* a list that is too short is taken for whole */
#define MODE_WIDE
#endif
byte link[14], root, state[4] /* 0: not there; 1, 2: as its first or second node */, used[4];
bit dead[9], replaced[9], unlinked[9], seen[9] /* unlinked while the lookup was under way */;
bit listed[4] /* buckets that removals and cuts look at */, freed[3], zipped, lock, inside, awaited;
byte wanted, may; /* the lookup's key, and a bit for each state that it may answer */

inline becomes(k, s) { state[k] = s; if :: inside && wanted == k -> may = may | (1 << s) :: else fi }

inline detach(b, gone, after) { /* from = 255: not on that path */
  d_step { from = (at == 1 -> 1 + b : HEAD(at, 0)); n = link[from];
    do :: n == 0 || (n != gone && at == 1 && BUCKET(KEY(n)) != b) -> from = 255; break
       :: n != 0 && n == gone -> break
       :: else -> from = OF(n); n = link[from] od;
    n = 0; if :: from != 255 -> link[from] = after :: else fi } }

inline detach_everywhere(gone, after) {
  detach(BUCKET(k), gone, after);
#ifndef BREAK_PATHS /* only the path of the node's own bucket is mended */
  if :: at == 1 && zipped && listed[0] && BUCKET(k) != 0 -> detach(0, gone, after) :: else fi;
  if :: at == 1 && zipped && listed[1] && BUCKET(k) != 1 -> detach(1, gone, after) :: else fi;
  if :: at == 1 && zipped && listed[2] && BUCKET(k) != 2 -> detach(2, gone, after) :: else fi;
  if :: at == 1 && zipped && listed[3] && BUCKET(k) != 3 -> detach(3, gone, after) :: else fi;
#endif
  d_step { unlinked[gone] = 1; seen[gone] = inside; from = 0; made = 0 } }

proctype writer() {
  byte k, at, from, n, made, updates;
  do :: updates == UPDATES -> break
     :: atomic { updates < UPDATES && !lock -> lock = 1; updates++;
          if :: k = 0 :: k = 1 :: k = 2 :: k = 3 fi;
          at = root; if :: link[HEAD(at, k)] == MOVED -> at++ :: else fi };
    if
    :: d_step { state[k] == 0 && used[k] < 2 -> made = k + 1 + used[k] * 4; used[k]++; from = HEAD(at, k); n = link[from];
#ifndef BREAK_ORDER /* an insert links its node in front of its bucket */
        do :: n != 0 && KEY(n) < k -> from = OF(n); n = link[from] :: else -> break od;
#endif
        link[OF(made)] = link[from]; n = 0 };
      atomic { link[from] = made; becomes(k, used[k]); from = 0; made = 0 }
    :: atomic { state[k] != 0 -> made = NODE(k); dead[made] = 1; becomes(k, 0) };
      detach_everywhere(made, link[OF(made)])
    :: atomic { state[k] == 1 -> used[k] = 2; made = k + 5; link[OF(made)] = link[OF(k + 1)];
#ifndef BREAK_REPLACED /* the old node goes on leading to what follows it, and showing the old record */
        link[OF(k + 1)] = made; replaced[k + 1] = 1;
#endif
        becomes(k, 2) };
      detach_everywhere((k + 1), made)
    :: else
    fi;
    atomic { lock = 0; at = 0; k = 0 }
  od }

inline give_back(old) { awaited = inside; atomic { !awaited -> freed[old] = 1 } }

inline list(bucket) { /* chain: the number of nodes so far */
  if
#ifdef BREAK_LISTED
  :: chain != 0 -> skip
#elif defined(MODE_SHORT)
  :: chain == 1 -> listed[0] = 1; listed[1] = 1; listed[2] = 1; listed[3] = 1
#endif
  :: else -> listed[bucket] = 1
  fi;
  chain++ }

proctype resizer() {
  byte b, n, from, chain;
  atomic { !lock -> lock = 1; n = link[0]; zipped = 1 }; /* share_chain */
#ifdef BREAK_SHOWN /* lookups are sent on before the new buckets have their heads */
  link[0] = MOVED;
#endif
  d_step {
    do :: n != 0 ->
         if :: link[HEAD(1, KEY(n))] == 0 -> link[HEAD(1, KEY(n))] = n; list(BUCKET(KEY(n))) :: else fi; n = link[OF(n)]
       :: else -> break od;
#if !defined(MODE_WIDE) && !defined(MODE_SHORT)
    listed[0] = 1; listed[1] = 1; listed[2] = 1; listed[3] = 1
#endif
  };
  d_step { link[0] = MOVED; lock = 0; chain = 0 };
  root = 1;
#ifndef BREAK_WAIT /* lookups that came by the old array are not waited for before the cuts */
  give_back(0);
#endif
  atomic { !lock -> lock = 1 }; /* cut_chains */
  do :: d_step { b < 3 -> from = 1 + b; n = link[from];
          do :: n != 0 && BUCKET(KEY(n)) == b -> from = OF(n); n = link[from] :: else -> break od;
          if :: n != 0 -> assert(listed[b]); link[from] = 0 :: else fi; b++ }
     :: d_step { b == 3 -> b = 0; lock = 0; from = 0; n = 0 }; break od; zipped = 0; /* all other families are cut, too */

  atomic { !lock -> lock = 1; from = 5; chain = link[1] }; /* join_chains */
#ifdef BREAK_MOVED /* lookups are sent on before the chains are joined */
  link[1] = MOVED;
#endif
  do :: d_step { b < 4 -> if :: chain != 0 -> link[from] = chain :: else fi;
          do :: chain != 0 -> from = OF(chain); chain = link[from] :: else -> break od;
          b++; if :: b < 4 -> chain = link[1 + b] :: else fi }
     :: d_step { b == 4 -> b = 0; from = 0 }; break od;
  do :: d_step { b < 4 -> link[1 + b] = MOVED; b++ } :: d_step { b == 4 -> b = 0; lock = 0 }; break od;
  root = 2;
  give_back(1) }

proctype lookup() {
  byte at, n, answer;
  atomic { if :: wanted = 0 :: wanted = 1 :: wanted = 2 :: wanted = 3 fi; may = 1 << state[wanted]; inside = 1 };
  at = root;
head: atomic { assert(!freed[at]); n = link[HEAD(at, wanted)]; if :: n == MOVED -> at++; n = 0; goto head :: else fi };
  do :: atomic { n == 0 -> break }
     :: atomic { n != 0 -> assert(!unlinked[n] || seen[n]);
          if :: KEY(n) != wanted || dead[n] -> n = link[OF(n)]
             :: else -> if :: replaced[n] -> n = link[OF(n)] :: else fi; answer = 1 + (n - 1) / 4; break fi } od;
  atomic { assert(may & (1 << answer)); inside = 0; awaited = 0; may = 0; wanted = 0; at = 0; n = 0; answer = 0 } }

init {
  byte k, n, from;
  atomic { for (k : 0 .. 3) { if :: skip :: state[k] = 1; used[k] = 1; link[from] = k + 1; from = OF(k + 1) fi }
    k = 0; from = 0; run writer(); run resizer(); run lookup() };
  _nr_pr == 1 -> d_step { n = link[5];
    for (k : 0 .. 3) { if :: state[k] != 0 -> assert(n == NODE(k)); n = link[OF(n)] :: else fi }
    assert(n == 0) } }
