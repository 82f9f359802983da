#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# The figures of the prose: which numbers are figures, and what has to stand behind them.
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent))
from figure_results import prose  # noqa: E402

MARKED = "# Page\n<!-- all figures are generated -->\n"
PERFORMANCE = Path("docs/performance/page.md")


def figures(line, after=""):
    return [figure for figure, _, _ in prose.figures_of(line, prose.FIGURE, after)]


def result(*output, rows=()):
    return {"output": list(output), "results": list(rows)}


STORES = result("words, 2 threads", "cubby        load      1734749     6%     67.8        60", "cubby        mixed     5148508     1%     74.2        62",
                "rocksdb      mixed      219101     8%     95.7         2", "! cubby mixed 77")
BENCH = result(rows=[{"engine": engine, "workload": "get", "batch": batch, "median_mops": mops, "spread": 0.1, "bytes_per_key": 46.3}
                     for engine, batch, mops in (("dlht", 1, 40.0), ("seph", 1, 8.0), ("dlht", 32, 110.0), ("seph", 32, 13.75))])


class Figures(unittest.TestCase):
    def test_decimals_and_numbers_with_units(self):
        for text, wanted in (("It is 1.5 then.", ["1.5"]), ("62 ms, 5 us", ["62 ms", "5 us"]), ("it takes 3 to 5 times", ["3 to 5 times"]),
                             ("389 and 1,080 ms", ["389 and 1,080 ms"]), ("35 million inserts a second", ["35 million inserts a second"]),
                             ("19 bytes an entry", ["19 bytes an entry"]), ("at 75 % load", ["75 %"]), ("a 4 MB file, 12 GB/s", ["4 MB", "12 GB/s"]),
                             ("58 instructions", ["58 instructions"]), ("`1.5` times, `20 ms`", ["1.5 times", "20 ms"]), ("114 Mops", ["114 Mops"]), ("`some 20 ms`", ["20 ms"])):
            self.assertEqual(figures(text), wanted)

    def test_sizes_names_commands_and_links_are_none(self):
        for text in ("64 bytes a line", "2 MiB pages, 64 KiB", "`p99.9` and `bench_fills 95 2.5`", "[a](page-1.5.md)", "<!-- 3.5 ms -->", "20 M keys",
                     "32 keys a call", "12-40", "two threads", "2^26 slots", "version 2.0.0", "C++20", "10 of 15"):
            self.assertEqual(figures(text), [], text)

    def test_a_figure_goes_on_in_the_next_line(self):
        self.assertEqual(figures("it takes 10", "ms at most"), ["10 ms"])
        self.assertEqual(figures("it takes 10", "ms at 20 ms"), ["10 ms"], "the other one is of the next line")

    def test_a_number_may_be_rounded(self):
        for part, value, wanted in (("62 ms", 62.4, True), ("62 ms", 63, False), ("60 ms", 62, True), ("33 ms", 32.74, True), ("1.5", 1.52, True),
                                    ("1.5", 1.6, False), ("12 us", 11702, True), ("12 us", 11.7, True), ("12 %", 11702, False), ("79 times", 78.5, True)):
            self.assertEqual(prose.says(part, value), wanted, (part, value))


class Sources(unittest.TestCase):
    """Pages of docs/performance."""

    def problems(self, text, page=PERFORMANCE):
        return list(prose.problems_of_performance(page, text, {"here": {"stores": STORES, "bench": BENCH}}))

    def test_a_figure_without_a_source_is_found(self):
        for text in ("It took 62 ms.", "It took `62 ms`.", "| a | 1.5 |", "It took 62\nms."):
            self.assertRegex(" ".join(self.problems(MARKED + text + "\n")), r"^docs/performance/page.md:3: [\d. ms]+: no result has this figure")

    def test_a_row_has_it_or_has_it_not(self):
        for source, says in (("stores: cubby mixed", None), ("stores: cubby load", "no row `cubby load` of stores has it"), ("other: x", "no machine has a result of other"),
                             ("stores: cubb mixed", "has it"), ("stores: cubby load | cubby mixed", None)):
            found = " ".join(self.problems(f"{MARKED}It took 62 ms<!-- of {source} -->.\n"))
            self.assertEqual(found == "", says is None, found)
            self.assertIn(says or "", found)

    def test_a_remark_of_a_program_is_no_row(self):
        self.assertIn("has it", " ".join(self.problems(f"{MARKED}It took 77 ms<!-- of stores: cubby mixed -->.\n")))

    def test_a_ratio_of_two_rows(self):
        for text, good in (("23 times<!-- of stores: cubby mixed / rocksdb mixed -->", True), ("24 times<!-- of stores: cubby mixed / rocksdb mixed -->", False),
                           ("5 times<!-- of bench: get dlht batch=1 / get seph batch=1 -->", True), ("8 times<!-- of bench: get dlht batch=1 / get seph batch=1 -->", False),
                           ("5 to 8 times<!-- of bench: dlht / seph -->", True), ("46 bytes an entry<!-- of bench: get dlht -->", True)):
            self.assertEqual(self.problems(f"{MARKED}It is {text}.\n") == [], good, text)

    def test_generated_blocks_are_left_out(self):
        self.assertEqual(self.problems(MARKED + "<!-- figures: block a -->\n3.5 ms\n<!-- end of figures -->\n"), [])

    def test_every_page_of_performance_is_marked(self):
        self.assertEqual(self.problems("# Page\n"), ["docs/performance/page.md: the line `<!-- all figures are generated -->` is missing"])

    def test_a_file_has_what_was_chosen(self):
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(prose, "ROOT", Path(folder)):
            (Path(folder) / "a.cpp").write_text("constexpr int rest = 10, share = 0.3, most = 4'000;\n")
            for line, text, says in (("a.cpp: 10 ms, 30 %", "Rests of 10 ms and 30 %.", ""), ("a.cpp: 1 ms", "A rest of 1 ms.", "no such number"),
                                     ("a.cpp: 10 ms", "No rest.", "does not have it: remove it there"), ("b.cpp: 10 ms", "A rest of 10 ms.", "is not there"),
                                     ("a.cpp: 10 ms", "A rest of 10 ms and 10 us.", ":4: 10 us: no result")):
                found = " ".join(self.problems(f"{MARKED}<!-- from {line} -->\n{text}\n"))
                self.assertEqual(found == "", says == "", found)
                self.assertIn(says, found)


class Others(unittest.TestCase):
    """README.md, other pages of docs, and READMEs of engines."""

    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.root = Path(place.name)
        (self.root / "docs").mkdir()
        (self.root / "docs" / "with.md").write_text("It took 19.2 of them.\n")
        patch = mock.patch.object(prose, "ROOT", self.root)
        patch.start()
        self.addCleanup(patch.stop)

    def is_refused(self, text):
        return list(prose.problems_of_others(Path("docs/page.md"), text)) != []

    def test_a_figure_alone_is_refused(self):
        for text in ("It takes 19 ms.\n", "`a.name` takes 19 ms.\n", "See [there](with.md). It takes 23 ms.\n", "See [there](gone.md). It takes 19 ms.\n",
                     "`make x`\n\nA paragraph between.\n\nIt takes 19 ms.\n", "| a |\n|---|\n| 19 % |\n"):
            self.assertTrue(self.is_refused(text), text)

    def test_what_is_a_source(self):
        for text in ("`bench_fills 95` took 19 ms.\n", "`cubby bench --keys 5M`:\n\n| a |\n|---|\n| 19 % |\n", "With `--space 200` it is 37 %.\n",
                     "See [there](with.md): 19 ms.\n", "It took 19 ms (*raw*).\n", "## `make test`\nIt takes 19 ms.\n", "`tools/run.py` took 19 s.\n"):
            self.assertFalse(self.is_refused(text), text)

    def test_numbers_without_units_and_code_are_left_out(self):
        for text in ("Section 4.3 has 20 keys.\n", "```\n19 ms\n```\n"):
            self.assertFalse(self.is_refused(text), text)

    def test_the_pages_are_all_but_the_two_ledgers(self):
        for name in ("README.md", "docs/dead-ends.md", "docs/performance/raw.md", "docs/a.md", "include/engine/README.md", "tests/README.md"):
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            (self.root / name).touch()
        self.assertEqual([str(path.relative_to(self.root)) for path in prose.pages()],
                         ["README.md", "docs/a.md", "docs/with.md", "include/engine/README.md"])

    def test_the_kind_of_a_page(self):
        for page, wanted in (("docs/performance.md", True), ("docs/performance/a.md", True), ("docs/performances.md", False), ("README.md", False)):
            self.assertEqual(prose.is_of_performance(page), wanted, page)


if __name__ == "__main__":
    unittest.main()
