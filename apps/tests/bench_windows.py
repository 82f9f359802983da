# SPDX-License-Identifier: Apache-2.0
# Tests of `cubby bench` about how even the inserts of a population are.
import json

from bench_support import Folder, cubby


class Windows(Folder):
    def test_inserts_over_time(self):
        page, out = self.folder / "page", self.folder / "out.json"
        done = cubby("bench", "--engine", "seph,tbb,limit", "--workload", "populate", "--keys", "1M", "--threads", "2", "--rounds", "2",
                     "--json", str(out), "--report", str(page))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("lowest/mean", done.stdout)
        for r in json.loads(out.read_text())["results"]:
            if r["windows"] is None:
                self.assertEqual(r["engine"], "limit", "its reads may take less than 10 ms")
                continue
            whole, course = r["windows"], r["course"]
            self.assertLessEqual(whole["lowest_mops"], whole["mean_mops"])
            self.assertLessEqual(whole["mean_mops"], whole["highest_mops"])
            self.assertLessEqual(len(course), 100)
            times = [stretch["ms"] for stretch in course]
            self.assertEqual(times, sorted(set(times)))
            # Half of a million keys are the thread's that ends first, and only its last window does not count. `limit` may read nearly all in one.
            inserted = sum(s["mean_mops"] * (s["ms"] - before) / 1e3 for s, before in zip(course, [0, *times], strict=False))
            self.assertTrue((0 if r["engine"] == "limit" else 0.25) < inserted <= 1, inserted)
        html = (page / "index.html").read_text()
        self.assertIn("inserts over time, into tables that begin empty", html)
        differ = any(stretch["lowest_mops"] < stretch["highest_mops"] for r in json.loads(out.read_text())["results"] for stretch in r.get("course", []))
        self.assertEqual("the slowest 10 ms meanwhile" in html, differ)
