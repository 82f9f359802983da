# SPDX-License-Identifier: Apache-2.0
# Files that were made to mislead: their sums fit, and what they say does not. Refused like damage, never believed.
import struct
import zlib

from kmer_support import Folder

HEADER, BLOCK, FOOTER = "<8sHBBBBHIII", "<QQQIIII", "<7QI"


def packed(layout, *values):
    """The values, and their sum behind them."""
    data = struct.pack(layout, *values)
    return data + struct.pack("<I", zlib.crc32(data))


def block(body, kmers, first=0, offset=32, partition=0):
    return struct.pack(BLOCK, first, 0, offset, len(body), kmers, partition, zlib.crc32(body))


def made(bodies, index, rows, *, k=3, header=(1, 0, 0, 0, 1, 9, 0), footer=None):
    """A k-mer file of these parts. By default its end says what its histogram says."""
    inside = packed(HEADER, b"cubbykc\n", 1, k, *header) + b"".join(bodies)
    table = b"".join(index) + b"".join(struct.pack("<QQ", *row) for row in rows)
    said = footer or (sum(n for _, n in rows), sum(c * n for c, n in rows), sum(n for c, n in rows if c == 9), 0)
    end = packed(FOOTER, len(inside), len(index), len(rows), *said, zlib.crc32(table))
    return inside + table + end + b"cubbyend"


class KmerFiles(Folder):
    """One k-mer file after another that is wrong in one place; AAA, AAC and AAG with the counts 1, 2 and 1 are right."""

    GOOD = b"\0\1\1\2\1\1"
    ROWS = ((1, 2), (2, 1))

    def of(self, body, kmers=3, rows=ROWS, **more):
        return made([body], [block(body, kmers)], rows, **more)

    def refuse(self, data, command="stats", says="is damaged", flags=()):
        path = self.write("in.kc", data)
        output = () if command == "stats" else ("-o", self.folder / "out")
        self.refused(command, *flags, *output, path, says=(str(path), says))
        self.assertFalse((self.folder / "out").exists())

    def test_what_is_right(self):
        path = self.write("in.kc", self.of(self.GOOD))
        self.run_well("stats", path)
        self.assertEqual(self.dump(path), [b"AAA 1", b"AAC 2", b"AAG 1"])
        again = self.folder / "again.kc"
        self.run_well("merge", "--count-limit", 9, "-o", again, path)
        self.assertEqual(again.read_bytes(), path.read_bytes())

    def test_bytes_behind_the_end(self):
        self.refuse(self.of(self.GOOD) + b"x", says="something follows its end")

    def test_blocks(self):
        for name, body in (("a count of 0", b"\0\0\1\2\1\1"), ("a count above the limit", b"\0\1\1\x0a\1\1"),
                           ("a k-mer twice", b"\0\1\0\2\1\1"), ("a distance before the first", b"\1\1\1\2\1\1"),
                           ("a k-mer beyond k", b"\0\1\1\2\x7f\1"), ("a number longer than it need be", b"\0\1\x81\0\2\1\1"),
                           ("a number that does not fit", b"\0\1\1\2" + b"\xff" * 9 + b"\2\1")):
            with self.subTest(name):
                for command in ("stats", "dump", "to-kff", "merge"):
                    self.refuse(self.of(body), command)

    def test_a_count_of_0_does_not_end_a_union(self):
        # It once read behind the end of an array here.
        self.refuse(self.of(b"\0\0\1\2\1\1"), "union", flags=("--counts", "first"))

    def test_order(self):
        first, second = b"\0\1\1\2", b"\0\1"
        for name, low, partition in (("before the last", 0, 0), ("inside the last", 1, 0), ("an early end", 2, 0),
                                     ("a partition that is none", 2, 4096), ("a k-mer beyond k", 64, 1)):
            with self.subTest(name):
                index = [block(first, 2), block(second, 1, low, 36, partition)]
                self.refuse(made([first, second], index, self.ROWS), "dump")

    def test_strands(self):
        body = b"\0\1"
        self.refuse(made([body], [block(body, 1, 63)], ((1, 1),)), says="TTT is not canonical")
        self.run_well("stats", self.write("in.kc", made([body], [block(body, 1, 63)], ((1, 1),), header=(0, 0, 0, 0, 1, 9, 0))))

    def test_headers(self):
        for name, header in (("strands", (2, 0, 0, 0, 1, 9, 0)), ("m", (1, 2, 0, 0, 1, 9, 0)), ("partitions", (1, 0, 12, 0, 1, 9, 0)),
                             ("unused", (1, 0, 0, 1, 1, 9, 0)), ("unused too", (1, 0, 0, 0, 1, 9, 1)),
                             ("least", (1, 0, 0, 0, 0, 9, 0)), ("limit", (1, 0, 0, 0, 3, 2, 0))):
            with self.subTest(name):
                self.refuse(self.of(self.GOOD, header=header), "dump")

    def test_ends(self):
        for name, rows, footer in (("too few", ((1, 2),), (3, 4, 0, 0)), ("too many", ((1, 2), (2, 2)), None),
                                   ("a wrong one", ((1, 1), (2, 2)), None), ("not ascending", ((2, 1), (1, 2)), None),
                                   ("none of them", ((1, 2), (2, 1), (3, 0)), None), ("above the limit", ((1, 2), (10, 1)), None),
                                   ("a sum that wraps", ((1, 2 ** 64 - 1), (2, 4)), (3, 7, 0, 0)),
                                   ("distinct", self.ROWS, (4, 4, 0, 0)), ("total", self.ROWS, (3, 5, 0, 0)),
                                   ("saturated", self.ROWS, (3, 4, 1, 0))):
            with self.subTest(name):
                self.refuse(self.of(self.GOOD, rows=rows, footer=footer))

    def test_a_smallest_count_that_no_count_can_reach(self):
        path = self.write("in.kc", self.of(self.GOOD))
        self.refused("merge", "--min-count", 10, "-o", self.folder / "out", path, says="end at 9")


def variables(**values):
    named = b"".join(name.encode() + b"\0" + struct.pack(">Q", value) for name, value in values.items())
    return b"v" + struct.pack(">Q", len(values)) + named


class KffThatMisleads(Folder):
    HEAD = b"KFF\1\0\x1b\1\1\0\0\0\0"

    def refuse(self, data, says):
        path = self.write("in.kff", self.HEAD + data)
        self.refused("from-kff", "-o", self.folder / "out", path, says=(str(path), says))
        self.assertFalse((self.folder / "out").exists())

    def test_a_k_that_is_taken_back(self):
        # Blocks were once read without a k, and their k-mers behind the end of them.
        given = variables(k=40, m=5, max=1, data_size=0) + variables(k=0)
        self.refuse(given + b"r" + struct.pack(">Q", 1) + b"\x1b" * 40 + b"KFF", "several lengths")
        self.refuse(given + b"m" + b"\x1b\x1b" + struct.pack(">Q", 1) + b"\0" * 40 + b"KFF", "several lengths")

    def test_an_index_of_more_sections_than_bytes(self):
        given = variables(k=4, max=1, data_size=0)
        self.refuse(given + b"i" + struct.pack(">Q", 2 ** 64 // 9 + 1) + b"\0" * 30 + b"KFF", "index")
        self.refuse(given + b"i" + struct.pack(">Q", 2 ** 60) + b"\0" * 30 + b"KFF", "truncated")

    def test_blocks_of_more_than_there_is(self):
        self.refuse(variables(k=4, max=2 ** 60, data_size=0) + b"r" + struct.pack(">Q", 2 ** 60) + b"\xff" * 60, "variables")
        self.refuse(variables(k=4, max=2 ** 24, data_size=8) + b"r" + struct.pack(">Q", 2 ** 60) + b"\x7f" * 60, "truncated")

    def test_a_count_of_none(self):
        path = self.write("in.kff", self.HEAD + variables(k=4, max=1, data_size=1) + b"r" + struct.pack(">Q", 2) + b"\x1b\0\x01\3KFF")
        done = self.run_well("from-kff", "-o", self.folder / "out", path)
        self.assertEqual(done.stderr.decode(), f"{self.folder}/out: 1 k-mer\n1 k-mer with a count below 1 was left out\n")
