#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# The command line of `cubby bench`: what it writes, what it refuses, and with which status. Tiny runs; the figures
# themselves are never judged. Usage: test_bench.py PROGRAM
import json
import os
import re
import sys
import unittest

import bench_support
from bench_durable import Durable  # noqa: F401
from bench_engines import DESIGNS, ENGINES, GROWING, Engines  # noqa: F401
from bench_readers import *  # noqa: F403
from bench_windows import Windows  # noqa: F401
from bench_support import Folder, cubby
from bench_conclusion import Conclusion  # noqa: F401


class Results(Folder):
    def test_every_engine_and_steady_workload(self):
        data, shown = self.run_json("--engine", f"{ENGINES},{DESIGNS}", "--workload", "get,miss,insdel,put,ycsb-a,ycsb-b,"
                                    "ycsb-c,ycsb-d,ycsb-f,skew", "--keys", "5000", "--threads", "2", "--seed", "9")
        self.check_schema(data)
        self.assertEqual(data["seed"], 9)
        self.assertEqual(len(data["results"]), 13 * (9 + 6))
        self.assertTrue(all(len(r["rounds_mops"]) == 2 for r in data["results"]))
        for r in data["results"]:
            if r["engine"] == "limit":
                self.assertEqual(r["times_limit"], 1)
            if r["engine"] == "std":
                self.assertEqual(r["threads"], 1)
            elif r["engine"] == "dlht":
                self.assertGreater(r["times_limit"], 0)
                self.assertGreater(r["times_best_rival"], 0)
                self.assertGreater(r["own_bytes_per_key"], 16)
        self.assertIn("x best rival", shown)

    def test_delegated_writes(self):
        workloads = ["get", "miss", "put", "add", "add-zipf", "ycsb-a", "ycsb-f", "populate"]
        data, _ = self.run_json("--engine", "partitioned,dramhit,reference,limit", "--workload",
                                ",".join([*workloads, "insdel"]), "--keys", "5000", "--threads", "2", seconds="0.02")
        self.check_schema(data)
        done = {r["workload"] for r in data["results"] if r["engine"] == "partitioned"}
        self.assertEqual(done, set(workloads), "its pairs of writes have no answers that could be checked")

    def test_growing_workloads(self):
        others = f"{GROWING},ddds,rwlock,{DESIGNS}"
        data, _ = self.run_json("--engine", others, "--workload", "populate,resize", "--keys", "50000", "--threads", "2")
        self.check_schema(data)
        grown = [r for r in data["results"] if r["workload"] == "resize"]
        self.assertEqual({r["engine"] for r in grown}, {"dlht", "reference", "tbb", "lfht", "relativistic", "iceberg", "seph", "folklore", "line-locks", "ddds",
                                                   "rwlock"})
        for r in grown:
            self.assertTrue(r["timeline"])
            self.assertIsNotNone(r["bytes_per_key"])
            self.assertEqual(set(r["timeline"][0]), {"ms", "find_mops", "insert_mops", "keys"})

    def test_rivals_whose_headers_were_unpacked(self):
        for engine in ("boost", "phmap"):
            with self.subTest(engine=engine):
                tiny = ("bench", "--engine", engine, "--workload", "get", "--keys", "1k", "--seconds", "0.01", "--rounds", "1")
                if "its headers were not there" in cubby(*tiny).stderr:
                    self.skipTest(f"this program was built without {engine}; run tools/unpack_rivals.sh and build again")
                data, _ = self.run_json("--engine", f"dlht,{engine}", "--workload", "get,miss,insdel,put,populate,resize",
                                        "--keys", "20000", "--threads", "2", "--batch", "1,32", seconds="0.02")
                self.check_schema(data)
                self.assertEqual({r["engine"] for r in data["results"]}, {"dlht", engine})
                text, _ = self.run_json("--engine", engine, "--workload", "get,put,upsert,insdel", "--keys-from", os.path.abspath(__file__), "--threads", "2")
                self.check_schema(text)

    def test_resizes_grow_the_table(self):
        for engine in ("dlht", "dramhit"):
            with self.subTest(engine=engine):
                data, _ = self.run_json("--engine", engine, "--workload", "get", "--keys", "10000", "--threads", "2")
                made_for_a_quarter = data["results"][0]["own_bytes_per_key"] * 10000
                data, _ = self.run_json("--engine", engine, "--workload", "resize", "--keys", "40000", "--threads", "2")
                self.assertGreater(data["results"][0]["own_bytes_per_key"] * 40000, 1.5 * made_for_a_quarter)

    def test_finds_beside_few_inserts(self):
        # On one core the inserts would be over before the finders have their turn.
        cores = os.sched_getaffinity(0)
        self.addCleanup(os.sched_setaffinity, 0, cores)
        os.sched_setaffinity(0, {min(cores)})
        out = self.folder / "out.json"
        done = cubby("bench", "--engine", "dlht,reference", "--workload", "resize", "--keys", "1024", "--threads", "2,4", "--rounds", "10",
                     "--json", str(out))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.check_schema(json.loads(out.read_text()))

    def test_tables_that_grow_and_shrink(self):
        page, out = self.folder / "page", self.folder / "out.json"
        done = cubby("bench", "--engine", "relativistic,iceberg,seph,dlht,dramhit,ddds,rwlock,tbb", "--workload", "grow-shrink", "--keys", "6400",
                     "--threads", "2,4", "--batch", "1", "--seconds", "0.1", "--rounds", "1", "--json", str(out), "--report", str(page))
        self.assertEqual(done.returncode, 0, done.stderr)
        data = json.loads(out.read_text())
        grown = {"relativistic", "iceberg", "seph", "dlht", "dramhit", "ddds", "rwlock"}
        self.assertEqual({(r["engine"], r["threads"]) for r in data["results"]}, {(e, n) for e in grown for n in (2, 4)})
        for r in data["results"]:
            keys = [t["keys"] for t in r["timeline"]]
            self.assertTrue(keys)
            self.assertGreaterEqual(min(keys), 6400 / 32, r["engine"])
            self.assertLessEqual(max(keys), 6400, r["engine"])
            self.assertIsNone(r["bytes_per_key"], "there is no one number of keys to divide by")
            self.assertIsNone(r["own_bytes_per_key"])
        self.assertIn("no figure of tbb under grow-shrink: it does not shrink by itself", done.stdout)
        html = (page / "index.html").read_text()
        self.assertIn("finds while the table grows and shrinks", html)
        self.assertIn("keys in the table meanwhile", html)

    def test_rivals_of_the_relativistic_table(self):
        data, _ = self.run_json("--engine", "ddds,rwlock", "--workload", "get,miss,insdel,put,ycsb-d,ycsb-f,populate", "--keys",
                                "5000", "--threads", "2")
        self.check_schema(data)
        self.assertEqual(len(data["results"]), 2 * 7)

    def test_latency(self):
        data, shown = self.run_json("--engine", "dlht,tbb", "--workload", "get,populate", "--keys", "5000", "--latency")
        self.check_schema(data)
        for r in data["results"]:
            figures = [r["latency_ns"][name] for name in ("p50", "p99", "p999", "p9999", "max")]
            self.assertEqual(figures, sorted(figures))
            self.assertGreater(figures[0], 0)
        self.assertIn("p99.99", shown)

    def test_absent_engines_are_named(self):
        data, shown = self.run_json("--engine", "dramhit-pipe,dlht,limit", "--workload", "get,insdel", "--keys", "5000", "--latency")
        self.check_schema(data)
        for r in data["results"]:
            self.assertEqual(r["latency_ns"] is None, r["engine"] != "dlht", r)
        self.assertIn("no figure of dramhit-pipe under insdel: it may carry out", shown)
        self.assertIn("no latency of dramhit-pipe under get: it answers later", shown)
        self.assertIn("no latency of limit under get, insdel: it stores nothing", shown)
        self.assertEqual(shown.count("no figure of"), 1)
        self.assertEqual(shown.count("no latency of"), 2)

    def test_engines_spelled_as_in_cpp(self):
        data, _ = self.run_json("--engine", "dramhit_tuples,dlht_default", "--workload", "get", "--keys", "1000", "--value-size", "32")
        self.assertEqual([r["engine"] for r in data["results"]], ["dramhit-tuples", "dlht-default"])

    def test_workloads_spelled_with_underscores(self):
        data, _ = self.run_json("--engine", "dlht", "--workload", "add_zipf,ycsb_a,skew_90", "--keys", "1000")
        self.assertEqual([r["workload"] for r in data["results"]], ["add-zipf", "ycsb-a", "skew-90"])

    def test_lists_of_sizes(self):
        data, _ = self.run_json("--engine", "dlht,limit,cuckoo", "--workload", "get", "--keys", "1k,2k", "--threads", "1,2",
                                "--batch", "1,8")
        self.assertEqual(len(data["results"]), 3 * 8)
        for sizes, field in (("--value-size", "value_size"), ("--key-size", "key_size")):
            data, _ = self.run_json("--engine", ENGINES, "--workload", "get,put", "--keys", "1000", sizes,
                                    "8,16,32,64,128,256")
            self.assertEqual({r[field] for r in data["results"]}, {8, 16, 32, 64, 128, 256})
            self.check_schema(data)

    def test_repeated_values_are_measured_once(self):
        data, _ = self.run_json("--engine", "dlht,dlht", "--workload", "get,get", "--keys", "1000,1k", "--threads", "1,1")
        self.assertEqual(len(data["results"]), 1)

    def test_columns_stay_in_line(self):
        _, shown = self.run_json("--engine", "dlht", "--workload", "get", "--keys", "1000,2000", "--threads", "1,2", "--batch", "1,16",
                                 "--key-size", "8,16")
        rows = [line for line in shown.splitlines() if re.match(r"get .* key=", line)]
        self.assertEqual(len(rows), 16)
        self.assertEqual(len({row.index(" dlht ") for row in rows}), 1, shown)

    def test_engine_for_each_feature(self):
        page = self.folder / "report"
        data, _ = self.run_json("--report", str(page), "--engine", "dlht-features,dlht", "--workload", "get,miss,insdel,put,ycsb-f,populate", "--keys",
                                "2000", "--value-size", "32", "--batch", "8")
        self.check_schema(data)
        names = [r["engine"] for r in data["results"] if r["workload"] == "get"]
        self.assertEqual(len(names), 13)
        self.assertEqual(len(set(names)), 13)
        self.assertLessEqual({"dlht-default", "dlht-namespaces", "dlht-to-malloc"}, set(names))
        self.assertIn("get by features of dlht", (page / "index.html").read_text())

    def test_keys_of_a_file(self):
        words = self.folder / "words"
        words.write_text("".join(f"word {i % 900}\n\n" for i in range(1000)) + "x" * 500 + "\nlast without line end")
        data, _ = self.run_json("--engine", ENGINES, "--workload", "get,miss,insdel,put,populate", "--keys-from", str(words),
                                "--threads", "1")
        self.check_schema(data)
        self.assertEqual({r["keys"] for r in data["results"]}, {902})
        self.assertEqual({r["key_size"] for r in data["results"]}, {"lines"})

    def test_made_up_texts(self):
        for kind in ("words", "12-40", "uuids"):
            with self.subTest(kind=kind):
                data, _ = self.run_json("--engine", GROWING, "--workload", "get,miss,upsert,insdel,put,populate", "--key-kind", kind,
                                        "--keys", "5000", "--threads", "2", "--batch", "1,32")
                self.check_schema(data)
                self.assertEqual({r["keys"] for r in data["results"]}, {5000})
                self.assertEqual({r["key_size"] for r in data["results"]}, {kind})
                self.assertIn("upsert", {r["workload"] for r in data["results"]})
        self.refused("bench", "--key-kind", "names", says="give one of words, 12-40, uuids")
        self.refused("bench", "--key-kind", "words", "--key-size", "16", says="--key-kind")
        self.refused("bench", "--key-kind", "words", "--keys-from", os.path.abspath(__file__), says="--keys-from out")
        self.refused("bench", "--key-kind", "words", "--workload", "read-section", "--engine", "rcu", says="--key-kind")
        self.refused("bench", "--key-kind", "words", "--engine", "partitioned", says="8-byte keys")
        self.refused("bench", "--workload", "upsert", "--engine", "partitioned", says="has no insert-or-assign")

    def test_report(self):
        page = self.folder / "deep" / "report"
        done = cubby("bench", "--engine", "dlht,tbb,limit", "--workload", "get,populate", "--keys", "1000,2000", "--latency",
                     "--seconds", "0.01", "--rounds", "1", "--report", str(page))
        self.assertEqual(done.returncode, 0, done.stderr)
        html = (page / "index.html").read_text()
        self.assertGreaterEqual(html.count("<svg"), 4)
        self.assertIn("cubby bench --engine dlht,tbb,limit", html)
        # A reference to another place would need the network; names of XML vocabularies are no such thing.
        for link in re.findall(r'(?:src|href)="([^"]*)"', html):
            self.assertTrue(link.startswith("#"), link)
        self.assertEqual(os.listdir(page), ["index.html"])

    def test_a_line_for_each_combination(self):
        drawn = self.legends("--engine", "dlht,limit", "--workload", "get,skew", "--keys", "1k,2k", "--batch", "1,8", "--latency",
                             "--threads", "2", "--seconds", "0.01")
        both = ("keys=1k batch=1", "keys=1k batch=8", "keys=2k batch=1", "keys=2k batch=8")
        self.assertEqual(drawn["get by batch size"], [f"{e} keys={k}" for e in ("dlht", "limit") for k in ("1k", "2k")])
        self.assertEqual(drawn["get by index size"], [f"{e} batch={b}" for e in ("dlht", "limit") for b in (1, 8)])
        self.assertEqual(drawn["finds with 1000 hot keys"], [f"{e} {sizes}" for e in ("dlht", "limit") for sizes in both])
        self.assertEqual(drawn["latency of get"], [f"dlht {sizes}" for sizes in both])
        self.assertNotIn("throughput", drawn)

    def test_many_lines_leave_space_for_the_plot(self):
        drawn = self.legends("--engine", "dlht,dramhit", "--workload", "get", "--keys", "1k,2k,4k,8k,16k", "--batch", "1,8", "--threads",
                             "1,2", "--seconds", "0.001")
        self.assertEqual(len(drawn["get by threads"]), 20)

    def test_a_timeline_for_each_combination(self):
        drawn = self.legends("--engine", "dlht,dramhit", "--workload", "grow-shrink", "--keys", "4k,8k", "--threads", "2,4", "--batch", "1",
                             "--seconds", "0.2")
        names = [f"{e} keys={k} threads={n}" for e in ("dlht", "dramhit") for k in ("4k", "8k") for n in (2, 4)]
        for title in ("finds while the table grows and shrinks", "keys in the table meanwhile"):
            self.assertEqual(drawn[title], names)

    def test_bars_for_each_combination_of_features(self):
        drawn = self.legends("--engine", "dlht-features", "--workload", "get", "--keys", "1k,2k", "--value-size", "32", "--threads", "2",
                             "--seconds", "0.01")
        self.assertEqual(drawn["get by features of dlht"], [f"{which} keys={k}" for which in ("alone", "with those before it") for k in ("1k", "2k")])

    def test_one_engine_without_threads(self):
        drawn = self.legends("--engine", "dlht,std", "--workload", "get", "--keys", "1k,2k", "--threads", "1,2", "--seconds", "0.01")
        self.assertEqual(drawn["get by index size"], ["dlht threads=1", "dlht threads=2", "std threads=1"])

    def test_workload_beside_a_timeline(self):
        drawn = self.legends("--engine", "dlht,limit", "--workload", "get,grow-shrink", "--keys", "4k", "--threads", "2", "--seconds", "0.2")
        self.assertEqual(drawn, {"finds while the table grows and shrinks": ["dlht"], "keys in the table meanwhile": ["dlht"],
                                 "throughput": ["dlht", "limit"]})

    def test_timeline_without_a_line(self):
        page, out = self.folder / "page", self.folder / "out.json"
        done = cubby("bench", "--engine", "dlht", "--workload", "resize", "--keys", "1024", "--threads", "2", "--rounds", "1", "--json",
                     str(out), "--report", str(page))
        self.assertEqual(done.returncode, 0, done.stderr)
        html = (page / "index.html").read_text()
        drawn = len(json.loads(out.read_text())["results"][0].get("timeline", [])) > 1
        # Its inserts take far less than 10 ms, unless the machine is very busy.
        self.assertEqual("finds while the table grows" in html, drawn)
        for text in (html, done.stdout):
            self.assertEqual("no timeline of dlht under resize: the round was over" in text, not drawn)
        self.assertIn("<svg", html)

    def test_report_draws_no_empty_plot(self):
        for engine, workload, keys, threads in (("limit", "populate", "1000", "2"), ("dlht,dramhit-pipe", "insdel", "1000", "2"),
                                                ("std", "get", "1000", "1,2"), ("dlht", "get", "1000,1000", "2")):
            with self.subTest(engine=engine, workload=workload):
                page = self.folder / engine
                done = cubby("bench", "--engine", engine, "--workload", workload, "--keys", keys, "--threads", threads,
                             "--seconds", "0.01", "--rounds", "1", "--report", str(page))
                self.assertEqual(done.returncode, 0, done.stderr)
                html = (page / "index.html").read_text()
                self.assertEqual(html.count("<svg"), 1)
                self.assertEqual("no figure of dramhit-pipe under insdel" in html, "pipe" in engine)

    def test_long_lines_are_keys_of_a_bounded_stream(self):
        long = self.folder / "long"
        long.write_text("x" * 3_000_000 + "\ny\n", encoding="ascii")
        data, _ = self.run_json("--engine", "dlht", "--workload", "get", "--keys-from", str(long), "--threads", "2")
        self.assertEqual(len(data["results"]), 1)


class Refusals(Folder):
    def test_empty_values(self):
        for flag in ("--engine", "--workload", "--keys", "--json"):
            self.refused("bench", flag, "", says="the value is empty")

    def test_bad_values(self):
        for flag, value, says in (
                ("--engine", "dlht,folly", "folly"), ("--engine", "dlht,", "empty entry"), ("--workload", "scan", "scan"),
                ("--workload", ",get", "empty entry"), ("--keys", "1k,,2k", "empty entry"),
                ("--batch", "0", "--batch 0"), ("--batch", "70000", "65536"), ("--threads", "0", "--threads 0"),
                ("--threads", "9999", "512"), ("--keys", "0", "--keys 0"), ("--keys", "many", "many"),
                ("--keys", "12Q", "12Q"), ("--keys", "900G", "GB"), ("--rounds", "0", "--rounds"), ("--rounds", "3,3", "takes no list"), ("--rounds", "3,5", "takes no list"),
                ("--rounds", "1001", "at most 1000"),
                ("--seconds", "0", "--seconds"), ("--seconds", "x", "--seconds"), ("--value-size", "24", "--value-size 24"),
                ("--value-size", "0", "--value-size 0: give one of 8, "), ("--key-size", "12", "--key-size 12"), ("--seed", "x", "--seed")):
            with self.subTest(flag=flag, value=value):
                self.refused("bench", flag, value, says=says)

    def test_bad_combinations(self):
        self.refused("bench", "--workload", "resize", "--threads", "1", says="resize")
        self.refused("bench", "--workload", "grow-shrink", "--threads", "1", says="grow-shrink")
        for workload in ("grow-shrink", "resize"):
            for keys in ("1", "1023", "1M,100"):
                self.refused("bench", "--workload", workload, "--keys", keys, "--threads", "2", says="give 1024 or more")
        self.refused("bench", "--engine", "dlht,rwlock", "--value-size", "16", says="--engine rwlock")
        self.refused("bench", "--key-size", "16", "--value-size", "16", says="--key-size")
        self.refused("bench", "--engine", "dlht,dlht-hashing", says="--value-size 32")
        self.refused("bench", "--engine", "partitioned", "--value-size", "16", says="--engine partitioned")

    def test_runs_without_a_figure(self):
        report = self.folder / "r"
        for engine, workload, more, says in (
                ("dramhit-pipe", "insdel", (), "another order"), ("limit,std", "get,resize", (), "one thread only"),
                ("dramhit-pipe,partitioned", "ycsb-d", (), "partitioned may carry out"),
                ("dramhit-pipe,limit", "get", ("--latency",), "--latency"),
                ("dlht,tbb", "resize", ("--latency",), "a workload such as get")):
            with self.subTest(engine=engine, workload=workload):
                self.refused("bench", "--engine", engine, "--workload", workload, *more, "--threads", "2", "--report", str(report), says=says)
                self.assertFalse(report.exists())

    def test_bad_files(self):
        empty = self.folder / "empty"
        empty.write_text("\n\n")
        self.refused("bench", "--keys-from", str(empty), says="no line")
        self.refused("bench", "--keys-from", str(self.folder / "none"), says="cannot be read")
        self.refused("bench", "--keys-from", str(self.folder), says="is a folder")
        self.refused("bench", "--keys-from", str(empty), "--key-size", "16", says="--keys-from")
        few = self.folder / "few"
        few.write_text("one\ntwo\n" * 1000)
        self.refused("bench", "--keys-from", str(few), "--workload", "resize", "--threads", "2", says="so few keys (2)")
        self.refused("bench", "--keys-from", str(few), "--keys", "1,100M", says=f"--keys 100000000: '{few}' has 2 different lines")
        self.refused("bench", "--json", str(self.folder / "no" / "out.json"), says="--json")
        self.refused("bench", "--json", "-", says="give a file")
        self.refused("bench", "--report", str(empty / "below"), says="--report")

    def test_keys_that_would_be_overwritten(self):
        page = self.folder / "index.html"
        page.write_text("one\ntwo\n")
        link = self.folder / "link"
        link.symlink_to(page)
        self.refused("bench", "--keys-from", str(page), "--json", str(page), says="--json")
        self.refused("bench", "--report", str(page.parent), "--json", str(page), says="the page of --report as well")
        self.refused("bench", "--json", "/dev/stdout", says="standard output has the tables")
        self.refused("bench", "--seed", "18446744073709551616", says="the number is too large")
        self.refused("bench", "--engine", "dlht", "--workload", "get", "--keys", "100M", "--threads", "1", "--space", "1000", says="of memory are free")
        self.refused("bench", "--keys-from", str(link), "--json", str(page), says="another name")
        self.refused("bench", "--keys-from", str(page), "--report", str(self.folder), says="--report")
        self.assertEqual(page.read_text(), "one\ntwo\n")

    def test_keys_that_come_but_once(self):
        """A pipe was once read twice, and what the first reader had taken was missing."""
        read, write = os.pipe()
        os.write(write, b"one\ntwo\n")
        os.close(write)
        with open(read, "rb") as pipe:
            self.refused("bench", "--keys-from", "/dev/stdin", stdin=pipe, says="no regular file")
        fifo = self.folder / "fifo"
        os.mkfifo(fifo)
        self.refused("bench", "--keys-from", str(fifo), says="no regular file")

    def test_results_that_cannot_be_printed(self):
        with open("/dev/full", "wb", buffering=0) as full:
            for arguments in (("bench", "--keys", "1000"), ("--help",), ("--version",)):
                done = cubby(*arguments, out=full)
                self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done.stderr)
                self.assertIn("standard output: cannot be written", done.stderr)

    def test_an_output_behind_a_link(self):
        link = self.folder / "link.json"
        link.symlink_to("there.json")
        done = cubby("bench", "--keys", "1000", "--engine", "dlht", "--workload", "get", "--threads", "1", "--seconds", "0.01",
                     "--rounds", "1", "--json", str(link))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(link.is_symlink())
        self.assertIn("results", json.loads((self.folder / "there.json").read_text()))

    def test_missing_gnuplot(self):
        self.refused("bench", "--report", str(self.folder / "r"), says="gnuplot", env={"PATH": str(self.folder)})
        self.assertFalse((self.folder / "r").exists())

    def test_unknown_flags_and_commands(self):
        self.refused("bench", "--fast", "7", says="'--fast' is no option; see cubby bench --help\n")
        self.refused("dance", says="'dance' is no command")
        self.refused(says="see cubby --help\n")

    def test_help_and_version(self):
        self.assertRegex(cubby("--version").stdout, r"^cubby \d+\.\d+\.\d+\n$")
        shown = cubby("bench", "--help")
        self.assertEqual(shown.returncode, 0)
        for flag in ("--engine", "--workload", "--keys-from", "--dir", "--report", "--json", "--latency", "--full"):
            self.assertIn(flag, shown.stdout)


if __name__ == "__main__":
    bench_support.PROGRAM = sys.argv.pop(1)
    unittest.main(verbosity=2)
