# SPDX-License-Identifier: Apache-2.0
# Tests of `cubby bench` about what its report says in words: it begins with a conclusion, and marks what not to rely on. The words
# over results that are made up are tested in conclusion_test.cpp.
import json
import re

from bench_support import Folder, cubby


class Conclusion(Folder):
    def page(self, *arguments):
        out, page = self.folder / "out.json", self.folder / "page"
        done = cubby("bench", *arguments, "--keys", "2000", "--threads", "2", "--seconds", "0.002", "--rounds", "3", "--json", str(out),
                     "--report", str(page))
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(out.read_text())["results"], (page / "index.html").read_text(), done.stdout

    def test_the_report_begins_with_the_conclusion(self):
        results, html, shown = self.page("--engine", "dlht,reference,tbb,cuckoo,limit", "--workload", "get,put", "--batch", "8")
        conclusion = html[html.index('<div class="conclusion"'):html.index("</div>")]
        self.assertLess(html.index("</h1>"), html.index(conclusion))
        self.assertNotIn("<h2", html[:html.index(conclusion)])
        won = 0
        for workload in ("get", "put"):
            best = {}
            for r in results:
                if r["workload"] == workload and r["engine"] != "limit":
                    side = "rival" if r["engine"] in ("tbb", "cuckoo") else "cubby"
                    best[side] = max(best.get(side, (0, "")), (r["median_mops"], r["engine"]))
            first = max(best.values())[1]
            won += first == best["cubby"][1]
            said = re.search(rf"<li><b>{workload}</b>: (.*)</li>", conclusion).group(1)
            self.assertRegex(said, rf"^{first} \((batches of 8|single calls)\) is first with ")
            self.assertEqual("cubby loses" in said, first == best["rival"][1])
        self.assertIn(f"cubby is first in {won} of 2 comparisons", conclusion)
        self.assertIn(f"cubby is first in {won} of 2 comparisons", shown.split("\nConclusion\n")[1])
        self.assertEqual(conclusion.count('<figure class="summary"'), 1)

    def test_headings_say_batch_or_single(self):
        for batch, says in (("1", "in single calls"), ("8", "in batches of 8"), ("1,8", "in single calls and batches of 8")):
            with self.subTest(batch=batch):
                _, html, shown = self.page("--engine", "dlht,tbb", "--workload", "get", "--batch", batch)
                self.assertEqual(re.findall(r'<h2 id="c0">(.*)</h2>', html), [f"Results, {says}"])
                self.assertIn(f"\nResults, {says}\n", shown)

    def test_rows_are_marked(self):
        results, html, shown = self.page("--engine", "dlht,tbb,boost" if self.has("boost") else "dlht,tbb", "--workload", "get,insdel",
                                         "--batch", "1,8")
        rows = re.findall(r'<tr class="([^"]*)"><td>.*?</td><td>(.*?)</td><td>.*?</td><td>(.*?)</td><td>.*?</td><td>(.*?)</td>', html)
        self.assertEqual([row[1] for row in rows], [r["engine"] for r in results])
        for r, (classes, engine, spread, ratio) in zip(results, rows, strict=True):
            if abs(r["spread"] - 0.3) > 0.001:
                self.assertEqual("doubtful" in classes, r["spread"] > 0.3, r)
            self.assertEqual("doubtful" in classes, spread.endswith("!"))
            rival = max((o for o in results if o["engine"] != "dlht" and (o["workload"], o["batch"]) == (r["workload"], r["batch"])),
                        key=lambda o: o["median_mops"])
            self.assertEqual(ratio.endswith("*"), r["calls"] != rival["calls"], (r, rival))
            if engine == "dlht":
                self.assertEqual(r["calls"], "single" if r["batch"] == 1 else "batch")
        marked = any("doubtful" in row[0] for row in rows)
        for text in (html.replace('<b class="mark">!</b>', "!"), shown):
            self.assertEqual("! The spread is above 30 %" in text, marked)
            self.assertIn("The ratio sets batches against single calls: ", text)

    def has(self, engine):
        return not cubby("bench", "--engine", engine, "--workload", "get", "--keys", "1k", "--seconds", "0.01", "--rounds", "1").returncode

    def test_every_engine_is_explained(self):
        engines = ["dlht", "tbb", "lfht", "limit"]
        _, html, _ = self.page("--engine", ",".join(engines), "--workload", "get")
        table = html[html.index('<table class="engines">'):]
        rows = re.findall(r"<tr><td>(.*?)</td><td>(.*?)</td></tr>", table[:table.index("</table>")])
        self.assertEqual([name for name, _ in rows], engines)
        for name, line in rows:
            self.assertEqual(line.startswith("rival: "), name in ("tbb", "lfht"))

    def test_full_is_about_the_default_run(self):
        self.refused("bench", "--full", "--keys", "1k", says="--full: chooses among the chapters of the default run")
