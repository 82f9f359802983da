# SPDX-License-Identifier: Apache-2.0
# Threads, memory and descriptors that there are not enough of: one line, or the same result with less.
import json
import resource
import subprocess
import zlib

import kmer_support
from kmer_support import Folder, cubby, random_bases


def little_address_space():
    """For the stacks of a hundred threads or so."""
    resource.setrlimit(resource.RLIMIT_AS, (1_200_000_000, 1_200_000_000))


class Threads(Folder):
    def test_threads_that_cannot_be_started(self):
        if cubby("count", "--help", preexec=little_address_space).returncode != 0:
            self.skipTest("a program under a sanitizer has no bound of this kind")
        reads = self.write("r.fa", ">r\n" + random_bases(1, 30_000) + "\n")
        for k in (8, 21):
            self.refused("count", "-k", 8, "--memory", "2G", "--threads", 512, "-o", self.folder / "o", reads, status=1, preexec=little_address_space,
                         says=(" of 512 cannot be started", "give fewer --threads"))
            self.assertEqual([p.name for p in self.folder.iterdir()], ["r.fa"])


class Memory(Folder):
    def test_arrays_of_a_small_k(self):
        reads = self.write("r.fa", ">r\n" + random_bases(1, 300_000) + "\n")
        for k in (1, 10):
            self.refused("count", "-k", k, "--memory", "8M", "--threads", 4, "-o", self.folder / "o", reads,
                         says=("--memory 8M", "4 threads need at least"))
        self.refused("count", "-k", 10, "--memory", "51M", "--threads", 4, "-o", self.folder / "o", reads,
                     says="--memory 51M: 4 threads need at least 52M")
        self.assertFalse((self.folder / "o").exists())
        self.count(reads, k=10, more=("--memory", "52M", "--threads", 4, "--json", self.folder / "j"))
        figures = json.loads((self.folder / "j").read_text())
        self.assertLessEqual(figures["peak_bytes"], figures["memory_limit"])


    def test_the_default_respects_a_bound_of_the_address_space(self):
        bound = lambda: resource.setrlimit(resource.RLIMIT_AS, (4_000_000_000, 4_000_000_000))  # noqa: E731
        if cubby("count", "--help", preexec=bound).returncode != 0:
            self.skipTest("a program under a sanitizer has no bound of this kind")
        reads = self.write("r.fa", ">r\n" + random_bases(1, 200_000) + "\n")
        self.run_well("count", "-k", 21, "-o", self.folder / "o.kc", reads, preexec=bound)


class KffRuns(Folder):
    """KFF that has to be sorted in so many runs that they are merged in rounds."""

    def make(self, bases, k):
        reads = self.write("r.fa", ">r\n" + random_bases(k, bases) + "\n")
        file = self.count(reads, k=k, out="whole.kc")
        self.run_well("to-kff", file, "-o", self.folder / "in.kff")
        return file

    def test_rounds(self):
        for k, bases in ((21, 4_500_000), (40, 2_500_000))[:1 if kmer_support.SPARSE else 2]:
            file = self.make(bases, k)
            few = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (12, 12))  # noqa: E731
            self.run_well("from-kff", self.folder / "in.kff", "-o", self.folder / "back.kc", "--memory", "32M", preexec=few)
            self.assertEqual(zlib.crc32((self.folder / "back.kc").read_bytes()), zlib.crc32(file.read_bytes()))
            done = self.run_well("from-kff", self.folder / "in.kff", "-o", "/dev/stdout", "--memory", "32M", cwd=self.folder)
            self.assertEqual(zlib.crc32(done.stdout), zlib.crc32(file.read_bytes()))
            self.assertEqual(sorted(p.name for p in self.folder.iterdir()), ["back.kc", "in.kff", "r.fa", "whole.kc"])
            (self.folder / "back.kc").unlink()

    def test_what_a_signal_leaves(self):
        self.make(1_000_000, 21)
        data = (self.folder / "in.kff").read_bytes()
        for output in (self.folder / "back.kc", "/dev/stdout"):
            with subprocess.Popen([kmer_support.PROGRAM, "kmer", "from-kff", "-", "-o", output, "--memory", "32M"], cwd=self.folder,
                                  stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as running:
                running.stdin.write(data[:-200_000])  # all of it has been read then, but for what a pipe holds
                running.kill()
            self.assertEqual(sorted(p.name for p in self.folder.iterdir()), ["in.kff", "r.fa", "whole.kc"])

    def test_memory_that_is_not_enough(self):
        """It is named as it was typed; once that was 0M for 1."""
        self.make(1000, 21)
        for memory in ("1", "1M", "4000k"):
            self.refused("count", "--memory", memory, "--threads", 1, "-o", self.folder / "o", self.folder / "r.fa",
                         says=f"--memory {memory}: 1 thread needs at least ")
        for memory in ("1", "1M", "31M"):
            self.refused("from-kff", self.folder / "in.kff", "-o", self.folder / "o", "--memory", memory,
                         says=f"--memory {memory}: from-kff needs at least 32M")
        self.assertFalse((self.folder / "o").exists())
