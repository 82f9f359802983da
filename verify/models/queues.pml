/* SPDX-License-Identifier: Apache-2.0 */
/* Two handles send writes to one partition, each through a queue of two sections of two messages, and flush at any time. The
 * worker of the partition comes at any time, and may never come. A thread that waits serves the partition.
 * Line for line: channel.hpp try_send, next_section, publish, flush, is_consumed, peek, release; delegate.hpp serve, drain_lane,
 *   send_when_there_is_space, wait_a_turn, flush, give_outbox. Counts wrap: modulo 8 here, modulo 2^32 there.
 * Holds: each message is carried out once, as the kind with which it was sent, and in the order of its sender. A flush ends when all
 * that its handle has sent is carried out. No thread waits for ever, with or without the worker.
 * Left out: several partitions, the flag of a full one, what is done with a message, the turns of a wait (a turn of waiting is any turn in
 * which there is something to serve), outboxes that another handle takes, the sleep of the table's thread. */
#define HANDLES 2
#define SECTION 2
#define CAPACITY 4
#define MESSAGES 11
#define COUNT(n) ((n) & 7)
#define PLACE(l, n) (l * CAPACITY + (n) % CAPACITY)
#define KINDS(l, n) (l * 2 + (n) / SECTION % 2)
#define KIND(l, n) (((n) + (n) / 3 + l) % 2) /* of the nth message of a handle */
byte published[HANDLES], consumed[HANDLES]; /* the channel's two shared counts */
byte cell[8], kinds[4];                     /* numbers of messages; two bits a section */
byte read[HANDLES], known[HANDLES];         /* the receiving ends: of the thread that holds the lock */
byte done[HANDLES];                         /* messages that were carried out */
bit locked;                                 /* the partition's `writing` */
#define SOMETHING (published[0] != read[0] || published[1] != read[1])
#define MAY_SERVE (!locked && SOMETHING)

inline serve() {
  l = 0;
  do :: l < HANDLES ->
    if :: read[l] == known[l] -> known[l] = published[l] :: else fi;
    n = COUNT(known[l] - read[l]);
    if :: n > SECTION - read[l] % SECTION -> n = SECTION - read[l] % SECTION :: else fi;
    if :: n != 0 -> bits = kinds[KINDS(l, read[l])] >> (read[l] % SECTION);
#ifdef BREAK_EARLY /* gives the messages back before they are carried out */
      consumed[l] = COUNT(read[l] + n);
#endif
      i = 0;
      do :: atomic { i < n -> assert(cell[PLACE(l, read[l] + i)] == done[l]); assert((bits >> i & 1) == KIND(l, done[l])); done[l]++; i++ }
         :: i == n -> break od;
      read[l] = COUNT(read[l] + n);
      consumed[l] = read[l] /* whole batches are released, which end a section or all that is known */
    :: else fi; l++
  :: else -> break od;
  atomic { locked = 0; l = 0; n = 0; i = 0; bits = 0 } }
#ifdef BREAK_LOCK /* serves while another thread does */
#define TAKE SOMETHING
#else
#define TAKE MAY_SERVE -> locked = 1
#endif

inline publish() { kinds[KINDS(me, written + 7)] = mine; published[me] = written }
inline flush() {
#ifndef BREAK_FLUSH /* what an open section holds stays there */
  if :: published[me] != written -> publish() :: else fi;
#endif
  do :: atomic { consumed[me] == written -> assert(done[me] == sent); break }
     :: atomic { consumed[me] != written && TAKE }; serve() od }

proctype handle(byte me) { byte written, end, sent, mine, gone, l, n, i, bits;
  do :: sent < MESSAGES ->
space: if :: written == end -> gone = consumed[me];
           if
#ifndef BREAK_REUSE /* writes over what has not been read yet */
           :: atomic { COUNT(written - gone) > CAPACITY - SECTION -> gone = 0;
                if :: COUNT(written - consumed[me]) <= CAPACITY - SECTION -> goto space :: TAKE fi }; serve(); goto space
#endif
           :: else -> atomic { gone = 0; end = COUNT(written + SECTION);
#ifndef BREAK_KINDS /* a section begins with the kinds of the last one */
                mine = 0
#endif
              } fi
        :: else fi;
        cell[PLACE(me, written)] = sent;
        atomic { mine = mine | (KIND(me, sent) << (written % SECTION)); written = COUNT(written + 1); sent++ };
        if :: written == end -> publish() :: else fi;
        if :: skip :: flush() fi
     :: else -> flush(); break od }

proctype owner() { byte l, n, i, bits;
  do :: atomic { TAKE }; serve() :: skip -> break od }

init { byte p; atomic { run handle(0); run handle(1); run owner() };
  _nr_pr == 1 -> assert(done[0] == MESSAGES && done[1] == MESSAGES) }
