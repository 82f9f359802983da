# SPDX-License-Identifier: Apache-2.0
# What the tests of `cubby kmer` share: running programs, rivals, and an oracle that is slow and plain.
import collections
import gzip
import os
import pathlib
import random
import shutil
import subprocess
import tempfile
import unittest

from refusals import RefusedCase

PROGRAM = ""
GENOME = pathlib.Path("/usr/share/doc/bowtie/examples/genomes/NC_008253.fna.gz")
READS = pathlib.Path("/usr/share/doc/bowtie2/examples/reads")
SIZES = (4, 15, 21, 31, 32, 33, 55)
SPARSE = os.environ.get("CUBBY_TEST_SPARSE") == "1"  # as in tests/support/random.hpp
TURN = str.maketrans("ACGT", "TGCA")


def cubby(*arguments, stdin=None, preexec=None, cwd=None):
    return subprocess.run([PROGRAM, "kmer", *map(str, arguments)], input=stdin, capture_output=True, timeout=300,
                          check=False, preexec_fn=preexec, cwd=cwd)


def canonical_of(kmer):
    return min(kmer, kmer[::-1].translate(TURN))


def oracle(sequences, k, canonical=True):
    """Counts of the k-mers of some sequences, letter by letter."""
    counts = collections.Counter()
    for sequence in sequences:
        upper = sequence.upper()
        for at in range(len(upper) - k + 1):
            kmer = upper[at:at + k]
            if set(kmer) <= set("ACGT"):
                counts[canonical_of(kmer) if canonical else kmer] += 1
    return counts


def lines_of(counts):
    return sorted(f"{kmer} {count}".encode() for kmer, count in counts.items())


def random_bases(seed, count, letters="ACGT"):
    return "".join(random.Random(seed).choices(letters, k=count))


def each_test(suite):
    for one in suite:
        if isinstance(one, unittest.TestSuite):
            yield from each_test(one)
        else:
            yield one


def load_tests(_loader, suite, _pattern):
    """Called by unittest: all tests, or the share of them that the environment names."""
    which, shares = map(int, os.environ.get("CUBBY_TEST_SHARD", "1/1").split("/"))
    return unittest.TestSuite(list(each_test(suite))[which - 1::shares])


class Folder(RefusedCase):
    """A test with a folder of its own."""

    program = staticmethod(cubby)

    def setUp(self):
        kept = tempfile.TemporaryDirectory()
        self.addCleanup(kept.cleanup)
        self.folder = pathlib.Path(kept.name)

    def write(self, name, data):
        path = self.folder / name
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        return path

    def plain(self, packed):
        """A gzip file of a package, unpacked into the test's folder."""
        path = self.folder / packed.name.removesuffix(".gz")
        if not path.exists():
            with gzip.open(packed) as source, path.open("wb") as out:
                shutil.copyfileobj(source, out)
        return path

    def run_well(self, *arguments, **options):
        done = cubby(*arguments, **options)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        return done

    def count(self, *inputs, k, canonical=True, out="out.kc", more=(), stdin=None):
        path = self.folder / out
        strands = () if canonical else ("--no-canonical",)
        self.run_well("count", "-k", k, "-o", path, *strands, *more, *inputs, stdin=stdin)
        return path

    def dump(self, path):
        return sorted(self.run_well("dump", path).stdout.splitlines())

    def counted(self, *inputs, **how):
        return self.dump(self.count(*inputs, **how))

    def jellyfish(self, *inputs, k, canonical=True, least=1):
        """Sorted lines of `jellyfish dump -c`, of k-mers that occur so often at least. Its table has a slot for each byte: clearing
        one for millions of k-mers would take longer than counting a small input."""
        out = self.folder / "rival.jf"
        strands = ("-C",) if canonical else ()
        slots = max(65_536, sum(os.path.getsize(path) for path in inputs))
        subprocess.run(["jellyfish", "count", "-m", str(k), "-s", str(slots), "-t", "1", *strands, "-o", out, *inputs], check=True,
                       capture_output=True)
        dumped = subprocess.run(["jellyfish", "dump", "-c", "-L", str(least), out], check=True, capture_output=True)
        return sorted(dumped.stdout.splitlines())

    def kmc(self, path, k, canonical=True, kind="-fq"):
        """Sorted lines of KMC's dump. It would drop singletons and stop counts at 255 by default, and take longest for its bins, of
        which 64 in memory do for inputs of this size."""
        work = self.folder / "kmc"
        work.mkdir(exist_ok=True)
        strands = () if canonical else ("-b",)
        subprocess.run(["kmc", f"-k{k}", "-m2", "-t1", "-r", "-n64", "-ci1", "-cs1000000000", *strands, kind, path, work / "db", work],
                       check=True, capture_output=True)
        out = work / "dump.txt"
        subprocess.run(["kmc_tools", "-t1", "transform", work / "db", "dump", out], check=True, capture_output=True)
        return sorted(out.read_bytes().replace(b"\t", b" ").splitlines())
