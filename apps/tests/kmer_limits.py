# SPDX-License-Identifier: Apache-2.0
# Threads, memory and descriptors that there are not enough of: one line, or the same result with less.
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
