# SPDX-License-Identifier: Apache-2.0
# Outputs in places that lack something: files without a name, space, or a file that could be replaced.
import fcntl
import os
import subprocess
import time

import kmer_support
from kmer_support import Folder, random_bases


class Place(Folder):
    def setUp(self):
        super().setUp()
        self.reads = self.write("r.fa", ">r\n" + random_bases(1, 30_000) + "\n")
        self.whole = self.count(self.reads, k=21, out="whole.kc").read_bytes()
        self.given = {"r.fa", "whole.kc"}

    def left(self):
        """What lies in the folder beside what every test begins with."""
        return sorted(set(os.listdir(self.folder)) - self.given)

    def own(self, *command, **how):
        """Started with mounts of its own, and as process 1 of its own numbers."""
        if subprocess.run(["unshare", "-rmpf", "sh", "-c", "mount -t tmpfs none /proc"], capture_output=True, check=False).returncode != 0:
            self.skipTest("no mounts of one's own on this machine")
        return subprocess.Popen(["unshare", "-rmpf", "--kill-child", *command], cwd=self.folder, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, **how)


class WithoutFilesWithoutAName(Place):
    """Without /proc a file without a name could not be given one, so one with a name is made."""

    def start(self, *arguments, **how):
        command = f'mount -t tmpfs none /proc && exec "{os.path.abspath(kmer_support.PROGRAM)}" kmer "$@"'
        return self.own("sh", "-c", command, "sh", *map(str, arguments), **how)

    def start_and_wait(self, *arguments):
        """Until a file of its own is there, which it goes on writing until its standard input ends."""
        before = self.left()
        running = self.start(*arguments, stdin=subprocess.PIPE)
        self.addCleanup(self.end, running)
        until = time.monotonic() + 30
        while not any(name.endswith(".partial") for name in set(self.left()).difference(before)):
            self.assertLess(time.monotonic(), until)
            time.sleep(0.01)
        time.sleep(0.05)  # it locks what it has made
        return running

    def end(self, running):
        """Killed and gone. The process that started it dies first, and must, before its input ends: it would finish."""
        running.kill()
        running.wait()
        running.communicate()
        for name in self.left():
            with (self.folder / name).open("rb") as file:
                fcntl.flock(file, fcntl.LOCK_EX)  # free when the last of it is gone

    def finish(self, running, data=None):
        _, said = running.communicate(data, timeout=60)
        self.assertEqual(running.returncode, 0, said)

    def test_what_a_killed_run_leaves_is_taken_away(self):
        """Its name once held its number, and a process of the same number (1, in a container) failed for ever."""
        for _ in range(2):
            self.end(self.start_and_wait("count", "-k", 21, "-o", "o.kc", "-"))
            self.assertEqual(len(self.left()), 1)  # the first one's is the second one's to take
        self.finish(self.start("count", "-k", 21, "-o", "o.kc", self.reads))
        self.assertEqual((self.folder / "o.kc").read_bytes(), self.whole)
        self.assertEqual(self.left(), ["o.kc"])

    def test_what_a_living_run_has_is_left_alone(self):
        living = self.start_and_wait("count", "-k", 21, "-o", "o.kc", "-")
        before = self.left()
        self.finish(self.start("count", "-k", 15, "-o", "o.kc", self.reads))
        self.assertEqual(self.left(), sorted([*before, "o.kc"]))
        self.finish(living, self.reads.read_bytes())
        self.assertEqual((self.folder / "o.kc").read_bytes(), self.whole)
        self.assertEqual(self.left(), ["o.kc"])


class Names(Place):
    def test_files_that_only_look_alike_stay(self):
        out = self.folder / "o.kc"
        stale, locked = self.folder / "o.kc.0123456789abcdef.partial", self.folder / "o.kc.fedcba9876543210.partial"
        others = ["o.kc.1.partial", "o.kc.0123456789ABCDEF.partial", "o.kc.0123456789abcdef.old", "p.kc.0123456789abcdef.partial",
                  "o.kc.0123456789abcde.partial", "xo.kc.0123456789abcdef.partial"]
        for name in others:
            self.write(name, "kept")
        stale.write_text("gone")
        locked.write_text("kept")
        (self.folder / "o.kc.aaaaaaaaaaaaaaaa.partial").mkdir()
        (self.folder / "o.kc.bbbbbbbbbbbbbbbb.partial").symlink_to(self.reads)
        with locked.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            self.count(self.reads, k=21, out="o.kc")
        self.assertEqual(self.left(), sorted([*others, locked.name, "o.kc", "o.kc.aaaaaaaaaaaaaaaa.partial", "o.kc.bbbbbbbbbbbbbbbb.partial"]))
        self.assertEqual(out.read_bytes(), self.whole)

    def test_the_longest_names(self):
        """The temporary name was once longer than a name may be, and that was found when everything had been counted."""
        for name in ("n" * 230, "n" * 255):
            self.count(self.reads, k=21, out=name)
            self.assertEqual((self.folder / name).read_bytes(), self.whole)
        self.assertEqual(self.left(), ["n" * 230, "n" * 255])


class MountedByItself(Place):
    """A file that is mounted by itself, as containers have them: written over where it lies, wholly or not at all."""

    def write_over(self, prepare, old):
        """Status and words of a count, and what the file holds then. `prepare` is done where it lies, on a disk of 1 MiB."""
        self.write("inside", "")
        self.write("before", old)
        program = os.path.abspath(kmer_support.PROGRAM)
        running = self.own("sh", "-c", f"""set -e; mkdir disk; mount -t tmpfs -o size=1m none disk; cp before disk/outside
            cd disk; {prepare}; cd ..; mount --bind disk/outside inside; status=0
            "{program}" kmer count --quiet -k 21 -o inside r.fa || status=$?
            cp inside result; exit $status""")
        _, said = running.communicate(timeout=60)
        self.given |= {"inside", "before", "disk", "result"}
        return running.returncode, said.decode(), (self.folder / "result").read_bytes()

    FILL = "dd if=/dev/zero of=filler bs=4k 2> words || true"

    def test_contents_of_any_length(self):
        size = len(self.whole)
        for old in (0, 1, size - 1, size, size + 1, 700_000):
            self.assertEqual(self.write_over("true", os.urandom(old)), (0, "", self.whole), old)
            self.assertEqual(self.left(), [])
            (self.folder / "disk").rmdir()

    def test_a_full_disk_takes_nothing_away(self):
        """The file was once emptied before there was space for its new contents."""
        self.assertGreater(len(self.whole), 100_000)
        for old in (b"what was there", b"", os.urandom(50_000), os.urandom(90_000)):
            status, said, kept = self.write_over(self.FILL, old)
            self.assertEqual((status, kept), (2, old), said)
            self.assertIn("inside: cannot be written: No space left on device\n", said)
            self.assertEqual(self.left(), [])
            (self.folder / "disk").rmdir()

    def test_a_full_disk_has_space_for_what_is_no_longer(self):
        self.assertEqual(self.write_over(self.FILL, os.urandom(700_000)), (0, "", self.whole))

    def test_holes_in_the_old_contents_are_no_space(self):
        """Here it fails when part of the old contents has been written over: that is put back."""
        old = os.urandom(40_000) + bytes(400_000)
        status, said, kept = self.write_over(f"truncate -s 40000 outside; truncate -s 440000 outside; {self.FILL}", old)
        self.assertEqual((status, kept == old), (2, True), said)
        self.assertIn("inside: cannot be written: No space left on device\n", said)
        self.assertEqual(self.left(), [])
