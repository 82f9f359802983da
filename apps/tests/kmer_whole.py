# SPDX-License-Identifier: Apache-2.0
# What is cut short is not counted: end marks of bgzf, BAM and CRAM, by name, through a pipe and from a file as standard input.
import gzip
import os
import struct
import subprocess
import zlib

import kmer_support
from kmer_support import Folder, random_bases

BGZF_END = bytes.fromhex("1f8b08040000000000ff0600424302001b0003000000000000000000")
NO_MARK = "has no end-of-file mark"


def member(data, flags=0, fields=b"", level=6):
    """A gzip member; `fields` is what its flags announce."""
    packer = zlib.compressobj(level, zlib.DEFLATED, -15)
    head = b"\x1f\x8b\x08" + bytes([flags]) + bytes(5) + b"\xff" + fields
    if flags & 2:
        head += struct.pack("<H", zlib.crc32(head) & 0xffff)
    return head + packer.compress(data) + packer.flush() + struct.pack("<II", zlib.crc32(data), len(data))


def bgzf_block(data, before=b"", behind=b""):
    """One block of bgzf, with other extra fields around the one that says how long it is."""
    bare = member(data)[10:]
    extra = 6 + len(before) + len(behind)
    size = 12 + extra + len(bare)
    return member(data, 4, struct.pack("<H", extra) + before + struct.pack("<2sHH", b"BC", 2, size - 1) + behind)


def block_ends(data):
    """Where the blocks of a bgzf file end."""
    ends = [0]
    while ends[-1] < len(data):
        ends.append(ends[-1] + struct.unpack_from("<H", data, ends[-1] + 16)[0] + 1)
    return ends[1:]


def skipped(data, at, numbers, most=4):
    """Behind so many numbers as CRAM writes them: the leading ones of the first byte say how many bytes follow, at most `most`."""
    for _ in range(numbers):
        at += 1 + min(most, len(f"{data[at]:08b}".split("0")[0]))
    return at


def container_ends(data):
    """Where the containers of a CRAM file end. Ours have few landmarks, so that their number takes one byte."""
    ends, at = [], 26
    while at < len(data):
        length = struct.unpack_from("<I", data, at)[0]
        at = skipped(data, at + 4, 4)  # reference, start, span, records
        at = skipped(data, at, 1, 8 if data[4] > 2 else 4)  # records before
        at = skipped(data, skipped(data, at, 1, 8), 1)  # bases, blocks
        at = skipped(data, at + 1, data[at]) + (4 if data[4] > 2 else 0) + length
        ends.append(at)
    return ends


class Whole(Folder):
    """The three ways in. What is refused leaves no output."""

    def three_ways(self, path):
        program = [kmer_support.PROGRAM, "kmer", "count", "-k", "21", "--quiet", "-o", str(self.folder / "ways.kc")]
        yield "name", subprocess.run([*program, path], capture_output=True, timeout=60, check=False)
        with path.open("rb") as source:
            yield "< file", subprocess.run([*program, "-"], stdin=source, capture_output=True, timeout=60, check=False)
        yield "pipe", subprocess.run([*program, "-"], input=path.read_bytes(), capture_output=True, timeout=60, check=False)

    def refuse(self, data, *says, name="in"):
        path = self.write(name, data)
        for way, done in self.three_ways(path):
            text = done.stderr.decode()
            self.assertEqual((done.returncode, text.count("\n")), (2, 1), (way, text))
            for part in (str(path) if way == "name" else "standard input", *says):
                self.assertIn(part, text, way)
            self.assertFalse((self.folder / "ways.kc").exists(), way)

    def accept(self, data, *says, want=None, name="in"):
        """Counted, with one line for each that `says` has, and with the k-mers that are wanted."""
        for way, done in self.three_ways(self.write(name, data)):
            text = done.stderr.decode()
            self.assertEqual((done.returncode, text.count("\n")), (0, len(says)), (way, text))
            for part in says:
                self.assertIn(part, text, way)
            out = self.folder / "ways.kc"
            if want is not None:
                self.assertEqual(out.read_bytes(), want, way)
            out.unlink()


class Text(Whole):
    """FASTA and FASTQ in bgzf, in gzip, and as they are."""

    def setUp(self):
        super().setUp()
        self.text = (">g\n" + "".join(random_bases(i, 60) + "\n" for i in range(4000))).encode()
        self.want = self.count(self.write("g.fa", self.text), k=21, out="want.kc").read_bytes()
        self.packed = subprocess.run(["bgzip", "-c", self.folder / "g.fa"], check=True, capture_output=True).stdout

    def test_bgzf_that_ends_between_blocks(self):
        """Cut in the middle of a sequence it was once counted, however it was given."""
        self.assertTrue(self.packed.endswith(BGZF_END))
        self.accept(self.packed, want=self.want)
        for end in block_ends(self.packed)[:-1]:
            self.refuse(self.packed[:end], NO_MARK, "gzip -dc")

    def test_bgzf_that_ends_inside_a_block(self):
        for cut in (1, 5, 8, 27, 28 + 7, 28 + 1000):
            self.refuse(self.packed[:-cut], *((NO_MARK,) if cut == 28 else ()))

    def test_the_way_around_a_mark_that_was_never_written(self):
        unpacked = subprocess.run(["gzip", "-dc"], input=self.packed[:-28], check=True, capture_output=True).stdout
        self.accept(unpacked, want=self.want)

    def test_end_marks_in_the_middle_are_legal(self):
        halves = [subprocess.run(["bgzip", "-c"], input=half, check=True, capture_output=True).stdout
                  for half in (self.text[:100_000], self.text[100_000:])]
        self.accept(b"".join(halves), want=self.want)
        self.accept(b"".join(halves) + BGZF_END, want=self.want)
        self.refuse(b"".join(halves)[:-28], NO_MARK)

    def test_the_last_member_says_whether_there_is_a_mark(self):
        first, second = self.text[:100_000], self.text[100_000:]
        self.accept(bgzf_block(first[:60_000]) + bgzf_block(first[60_000:]) + member(second), want=self.want)
        self.refuse(member(first) + bgzf_block(second[:50_000]) + bgzf_block(second[50_000:100_000]), NO_MARK)
        self.accept(member(self.text) + BGZF_END, want=self.want)

    def test_other_extra_fields(self):
        pieces = [self.text[at:at + 50_000] for at in range(0, len(self.text), 50_000)]
        for more in ({"before": b"XY\3\0abc"}, {"behind": b"XY\0\0"}, {"before": b"BC\0\0"}):
            blocks = b"".join(bgzf_block(piece, **more) for piece in pieces)
            self.refuse(blocks, NO_MARK)
            self.accept(blocks + BGZF_END, want=self.want)
        no_bgzf = member(self.text, 4, struct.pack("<H", 7) + b"XY\3\0abc")
        self.accept(no_bgzf, want=self.want)

    def test_what_follows_the_mark(self):
        self.refuse(self.packed + b"rubbish", "not gzip")
        self.refuse(self.packed + b"\x1f", "truncated")
        self.refuse(self.packed + b"\x1frubbish", "not gzip")
        self.accept(self.packed + bytes(1000), want=self.want)
        self.refuse(self.packed[:-28] + bytes(1000), NO_MARK)

    def test_a_file_of_the_mark_alone(self):
        self.accept(BGZF_END)

    def test_gzip_ends_where_its_members_end(self):
        packed = gzip.compress(self.text)
        self.accept(packed, want=self.want)
        for cut in (1, 8, 9, 1000):
            self.refuse(packed[:-cut], "truncated")

    def test_fastq_that_ends_inside_a_record(self):
        records = "".join(f"@r{i}\n{random_bases(i, 50)}\n+\n{'I' * 50}\n" for i in range(20)).encode()
        record = len(records) - records.rindex(b"@r19")
        for cut in range(2, record):
            path = self.write("cut.fq", records[:-cut])
            self.assertEqual(kmer_support.cubby("count", "-o", self.folder / "o", path).returncode, 2, cut)
        self.accept(records)
        self.accept(records[:-1])  # every letter of the quality is there
        self.accept(records[:-record])

    def test_fasta_without_a_last_line_end(self):
        """Legal, and what a cut looks like: counted, with a warning."""
        for text in (self.text[:-1], b">g", self.text[:-1] + b"\r"):
            self.accept(text, "ends without a line end")
        self.accept(gzip.compress(self.text[:-1]), want=self.want)

    def test_an_input_without_a_byte(self):
        self.accept(b"", "is empty")
        self.run_well("query", self.folder / "want.kc", "-s", self.write("none", ""))

    def test_queries_are_not_answered_for_half_a_file(self):
        path = self.write("cut.gz", self.packed[:block_ends(self.packed)[0]])
        self.refused("query", self.folder / "want.kc", "-s", path, "-o", self.folder / "o", says=(str(path), NO_MARK))
        with path.open("rb") as source:
            done = subprocess.run([kmer_support.PROGRAM, "kmer", "query", self.folder / "want.kc", "-s", "-", "-o", self.folder / "o"],
                                  stdin=source, capture_output=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertFalse((self.folder / "o").exists())

    def test_files_are_looked_at_before_the_first_is_read(self):
        bad, cut = self.write("bad.fa", ">r\n!\n"), self.write("cut.gz", self.packed[:-28])
        self.refused("count", "-o", self.folder / "o", bad, cut, says=(str(cut), NO_MARK))


class GzipHeaders(Whole):
    """Every field that RFC 1952 has, as long as it allows."""

    def setUp(self):
        super().setUp()
        self.text = (">g\n" + random_bases(1, 30_000) + "\n").encode()
        self.want = self.count(self.write("g.fa", self.text), k=21, out="want.kc").read_bytes()

    def test_fields(self):
        extra = struct.pack("<H", 65_535) + b"XY" + struct.pack("<H", 65_531) + b"z" * 65_531
        for size in (1, 65_530, 1_000_000) if kmer_support.SPARSE else (1, 50, 65_400, 65_530, 65_536, 100_000, 1_000_000):
            name = b"n" * size + b"\0"
            for flags, fields in ((8, name), (16, name), (24, name + name), (28, extra + name + name)):
                for sum_flag in (0, 2):
                    data = member(self.text, flags | sum_flag, fields)
                    self.accept(data, want=self.want)
        self.accept(member(self.text[:1000], 30, extra + b"a\0b\0") + member(self.text[1000:], 31, extra + b"c\0d\0"), want=self.want)

    def test_fields_that_are_cut(self):
        whole = member(self.text, 30, struct.pack("<H", 5) + b"XY\1\0z" + b"name\0" + b"comment\0")
        head = whole.index(b"comment\0") + 10
        for cut in range(2, head + 1):
            self.refuse(whole[:cut], "truncated")

    def test_sums_that_do_not_fit(self):
        whole = member(self.text, 10, b"name\0")
        for at in (4, 9, 10, 15, 16):
            self.refuse(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1:], "header", "damaged")

    def test_what_no_member_has(self):
        whole = member(self.text)
        for at, byte in ((2, 7), (3, 0x20), (3, 0x80)):
            self.refuse(whole[:at] + bytes([byte]) + whole[at + 1:], "no gzip stream that can be read")


class Alignments(Whole):
    """BAM and CRAM as samtools writes them."""

    def setUp(self):
        super().setUp()
        records = "".join(f"@r{i}\n{random_bases(i, 100)}\n+\n{'I' * 100}\n" for i in range(3000))
        self.reads = self.write("r.fq", records)
        self.want = self.count(self.reads, k=21, out="want.kc").read_bytes()

    def samtools(self, *arguments):
        return subprocess.run(["samtools", *map(str, arguments)], check=True, capture_output=True).stdout

    def bam(self):
        return self.samtools("import", "-0", self.reads, "-O", "bam")

    def cram(self, version):
        self.write("r.bam", self.bam())
        form = f"cram,version={version},no_ref,seqs_per_slice=500"
        return self.samtools("view", "-O", form, self.folder / "r.bam")

    def test_bam_that_ends_between_blocks(self):
        data = self.bam()
        self.accept(data, want=self.want)
        ends = block_ends(data)
        self.assertGreater(len(ends), 4)
        for end in ends[1:-1]:
            self.refuse(data[:end], NO_MARK if end == ends[-2] else "")

    def test_bam_that_ends_between_records(self):
        """Blocks that end where records do, so that nothing but the mark tells."""
        data, inside = self.bam(), b""
        inside = gzip.decompress(data)
        at = 12 + struct.unpack_from("<I", inside, 4)[0]
        ends = []
        while at < len(inside):
            at += 4 + struct.unpack_from("<I", inside, at)[0]
            ends.append(at)
        half = ends[len(ends) // 2]
        blocks = lambda bytes_: b"".join(bgzf_block(bytes_[i:i + 40_000]) for i in range(0, len(bytes_), 40_000))  # noqa: E731
        self.accept(blocks(inside[:half]) + BGZF_END)
        self.accept(blocks(inside[:half]) + blocks(inside[half:]) + BGZF_END, want=self.want)
        self.refuse(blocks(inside[:half]), NO_MARK)
        self.refuse(blocks(inside), NO_MARK)

    def test_bam_that_is_packed_by_gzip(self):
        """It can have no mark: counted, with a warning."""
        self.accept(gzip.compress(gzip.decompress(self.bam())), "cannot be checked", want=self.want)
        self.refuse(gzip.compress(gzip.decompress(self.bam()))[:-5], "truncated")

    def test_cram_that_ends_between_containers(self):
        for version in ("2.1", "3.0", "3.1"):
            data = self.cram(version)
            self.accept(data, want=self.want)
            ends = container_ends(data)
            self.assertEqual(ends[-1], len(data))
            self.assertGreater(len(ends), 5)
            for end in ends[:-1]:
                self.refuse(data[:end], *((NO_MARK,) if end != ends[0] else ()))
            self.refuse(data[:-1])

    def test_cram_before_there_was_a_mark(self):
        data = self.cram("2.0")
        self.accept(data, "cannot be checked", want=self.want)

    def test_what_follows_the_mark(self):
        for data in (self.bam(), self.cram("3.0")):
            self.refuse(data + b"hello")
            self.refuse(data + data)

    def test_files_are_looked_at_before_the_first_is_read(self):
        bad = self.write("bad.fa", ">r\n!\n")
        for data, cut in ((self.bam(), 28), (self.cram("3.0"), 38)):
            path = self.write("cut", data[:-cut])
            self.refused("count", "-o", self.folder / "o", bad, path, says=(str(path), NO_MARK))


class Kff(Whole):
    """KFF says itself where it ends; what packs it may end later."""

    def test_ends(self):
        kc = self.count(self.write("g.fa", ">g\n" + random_bases(1, 30_000) + "\n"), k=21)
        self.run_well("to-kff", kc, "-o", self.folder / "g.kff")
        data = (self.folder / "g.kff").read_bytes()
        packed = subprocess.run(["bgzip", "-c"], input=data, check=True, capture_output=True).stdout
        for whole in (data, gzip.compress(data), packed):
            self.run_well("from-kff", "-o", self.folder / "back.kc", "-", stdin=whole)
            self.assertEqual((self.folder / "back.kc").read_bytes(), kc.read_bytes())
        os.unlink(self.folder / "back.kc")
        damaged = bytearray(gzip.compress(data))
        damaged[-6] ^= 1
        for bad, says in ((data + b"x", "follows its end"), (gzip.compress(data)[:-1], "truncated"), (bytes(damaged), "checksum"),
                          (packed[:-28], NO_MARK), (data[:-1], "truncated"), (b"", "truncated")):
            for name in ("-", self.write("bad.kff", bad)):
                self.refused("from-kff", "-o", self.folder / "back.kc", name, stdin=bad if name == "-" else None, says=says)
                self.assertFalse((self.folder / "back.kc").exists())
