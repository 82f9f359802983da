# SPDX-License-Identifier: Apache-2.0
# Threads, memory and descriptors that there are not enough of: one line, or the same result with less.
import json
import resource

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
        self.refused("count", "-k", 10, "--memory", "51M", "--threads", 4, "-o", self.folder / "o", reads, says="at least 53M")
        self.assertFalse((self.folder / "o").exists())
        self.count(reads, k=10, more=("--memory", "53M", "--threads", 4, "--json", self.folder / "j"))
        figures = json.loads((self.folder / "j").read_text())
        self.assertLessEqual(figures["peak_bytes"], figures["memory_limit"])
