# SPDX-License-Identifier: Apache-2.0
# Bad input: one line that names file, record and reason, exit status 2, and no half-written output under its name.
import gzip
import os
import resource
import subprocess

from kmer_support import READS, Folder, cubby, random_bases

CRAM_END = bytes.fromhex("0f000000ffffffff0fe0454f4600000000010005bdd94f0001000606010001000100ee63014b")
FASTQ = "@r1\nACGTACGT\n+\nIIIIIIII\n"


class Sequences(Folder):
    def refuse(self, data, *says, name="in.fq", more=()):
        out = self.folder / "out.kc"
        path = self.write(name, data)
        self.refused("count", "-k", 5, "-o", out, *more, path, says=(str(path), *says))
        self.assertFalse(out.exists())
        self.assertFalse([p for p in self.folder.iterdir() if "partial" in p.name])

    def test_records_without_quality(self):
        self.refuse(FASTQ + "@r2\nACGTACGT\n" + FASTQ, "record 2", "no quality")
        self.refuse(FASTQ + "@r2\nACGTACGT\n", "record 2", "before its quality")
        self.refuse(FASTQ + "@r2\nACGTACGT\n+\n", "record 2", "before its quality")
        self.refuse(FASTQ + "@r2", "record 2", "before its quality")

    def test_quality_of_another_length(self):
        self.refuse(FASTQ + "@r2\nACGTACGT\n+\nIIII\n" + FASTQ, "record 2", "the quality has 4 letters, the sequence 8")
        self.refuse(FASTQ + "@r2\nACGT\n+\nIIIIII\n", "record 2", "the quality has 6 letters, the sequence 4")
        self.refuse(FASTQ + "@r2\nACGTACGT\n+\nIII", "record 2", "the file ends", "3 letters, the sequence 8")

    def test_mixed_formats(self):
        self.refuse(FASTQ + ">r2\nACGT\n", "record 2", "mixed formats")
        self.refuse(">r1\nACGT\n" + FASTQ, "record 1", "mixed formats", name="in.fa")

    def test_no_sequences(self):
        self.refuse("hello\n", "record 1", "'h'")
        self.refuse(bytes(range(256)), "record 1", "byte 0x00")
        self.refuse(FASTQ * 3 + "ACGT\n", "record 4", "'A'")

    def test_letters_that_are_none(self):
        for letter, shown in (("7", "'7'"), (" ", "byte 0x20"), ("\0", "byte 0x00"), ("\xe9", "byte 0xe9"), ("@", "'@'")):
            self.refuse(f">1\nACGT\n>2\nACGT{letter}ACGT\n>3\nACGT\n".encode("latin-1"), "record 2", shown, name="in.fa")
        self.refuse(">1\nACGT\rACGT\n", "record 1", "name.fa"[4:], name="in.fa")

    def test_carriage_returns_that_end_no_line(self):
        """The record behind one was once left out, and a quality's letter was counted or not as the buffer ended."""
        self.refuse(FASTQ + "\r@r2\nACGT\n+\nIIII\n", "record 2", "carriage return")
        self.refuse("\r>1\nACGT\n", "record 1", "carriage return", name="in.fa")
        for text in (">1\rACGT\r>2\rACGT\r", ">1\rACGT", ">1\r\r\nACGT\n"):  # once one long header each
            self.refuse(text, "record 1", "carriage return", name="in.fa")
        for before in (*range(65_525, 65_545), *range(131_065, 131_080)):
            self.refuse(f">{'x' * before}\rx\nACGT\n", "record 1", "carriage return", name="in.fa")
        for before in range(65_520, 65_550):
            head = f"@{'x' * before}\n"
            self.refuse(head + "ACG\n+\nII\rI\n", "record 1", "the quality has 4 letters, the sequence 3")

    def test_letter_far_behind(self):
        text = ">1\n" + "ACGT" * 100_000 + "\n>2\n" + "ACGT" * 100_000 + "!\n"
        self.refuse(text, "record 2", "'!'", name="in.fa")

    def test_gzip_that_is_truncated_or_damaged(self):
        packed = gzip.compress(FASTQ.encode() * 1000)
        for cut in (len(packed) - 1, len(packed) - 8, len(packed) // 2, 12, 3):
            self.refuse(packed[:cut], "truncated", name="in.gz")
        damaged = packed[:-6] + bytes([packed[-6] ^ 1]) + packed[-5:]
        self.refuse(damaged, "checksum", name="in.gz")
        self.refuse(packed + b"rubbish", "not gzip", name="in.gz")
        self.refuse(packed + packed[:20], "truncated", name="in.gz")
        self.refuse(gzip.compress(b"nothing"), "record 1", name="in.gz")

    def test_other_compressions_are_named(self):
        self.refuse(b"BZh91AY&SY", "bzip2")
        self.refuse(b"\xfd7zXZ\0", "xz")
        self.refuse(b"\x28\xb5\x2f\xfd", "zstd")
        for line in ("@HD\tVN:1.6\n", "@SQ\tSN:1\tLN:9\n"):
            self.refuse(line, "is SAM", "samtools view -b")

    def test_bam_that_is_truncated(self):
        reads = self.plain(READS / "reads_1.fq.gz")
        bam = self.folder / "whole.bam"
        subprocess.run(["samtools", "import", "-0", reads, "-o", bam], check=True, capture_output=True)
        self.refuse(bam.read_bytes()[:-28], "truncated", name="cut.bam")
        self.refuse(bam.read_bytes()[:300_000], "truncated", name="cut.bam")
        out = self.folder / "out.kc"
        self.refused("count", "-k", 5, "-o", out, "-", stdin=bam.read_bytes()[:300_000], says=("standard input", "truncated"))
        self.refuse(b"CRAM\3\0" + b"x" * 100, "end-of-file mark", name="bad.cram")
        self.refuse(b"CRAM\3\0" + b"x" * 100 + CRAM_END, "CRAM", name="bad.cram")

    def test_inputs_that_cannot_be_read(self):
        out = self.folder / "out.kc"
        self.refused("count", "-o", out, self.folder / "none", says=("none", "No such file"))
        self.refused("count", "-o", out, self.folder, says="is a folder")
        good = self.write("good.fq", FASTQ)
        self.refused("count", "-o", out, good, self.folder / "none", says=("none", "No such file"))
        self.assertFalse(out.exists())


class Outputs(Folder):
    def setUp(self):
        super().setUp()
        self.reads = self.write("r.fa", ">r\n" + random_bases(1, 300_000) + "\n")

    def test_unwritable(self):
        self.refused("count", "-o", self.folder / "no" / "out.kc", self.reads, says=("out.kc", "cannot be written"))
        self.refused("count", "-o", self.folder, self.reads, says=(str(self.folder), "cannot be written"))

    def test_full_disk(self):
        self.refused("count", "--quiet", "-o", "/dev/full", self.reads, says=("/dev/full", "No space left"))
        out = self.write("out.kc", "what was there")
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))  # noqa: E731
        self.refused("count", "--quiet", "-o", out, self.reads, says=("out.kc", "cannot be written"), preexec=limit)
        self.assertEqual(out.read_bytes(), b"what was there")
        self.assertEqual(sorted(os.listdir(self.folder)), ["out.kc", "r.fa"])
        file = self.count(self.reads, k=21, out="whole.kc")
        for command in ("dump", "histo"):
            self.refused(command, "-o", "/dev/full", file, says="No space left")

    def test_what_was_there_stays_when_the_input_is_bad(self):
        out = self.write("out.kc", "what was there")
        self.refused("count", "-o", out, self.write("bad.fq", FASTQ + "@x\nA\n"), says="record 2")
        self.assertEqual(out.read_bytes(), b"what was there")

    def test_output_that_is_an_input(self):
        reads = self.write("reads.fq", FASTQ)
        for output in (reads, self.folder / "." / "reads.fq"):
            self.refused("count", "-o", output, reads, says="it is the input and the output")
        self.assertEqual(reads.read_text(), FASTQ)

    def test_spill_folder(self):
        genome = self.write("long.fa", ">g\n" + random_bases(2, 20_000_000) + "\n")
        self.refused("count", "--memory", "40M", "--threads", 1, "--spill-to", self.folder / "none", "-o", self.folder / "o",
                     genome, says=("none", "spill"))
        self.assertFalse((self.folder / "o").exists())


class Flags(Folder):
    def test_values(self):
        reads = self.write("r.fq", FASTQ)
        for flag, value, says in (("-k", "0", "from 1 to 64"), ("-k", "65", "from 1 to 64"), ("-k", "x", "no number"),
                                  ("--threads", "0", "--threads"), ("--memory", "1M", "at least"), ("--memory", "8Q", "8Q"),
                                  ("--min-count", "0", "--min-count"), ("--count-limit", "0", "--count-limit"),
                                  ("--count-limit", "4294967296", "4294967295"), ("--engine", "folly", "folly"), ("-k", "", "empty")):
            with self.subTest(flag=flag, value=value):
                self.refused("count", "-o", self.folder / "o", flag, value, reads, says=says)
        self.refused("count", "-o", self.folder / "o", "--engine", "partitioned", "-k", "33", reads, says=("partitioned", "33"))
        self.assertFalse((self.folder / "o").exists())

    def test_commands(self):
        self.refused("dance", says="")
        self.refused("count", "-o", self.folder / "o", says="FILE")
        self.refused("count", self.write("r.fq", FASTQ), says="--output")
        self.assertIn(b"--memory", cubby("count", "--help").stdout)

    def test_flags_that_are_given_values(self):
        """Once -3 was taken for yes, and false for no."""
        reads = self.write("r.fq", FASTQ)
        for flag in ("--no-canonical", "--quiet"):
            for value in ("-3", "0", "false", "no"):
                self.refused("count", "-o", self.folder / "o", f"{flag}={value}", reads, says=f"{flag[2:]} was given a disallowed flag override; see cubby kmer count --help")
        self.assertFalse((self.folder / "o").exists())

    def test_values_that_are_empty(self):
        """Flags were taken for given, and of others the next word was the value."""
        reads = self.write("r.fq", FASTQ)
        for flag in ("--no-canonical=", "--quiet=", "--json=", "--spill-to="):
            self.refused("count", "-o", self.folder / "o", flag, reads, reads, says=f"'{flag}': the value is empty")
        self.assertEqual([p.name for p in self.folder.iterdir()], ["r.fq"])
        self.run_well("count", "-o", "o", "--", "--json=", cwd=self.write("--json=", FASTQ).parent)

    def test_where_help_is(self):
        for command in ("count", "query", "from-kff"):
            self.refused(command, "--what", "x", says=f"see cubby kmer {command} --help\n")
            self.refused(command, says=f"see cubby kmer {command} --help\n")
        self.refused("--what", says="see cubby kmer --help\n")
        self.refused(says="see cubby kmer --help\n")


class Files(Folder):
    def setUp(self):
        super().setUp()
        self.reads = self.write("r.fa", ">r\n" + random_bases(1, 30_000) + "\n")
        self.file = self.count(self.reads, k=21)

    def test_no_such_file(self):
        for command in ("histo", "dump", "stats"):
            self.refused(command, self.reads, says=(str(self.reads), "is no k-mer file"))
            self.refused(command, self.folder / "none", says="No such file")
            self.refused(command, self.write("empty", ""), says="is no k-mer file")
        self.refused("merge", "-o", self.folder / "o", self.file, self.reads, says="is no k-mer file")
        for command in (("merge", "-o", self.folder / "o", self.file), ("dump",)):
            self.refused(*command, "-", stdin=self.file.read_bytes(), says="-: is standard input, and a k-mer file is read from both ends")
        self.refused("from-kff", "-o", self.folder / "o", self.file, says="is no KFF file")
        self.assertFalse((self.folder / "o").exists())

    def test_damage_is_found_wherever_it_is(self):
        data = self.file.read_bytes()
        for at in (*range(0, 40), *range(100, len(data), 1999), *range(len(data) - 80, len(data))):
            bad = self.write("bad.kc", data[:at] + bytes([data[at] ^ 4]) + data[at + 1:])
            done = cubby("stats", bad)
            self.assertEqual(done.returncode, 2, at)
            self.assertEqual(done.stderr.count(b"\n"), 1)
        for cut in (31, 40, 1000, len(data) - 1):
            self.refused("stats", self.write("bad.kc", data[:cut]), says="bad.kc")

    def test_files_that_do_not_go_together(self):
        other = self.count(self.reads, k=22, out="other.kc")
        strands = self.count(self.reads, k=21, canonical=False, out="strands.kc")
        for second, has in ((other, "k 22 without --no-canonical"), (strands, "k 21 with --no-canonical")):
            self.refused("union", "-o", self.folder / "o", self.file, second,
                         says=(f"{second}: has {has}, and {self.file} has k 21 without --no-canonical", "files of one kind"))
        self.refused("union", "-o", self.folder / "o", "--counts", "mean", self.file, says="mean")
        self.refused("query", self.file, "ACGT", says=("'ACGT' has 4", "have 21"))
        self.refused("query", self.file, self.reads, says="give a file of sequences by -s")
        self.refused("query", self.file, "ACGTNACGTACGTACGTACGT", says="has 'N'; k-mers have A, C, G and T")
        for letter, shown in (("\n", "byte 0x0a"), ("\xe9", "byte 0xc3"), (" ", "byte 0x20")):
            text = f"ACGT{letter}"
            asked = text + "A" * (21 - len(text.encode()))
            self.refused("query", self.file, asked, says=f"has {shown}; k-mers have A, C, G and T")

    def test_kff_that_is_damaged(self):
        self.run_well("to-kff", self.file, "-o", self.folder / "x.kff")
        data = (self.folder / "x.kff").read_bytes()
        for cut in (2, 10, 60, len(data) // 2, len(data) - 1):
            self.refused("from-kff", "-o", self.folder / "o", self.write("cut.kff", data[:cut]), says="cut.kff")
        self.refused("from-kff", "-o", self.folder / "o", self.write("new.kff", b"KFF\2" + data[4:]), says="version 2.0")
