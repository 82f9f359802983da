# SPDX-License-Identifier: Apache-2.0
# k-mer files: views of them, set operations, KFF, and the format as docs/format-kmer.md has it.
import collections
import gzip
import json
import os
import pty
import struct
import subprocess
import zlib

import kmer_support
from kmer_support import READS, Folder, canonical_of, lines_of, oracle, random_bases


def fasta(sequences):
    return "".join(f">s\n{s}\n" for s in sequences)


class Views(Folder):
    def setUp(self):
        super().setUp()
        self.sequences = [random_bases(1, 3000), "A" * 900, random_bases(2, 500) * 3]
        self.counts = oracle(self.sequences, 21)
        self.file = self.count(self.write("s.fa", fasta(self.sequences)), k=21)

    def test_dump_is_what_jellyfish_prints(self):
        self.assertEqual(self.dump(self.file), self.jellyfish(self.folder / "s.fa", k=21))
        some = self.run_well("dump", "--min-count", 2, "--max-count", 3, self.file).stdout.splitlines()
        self.assertEqual(sorted(some), lines_of({k: c for k, c in self.counts.items() if c in (2, 3)}))

    def test_histogram_has_genomescopes_two_columns(self):
        """Ascending counts, each with how many k-mers have it, like `jellyfish histo` without its folded last row."""
        rows = self.run_well("histo", self.file).stdout.decode().splitlines()
        want = collections.Counter(self.counts.values())
        self.assertEqual(rows, [f"{count} {want[count]}" for count in sorted(want)])
        self.assertIn(880, want)

    def test_histogram_says_what_it_leaves_out(self):
        done = self.run_well("histo", "--max-count", 10, self.file)
        self.assertIn(b"1 k-mer with a count above 10 is not", done.stderr)
        self.assertNotIn(b"\n880 ", done.stdout)

    def test_one_is_no_more_than_one(self):
        reads = self.write("one.fa", ">r\nACGTACGTACGTACGTACGTA\n")
        done = self.run_well("count", "-k", 21, "-o", self.folder / "one.kc", "--min-count", 2, reads)
        self.assertIn(b"0 different of 1 k-mer, from 1 record with 21 bases\n", done.stderr)
        self.assertIn(b"1 k-mer with a count below 2 was left out\n", done.stderr)
        done = self.run_well("merge", "-o", self.folder / "two.kc", "--count-limit", 1, self.count(reads, k=21, out="one.kc"))
        self.assertIn(b"two.kc: 1 k-mer\n1 k-mer has the largest count and may occur more often\n", done.stderr)

    def test_query(self):
        asked = sorted(self.counts)[::50] + ["ACGTACGTACGTACGTACGTA"]
        turned = [k[::-1].translate(str.maketrans("ACGT", "tgca")) for k in asked]
        for kmers in (asked, turned):
            done = self.run_well("query", self.file, *kmers)
            self.assertEqual(done.stdout.decode().splitlines(),
                             [f"{canonical_of(k)} {self.counts.get(canonical_of(k), 0)}" for k in asked])

    def test_query_of_sequences(self):
        other = self.sequences[0][100:300] + "N" + random_bases(3, 100)
        done = self.run_well("query", "-s", self.write("q.fa", fasta([other])), self.file)
        kmers = [canonical_of(other[i:i + 21]) for i in range(len(other) - 20) if "N" not in other[i:i + 21]]
        self.assertEqual(done.stdout.decode().splitlines(), [f"{k} {self.counts.get(k, 0)}" for k in kmers])

    def test_a_file_for_each_s(self):
        """Words behind it were once taken for more files of sequences."""
        one, two = random_bases(4, 30), self.sequences[0][:30]
        asked = sorted(self.counts)[:2]
        flags = ("-s", self.write("1.fa", fasta([one])), "-s", self.write("2.fa", fasta([two])))
        for words in ((*flags, self.file, *asked), (self.file, *flags, *asked)):
            done = self.run_well("query", *words)
            kmers = asked + [canonical_of(s[i:i + 21]) for s in (one, two) for i in range(10)]
            self.assertEqual(done.stdout.decode().splitlines(), [f"{k} {self.counts.get(k, 0)}" for k in kmers])

    def test_help_says_one_file_for_each_s(self):
        self.assertRegex(self.run_well("query", "--help").stdout.decode(), r"-s,--sequences FILE +FASTA .*; may be repeated")

    def test_stats(self):
        self.run_well("stats", self.file, "--json", self.folder / "j")
        figures = json.loads((self.folder / "j").read_text())
        self.assertEqual(figures["distinct"], len(self.counts))
        self.assertEqual(figures["total"], sum(self.counts.values()))
        self.assertEqual(figures["unique"], sum(c == 1 for c in self.counts.values()))
        self.assertEqual(figures["max_count"], 880)

    def test_summary_of_a_count(self):
        done = self.run_well("count", "-k", 21, "-o", self.folder / "o", "--json", "-", "--min-count", 2, self.folder / "s.fa")
        figures = json.loads(done.stdout)
        self.assertEqual(figures["kmers"], sum(self.counts.values()))
        self.assertEqual(figures["bases"], sum(map(len, self.sequences)))
        self.assertEqual(figures["records"], 3)
        self.assertEqual(figures["distinct"] + figures["left_out"], len(self.counts))
        self.assertIn("huge_pages_percent", figures)
        self.assertNotIn(b"\r", done.stderr)  # the progress line is for terminals

    def test_progress_is_shown_on_a_terminal_alone(self):
        master, slave = pty.openpty()
        with open(slave, "wb") as terminal:
            subprocess.run([kmer_support.PROGRAM, "kmer", "count", "-o", self.folder / "o", "--quiet", self.folder / "s.fa"],
                           check=True, stderr=terminal, timeout=60)
            shown = os.read(master, 65536).decode()
        os.close(master)
        self.assertRegex(shown, r"\r.*Mbases, .*Mk-mers \(.* M/s\), .* of .* GB")
        quiet = self.run_well("count", "-o", self.folder / "o", "--quiet", self.folder / "s.fa")
        self.assertEqual((quiet.stdout, quiet.stderr), (b"", b""))

    def test_counts_saturate_visibly(self):
        for k in (5, 21):
            file = self.count(self.folder / "s.fa", k=k, more=("--count-limit", 3, "--json", self.folder / "j"))
            want = {kmer: min(count, 3) for kmer, count in oracle(self.sequences, k).items()}
            self.assertEqual(self.dump(file), lines_of(want))
            figures = json.loads((self.folder / "j").read_text())
            self.assertEqual(figures["saturated"], sum(c == 3 for c in want.values()))


class Sets(Folder):
    def setUp(self):
        super().setUp()
        shared = random_bases(1, 400)
        groups = ([shared, random_bases(2, 300)], [shared, shared[:200], random_bases(3, 300)], [shared[100:], "ACGT" * 50])
        self.groups = groups

    def make(self, k, canonical=True):
        files = [self.count(self.write(f"{i}.fa", fasta(g)), k=k, canonical=canonical, out=f"{i}.kc")
                 for i, g in enumerate(self.groups)]
        return files, [oracle(g, k, canonical) for g in self.groups]

    def check(self, command, files, want, *more):
        out = self.folder / "out.kc"
        self.run_well(command, "-o", out, *more, *files)
        self.assertEqual(self.dump(out), lines_of({k: c for k, c in want.items() if c > 0}))
        self.run_well("stats", out)

    def test_merge_equals_counting_everything_at_once(self):
        for k in (3, 21, 40):
            files, _ = self.make(k)
            whole = self.count(*(self.folder / f"{i}.fa" for i in range(3)), k=k, out="whole.kc")
            self.run_well("merge", "-o", self.folder / "merged.kc", *files)
            self.assertEqual((self.folder / "merged.kc").read_bytes(), whole.read_bytes())

    def test_set_operations(self):
        for k, canonical in ((4, True), (21, True), (21, False), (40, True)):
            files, (a, b, c) = self.make(k, canonical)
            every = set(a) | set(b) | set(c)
            both = set(a) & set(b) & set(c)
            self.check("union", files, {x: a[x] + b[x] + c[x] for x in every})
            self.check("union", files, {x: max(a[x], b[x], c[x]) for x in every}, "--counts", "max")
            self.check("intersect", files, {x: min(a[x], b[x], c[x]) for x in both})
            self.check("intersect", files, {x: a[x] for x in both}, "--counts", "first")
            self.check("intersect", files, {x: a[x] + b[x] + c[x] for x in both}, "--counts", "sum")
            self.check("subtract", files, {x: a[x] for x in a if x not in b and x not in c})
            self.check("subtract", files[1::-1], {x: b[x] - a[x] for x in b}, "--counts", "difference")

    def test_min_counts_of_files_are_not_that_of_a_result(self):
        """As docs/kmer.md says; with the larger one counts of the other file would be lost."""
        files, (a, b, _) = self.make(21)
        some = self.count(self.folder / "1.fa", k=21, out="some.kc", more=("--min-count", 2))
        self.check("merge", [files[0], some], a + collections.Counter({x: n for x, n in b.items() if n >= 2}))
        shown = self.run_well("stats", self.folder / "out.kc").stdout.decode()
        self.assertRegex(shown, r"(?s)min_count: +1\n.*left_out: +0\n")

    def test_min_count_of_a_result(self):
        files, (a, b, c) = self.make(21)
        self.check("merge", files, {x: n for x, n in (a + b + c).items() if n >= 3}, "--min-count", 3)


class Kff(Folder):
    def setUp(self):
        super().setUp()
        self.reads = self.plain(READS / "reads_1.fq.gz")

    def test_kmc_tools_read_what_is_written(self):
        for k, canonical in ((15, True), (21, False), (32, True), (33, True), (55, True)):
            file = self.count(self.reads, k=k, canonical=canonical)
            kff = self.folder / "out.kff"
            self.run_well("to-kff", file, "-o", kff)
            out = self.folder / "dump.txt"
            for order in ((), ("-s",)):
                subprocess.run(["kmc_tools", "-t1", "transform", kff, "dump", *order, out], check=True, capture_output=True)
                lines = out.read_bytes().replace(b"\t", b" ").splitlines()
                self.assertEqual(sorted(lines), self.dump(file))
            self.run_well("from-kff", kff, "-o", self.folder / "back.kc")
            self.assertEqual((self.folder / "back.kc").read_bytes(), file.read_bytes())

    def test_what_kmc_writes_is_read(self):
        for k in (40,):
            subprocess.run(["kmc", f"-k{k}", "-m2", "-t1", "-ci1", "-cs100000", "-okff", self.reads, self.folder / "db",
                            self.folder], check=True, capture_output=True)
            self.run_well("from-kff", self.folder / "db.kff", "-o", self.folder / "from.kc")
            self.assertEqual((self.folder / "from.kc").read_bytes(), self.count(self.reads, k=k).read_bytes())

    def test_runs_that_do_not_fit_into_memory(self):
        file = self.count(self.reads, k=21)
        self.run_well("to-kff", file, "-o", self.folder / "out.kff")
        self.run_well("from-kff", self.folder / "out.kff", "-o", self.folder / "back.kc", "--memory", "32M")
        self.assertEqual((self.folder / "back.kc").read_bytes(), file.read_bytes())
        self.assertFalse([p for p in self.folder.iterdir() if "run" in p.name])

    def test_minimiser_sections_blocks_of_several_and_another_encoding(self):
        """The example of the KFF page: k 10, m 8, A 0 C 2 G 3 T 1, three blocks that share AAACTGAT."""
        def packed(text):
            value = int("".join(format("ACGT".index(c) and (2, 3, 1)["CGT".index(c)], "02b") for c in text) or "0", 2)
            return value.to_bytes((len(text) + 3) // 4, "big")

        def variables(**named):
            return b"v" + struct.pack(">Q", len(named)) + b"".join(n.encode() + b"\0" + struct.pack(">Q", v)
                                                                   for n, v in named.items())
        blocks = (("ACT", "T", (32, 47, 1)), ("", "CG", (12,)), ("CT", "T", (1, 47)))
        body = b"".join(bytes([len(c), 0, len(before)]) + packed(before + after) + bytes(c) for before, after, c in blocks)
        head = b"KFF\1\0" + bytes([0x2d, 1, 0]) + struct.pack(">I", 3) + b"hi\0"
        data = head + variables(k=10, m=8, max=255, data_size=1) + b"m" + packed("AAACTGAT") + struct.pack(">Q", 3) + body
        self.run_well("from-kff", self.write("x.kff", data + variables(footer_size=29) + b"KFF"), "-o", self.folder / "x.kc")
        want = collections.Counter()
        for before, after, counts in blocks:
            sequence = before + "AAACTGAT" + after
            for at, count in enumerate(counts):
                want[sequence[at:at + 10]] += count
        self.assertEqual(self.dump(self.folder / "x.kc"), lines_of(want))


class Format(Folder):
    """Reads files by docs/format-kmer.md alone."""

    def varint(self, data, at):
        value = shift = 0
        while True:
            value |= (data[at] & 0x7f) << shift
            shift += 7
            at += 1
            if data[at - 1] < 0x80:
                return value, at

    def entries(self, data, k, block):
        low, high, offset, size, kmers, partition, total = struct.unpack("<QQQIIII", block)
        body = data[offset:offset + size]
        self.assertEqual(zlib.crc32(body), total)
        word, at = low | high << 64, 0
        for _ in range(kmers):
            distance, at = self.varint(body, at)
            count, at = self.varint(body, at)
            word += distance
            yield partition, "".join("ACGT"[word >> 2 * (k - 1 - i) & 3] for i in range(k)), count
        self.assertEqual(at, size)

    def partition(self, kmer, m):
        ranks = []
        for at in range(len(kmer) - m + 1):
            number = int("".join(str("ACGT".index(c)) for c in canonical_of(kmer[at:at + m])), 4)
            ranks.append((number ^ 0x5bd1e995) * 0x9e3779b1 & 0xffffffff)
        rank = min(ranks)
        rank ^= rank >> 15
        return (rank * 0x85ebca6b & 0xffffffff) >> 20

    def test_page(self):
        reads = gzip.open(READS / "reads_1.fq.gz", "rt").read().splitlines()[1:800:4]
        for k, m in ((7, 0), (11, 6), (21, 9), (40, 9)):
            data = self.count(self.write("r.fa", fasta(reads)), k=k).read_bytes()
            magic, version, k_is, strands, m_is, bits, _, least, limit, _, total = struct.unpack("<8sHBBBBHIIII", data[:32])
            self.assertEqual((magic, version, k_is, strands, m_is, least, limit), (b"cubbykc\n", 1, k, 1, m, 1, 2 ** 32 - 1))
            self.assertEqual((bits, total), (12 if m else 0, zlib.crc32(data[:28])))
            index, blocks, rows, distinct, sum_of, _, _, index_sum, foot_sum, end = struct.unpack("<7QII8s", data[-72:])
            self.assertEqual((end, foot_sum, index_sum), (b"cubbyend", zlib.crc32(data[-72:-12]), zlib.crc32(data[index:-72])))
            found = [e for b in range(blocks) for e in self.entries(data, k, data[index + 40 * b:index + 40 * b + 40])]
            self.assertEqual([e[:2] for e in found], sorted(e[:2] for e in found))
            self.assertTrue(all(p == (self.partition(kmer, m) if m else 0) for p, kmer, _ in found))
            want = oracle(reads, k)
            self.assertEqual({kmer: count for _, kmer, count in found}, dict(want))
            self.assertEqual((distinct, sum_of), (len(want), sum(want.values())))
            pairs = [struct.unpack("<QQ", data[at:at + 16]) for at in range(index + 40 * blocks, len(data) - 72, 16)]
            self.assertEqual(pairs, sorted(collections.Counter(want.values()).items()))
            self.assertEqual(rows, len(pairs))
