# SPDX-License-Identifier: Apache-2.0
# Counts: every count of every k-mer against jellyfish, KMC and the oracle, on real and on hostile input.
import gzip
import json
import os
import subprocess
import threading
import zlib

from kmer_support import GENOME, READS, SIZES, SPARSE, Folder, lines_of, oracle, random_bases

ASKED = ((4, True), (4, False), (21, True), (33, True), (55, False))


class Compared(Folder):
    """Counts that are compared with KMC, too. Above k 13 that takes it a second each time: here for some k, in kmer_long.py for
    all."""

    with_all = False
    every_pair = [(k, canonical) for k in SIZES for canonical in (True, False)]
    if SPARSE:  # each k, and those pairs for which KMC is asked
        every_pair = [pair for pair in every_pair if pair in ASKED or pair[1] == (SIZES.index(pair[0]) % 2 == 0)]

    def asks_kmc(self, k, canonical, some):
        return self.with_all or (k, canonical) in some


class RealReads(Compared):
    """Reads of phage lambda: 10,000 short ones with N, 6,000 long ones."""

    def test_short_reads_as_jellyfish_and_kmc_count_them(self):
        path = self.plain(READS / "reads_1.fq.gz")
        for k, canonical in self.every_pair:
            with self.subTest(k=k, canonical=canonical):
                ours = self.counted(path, k=k, canonical=canonical)
                self.assertTrue(ours)
                self.assertEqual(ours, self.jellyfish(path, k=k, canonical=canonical))
                if self.asks_kmc(k, canonical, some=((4, True), (21, True), (33, True), (55, False))):
                    self.assertEqual(ours, self.kmc(path, k, canonical))

    def test_long_reads_as_the_rivals_count_them(self):
        path = self.plain(READS / "longreads.fq.gz")
        for k, canonical in self.every_pair if self.with_all else ((21, True), (55, False)):
            with self.subTest(k=k, canonical=canonical):
                ours = self.counted(path, k=k, canonical=canonical)
                self.assertEqual(ours, self.jellyfish(path, k=k, canonical=canonical))
                self.assertEqual(ours, self.kmc(path, k, canonical))

    def test_reads_as_the_oracle_counts_them(self):
        lines = gzip.open(READS / "reads_2.fq.gz", "rt").read().splitlines()
        reads = lines[1:4000:4]
        path = self.write("some.fq", "\n".join(lines[:4000]) + "\n")
        for k in (4, 11, 21, 33, 64):
            for canonical in (True, False):
                self.assertEqual(self.counted(path, k=k, canonical=canonical), lines_of(oracle(reads, k, canonical)))

    def test_genome(self):
        """All that jellyfish's histogram says, and every k-mer that is repeated; make verify compares every one."""
        path = self.plain(GENOME)
        file = self.count(path, k=31)
        repeated = sorted(self.run_well("dump", "--min-count", 2, file).stdout.splitlines())
        self.assertGreater(len(repeated), 10_000)
        self.assertEqual(repeated, self.jellyfish(path, k=31, least=2))
        rows = subprocess.run(["jellyfish", "histo", "-h", "1000000", self.folder / "rival.jf"], check=True,
                              capture_output=True).stdout
        self.assertEqual(self.run_well("histo", file).stdout, rows)


class Hostile(Compared):
    def check(self, path, sequences, kind="-fm", for_jellyfish=None, for_kmc=None, kmc_at=4):
        """Ours are the counts of these sequences, and so are the rivals': of the same file, or of another one of the same
        sequences, where they refuse it."""
        for k, canonical in self.every_pair:
            with self.subTest(k=k, canonical=canonical):
                want = lines_of(oracle(sequences, k, canonical))
                self.assertEqual(self.counted(path, k=k, canonical=canonical), want)
                self.assertEqual(self.jellyfish(for_jellyfish or path, k=k, canonical=canonical), want)
                if self.asks_kmc(k, canonical, some=((4, True), (4, False), (kmc_at, True))):
                    self.assertEqual(self.kmc(for_kmc or path, k, canonical, kind), want)
        self.assertEqual(for_jellyfish is not None, self.refuses(self.jellyfish, path, k=21))
        if for_kmc:
            self.assertTrue(self.refuses(self.kmc, path, 21, True, kind))

    @staticmethod
    def refuses(rival, *arguments, **options):
        try:
            rival(*arguments, **options)
        except subprocess.CalledProcessError:
            return True
        return False

    def test_one_letter(self):
        for letter in "AT":
            path = self.write("one.fa", ">one\n" + letter * 5000 + "\n")
            self.check(path, [letter * 5000], kmc_at=21 if letter == "A" else 4)

    def test_repeats_of_few_letters(self):
        sequences = ["AT" * 700, "ACG" * 500, "AAAAAAAAAC" * 200, "TTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTG" * 40]
        self.check(self.write("repeats.fa", "".join(f">r\n{s}\n" for s in sequences)), sequences)

    def test_all_n(self):
        path = self.write("n.fa", ">n\n" + "N" * 3000 + "\n")
        self.check(path, ["N" * 3000], kmc_at=21)

    def test_other_letters_break(self):
        sequence = random_bases(1, 3000, "ACGT" * 40 + "NRYKMSWBDHVUnx*-.")
        self.check(self.write("codes.fa", f">c\n{sequence}\n"), [sequence])

    def test_reads_shorter_than_k(self):
        reads = [random_bases(n, n) for n in range(1, 70)] + [""]
        for some in (reads, reads[:3]):
            path = self.write("short.fq", "".join(f"@r\n{r}\n+\n{'I' * len(r)}\n" for r in some))
            self.check(path, some, "-fq", kmc_at=21 if some is reads else 4)

    def test_lower_case(self):
        sequence = random_bases(2, 2000, "ACGTacgt")
        self.check(self.write("case.fa", f">c\n{sequence}\n"), [sequence], kmc_at=33)

    def test_carriage_returns(self):
        sequence = random_bases(3, 5000)
        lines = [sequence[at:at + 61] for at in range(0, len(sequence), 61)]
        path = self.write("dos.fa", "\r\n".join([">dos", *lines, ">empty", ""]))
        self.check(path, [sequence], kmc_at=21)
        path = self.write("dos.fq", "".join(f"@r\r\n{r}\r\n+\r\n{'I' * len(r)}\r\n" for r in lines))
        self.check(path, lines, "-fq")

    def test_carriage_returns_at_every_place_of_the_buffer(self):
        for offset in range(-3, 4):
            lines = ["A" * (65536 - 4 + offset), random_bases(offset + 9, 300)]
            path = self.write("dos.fa", ">1\r\n" + "\r\n".join(lines) + "\r\n")
            want = lines_of(oracle(["".join(lines)], 15))
            self.assertEqual(self.counted(path, k=15), want)
            self.assertEqual(self.jellyfish(path, k=15), want)
            if self.with_all:
                self.assertEqual(self.kmc(path, 15, True, "-fm"), want)

    def test_empty_files(self):
        empty = self.write("plain", b"")
        for kind in ("-fm", "-fq"):
            self.check(empty, [], kind, kmc_at=21 if kind == "-fm" else 4)
        self.check(self.write("head.fa", ">only a name\n"), [])
        self.assertEqual(self.counted(self.write("packed", gzip.compress(b"")), k=21), [])

    def test_empty_lines(self):
        """Jellyfish 2.3.0 stops with "Unsupported format", KMC 3.2.1 with "unknown exception"; without the line ends they count
        nothing."""
        self.check(self.write("lines", b"\n\n\r\n"), [], for_jellyfish=self.write("plain", b""), for_kmc=self.folder / "plain")

    def test_one_line_of_five_megabases(self):
        """Made of few k-mers, so that the lists are short; make verify takes a random line, too."""
        unit = random_bases(4, 1_000)
        path = self.write("line.fa", ">l\n" + unit * 4_999 + random_bases(5, 1_000) + "\n")
        for k, canonical in self.every_pair if self.with_all else ((31, True),):
            with self.subTest(k=k, canonical=canonical):
                ours = self.counted(path, k=k, canonical=canonical)
                self.assertGreaterEqual(max(int(line.split()[1]) for line in ours), 4_999)
                self.assertEqual(ours, self.jellyfish(path, k=k, canonical=canonical))
                self.assertEqual(ours, self.kmc(path, k, canonical, "-fm"))

    def test_quality_that_looks_like_records(self):
        reads = [random_bases(n, 80) for n in range(50)]
        quality = ("@r\n+\n>q"[i % 7] for i in range(10 ** 6))
        text = "".join(f"@r\n{r}\n+r\n{''.join(c for c in (next(quality) for _ in r)).replace(chr(10), '@')}\n" for r in reads)
        self.check(self.write("quality.fq", text), reads, "-fq")

    def test_records_of_several_lines(self):
        """KMC 3.2.1 stops with "unknown exception"; it counts the same reads with four lines a record."""
        reads = [random_bases(n, 150) for n in range(30)]
        text = "".join(f"@r\n{r[:70]}\n{r[70:]}\n+\n{'@' * 70}\n{'+' * 80}\n" for r in reads)
        four = "".join(f"@r\n{r}\n+\n{'I' * 150}\n" for r in reads)
        self.check(self.write("lines.fq", text), reads, "-fq", for_kmc=self.write("four.fq", four))

    def test_every_k(self):
        sequence = random_bases(5, 1500) + "N" + random_bases(6, 40)
        path = self.write("any.fa", f">a\n{sequence}\n")
        for k in range(1, 65):
            self.assertEqual(self.counted(path, k=k, canonical=k % 2 == 0), lines_of(oracle([sequence], k, k % 2 == 0)))


class Ways(Folder):
    """The file is the same, byte for byte, for every kind of input and every engine."""

    def setUp(self):
        super().setUp()
        self.reads = self.plain(READS / "reads_1.fq.gz")
        self.data = self.reads.read_bytes()
        self.want = self.count(self.reads, k=21, out="want.kc", more=("--threads", "1")).read_bytes()

    def same(self, *inputs, **how):
        self.assertEqual(self.count(*inputs, k=21, out="got.kc", **how).read_bytes(), self.want)

    def test_threads_engines_and_memory(self):
        for threads in (1, 2, 3, 7):
            self.same(self.reads, more=("--threads", threads))
        for engine in ("dlht", "dramhit", "partitioned"):
            self.same(self.reads, more=("--engine", engine, "--threads", "2"))
        long_ones = [self.count(self.reads, k=55, out=f"{engine}.kc", more=("--engine", engine)).read_bytes()
                     for engine in ("dlht-single", "dlht", "dramhit")]
        self.assertEqual(long_ones[1:], long_ones[:1] * 2)
        self.same(self.reads, more=("--memory", "60M", "--threads", "1"))

    def test_summary_names_the_table_that_counted(self):
        few = self.write("few.fa", b">one\n" + b"ACGTTGCATGCCAGT" * 9 + b"\n")
        for k, engine, counted in ((10, "dlht", "array"), (11, "dlht", "dlht"), (21, "dlht_single", "dlht-single"),
                                   (32, "dramhit", "dramhit"), (33, "dramhit", "dramhit-tuples"),
                                   (21, "partitioned", "partitioned")):
            with self.subTest(k=k, engine=engine):
                self.count(few, k=k, more=("--engine", engine, "--json", self.folder / "j"))
                self.assertEqual(json.loads((self.folder / "j").read_text())["engine"], counted)

    def test_gzip_of_one_and_of_many_members(self):
        members = b"".join(gzip.compress(self.data[at:at + 9999]) for at in range(0, len(self.data), 9999))
        for data in (gzip.compress(self.data), members, gzip.compress(self.data) + b"\0" * 512, gzip.compress(self.data, 0)):
            self.same(self.write("reads.gz", data))

    def test_bgzf(self):
        packed = subprocess.run(["bgzip", "-c", self.reads], check=True, capture_output=True).stdout
        self.same(self.write("reads.bgz", packed))
        self.same("-", stdin=packed)

    def test_standard_input_and_several_files(self):
        self.same("-", stdin=self.data)
        self.same("-", stdin=gzip.compress(self.data))
        half = len(b"".join(self.data.splitlines(keepends=True)[:20000]))
        self.same(self.write("a.fq", self.data[:half]), self.write("b.fq.gz", gzip.compress(self.data[half:])))
        fasta = self.write("b.fa", b"".join(b">" + line[1:] if at % 4 == 0 else line for at, line in
                                            enumerate(self.data[half:].splitlines(keepends=True)) if at % 4 < 2))
        self.same(self.folder / "a.fq", fasta)

    def test_bam_and_cram(self):
        bam = self.folder / "reads.bam"
        subprocess.run(["samtools", "import", "-0", self.reads, "-o", bam], check=True, capture_output=True)
        self.same(bam)
        self.same("-", stdin=bam.read_bytes())
        cram = self.folder / "reads.cram"
        subprocess.run(["samtools", "view", "-C", "--output-fmt-option", "no_ref=1", "-o", cram, bam], check=True,
                       capture_output=True)
        self.same(cram)
        self.same("-", stdin=cram.read_bytes())

    def test_names_that_htslib_reads_more_into(self):
        """Another file was counted, the program crashed, or files were refused."""
        bam, other = (subprocess.run(["samtools", "import", "-0", path, "-O", "bam"], check=True, capture_output=True).stdout
                      for path in (self.reads, self.write("other.fq", "@r\nACGT\n+\nIIII\n")))
        (self.folder / "a.bam##idx##b.bam").write_bytes(bam)
        self.write("a.bam", other)
        want = self.count(self.reads, k=21).read_bytes()
        for name in ("a.bam##idx##b.bam", "preload:x.bam", "data:,x.bam", "file:x.bam", "http:x.bam", "s3:x", "mem:x"):
            self.write(name, bam)
            self.run_well("count", "-k", 21, "-o", "named.kc", name, cwd=self.folder)
            self.assertEqual((self.folder / "named.kc").read_bytes(), want, name)

    def test_references(self):
        """By names that are more to htslib, too; its index stays beside them."""
        bases = random_bases(9, 2000)
        reference = self.write("r.fa", f">x\n{bases}\n")
        sam = "@SQ\tSN:x\tLN:2000\n" + "".join(f"r{at}\t0\tx\t{at + 1}\t9\t60M\t*\t0\t0\t{bases[at:at + 60]}\t{'I' * 60}\n" for at in range(0, 1900, 50))
        cram = subprocess.run(["samtools", "view", "-C", "-T", reference, "-"], input=sam.encode(), check=True, capture_output=True).stdout
        self.write("a.cram", cram)
        data = reference.read_bytes()
        reference.unlink()  # the header names it
        want = lines_of(oracle([bases[at:at + 60] for at in range(0, 1900, 50)], 21))
        for name in ("r2.fa", "file:r.fa", "data:,r.fa", "preload:r.fa"):
            self.write(name, data)
            self.run_well("count", "-k", 21, "-o", "named.kc", "--reference", name, "a.cram", cwd=self.folder)
            self.assertEqual(self.dump(self.folder / "named.kc"), want, name)
            self.assertTrue((self.folder / f"{name}.fai").exists())
        self.write("r.fa##idx##s.fa", data)
        self.refused("count", "-o", "named.kc", "--reference", "r.fa##idx##s.fa", "a.cram", says="give a link to it", cwd=self.folder)

    def test_named_pipes(self):
        bam = self.folder / "reads.bam"
        subprocess.run(["samtools", "import", "-0", self.reads, "-o", bam], check=True, capture_output=True)
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        for data in (self.data, gzip.compress(self.data), bam.read_bytes()):
            feeder = threading.Thread(target=pipe.write_bytes, args=(data,))
            feeder.start()
            self.same(pipe)
            feeder.join()

    def test_aligned_reads_count_once_and_as_they_were_read(self):
        header = "@SQ\tSN:x\tLN:1000\n"
        forward, turned = random_bases(7, 60), random_bases(8, 60)
        rows = ((0, forward), (16, turned), (256, forward), (2048, forward))
        sam = header + "".join(f"r\t{flag}\tx\t1\t9\t60M\t*\t0\t0\t{read}\t{'I' * 60}\n" for flag, read in rows)
        bam = subprocess.run(["samtools", "view", "-b", "-"], input=sam.encode(), check=True, capture_output=True).stdout
        back = turned[::-1].translate(str.maketrans("ACGT", "TGCA"))
        self.assertEqual(self.counted(self.write("a.bam", bam), k=21, canonical=False),
                         lines_of(oracle([forward, back], 21, False)))

    def test_spilled(self):
        path = self.plain(GENOME)
        small = self.count(path, path, path, path, k=27, out="small.kc",
                           more=("--memory", "40M", "--threads", "1", "--json", self.folder / "j"))
        figures = json.loads((self.folder / "j").read_text())
        self.assertGreater(figures["spilled_bytes"], 10_000_000)
        self.assertLessEqual(figures["peak_bytes"], figures["memory_limit"])
        large = self.count(path, path, path, path, k=27, out="large.kc", more=("--memory", "2G"))
        self.assertEqual(zlib.crc32(small.read_bytes()), zlib.crc32(large.read_bytes()))
