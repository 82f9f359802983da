# SPDX-License-Identifier: Apache-2.0
# Loads that are killed, and go on: no record is skipped, whatever the moment.
import gzip
import json
import os
import pty
import random
import select
import shutil
import time

import store_support
from store_support import COPIES, Folder, escaped, numbered, tsv

SOON = ("--sync-every", 1)  # marks as often as the disk allows
KILL_AT_UNLINK = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
int unlink(const char* path) {
  const int is_mark = strlen(path) > 5 && strcmp(path + strlen(path) - 5, ".load") == 0;
  if (is_mark && strcmp(getenv("KILL"), "before") == 0) raise(SIGKILL);
  const int result = ((int (*)(const char*))dlsym(RTLD_NEXT, "unlink"))(path);
  if (is_mark) raise(SIGKILL);
  return result;
}
"""


class Killed(Folder):
    """A load of a large input that was killed in its middle."""

    COUNT = 30_000

    def setUp(self):
        super().setUp()
        self.entries = numbered(self.COUNT)
        self.keys = list(self.entries)
        self.input = self.write("in.tsv", tsv(self.entries))
        self.mark = self.folder / "t.cubby.load"
        self.run_well("create", self.table)

    def begin(self, *inputs, data=None, more=()):
        running = self.start("load", *SOON, *more, self.table, *inputs)
        if data is not None:
            running.stdin.write(data)
            running.stdin.flush()
        return running

    def marked(self):
        try:
            return json.loads(self.mark.read_bytes())["records"]
        except FileNotFoundError:
            return 0

    def kill_behind(self, running, records):
        """Kills a load when a mark says that it has so many records."""
        until = time.monotonic() + 60
        while self.marked() < records and running.poll() is None:
            self.assertLess(time.monotonic(), until)
            time.sleep(0.0005)
        running.kill()
        running.wait()
        self.assertTrue(self.mark.exists(), "it had ended; give it more to do")
        return self.marked()

    def feed_and_kill(self, records, more=()):
        """Kills a load of a pipe that has given so many records and stays open."""
        running = self.begin(data=tsv(dict(list(self.entries.items())[:records])), more=more)
        until = time.monotonic() + 60
        while len(self.run_dump()) < records // 2 and self.marked() < records // 2:
            self.assertLess(time.monotonic(), until)
            time.sleep(0.01)
        running.kill()
        running.wait()
        return self.marked()

    def run_dump(self):
        done = store_support.cubby("dump", self.table)
        return set(done.stdout.splitlines()) if done.returncode == 0 else set()

    def finish(self, *inputs, says="resumes", **how):
        done = self.run_well("load", self.table, *inputs, **how)
        self.assertIn(says, done.stderr.decode())
        self.assertIn(f" {len(self.entries)} records: ", done.stderr.decode())
        self.holds(self.entries)

    def test_killed_again_and_again(self):
        """What a mark counts is in the table after every kill, and in the end everything is."""
        chance = random.Random(3)
        kills = middle = last = 0
        longest = 0.05
        while True:
            running = self.begin(self.input)
            try:
                running.wait(chance.uniform(0.005, longest))
                self.assertEqual(running.returncode, 0, running.stderr.read())
                break
            except store_support.subprocess.TimeoutExpired:
                running.kill()
                running.wait()
            kills += 1
            records = self.marked()
            middle += 0 < records < self.COUNT
            longest *= 1 if records > last else 1.5  # a machine that has much to do
            last = records
            there = self.run_dump()
            missing = [key for key in self.keys[:records] if escaped(key) + b"\t" + self.entries[key] not in there]
            self.assertEqual(missing, [])
            self.assertLess(kills, 200)
        self.holds(self.entries)
        self.assertEqual(self.left(), ["in.tsv", "t.cubby"])
        self.assertGreater(middle, 0)

    def test_killed_before_its_first_record(self):
        running = self.begin()
        until = time.monotonic() + 60
        while not self.mark.exists():
            self.assertLess(time.monotonic(), until)
            time.sleep(0.001)
        running.kill()
        running.wait()
        self.finish(self.input, says="a load was cut short before its first sync; this one begins at the first record")

    def test_goes_on_where_it_was(self):
        records = self.kill_behind(self.begin(self.input), 1)
        self.assertLess(0, records)
        done = self.run_well("load", self.table, self.input)
        self.assertIn(f"resumes a load that was cut short, behind its first {records} records\n", done.stderr.decode())
        counts = [int(word) for word in done.stderr.decode().splitlines()[-1].replace(",", "").split() if word.isdigit()]
        self.assertEqual(counts[0], self.COUNT)
        self.assertEqual(counts[1] + counts[2], self.COUNT - records)  # new and replaced ones of this run
        self.holds(self.entries)

    def test_gzip(self):
        packed = self.write("in.gz", gzip.compress(self.input.read_bytes(), 1))
        self.kill_behind(self.begin(packed), 1)
        self.finish(packed)

    def test_several_inputs(self):
        more = numbered(self.COUNT, self.COUNT)
        second = self.write("more.tsv", tsv(more))
        self.kill_behind(self.begin(self.input, second), self.COUNT + 1)
        self.entries |= more
        self.finish(self.input, second)

    def test_pipe(self):
        """It is read again up to the mark, and must be the same."""
        records = self.feed_and_kill(20_000)
        self.assertLess(0, records)
        before = self.mark.read_bytes()
        other = self.input.read_bytes().replace(b"value 7 ", b"other 7 ")
        for wrong in (other, self.input.read_bytes()[:1000], b""):
            self.refused_pipe(wrong)
        self.assertEqual(self.mark.read_bytes(), before)
        self.finish(stdin=self.input.read_bytes())

    def refused_pipe(self, data):
        done = store_support.cubby("load", self.table, stdin=data)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"not the input of the load that was cut short", done.stderr)

    def test_inputs_that_have_changed(self):
        """Also of the same size. It begins at the first record."""
        self.kill_behind(self.begin(self.input), 1)
        self.entries[b"key 0"] = b"VALUE 0 "
        time.sleep(0.02)  # a change within a tick of the clock of files could not be seen
        self.input.write_bytes(tsv(self.entries))
        self.finish(self.input, says="they have changed since; this load begins at the first record")

    def test_other_flags(self):
        self.kill_behind(self.begin(self.input), 1)
        self.finish(self.input, "--format", "tsv", says="with other flags; this load begins at the first record")

    def test_a_new_table_of_the_same_name(self):
        self.kill_behind(self.begin(self.input), 1)
        self.table.unlink()
        self.run_well("create", self.table)
        self.finish(self.input, says="into another table; this load begins at the first record")

    def test_an_older_copy_of_the_table(self):
        """Also one that was used since, and has been written more often than the newer one."""
        copy = self.folder / "copy"
        for used in (False, True):
            with self.subTest(used=used):
                self.run_well("del", self.table, "key 0", status=0 if used else 1)
                shutil.copyfile(self.table, copy)
                self.kill_behind(self.begin(self.input), 1)
                self.run_well("check", self.table)
                shutil.copyfile(copy, self.table)
                for i in range(1, 100 if used else 1):
                    self.run_well("del", self.table, f"key {i}")
                done = self.run_well("load", self.table, self.input)
                self.assertIn(b"another copy of this table; this load begins at the first record", done.stderr)
                copy.unlink()
                self.holds(self.entries)

    def test_a_copy_of_the_middle_of_a_load(self):
        """One of a killed run, and a later run goes on from the same mark: then the copy is older than the next mark."""
        copy = self.folder / "copy"
        more = numbered(self.COUNT, self.COUNT)
        inputs = self.input, self.write("more.tsv", tsv(more))
        self.entries |= more
        earlier = self.kill_behind(self.begin(*inputs), 1)
        shutil.copyfile(self.table, copy)
        self.kill_behind(self.begin(*inputs), earlier + 1)
        shutil.copyfile(copy, self.table)
        copy.unlink()
        done = self.run_well("load", self.table, *inputs)
        self.assertIn(b"another copy of this table; this load begins at the first record", done.stderr)
        self.holds(self.entries)

    def test_killed_between_a_sync_and_its_mark(self):
        """The table has the word of the next mark then, which the mark before it knows."""
        self.kill_behind(self.begin(self.input), 1)
        mark = json.loads(self.mark.read_bytes())
        for name, says in (("note", b"resumes"), ("next", b"resumes"), (None, b"another copy of this table")):
            copy, beside = self.folder / "copy", self.folder / "copy.load"
            shutil.copyfile(self.table, copy)
            word = self.note_of(copy)
            words = {one: word if one == name else word ^ 8 for one in ("note", "next")}
            beside.write_text(json.dumps(mark | words))
            done = self.run_well("load", copy, self.input)
            self.assertIn(says, done.stderr)
            self.holds(self.entries, copy)
            copy.unlink()

    def note_of(self, table):
        """The word in the newest copy of the superblock."""
        data = table.read_bytes()
        copies = [data[at:at + 512] for at in COPIES]
        newest = max(copies, key=lambda one: int.from_bytes(one[104:112], "little"))
        return int.from_bytes(newest[184:192], "little")

    def test_a_mark_of_an_older_version(self):
        self.kill_behind(self.begin(self.input), 1)
        mark = json.loads(self.mark.read_bytes())
        old = {"cubby_load": 1, "sequence": 1} | {name: mark[name] for name in ("table", "request", "records", "places")}
        self.mark.write_text(json.dumps(old))
        self.finish(self.input, says="of an older version of cubby; this load begins at the first record")

    def test_killed_when_its_mark_goes(self):
        """Then the table has been closed, and a load that was killed before is told from one that has ended."""
        if shutil.which("cc") is None:
            self.skipTest("no C compiler")
        source = self.write("kill.c", KILL_AT_UNLINK)
        shim = self.folder / "kill.so"
        store_support.subprocess.run(["cc", "-shared", "-fPIC", "-o", shim, source, "-ldl"], check=True)
        fail = ("load", "--on-duplicate", "fail", self.table, self.input)
        for moment, is_there in (("before", True), ("after", False)):
            running = self.start(*fail, env=os.environ | {"LD_PRELOAD": str(shim), "KILL": moment})
            self.assertEqual(running.wait(60), -9)
            self.assertEqual(self.mark.exists(), is_there)
            figures = json.loads(self.run_well("stats", "--json", "-", self.table).stdout)
            self.assertEqual((figures["closed"], figures["entries"]), (True, self.COUNT))
        self.holds(self.entries)

    def test_keys_that_must_be_new(self):
        """Records behind the mark are there already, and are no duplicates."""
        fail = ("--on-duplicate", "fail")
        self.kill_behind(self.begin(self.input, more=fail), 1)
        self.finish("--on-duplicate", "fail", self.input)
        self.refused("load", *fail, self.table, self.input, says=("line 1", "'key 0' is there already", "--on-duplicate replace"))

    def test_duplicates_behind_a_kill(self):
        """A key twice in the input is a duplicate, also where the killed run may have been."""
        fail = ("--on-duplicate", "fail")
        once = dict(list(self.entries.items())[:6000])
        self.assertLess(self.feed_and_kill(4000, more=fail), 4001)
        done = store_support.cubby("load", *fail, self.table, stdin=tsv(once) + b"key 5999\t" + once[b"key 5999"] + b"\n")
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"line 6001: the key 'key 5999' is there already", done.stderr)
        again = store_support.cubby("load", *fail, self.table, stdin=tsv(once) + b"key 5999\t" + once[b"key 5999"] + b"\n")
        self.assertEqual((again.returncode, again.stderr), (2, done.stderr))


class Policies(Folder):
    def test_duplicates(self):
        self.make({b"a": b"1"})
        data = b"a\t2\nb\t1\nb\t2\n"
        done = self.run_well("load", "--on-duplicate", "keep", self.table, stdin=data)
        self.assertIn(b"3 records: 1 new, 2 there before", done.stderr)
        self.holds({b"a": b"1", b"b": b"1"})
        done = self.run_well("load", self.table, stdin=data)
        self.assertIn(b"3 records: 0 new, 3 replaced", done.stderr)
        self.holds({b"a": b"2", b"b": b"2"})
        self.refused("load", "--on-duplicate", "fail", self.table, stdin=b"c\t1\na\t3\n", says=("standard input: line 2", "'a' is there already"))
        os.unlink(f"{self.table}.load")
        self.holds({b"a": b"2", b"b": b"2", b"c": b"1"})

    def test_a_refused_record_stays_refused(self):
        """Whatever has been loaded before it, the same command ends in the same way."""
        self.make()
        source = self.write("in.tsv", "y\ta\nz\tb\nz\tb\n")
        for _ in range(3):
            done = store_support.cubby("load", "--on-duplicate", "fail", self.table, source)
            self.assertEqual(done.returncode, 2)
            self.assertIn(b"line 3: the key 'z' is there already", done.stderr)
        os.unlink(f"{self.table}.load")
        self.holds({b"y": b"a", b"z": b"b"})

    def test_files_beside_the_mark(self):
        """None is written to or removed, also where a link leads; only what a killed write has left is."""
        self.make()
        for name in ("t.cubby.load.new", "t.cubby.load.partial", "t.cubby.load.0.partial"):
            self.write(name, "precious\tdata\n")
        mine = self.write("mine.tsv", "c\td\n")
        os.symlink(mine, self.folder / "t.cubby.load.tmp")
        self.write("t.cubby.load.0123456789abcdef.partial", "left")
        before = self.left()
        self.run_well("load", self.table, self.folder / "t.cubby.load.new", self.folder / "t.cubby.load.tmp")
        self.assertEqual(self.left(), [name for name in before if "0123" not in name])
        self.assertEqual((self.folder / "t.cubby.load.new").read_text(), "precious\tdata\n")
        os.symlink(mine, f"{self.table}.load")
        self.refused("load", self.table, stdin=b"a\t1\n", says=("t.cubby.load", "move it away"))
        os.unlink(f"{self.table}.load")
        self.assertEqual(mine.read_text(), "c\td\n")
        self.holds({b"precious": b"data", b"c": b"d"})

    def test_a_file_of_the_users(self):
        """The name of the mark is taken."""
        self.make()
        mine = self.write("t.cubby.load", "my notes")
        self.refused("load", self.table, stdin=b"a\t1\n", says=(str(mine), "move it away"))
        self.assertEqual(mine.read_text(), "my notes")
        mine.unlink()
        self.holds({})

    def test_inputs_are_looked_at_before(self):
        self.make()
        good = self.write("good.tsv", "a\t1\n")
        self.refused("load", self.table, good, self.folder / "none", says=("none", "No such file", "check the path"))
        self.refused("load", self.table, good, self.folder, says=(str(self.folder), "is a folder"))
        self.holds({})

    def test_nothing_to_go_on_with(self):
        """A load that has added no record leaves no mark, and so the next one does not resume it."""
        self.make()
        bad = self.write("bad.tsv", "no tab\n")
        for _ in range(2):
            done = store_support.cubby("load", self.table, bad)
            self.assertEqual((done.returncode, done.stderr.decode()), (2, f"cubby store load: {bad}: line 1: no tab between key and value\n"))
            self.holds({})
        bad.write_text("k\tv\nno tab\n")
        self.refused("load", self.table, bad, says=(f"{bad}: line 2: no tab", "the 1 record before it is in the table"))
        done = store_support.cubby("load", self.table, bad)
        self.assertIn(b"behind its first 1 record\n", done.stderr)

    def test_progress(self):
        """On a terminal, and only there."""
        self.make()
        ours, theirs = pty.openpty()
        running = store_support.subprocess.Popen(store_support.command("load", self.table), stdin=-1, stderr=theirs)
        until = time.monotonic() + 30
        said = b""
        while b" records (" not in said:
            self.assertLess(time.monotonic(), until)
            running.stdin.write(tsv(numbered(256)))
            running.stdin.flush()
            if select.select([ours], [], [], 0.05)[0]:
                said += os.read(ours, 4096)
        running.stdin.close()
        self.assertEqual(running.wait(60), 0)
        os.close(theirs)
        self.assertIn(b"standard input: 0 MB", said)
        self.holds(numbered(256))
        self.assertEqual(self.run_well("load", "--quiet", self.table, stdin=b"a\t1\n").stderr, b"")
