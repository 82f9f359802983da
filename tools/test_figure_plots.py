#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# The plots of results: what is drawn, and that a picture which is not what its results say is found.
import re
import shutil
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent))
from figure_results import drawing, pages, plots, runs  # noqa: E402

SVG = "{http://www.w3.org/2000/svg}"
ONE = {"id": "one", "title": "One & two", "kind": "rates", "runs": ["a"]}


def row(engine, mops, spread=0.1, workload="get", batch=1):
    return {"engine": engine, "workload": workload, "batch": batch, "median_mops": mops, "spread": spread, "bytes_per_key": 20.4}


def result(rows=(), output=(), date="2026-01-01", cpu="AMD EPYC", commit="abc"):
    return {"command": "cubby bench", "commit": commit, "date": date, "machine": {"cpu": cpu, "cores": 2}, "output": list(output),
            "results": list(rows)}


def texts_of(picture):
    return ["".join(found.itertext()) for found in ElementTree.fromstring(picture).iter(f"{SVG}text")]


def bars_of(picture):
    """(colour, left end, length) of each bar; those of the legend have 12 pixels."""
    out = []
    for found in ElementTree.fromstring(picture).iter(f"{SVG}polygon"):
        across = [float(point.split(",")[0]) for point in found.get("points").split()]
        out.append((found.get("fill"), min(across), max(across) - min(across)))
    return [bar for bar in out if abs(bar[2] - 12) > 0.1]


class Folder(unittest.TestCase):
    """With a folder for pictures, and a list of plots."""

    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.root = Path(place.name)
        self.folder = self.root / "docs" / "performance" / "plots"
        self.folder.mkdir(parents=True)
        for name, value in (("ROOT", self.root), ("FOLDER", self.folder), ("plots", lambda: {"one": ONE})):
            patch = mock.patch.object(plots, name, value)
            patch.start()
            self.addCleanup(patch.stop)
        self.results = {"here": {"a": result([row("dlht", 20), row("boost", 40, 0.5), row("limit", 80)])}}


@unittest.skipIf(shutil.which("gnuplot") is None, "gnuplot is not installed")
class Drawn(Folder):
    def picture(self, plot=ONE, results=None):
        return drawing.draw(plots.program_of(plot, results or self.results), plot["title"])

    def test_bars_begin_at_zero_and_are_as_long_as_what_was_measured(self):
        bars = bars_of(self.picture())
        self.assertEqual(len({round(left) for _, left, _ in bars}), 1)
        self.assertAlmostEqual(bars[0][2] / bars[1][2], 2, delta=0.02)
        self.assertEqual(len({colour for colour, _, _ in bars}), 2, "ours and the others")

    def test_names_values_units_machine_and_run_are_there(self):
        texts = texts_of(self.picture())
        for wanted in ("One & two", "dlht", "boost", "20.0", "40.0 !", "million operations a second", "AMD EPYC, 2 cores", "ours", "others",
                       "Run of docs/results/runs.toml: a", "AMD EPYC, 2 cores: commit abc", "find, one key a call"):
            self.assertIn(wanted, texts)
        self.assertNotIn("limit", texts, "a bound is a line, and no bar")
        self.assertLess(texts.index("boost"), texts.index("dlht"), "the first one stands first, also if it is not ours")

    def test_two_machines_stand_side_by_side(self):
        other = result([row("dlht", 30), row("boost", 60), row("limit", 90)], cpu="Intel(R) Xeon(R) Processor", date="2026-02-01")
        texts = texts_of(self.picture(results={**self.results, "there": {"a": other}, "third": {"b": other}}))
        self.assertLess(texts.index("Intel Xeon, 2 cores"), texts.index("AMD EPYC, 2 cores"), "the newest is the first")
        for wanted in ("20.0", "30.0", "60.0"):
            self.assertIn(wanted, texts)

    def test_the_same_results_make_the_same_bytes(self):
        self.assertEqual(self.picture(), self.picture())
        self.assertNotRegex(self.picture(), r"(?i)gnuplot \d|patchlevel|20\d\d-\d\d-\d\d")

    def test_a_picture_is_written_once(self):
        self.assertEqual(list(plots.write(self.results)), [Path("docs/performance/plots/one.svg")])
        self.assertEqual(list(plots.write(self.results)), [])
        self.assertEqual(list(plots.problems(self.results, {"one"})), [])

    def test_a_stale_or_changed_picture_is_found(self):
        list(plots.write(self.results))
        file = self.folder / "one.svg"
        newer = {"here": {"a": result([row("dlht", 21), row("boost", 40), row("limit", 80)])}}
        self.assertIn("one.svg: is not what docs/results says", " ".join(plots.problems(newer, {"one"})))
        file.write_text(file.read_text().replace(">20.0<", ">50.0<"))
        self.assertIn("one.svg: is not what docs/results says", " ".join(plots.problems(self.results, {"one"})))

    def test_too_large_a_picture_is_refused(self):
        with mock.patch.object(plots, "LARGEST", 100), self.assertRaisesRegex(runs.Failure, "one: a picture of [0-9,]+ bytes; 100 are allowed"):
            list(plots.write(self.results))

    def test_what_gnuplot_says_is_one_line(self):
        with self.assertRaisesRegex(drawing.NotDrawn, "^gnuplot: [^\n]+$"):
            drawing.draw("nonsense\n", "x")

    def test_each_picture_of_the_tree_can_be_drawn_again(self):
        """Another version of gnuplot may draw other bytes; what is said has to be the same."""
        all_results = {name: runs.results_of(name) for name in runs.machines()}
        folder = runs.ROOT / "docs" / "performance" / "plots"
        with mock.patch.object(plots, "ROOT", runs.ROOT), mock.patch.object(plots, "FOLDER", folder):
            for file in sorted(folder.glob("*.svg")):
                plot = LISTED()[file.stem]
                fresh = drawing.draw(plots.program_of(plot, all_results), plot["title"])
                self.assertEqual(texts_of(fresh), texts_of(file.read_text()), file.name)
                self.assertLess(len(file.read_text()), plots.LARGEST)


LISTED = plots.plots


class Found(Folder):
    """What needs no gnuplot."""

    def test_a_missing_picture_is_found(self):
        self.assertEqual(list(plots.problems(self.results, {"one"})),
                         ["docs/performance/plots/one.svg: is not what docs/results says: run tools/figures.py write"])

    def test_a_picture_of_no_plot_and_a_plot_of_no_page_are_found(self):
        (self.folder / "old.svg").touch()
        found = " ".join(plots.problems(self.results, set()))
        self.assertIn("plots/old.svg: docs/results/plots.toml has no such plot", found)
        self.assertIn("plots.toml: no page shows one", found)

    def test_a_page_shows_a_picture_with_a_text_from_the_results(self):
        text = "<!-- figures: plot one -->\n<!-- end of figures -->\n"
        fresh = pages.written(text, self.results, Path("docs/performance/page.md"))
        self.assertIn("![One & two, on AMD EPYC, 2 cores, million operations a second. find, one key a call: dlht 20.0, boost 40.0.](plots/one.svg)",
                      fresh)
        self.assertIn("](performance/plots/one.svg)", pages.written(text, self.results, Path("docs/page.md")))
        with self.assertRaisesRegex(runs.Failure, "`two` is no plot"):
            pages.written(text.replace("one", "two"), self.results, Path("docs/page.md"))

    def test_a_plot_without_results_is_one_line(self):
        with self.assertRaisesRegex(runs.Failure, "one: no machine has results of all of a: run make figures"):
            list(plots.problems({"here": {}}, {"one"}))

    def test_without_gnuplot_one_line_says_how_to_get_it(self):
        with (mock.patch.object(drawing.subprocess, "run", side_effect=FileNotFoundError),
              self.assertRaisesRegex(runs.Failure, "gnuplot is not installed: run tools/install_packages.sh demo")):
            list(plots.write(self.results))


class Read(unittest.TestCase):
    """What is taken from the output of programs."""

    def test_tails(self):
        output = ["                          Mops/s    +-     p50      p99     p99.9     p99.99    +-    longest     of all  window",
                  "two looks at the clock     32.38    1%      60       70       171        591   31%       4.37      14.32",
                  "seph, it grows              3.87   15%     342     2810     11931      63897   32%       2.75       3.68    0.43",
                  "the same, background        3.33   16%     342     2613     15974     115174   47%       6.62      14.45    0.42"]
        panel, = plots.tails(ONE, [{"a": result(output=output)}])
        self.assertEqual([(one.name, one.values) for one in panel.rows],
                         [("seph, grows", [[342, 2810, 11931, 63897, 3.68e6]]), ("seph, background", [[342, 2613, 15974, 115174, 14.45e6]])])

    def test_stores(self):
        output = ["cubby        load      1734749     6%     67.8        60", "cubby        get       7537030    11%     99.1         0",
                  "cubby        mixed     5148508     1%     74.2        62", "rocksdb      load       186684     6%     95.5         2",
                  "rocksdb      get        492067     9%     98.1         5", "rocksdb      mixed      219101     8%     95.7         2"]
        load, *_, longest = plots.stores({**ONE, "runs": ["a"]}, [{"a": result(output=output)}])
        self.assertEqual([(one.name, one.ours, one.values) for one in load.rows], [("cubby", True, [1.734749]), ("rocksdb", False, [0.186684])])
        self.assertEqual([one.name for one in longest.rows], ["rocksdb", "cubby"], "less is better")

    def test_ahead_says_on_which_machine_we_lose(self):
        plot = {**ONE, "panels": ["words"]}
        losing, winning = result([row("dlht", 10), row("seph", 5), row("boost", 20), row("limit", 80)]), result([row("dlht", 30, 0.4), row("boost", 20)])
        panel, = plots.ahead(plot, [{"a": losing}, {"a": winning}])
        self.assertEqual([(one.name, one.ours, one.values, one.doubts) for one in panel.rows],
                         [("find", [False, True], [0.5, 1.5], [False, True])])
        self.assertEqual(panel.limits, [1, None])

    def test_bytes_have_the_smallest_first(self):
        rows = [row("dlht", 1), {**row("iceberg", 1), "bytes_per_key": 18.6}]
        panel, = plots.bytes_of({**ONE, "payload": 16}, [{"a": result(rows)}])
        self.assertEqual([one.name for one in panel.rows], ["iceberg", "dlht"])
        self.assertEqual(panel.limits, [16])

    def test_each_plot_is_complete(self):
        for name, plot in plots.plots().items():
            self.assertEqual(set(plot) - {"payload", "panels"}, {"id", "title", "runs", "kind"}, name)
            self.assertIn(plot["kind"], plots.KINDS)
            self.assertLessEqual(set(plot["runs"]), set(runs.runs()))
            self.assertRegex(plot["id"], r"^[a-z-]+$")
            self.assertIsNone(re.search(r"[\[\]|`]", plot["title"]), "it is a text in brackets, too")


if __name__ == "__main__":
    unittest.main()
