# SPDX-License-Identifier: Apache-2.0
# What the tests of `cubby store` share: running the program, and an oracle of its formats.
import os
import pathlib
import random
import re
import subprocess
import tempfile

from refusals import RefusedCase

PROGRAM = ""
COPIES = (0, 4096, 10240, 12288)  # of the superblock (docs/format.md)


def command(*arguments):
    return [PROGRAM, "store", *(one if isinstance(one, bytes) else str(one) for one in arguments)]


def cubby(*arguments, stdin=None, preexec=None, cwd=None):
    return subprocess.run(command(*arguments), input=stdin, capture_output=True, timeout=120, check=False,
                          preexec_fn=preexec, cwd=cwd)


ESCAPES = {b"\\": b"\\\\", b"\t": b"\\t", b"\n": b"\\n", b"\r": b"\\r"}


def escaped(text):
    for plain, written in ESCAPES.items():  # the backslash first
        text = text.replace(plain, written)
    return text


# What the first line of an input would not keep: JSON, a byte order mark, gzip.
BEGINS = re.compile(rb"(?=\xef\xbb\xbf|\x1f\x8b)|[ \t]*(?={)")


def tsv_line(key, value):
    line = escaped(key) + b"\t" + escaped(value) + b"\n"
    begin = BEGINS.match(line)
    return begin[0] + b"\\" + line[begin.end():] if begin else line


def tsv(entries):
    """Entries, a dictionary of bytes, as lines."""
    return b"".join(tsv_line(key, value) for key, value in entries.items())


def numbered(count, begin=0):
    """Records with values of several sizes."""
    return {b"key %d" % i: b"value %d " % i + b"x" * (i % 90) for i in range(begin, begin + count)}


def odd_entries(seed=1, count=300):
    """Keys and values of all bytes, among them the empty one and what the formats escape."""
    some = random.Random(seed)
    entries = {b"": b"of the empty key", b"empty": b"", b"\\": b"\\n", b"\t\n\r": b"\0", b"{": b"}", b" {x": b"", b"\x1f\x8b": b"gzip", bytes(range(256)): bytes(range(255, -1, -1)),
               b"long": b"v" * 1_000_000, b"k" * 70_000: b"long key", b"\xef\xbb\xbfmark": b"\xff"}
    for _ in range(count):
        entries[some.randbytes(some.randrange(40))] = some.randbytes(some.choice((0, 1, 7, 8, 9, 60, 300, 5000)))
    return entries


class Folder(RefusedCase):
    """A test with a folder of its own, and a table in it."""

    program = staticmethod(cubby)

    def setUp(self):
        kept = tempfile.TemporaryDirectory()
        self.addCleanup(kept.cleanup)
        self.folder = pathlib.Path(kept.name)
        self.table = self.folder / "t.cubby"

    def write(self, name, data):
        path = self.folder / name
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        return path

    def left(self):
        return sorted(os.listdir(self.folder))

    def run_well(self, *arguments, status=0, **options):
        done = cubby(*arguments, **options)
        self.assertEqual(done.returncode, status, done.stderr.decode())
        return done

    def make(self, entries=None):
        """The table, with some entries."""
        self.run_well("create", self.table)
        if entries:
            self.run_well("load", "--quiet", self.table, stdin=tsv(entries))
        return self.table

    def holds(self, entries, table=None):
        """The table has exactly these entries, whole, and nothing is left beside it."""
        table = table or self.table
        lines = self.run_well("dump", table).stdout.splitlines()
        self.assertEqual(sorted(lines), sorted(tsv(entries).splitlines()))
        self.run_well("check", table)
        self.assertFalse(pathlib.Path(f"{table}.load").exists())

    def start(self, *arguments, **how):
        """A program that runs on; it is killed when the test ends."""
        running = subprocess.Popen(command(*arguments), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **how)
        self.addCleanup(running.communicate)
        self.addCleanup(running.kill)
        return running
