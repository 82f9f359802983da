# SPDX-License-Identifier: Apache-2.0
# Tests of `cubby bench` about readers: read sections without a table, and lookups by the number of readers.
import json
import os
import re

from bench_support import Folder, cubby

SECTIONS = ["rcu", "rcu-record", "urcu-memb", "urcu-bp", "urcu-qsbr", "limit"]


class Readers(Folder):
    def test_updaters_come_on_top(self):
        data, _ = self.run_json("--engine", "relativistic,dlht", "--workload", "get,resize,grow-shrink", "--keys", "4096", "--threads",
                                "1,3", "--updaters", "2", "--batch", "1")
        self.check_schema(data)
        counts = {(r["workload"], r["threads"], r["finders"], r["updaters"]) for r in data["results"]}
        self.assertEqual(counts, {("get", 1, None, None), ("get", 3, None, None), ("resize", 1, 1, 2), ("resize", 3, 3, 2),
                                  ("grow-shrink", 1, 1, 2), ("grow-shrink", 3, 3, 2)})
        halves, _ = self.run_json("--engine", "dlht", "--workload", "resize", "--keys", "4096", "--threads", "2,5")
        self.assertEqual([(r["threads"], r["finders"], r["updaters"]) for r in halves["results"]], [(2, 1, 1), (5, 3, 2)])

    def test_all_updaters_update(self):
        out = self.folder / "out.json"
        done = cubby("bench", "--engine", "dlht", "--workload", "grow-shrink", "--keys", "6400", "--threads", "1", "--updaters", "3",
                     "--seconds", "0.3", "--rounds", "1", "--json", str(out))
        self.assertEqual(done.returncode, 0, done.stderr)
        most = max(s["keys"] for s in json.loads(out.read_text())["results"][0]["timeline"])
        self.assertLessEqual(most, 6400)
        self.assertGreater(most, 200 + 6200 / 3, "one alone could have brought its third of them")

    def test_plots_along_the_number_of_readers(self):
        cores = os.sched_getaffinity(0)
        self.addCleanup(os.sched_setaffinity, 0, cores)
        os.sched_setaffinity(0, {min(cores)})
        engines = ["relativistic", "ddds", "rwlock"]
        arguments = ("--engine", ",".join(engines), "--workload", "get,grow-shrink", "--keys", "4096", "--batch", "1", "--seconds", "0.02")
        for more, label in ((("--threads", "1,2,4", "--updaters", "1"), "threads that find, beside 1 that updates"),
                            (("--threads", "1,2", "--updaters", "2"), "threads that find, beside 2 that update"),
                            (("--threads", "2,4"), "threads, half of which find")):
            with self.subTest(label=label):
                drawn = self.legends(*arguments, *more)
                html = (self.folder / "page" / "index.html").read_text()
                self.assertEqual(re.search("cubby bench.*( --updaters .) --report DIR", html) is not None, "--updaters" in more)
                for workload, axis in (("get", "threads"), ("grow-shrink", label)):
                    self.assertEqual(drawn[f"{workload} by threads"], sorted(engines))
                    along = self.texts(self.figures[f"{workload} by threads"], before=r'text-anchor="middle">\s*')
                    self.assertIn(f"{axis} (sharing 1 core)", along)
                    self.assertEqual([text for text in along if text.isdigit()], more[1].split(","))

    def test_as_many_threads_as_cores_share_none(self):
        self.legends("--engine", "dlht", "--workload", "get", "--keys", "1k", "--threads", "1,2", "--seconds", "0.01")
        shared = len(os.sched_getaffinity(0)) < 2
        self.assertEqual("(sharing" in self.figures["get by threads"], shared)

    def test_refusals(self):
        self.refused("bench", "--workload", "get", "--updaters", "1", says="--updaters: applies to no workload of this run")
        self.refused("bench", "--workload", "read-section", "--updaters", "1", says="--updaters")
        for value, says in (("0", "1 or more"), ("1,2", "takes no list"), ("511", "at most 512 threads in all"), ("x", "not a count")):
            self.refused("bench", "--workload", "resize", "--threads", "2", "--updaters", value, says=says)
        self.refused("bench", "--workload", "resize", "--threads", "1", says="or --updaters 1")


class ReadSections(Folder):
    def test_every_engine_with_sections(self):
        data, shown = self.run_json("--workload", "read-section", "--threads", "1,2")
        self.check_schema(data)
        self.assertEqual([(r["engine"], r["threads"]) for r in data["results"]], [(e, n) for n in (1, 2) for e in SECTIONS])
        for r in data["results"]:
            self.assertEqual(len(r["rounds_mops"]), 2)
            self.assertGreater(r["times_limit"], 0)
            self.assertGreater(r["times_best_rival"], 0, "liburcu's flavours are the rivals here")
            for field in ("keys", "batch", "key_size", "value_size", "bytes_per_key", "own_bytes_per_key", "huge_pages_percent"):
                self.assertIsNone(r[field], field)
        for n in (1, 2):
            best = max(r["times_best_rival"] for r in data["results"] if r["threads"] == n and r["engine"].startswith("urcu"))
            self.assertEqual(best, 1)
        table = shown.split("\nConclusion\n")[0]
        rows = [line.split() for line in table.splitlines() if re.match(r"(read-section.*)? +(urcu-memb|rcu) ", line)]
        self.assertEqual(len(rows), 4)
        for row in rows:
            self.assertEqual(row[-2:], ["-", "-"], "bytes/key and huge pages of what is no table")

    def test_tables_beside_sections(self):
        data, shown = self.run_json("--engine", "dlht,rcu_record,limit,limit-swap", "--workload", "get,read_section", "--keys", "1k,2k",
                                    "--threads", "2", "--batch", "1,8")
        self.check_schema(data)
        measured = [(r["workload"], r["engine"]) for r in data["results"]]
        self.assertEqual(measured.count(("read-section", "rcu-record")), 1, "it has neither keys nor batches")
        self.assertEqual(measured.count(("read-section", "limit")), 1)
        self.assertEqual(measured.count(("get", "dlht")), 4)
        self.assertEqual(len(measured), 2 + 3 * 4)
        self.assertIn("no figure of rcu-record under get: it has read sections alone", shown)
        self.assertIn("no figure of dlht under read-section: it has no read section", shown)
        self.assertIn("no figure of limit-swap under read-section: it has no read section", shown)
        self.assertEqual(len([line for line in shown.splitlines() if line.startswith("read-section  ")]), 1, "sizes are not named")
        self.assertNotIn("=0", shown)

    def test_plots(self):
        drawn = self.legends("--workload", "read-section", "--threads", "1,2", "--seconds", "0.01")
        self.assertEqual(drawn, {"read-section by threads": sorted(SECTIONS)})
        html = (self.folder / "page" / "index.html").read_text()
        self.assertIn("--workload read-section --threads 1,2 --seconds 0.01 --rounds 1 --report DIR", html)
        drawn = self.legends("--workload", "read-section,get", "--engine", "rcu,urcu-memb,dlht,limit", "--keys", "1k", "--threads", "2",
                             "--seconds", "0.01")
        self.assertEqual(drawn, {"read sections": ["limit", "rcu", "urcu-memb"], "throughput": ["dlht", "limit"]})

    def test_the_printed_command_measures_it_again(self):
        _, shown = self.run_json("--workload", "read-section", "--threads", "1")
        command = next(line for line in shown.splitlines() if line.startswith("cubby bench"))
        again = cubby(*command.split()[1:])
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertIn(command, again.stdout)

    def test_refusals(self):
        for flag in (("--keys", "5M"), ("--batch", "1"), ("--value-size", "16"), ("--key-size", "16"), ("--space", "200"), ("--seed", "2"),
                     ("--latency",), ("--keys-from", __file__)):
            with self.subTest(flag=flag):
                self.refused("bench", "--workload", "read-section", *flag, says=f"{flag[0]}: does not apply to read-section")
        self.refused("bench", "--engine", "dlht", "--workload", "read-section", says="add one that does, such as rcu")
        self.refused("bench", "--engine", "urcu-bp", "--workload", "get,read-section", says="--workload get: no engine")
