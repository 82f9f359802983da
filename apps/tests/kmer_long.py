# SPDX-License-Identifier: Apache-2.0
# What takes minutes: a whole genome and simulated reads against both rivals, random lines, inputs cut anywhere, and the real
# and hostile inputs of kmer_counts.py against KMC with every k.
# Usage: kmer_long.py PROGRAM; with CUBBY_TEST_SHARD=1/2 every other test, beginning with the first.
import gzip
import os
import random
import subprocess
import sys
import unittest

import kmer_counts
import kmer_support
from kmer_support import GENOME, READS, SIZES, Folder, cubby, lines_of, load_tests, oracle, random_bases  # noqa: F401


class RealReads(kmer_counts.RealReads):
    with_all = True


class Hostile(kmer_counts.Hostile):
    with_all = True


class Long(Folder):
    def sorted_file(self, path):
        out = path.with_suffix(".sorted")
        subprocess.run(["sort", "-S", "1G", "-o", out, path], check=True, env={**os.environ, "LC_ALL": "C"})
        path.unlink()
        return out

    def dumped(self, name, command):
        path = self.folder / name
        with path.open("wb") as out:
            subprocess.run(command, check=True, stdout=out)
        return self.sorted_file(path)

    def check_rivals(self, path, k, canonical, kind, more=()):
        file = self.count(path, k=k, canonical=canonical, more=more)
        ours = self.dumped("ours", [kmer_support.PROGRAM, "kmer", "dump", file])
        strands = ("-C",) if canonical else ()
        subprocess.run(["jellyfish", "count", "-m", str(k), "-s", "20M", "-t", "2", *strands, "-o", self.folder / "jf", path],
                       check=True, capture_output=True)
        theirs = self.dumped("jellyfish", ["jellyfish", "dump", "-c", self.folder / "jf"])
        self.assertGreater(ours.stat().st_size, 1000)
        subprocess.run(["cmp", ours, theirs], check=True)
        self.kmc_database(path, k, canonical, kind)
        subprocess.run(["kmc_tools", "transform", self.folder / "db", "dump", self.folder / "tabs"], check=True,
                       capture_output=True)
        subprocess.run(["cmp", ours, self.dumped("kmc", ["sed", "s/\t/ /", self.folder / "tabs"])], check=True)

    def kmc_database(self, path, k, canonical, kind):
        strands = () if canonical else ("-b",)
        subprocess.run(["kmc", f"-k{k}", "-m2", "-t2", "-ci1", "-cs1000000000", *strands, kind, path, self.folder / "db",
                        self.folder], check=True, capture_output=True)

    def check_genome(self, canonical, sizes):
        path = self.plain(GENOME)
        for k in sizes:
            with self.subTest(k=k):
                self.check_rivals(path, k, canonical, "-fm")

    def test_genome(self):
        self.check_genome(True, SIZES)

    def test_genome_as_it_stands(self):
        """The sizes of k matter where k-mers are packed, which the test above has seen: one size for each kind of word here."""
        self.check_genome(False, (15, 32, 55))

    def test_simulated_reads(self):
        """30 times the genome's first two megabases, with a sequencer's errors; once within little memory."""
        lines = self.plain(GENOME).read_text().splitlines()
        self.write("part.fa", "\n".join(lines[:28_000]) + "\n")
        subprocess.run(["art_illumina", "-ss", "HS25", "-i", "part.fa", "-l", "150", "-f", "30", "-o", "reads", "-rs", "7", "-na",
                        "-q"], check=True, capture_output=True, cwd=self.folder)
        for k, more in ((21, ()), (21, ("--memory", "50M", "--threads", "1")), (31, ("--engine", "dlht")), (55, ())):
            with self.subTest(k=k, more=more):
                self.check_rivals(self.folder / "reads.fq", k, True, "-fq", more)

    def test_one_random_line_of_five_megabases(self):
        path = self.write("line.fa", ">l\n" + random_bases(4, 5_000_000) + "\n")
        for k, canonical in ((15, True), (31, True), (55, False)):
            with self.subTest(k=k, canonical=canonical):
                self.check_rivals(path, k, canonical, "-fm")

    def test_reads_cut_anywhere(self):
        """A beginning of a file is counted as far as it is whole, or refused; never anything else."""
        seed = random.SystemRandom().getrandbits(32)
        print("seed", seed, flush=True)
        dice = random.Random(seed)
        text = gzip.open(READS / "reads_1.fq.gz").read()[:40_000]
        for _ in range(400):
            cut = dice.randrange(len(text))
            data = text[:cut]
            whole = data.count(b"\n") // 4
            done = cubby("count", "-k", 21, "--quiet", "-o", self.folder / "o.kc", self.write("cut.fq", data))
            self.assertIn(done.returncode, (0, 2), cut)
            if done.returncode == 2:
                self.assertEqual(done.stderr.count(b"\n"), 1)
                self.assertIn(f"record {whole + 1}:".encode(), done.stderr)
                continue
            reads = data.decode().split("\n")[1::4]
            self.assertEqual(self.dump(self.folder / "o.kc"), lines_of(oracle(reads, 21)))

    def test_gzip_cut_anywhere_is_refused(self):
        packed = gzip.compress(gzip.open(READS / "reads_1.fq.gz").read()[:40_000])
        for cut in range(3, len(packed), 61):
            self.refused("count", "-k", 21, "-o", self.folder / "o.kc", self.write("cut.gz", packed[:cut]), says="truncated")


if __name__ == "__main__":
    kmer_support.PROGRAM = sys.argv.pop(1)
    unittest.main(verbosity=2)
