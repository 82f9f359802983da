# SPDX-License-Identifier: Apache-2.0
# What the tests of `cubby bench` share: the program, a folder for each test, and looks at what was written.
import json
import pathlib
import resource
import re
import subprocess
import tempfile
import unittest

PROGRAM = ""
FIELDS = {
    "engine", "workload", "keys", "threads", "batch", "key_size", "value_size", "rounds_mops", "median_mops", "spread",
    "times_limit", "times_best_rival", "bytes_per_key", "own_bytes_per_key", "huge_pages_percent", "latency_ns",
    "chapter", "finders", "updaters", "domain", "medium",
}


def cubby(*arguments, env=None, out=subprocess.PIPE, stdin=None, address_space=None):
    def bound():
        if address_space is not None:
            resource.setrlimit(resource.RLIMIT_AS, (address_space, address_space))
    return subprocess.run([PROGRAM, *arguments], stdin=stdin, stdout=out, stderr=subprocess.PIPE, text=True, timeout=60, env=env,
                          preexec_fn=bound, check=False)


class Folder(unittest.TestCase):
    def setUp(self):
        self.figures = {}
        kept = tempfile.TemporaryDirectory()
        self.addCleanup(kept.cleanup)
        self.folder = pathlib.Path(kept.name)

    # Some milliseconds show what is written. Longer, where threads have to meet or a stream has to come round.
    def run_json(self, *arguments, seconds="0.002"):
        out = self.folder / "out.json"
        done = cubby("bench", *arguments, "--seconds", seconds, "--rounds", "2", "--json", str(out))
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(out.read_text()), done.stdout

    def check_schema(self, data):
        self.assertEqual(set(data), {"machine", "seed", "results"})
        self.assertLessEqual({"cpu", "cores", "memory_bytes", "l3_bytes", "kernel", "huge_pages", "compiler"},
                             set(data["machine"]))
        for r in data["results"]:
            self.assertLessEqual(FIELDS, set(r))
            self.assertTrue(r["rounds_mops"])
            self.assertTrue(all(m > 0 for m in r["rounds_mops"]), r)
            self.assertLessEqual(min(r["rounds_mops"]), r["median_mops"])
            self.assertGreaterEqual(max(r["rounds_mops"]), r["median_mops"])

    # Title to legend, in the page that the arguments draw.
    def legends(self, *arguments):
        page = self.folder / "page"
        done = cubby("bench", *arguments, "--rounds", "1", "--report", str(page))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("too small", done.stderr, "gnuplot has space for the plot beside its legend")
        figures = re.findall(r'<figure role="img" aria-label="([^"]*)">(.*?)</figure>', (page / "index.html").read_text(), re.DOTALL)
        self.assertEqual(len({title for title, _ in figures}), len(figures))
        self.figures = dict(figures)
        return {title: self.legend(svg) for title, svg in figures}

    def texts(self, svg, before=""):
        return [re.sub(r"<[^>]*>", "", text).strip() for text in re.findall(before + r"<text>(.*?)</text>", svg, re.DOTALL)]

    def legend(self, svg):
        texts = self.texts(svg)
        engines = re.compile(r"(?:dlht[a-z-]*|dramhit|limit|std|relativistic|seph|iceberg[a-z-]*|durable[a-z-]*|ddds|rwlock|u?rcu[a-z-]*|alone|with those before it)(?: \w+=\w+)*")
        names = [text for text in texts if engines.fullmatch(text)]
        self.assertEqual(len(re.findall(r'<g id="gnuplot_plot_\d+', svg)), len(names), "each line is named")
        return sorted(names)

    def refused(self, *arguments, says, env=None, stdin=None):
        done = cubby(*arguments, env=env, stdin=stdin)
        self.assertEqual(done.returncode, 2, (arguments, done.stdout, done.stderr))
        self.assertEqual(done.stdout, "")
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertIn(says, done.stderr)
