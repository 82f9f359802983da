# SPDX-License-Identifier: Apache-2.0
# Single entries, the formats, and the figures.
import gzip
import json
import os

import store_support
from store_support import Folder, cubby, escaped, numbered, odd_entries, tsv


class Entries(Folder):
    def get(self, key, *more):
        return self.run_well("get", *more, "--", self.table, key).stdout

    def test_put_get_del(self):
        self.make()
        self.run_well("put", self.table, "name", "first")
        self.assertEqual(self.get("name"), b"first\n")
        self.run_well("put", self.table, "name", "second")
        self.assertEqual(self.get("name"), b"second\n")
        self.assertEqual(self.run_well("get", self.table, "other", status=1).stdout, b"")
        self.run_well("del", self.table, "other", status=1)
        self.run_well("del", self.table, "name")
        self.run_well("del", self.table, "name", status=1)
        self.run_well("get", self.table, "name", status=1)
        self.holds({})
        self.assertEqual(self.left(), ["t.cubby"])

    def test_keys_of_any_text(self):
        self.make()
        entries = {"": "empty key", "empty value": "", "-5": "-6", "--": "--", "--help": "none", "a b\tc\nd": "e\nf\n", "\u00fc\U0001f600": "\u20ac"}
        for key, value in entries.items():
            self.run_well("put", self.table, "--", key, value)
        for key, value in entries.items():
            self.assertEqual(self.get(key), value.encode() + b"\n", key)
        self.holds({key.encode(): value.encode() for key, value in entries.items()})
        self.run_well("del", "--", self.table, "")
        self.run_well("get", self.table, "", status=1)

    def test_value_from_standard_input(self):
        self.make()
        for value in (b"", b"no line end", b"line end\n", bytes(range(256)) * 1000):
            self.run_well("put", self.table, "k", stdin=value)
            self.assertEqual(self.get("k", "--exact"), value)
            self.assertEqual(self.get("k", "--null"), value + b"\0")
            self.assertEqual(self.get("k"), value + b"\n")
        self.refused("get", "--null", "--exact", self.table, "k", says="cubby store get --help")

    def test_what_create_makes(self):
        self.run_well("create", "--capacity", "10k", "--survive", "process", self.table)
        self.refused("create", self.table, says=(str(self.table), "exists"))
        figures = json.loads(self.run_well("stats", "--json", "-", self.table).stdout)
        self.assertEqual((figures["entries"], figures["survives"], figures["fixed_capacity"]), (0, "process", 0))
        self.assertEqual(figures["engine"], "iceberg")
        self.assertGreaterEqual(figures["slots"], 10_000)
        self.assertEqual(self.table.stat().st_mode & 0o777, 0o600)

    def test_the_engine_seph(self):
        self.refused("create", "--engine", "dlht", self.table, says=("dlht", "iceberg or seph"))
        self.run_well("create", "--engine", "seph", self.table)
        entries = odd_entries()
        self.run_well("load", self.table, stdin=tsv(entries))
        self.run_well("put", self.table, "name", "first")
        self.run_well("put", self.table, "name", "second")
        self.assertEqual(self.get("name"), b"second\n")
        self.run_well("del", self.table, "name")
        self.run_well("get", self.table, "name", status=1)
        self.holds(entries)
        self.run_well("check", self.table)
        figures = json.loads(self.run_well("stats", "--json", "-", self.table).stdout)
        self.assertEqual((figures["engine"], figures["entries"], figures["closed"]), ("seph", len(entries), True))

    def test_fixed(self):
        self.refused("create", "--fixed", self.table, says="--capacity")
        self.run_well("create", "--fixed", "--capacity", 3, self.table)
        for key in "abc":
            self.run_well("put", self.table, key, key)
        self.run_well("put", self.table, "a", "again")  # which needs no place
        self.refused("put", self.table, "d", "d", says=(str(self.table), "full", "3 entries"))
        self.refused("load", self.table, stdin=b"b\tnew\ne\te\n", says=("full", "3 entries", "the 1 record before"))
        os.unlink(f"{self.table}.load")
        self.holds({b"a": b"again", b"b": b"new", b"c": b"c"})

    def test_flags(self):
        self.make()
        for arguments, says in ((("create", "x", "--survive", "all"), "process or power-cut"),
                                (("create", "x", "--capacity", "many"), "no number"), (("create", "x", "--capacity", ""), "empty"),
                                (("load", self.table, "--format", "csv"), "tsv, auto or jsonl"),
                                (("load", self.table, "--on-duplicate", "ask"), "replace, keep or fail"),
                                (("load", self.table, "--sync-every", "0"), "--sync-every"), (("load", self.table, "-", "-"), "twice"),
                                (("dump", self.table, "--format", "auto"), "tsv or jsonl"), (("bench", "x", "--entries", "1"), "--entries"),
                                (("put", self.table), "see cubby store put --help"), (("dance",), "'dance' is no command; see cubby store --help"),
                                ((), "see cubby store --help")):
            with self.subTest(arguments=arguments):
                self.refused(*arguments, says=says, cwd=self.folder)
        self.assertEqual(self.left(), ["t.cubby"])
        self.assertIn(b"--on-duplicate", cubby("load", "--help").stdout)
        self.assertIn(b"store", store_support.subprocess.run([store_support.PROGRAM, "--help"], capture_output=True, check=True).stdout)


class Formats(Folder):
    def test_tsv_of_any_bytes(self):
        entries = odd_entries()
        self.make()
        source = self.write("in.tsv", tsv(entries))
        self.run_well("load", "--quiet", "--format", "tsv", self.table, source)
        self.holds(entries)
        out, other = self.folder / "out.tsv", self.folder / "other"
        self.run_well("dump", "-o", out, self.table)
        self.run_well("create", other)
        self.run_well("load", "--quiet", "--format", "tsv", other, out)
        self.holds(entries, other)
        self.run_well("load", "--quiet", other, out)
        self.holds(entries, other)

    def test_dumps_of_one_entry(self):
        """Whatever its line begins with, the dump is loaded as it was, without a flag."""
        texts = (b"", b" ", b"\t", b"\r", b"{", b" {", b"  {}", b"\n{", b'{"key":"a","value":"b"}', b"\xef\xbb\xbf", b"\xef\xbb\xbf{", b"\xef", b"\x1f\x8b",
                 b"\x1f\x8b{", b"\x1f", b"\\", b"\\{")
        other = self.folder / "other"
        for entry in [{key: value} for key in texts for value in (b"", b"{x}", b" {", b"v")]:
            with self.subTest(entry=entry):
                self.make(entry)
                dump = self.run_well("dump", self.table).stdout
                self.assertEqual(dump, tsv(entry))
                self.run_well("create", other)
                self.run_well("load", "--quiet", other, stdin=dump)
                self.holds(entry, other)
                self.table.unlink()
                other.unlink()
        self.make()
        self.run_well("load", "--quiet", self.table, stdin=b"a\t1\n{\t2\n\t{\n")  # of an older version, without masks
        self.holds({b"a": b"1", b"{": b"2", b"": b"{"})

    def test_byte_order_mark(self):
        """It is no part of the first record, however it comes; elsewhere it is text."""
        mark = b"\xef\xbb\xbf"
        entries = {b"1": b"a", mark + b"2": mark}
        lines = mark + b"1\ta\n" + mark + b"2\t" + mark + b"\n"
        for data in (lines, gzip.compress(lines), mark + b'\n{"key":"1","value":"a"}\n' + b'{"key":"' + mark + b'2","value":"' + mark + b'"}\n'):
            self.make()
            self.run_well("load", "--quiet", self.table, stdin=data)
            self.holds(entries)
            self.run_well("load", "--quiet", self.table, self.write("in", data))
            self.holds(entries)
            self.table.unlink()
        self.make()
        for short in (mark, mark[:2] + b"\tv\n", mark[:1] + b"\tv\n"):
            self.run_well("load", "--quiet", self.table, stdin=short)
        self.holds({mark[:2]: b"v", mark[:1]: b"v"})

    def test_json_lines(self):
        entries = {"": "", "tab\t": "line\n", "\u00fc\U0001f600": "\u20ac\0", '"': "\\", "\x7f": "\u2028"}
        lines = b"".join(json.dumps({"value": v, "key": k}, ensure_ascii=ascii).encode() + b"\n" for k, v in entries.items() for ascii in (True, False))
        self.make()
        self.run_well("load", "--quiet", self.table, stdin=b"\n  " + lines)
        dumped = self.run_well("dump", "--format", "jsonl", self.table).stdout
        self.assertEqual({one["key"]: one["value"] for one in map(json.loads, dumped.splitlines())}, entries)
        other = self.folder / "other"
        self.run_well("create", other)
        self.run_well("load", "--quiet", other, stdin=dumped)
        self.holds({key.encode(): value.encode() for key, value in entries.items()}, other)

    def test_json_cannot_hold_other_bytes(self):
        for entry in ({b"k\xff": b"v"}, {b"k": b"\xc3"}, {b"k": b"\xed\xa0\x80"}):
            self.run_well("create", self.table)
            self.run_well("load", "--quiet", self.table, stdin=tsv(entry))
            out = self.folder / "out.jsonl"
            self.refused("dump", "--format", "jsonl", "-o", out, self.table, says=("not UTF-8", "dump as tsv", "'k"))
            self.assertFalse(out.exists())
            self.table.unlink()

    def test_inputs(self):
        self.make()
        packed = self.write("a.gz", gzip.compress(b"a\t1\n") + gzip.compress(b"\nb\t2\r\n\r\n"))
        lines = self.write("c.jsonl", '{"key":"c","value":"3"}')
        done = self.run_well("load", self.table, packed, lines, "-", stdin=gzip.compress(b"d\t4\n"))
        self.assertIn(b"4 records: 4 new, 0 replaced", done.stderr)
        self.assertIn(b"c.jsonl: the last line has no end", done.stderr)
        self.holds({b"a": b"1", b"b": b"2", b"c": b"3", b"d": b"4"})
        self.run_well("load", self.table, "-", stdin=b"")

    def test_bad_lines(self):
        self.make()
        good = {"tsv": b"before\t1\n\n", "jsonl": b'{"key":"before","value":"1"}\n\n'}
        for form, line, says in (("tsv", b"no tab", "no tab"), ("tsv", b"a\tb\tc", "more than one tab"), ("tsv", b"a\\\tb", "backslash"),
                                 ("tsv", b"a\t\\x41", "backslash"), ("tsv", b"a\tb\\", "backslash"), ("jsonl", b"key\tvalue", "no JSON"),
                                 ("jsonl", b'{"key":"a","value":"b"', "no JSON"), ("jsonl", b'{"key":"a"}', 'no "value"'),
                                 ("jsonl", b'{"value":"a"}', 'no "key"'), ("jsonl", b"{}", 'no "key"'), ("jsonl", b'{"key":"a","value":1}', "no text"),
                                 ("jsonl", b'{"key":"a","value":null}', "no text"), ("jsonl", b'{"key":["a"],"value":"b"}', "no text"),
                                 ("jsonl", b'{"key":"a","value":"b","more":"c"}', "neither"), ("jsonl", b'{"key":"a","key":"a","value":"b"}', "twice"),
                                 ("jsonl", b'{"key":"a","value":{"key":"a"}}', "no text"), ("jsonl", b'["key","value"]', "no object"),
                                 ("jsonl", b'"text"', "no object"), ("jsonl", b'{"key":"a","value":"\xff"}', "no JSON"),
                                 ("jsonl", b'{"key":"a","value":"b"} {"key":"a","value":"b"}', "no JSON")):
            with self.subTest(line=line):
                bad = self.write("bad", good[form] + line + b"\n" + good[form].replace(b"before", b"behind"))
                self.refused("load", "--format", form, self.table, bad, says=(f"{bad}: line 3: ", says, "the 1 record before it is in the table"))
                os.unlink(f"{self.table}.load")
                self.holds({b"before": b"1"})

    def test_broken_gzip(self):
        self.make()
        packed = gzip.compress(tsv(numbered(5000)))
        self.refused("load", self.table, self.write("cut.gz", packed[:-100]), says=("cut.gz", "truncated"))

    def test_dump_destroys_nothing(self):
        self.make({b"a": b"1"})
        self.refused("dump", "-o", self.table, self.table, says="it is the input and the output")
        self.refused("stats", "--json", self.table, self.table, says="an input and the summary")
        self.refused("dump", "-o", "/dev/full", self.table, says="No space left")
        self.refused("dump", "-o", self.folder / "no" / "out", self.table, says="cannot be written")
        with open("/dev/full", "wb") as full:
            done = store_support.subprocess.run(store_support.command("get", self.table, "a"), stdout=full, stderr=-1, check=False)
        self.assertEqual((done.returncode, done.stderr.count(b"\n")), (2, 1))
        self.holds({b"a": b"1"})


class Figures(Folder):
    def test_stats(self):
        self.make(numbered(1000))
        told = self.folder / "stats.json"
        shown = self.run_well("stats", "--json", told, self.table).stdout.decode()
        figures = json.loads(told.read_text())
        self.assertEqual((figures["entries"], figures["survives"], figures["closed"], figures["torn"], figures["damaged"]), (1000, "power-cut", True, 0, 0))
        self.assertEqual({line.split()[0] for line in shown.splitlines()}, set(figures))
        self.assertLessEqual(figures["file_bytes"], self.table.stat().st_size)
        self.assertGreater(figures["record_bytes"], sum(len(key + value) for key, value in numbered(1000).items()))

    def test_check_counts(self):
        self.make(numbered(1000))
        self.assertEqual(self.run_well("check", self.table).stdout, f"{self.table}: sound: 1000 entries\n".encode())

    def test_bench(self):
        entries = numbered(10)
        self.make(entries)
        before = self.table.read_bytes()
        told = self.folder / "bench.json"
        shown = self.run_well("bench", "--entries", "2k", "--sync-every", 5, "--json", told, self.table).stdout.decode()
        figures = json.loads(told.read_text())
        self.assertIn("syncs.median_ms", shown)
        self.assertIn(figures["domain"], ("page", "line", "byte"))
        for rate in ("inserts_per_second", "gets_per_second"):
            self.assertGreater(figures[rate], 0)
        for syncs in ("syncs", "syncs_of_one_change"):
            self.assertLessEqual(0, figures[syncs]["median_ms"])
            self.assertLessEqual(figures[syncs]["median_ms"], figures[syncs]["longest_ms"])
        self.assertEqual(self.left(), ["bench.json", "t.cubby"])
        self.assertEqual(self.table.read_bytes(), before)
        figures = json.loads(self.run_well("bench", "--entries", 200, "--survive", "process", "--json", "-", self.folder).stdout)
        self.assertEqual(figures["domain"], "process")
        self.assertEqual(self.left(), ["bench.json", "t.cubby"])
        self.refused("bench", self.folder / "none" / "x", says="No such file")

    def test_shown_keys(self):
        self.make({b"\x1b[31m": b"v"})
        self.refused("load", "--on-duplicate", "fail", self.table, stdin=b"\x1b[31m\tv\n", says="'\\x1b[31m'")
        self.assertEqual(escaped(b"\\t"), b"\\\\t")
