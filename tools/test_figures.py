#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# The script that writes figures into pages.
import contextlib
import io
import json
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent))
import figures  # noqa: E402
from figure_results import checks, goals, pages, runs  # noqa: E402

ABOUT = {"cpu": "Some", "cores": 2, "memory_gib": 24, "huge_pages": "madvise"}


def row(engine, workload, mops, spread=0.1):
    return {"engine": engine, "workload": workload, "batch": 1, "median_mops": mops, "spread": spread, "bytes_per_key": 20.0,
            "huge_pages_percent": 99.0}


def result(**more):
    return {"command": "cubby bench", "commit": "abc", "date": "2026-01-01", "machine": ABOUT, "output": ["one 1.5"], "results": [],
            **more}


class Pages(unittest.TestCase):
    def written(self, text, **results):
        return pages.written(text, {"here": results}, "page.md")

    def test_a_block_is_what_the_command_printed(self):
        text = "before\n<!-- figures: block a -->\nold\n<!-- end of figures -->\nafter\n"
        fresh = self.written(text, a=result())
        self.assertIn("```\none 1.5\n```", fresh)
        self.assertNotIn("old", fresh)
        self.assertTrue(fresh.startswith("before\n") and fresh.endswith("after\n"))
        self.assertEqual(self.written(fresh, a=result()), fresh, "a second time changes nothing")

    def test_a_matrix_marks_the_best_and_says_where_we_lose(self):
        rows = [row("dlht", "get", 30), row("iceberg", "get", 10, 0.5), row("boost", "get", 40), row("dlht", "miss", 50), row("boost", "miss", 25)]
        fresh = self.written("<!-- figures: matrix a -->\n<!-- end of figures -->\n", a=result(results=rows))
        self.assertIn("| `dlht` | **30.0** | **50.0** |", fresh)
        self.assertIn("| `iceberg` | 10.0 ! | - |", fresh)
        self.assertIn("| boost | **40.0** | **25.0** |", fresh)
        self.assertIn("we lose: boost is ahead of `dlht` (0.75 of boost)", fresh)
        self.assertIn("take `dlht` (2.00 of boost)", fresh)

    def test_the_front_page_has_the_best_rival_of_each_line(self):
        single = result(results=[row("dlht", "get", 30), row("seph", "get", 90), row("boost", "get", 40), row("tbb", "get", 10)])
        batch = result(results=[row("dlht", "get", 80), row("boost", "get", 40)])
        fill = result(results=[row("dlht", "populate", 5), row("folklore", "populate", 10)])
        fresh = self.written("<!-- figures: front words=a+b =c other=a:miss -->\n<!-- end of figures -->\n", a=single, b=batch, c=fill)
        self.assertIn("| words: find | 30.0 | boost 40.0 | 0.75 | words: find | 80.0 | boost 40.0 | 2.00 |", fresh)
        self.assertIn("| fill | 5.0 | folklore 10.0 | 0.50 |", fresh)
        self.assertNotIn("other: ", fresh, "workloads that were not chosen")

    def test_instructions_are_those_that_the_check_compares(self):
        stored = json.loads((runs.ROOT / "bench" / "instructions.json").read_text())["instructions"]
        fresh = self.written("<!-- figures: instructions dlht seph -->\n<!-- end of figures -->\n")
        self.assertIn(f"| `dlht` | {stored['dlht find']:.0f} | {stored['dlht miss']:.0f} |", fresh)
        self.assertIn(f"| `dlht`, by a handle with a guard | {stored['dlht guarded_find']:.0f} |", fresh)
        self.assertNotIn("`seph`, by a handle", fresh, "what was not counted has no row")
        with self.assertRaisesRegex(runs.Failure, "no `dhlt`"):
            self.written("<!-- figures: instructions dhlt -->\n<!-- end of figures -->\n")

    def test_rows_leave_out_head_and_conclusion(self):
        output = ["machine 9.9", "", "workload  engine", "-----", "get  dlht  1.25", "* a remark 8.8", "", "Conclusion", "7.7"]
        fresh = self.written("<!-- figures: rows a -->\n<!-- end of figures -->\n", a=result(output=output))
        self.assertIn("```\nworkload  engine\nget  dlht  1.25\n```", fresh)
        for other in ("9.9", "8.8", "7.7"):
            self.assertNotIn(other, fresh)

    def test_rows_want_a_table(self):
        with self.assertRaisesRegex(runs.Failure, "a: its output has no table of `cubby bench`"):
            self.written("<!-- figures: rows a -->\n<!-- end of figures -->\n", a=result())

    def test_ratios_of_one_engine_over_others(self):
        rows = [row("dlht", "get", 30), row("boost", "get", 40), row("tbb", "get", 10), row("limit", "get", 60, 0.4), row("dlht", "miss", 5)]
        fresh = self.written("<!-- figures: ratios a:dlht/limit,best-rival,tbb -->\n<!-- end of figures -->\n", a=result(results=rows))
        self.assertIn("| Some: `dlht` over | find | miss |", fresh)
        self.assertIn("| `limit` | 0.50 ! | - |", fresh)
        self.assertIn("| the best rival | 0.75 (boost) | - |", fresh)
        self.assertIn("| tbb | 3.00 | - |", fresh)

    def test_ratios_say_under_which_condition(self):
        rows = [{**row(engine, "get", mops), "batch": batch} for engine, mops, batch in
                (("dlht", 10, 1), ("boost", 20, 1), ("dlht", 60, 32), ("boost", 30, 32))]
        fresh = self.written("<!-- figures: ratios a:dlht/boost -->\n<!-- end of figures -->\n", a=result(results=rows))
        self.assertIn("| boost, one key a call | 0.50 |", fresh)
        self.assertIn("| boost, 32 keys a call | 2.00 |", fresh)

    def test_ratios_with_a_misspelt_argument(self):
        for wrong in ("a:dlht", "a/dlht:boost"):
            with self.assertRaises(runs.Failure):
                self.written(f"<!-- figures: ratios {wrong} -->\n<!-- end of figures -->\n", a=result(results=[row("dlht", "get", 1)]))

    def test_ratios_of_each_machine(self):
        one, other = [result(results=[row("dlht", "get", mops), row("tbb", "get", 1)], machine={**ABOUT, "cpu": cpu}) for mops, cpu in ((2, "One X"), (3, "Other(R) Y"))]
        text = "<!-- figures: ratios a:dlht/tbb -->\n<!-- end of figures -->\n"
        fresh = pages.written(text, {"m": {"a": one}, "n": {"a": other}, "without": {"b": result(machine={**ABOUT, "cpu": "Third Z"})}}, "page.md")
        self.assertRegex(fresh, r"One: `dlht` over.*\n.*\n.*tbb \| 2.00 \|[^?]*Other: `dlht` over.*\n.*\n.*tbb \| 3.00 \|")
        self.assertEqual(fresh.count(" over "), 2)

    def test_refusals(self):
        for text in ("<!-- figures: front =a+b -->\n<!-- end of figures -->\n", "<!-- figures: block b -->\n<!-- end of figures -->\n", "<!-- figures: drawing a -->\n<!-- end of figures -->\n",
                     "<!-- figures: block a -->\nno end\n"):
            with self.assertRaises(runs.Failure):
                self.written(text, a=result())

    def test_each_page_is_what_its_results_say(self):
        self.assertEqual(list(checks.problems()), [])

    def test_a_changed_page_and_a_changed_command_are_found(self):
        page = next(p for p in pages.pages() if p.name == "in-place.md")
        name, kept = next((m, runs.results_of(m)) for m in runs.machines() if "in-place" in runs.results_of(m))
        changed = {**kept, "in-place": {**kept["in-place"], "output": ["other 9.9"], "command": "other"}}
        with mock.patch.object(checks, "results_of", lambda m: changed if m == name else {}):
            found = " ".join(checks.problems())
        self.assertIn(f"{page.relative_to(runs.ROOT)}: its figures are not those", found)
        self.assertIn("in-place.json: the command is not that of runs.toml", found)


    def test_all_runs_are_listed(self):
        old, new = result(), result(commit="def", date="2026-02-01")
        with mock.patch.object(pages, "runs", lambda: {"a": {}, "b": {}}):
            fresh = pages.written("<!-- figures: runs all -->\n<!-- end of figures -->\n", {"m": {"a": old, "b": new}, "n": {"a": new}}, "page.md")
        self.assertIn("| run | m | n |", fresh)
        self.assertIn("| `a` | abc, 2026-01-01 | def, 2026-02-01 |", fresh)
        self.assertIn("| `b` | def, 2026-02-01 | - |", fresh)


class Goals(unittest.TestCase):
    def table(self, *listed, **results):
        with mock.patch.object(goals, "goals", lambda: list(listed)):
            return pages.written("<!-- figures: goals all -->\n<!-- end of figures -->\n", {"here": results}, "page.md")

    def test_a_ratio_is_reached_or_missed(self):
        rows = [row("dlht", "get", 30, 0.02), row("limit", "get", 40, 0.02), row("tbb", "get", 10, 0.02), row("boost", "get", 6, 0.5)]
        fresh = self.table({"what": "A", "run": "a", "ratio": ["dlht get", "limit get"], "bound": ">= 0.8"},
                           {"what": "B", "run": "a", "ratio": ["dlht get", "tbb|boost get"], "bound": ">= 2"},
                           {"what": "C", "run": "a", "ratio": ["dlht get", "best-rival get"], "bound": "<= 2"},
                           {"what": "D", "run": "a", "ratio": ["dlht get", "boost get"], "bound": ">= 4"}, a=result(results=rows))
        self.assertIn("| A | &ge; 0.8 | 0.75, missed | `a` |", fresh)
        self.assertIn("| B | &ge; 2 | 3.00, reached | `a` |", fresh)
        self.assertIn("| C | &le; 2 | 3.00, missed | `a` |", fresh)
        self.assertIn("| D | &ge; 4 | 5.00, reached, within the spread | `a` |", fresh)
        self.assertIn("Some: 2 of 4 reached.", fresh)

    def test_a_value_just_beside_its_bound_does_not_look_like_it(self):
        rows = [row("dlht", "get", 0.7996, 0), row("limit", "get", 1, 0)]
        goal = {"what": "A", "run": "a", "ratio": ["dlht get", "limit get"], "bound": ">= 0.80"}
        self.assertIn("| 0.7996, missed |", self.table(goal, a=result(results=rows)))
        self.assertIn("| 0.80, reached |", self.table({**goal, "bound": ">= 0.79"}, a=result(results=rows)))

    def test_what_a_program_printed(self):
        lines = ["p99.9 2373, longest 24726008", "x 3.5 units", "x 7.5 units"]
        fresh = self.table({"what": "A", "run": "a", "match": r"longest (\d+)", "times": 1e-6, "bound": "<= 5", "unit": "ms", "decimals": 1},
                           {"what": "B", "run": "a", "match": r"x ([\d.]+)", "pick": "largest", "bound": "<= 8"},
                           {"what": "C", "run": "a", "match": r"x (7.5)", "divide": r"x (3.5)", "bound": ">= 1"}, a=result(output=lines))
        self.assertIn("| A | &le; 5 ms | 24.7 ms, missed | `a` |", fresh)
        self.assertIn("| B | &le; 8 | 7.50, reached | `a` |", fresh)
        self.assertIn("| C | &ge; 1 | 2.14, reached | `a` |", fresh)

    def test_a_page_shows_its_own_goals(self):
        rows = [{**row("dlht", "get", 30), "bytes_per_key": 20}]
        listed = [{"what": "A", "run": "a", "bytes": "dlht get", "bound": "<= 19", "unit": "bytes", "decimals": 1, "page": "full"},
                  {"what": "B", "run": "a", "bytes": "dlht get", "bound": "<= 20"}]
        with mock.patch.object(goals, "goals", lambda: listed):
            fresh = "\n".join(goals.table({"here": {"a": result(results=rows)}}, "full"))
            self.assertIn("| A | &le; 19 bytes | 20.0 bytes, missed | `a` |", fresh)
            self.assertIn("Some: 0 of 1 reached.", fresh)
            with self.assertRaisesRegex(runs.Failure, "no goal has `page = \"other\"`"):
                list(goals.table({}, "other"))

    def test_each_machine_has_a_column(self):
        both = {name: {"a": result(results=[row("dlht", "get", mops)], machine={**ABOUT, "cpu": cpu})}
                for name, mops, cpu in (("m", 2, "One X"), ("n", 3, "Other(R) Y"))}
        both["n"]["b"] = both["n"]["a"]
        both["without"] = {"c": result()}
        listed = [{"what": what, "run": run, "bytes": "dlht get", "bound": "<= 20"} for what, run in (("A", "a"), ("B", "b"))]
        with mock.patch.object(goals, "goals", lambda: listed):
            fresh = "\n".join(goals.table(both))
        self.assertIn("| goal | bound | One | Other | run |", fresh)
        self.assertIn("| B | &le; 20 | - | 20.00, reached | `b` |", fresh)
        self.assertIn("One: 1 of 1 reached; Other: 2 of 2 reached.", fresh)

    def test_machines_of_one_maker_have_longer_names(self):
        machines = [{"a": result(machine={**ABOUT, "cpu": cpu})} for cpu in ("One(R) X 1", "One(R) X 2", "One(R) X 1")]
        self.assertEqual(runs.short_names({"m": machines[0], "none": {}}), {"m": "One"})
        self.assertEqual(runs.short_names({"m": machines[0], "n": machines[1]}), {"m": "One X 1", "n": "One X 2"})
        self.assertEqual(runs.short_names({"m": machines[0], "n": machines[2]}), {"m": "m", "n": "n"})
        self.assertEqual(runs.short_names({}), {})

    def test_a_goal_without_evidence_is_no_goal(self):
        rows = [row("dlht", "get", 30)]
        for wrong, says in (({"ratio": ["dlht get", "limit get"], "run": "a"}, "a has no row `limit get`"),
                            ({"match": "nothing ([0-9])", "run": "a"}, "a printed nothing like"),
                            ({"match": "one ([0-9])", "run": "b"}, "no machine has a result of b")):
            with self.assertRaisesRegex(runs.Failure, says):
                self.table({"what": "A", "bound": ">= 1", **wrong}, a=result(results=rows))

    def test_each_goal_names_a_run(self):
        for goal in goals.goals():
            self.assertIn(goal["run"], runs.runs())
            self.assertEqual(len({"ratio", "match", "bytes"} & set(goal)), 1, goal["what"])
            if "page" in goal:
                page = runs.ROOT / "docs" / "performance" / f"{goal['page']}.md"
                self.assertIn(f"<!-- figures: goals {goal['page']} -->", page.read_text())


class Runs(unittest.TestCase):
    def test_each_run_is_complete_and_shown_on_a_page(self):
        shown = " ".join(" ".join(re.findall(r"(?m)^<!-- figures: .+ -->$", p.read_text())) for p in pages.pages())
        shown += " " + " ".join(goal["run"] for goal in goals.goals()) + " "
        for name, one in runs.runs().items():
            self.assertEqual(set(one) - {"over_time"}, {"id", "command", "seconds"}, name)
            self.assertRegex(shown, f"[ +=]{name}[ +:]")

    def test_the_build_knows_the_program_of_each_run(self):
        known = {folder: set(re.findall(r"\w+", (runs.ROOT / folder / "CMakeLists.txt").read_text())) for folder in ("bench", "tests")}
        for name, one in runs.runs().items():
            target = runs.target_of(one)
            there = known["bench"] & {target, target.removeprefix("bench_")} or target in known["tests"] or target == "cubby_program"
            self.assertTrue(there, f"{name}: {target}")

    def test_a_program_is_searched_in_bench_before_tests(self):
        with tempfile.TemporaryDirectory() as folder:
            build = Path(folder)
            for place in ("cubby", "bench/cubby", "bench/bench_a", "tests/cubby_b", "bench/both", "tests/both"):
                (build / place).parent.mkdir(exist_ok=True)
                (build / place).touch()
            for command, place in (("cubby bench", "cubby"), ("bench_a 1", "bench/bench_a"), ("cubby_b --x", "tests/cubby_b"), ("both", "bench/both")):
                self.assertEqual(runs.program_of({"command": command}, build), build / place)
            with self.assertRaisesRegex(runs.Failure, "bench/c or .*tests/c is not there: make figures builds it"):
                runs.program_of({"command": "c"}, build)

    def test_a_machine_is_a_plain_folder(self):
        self.assertEqual(runs.folder_of("Intel(R) Xeon(R) Processor", 2), "intel-xeon-processor-2-cores")
        self.assertEqual(runs.folder_of("AMD EPYC", 2), "amd-epyc-2-cores")

    def test_a_page_that_was_written_makes_no_other_commit(self):
        asked = []

        def run(words, **more):
            asked.append(words)
            return mock.Mock(stdout="abc\n" if words[1] == "log" else "")
        with mock.patch.object(runs.subprocess, "run", run):
            self.assertEqual(runs.commit(), "abc")
        for words in asked:
            self.assertNotIn("docs", words)
            self.assertIn(":(exclude)*.md", words)

    def test_a_result_is_saved_with_its_command_and_machine(self):
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(runs, "RESULTS", Path(folder)):
            runs.save({"id": "a", "command": "x"}, {"seconds": 1, "output": ["o"], "results": []}, "m", ABOUT, "abc-dirty")
            self.assertEqual(runs.results_of("m")["a"]["command"], "x")
            self.assertEqual([p.name for p in (Path(folder) / "m").iterdir()], ["a.json"])

    def test_the_commit_is_that_of_before_the_run(self):
        """The run takes minutes, and somebody may change a file meanwhile."""
        now = ["before"]
        saved = []
        with contextlib.ExitStack() as stack:
            stack.enter_context(mock.patch.object(runs, "commit", lambda: now[0]))
            stack.enter_context(mock.patch.object(runs, "carry_out", lambda *_: now.__setitem__(0, "after")))
            stack.enter_context(mock.patch.object(runs, "save", lambda *given: saved.append(given[-1])))
            stack.enter_context(contextlib.redirect_stdout(io.StringIO()))
            figures.run("handles", fresh=True)
        self.assertEqual(saved, ["before"])

    def test_a_tree_with_changes_is_refused_in_one_line(self):
        def run(words, **more):
            return mock.Mock(stdout="abc\n" if words[1] == "log" else " M include/cubby/map.hpp\n?? bench/new.cpp\n")
        errors = io.StringIO()
        with (mock.patch.object(runs.subprocess, "run", run), mock.patch.object(runs, "carry_out", lambda *_: self.fail("it ran")),
              contextlib.redirect_stderr(errors)):
            for action in ("targets", "run"):
                errors.truncate(errors.seek(0))
                with mock.patch.object(sys, "argv", ["figures.py", action, "--only", "handles"]):
                    self.assertEqual(figures.main(), 2)
        self.assertRegex(errors.getvalue(), r"^figures: include/cubby/map.hpp and 1 more is not committed[^\n]+: commit or stash it, [^\n]+\n$")

    def test_new_and_changed_files_of_what_is_measured_count_and_others_do_not(self):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)

            def git(*words):
                subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], cwd=root, check=True, capture_output=True)
            git("init", "-q")
            for file in ("include/a.hpp", "include/README.md", "docs/page.md"):
                (root / file).parent.mkdir(exist_ok=True)
                (root / file).write_text("one")
            git("add", ".")
            git("commit", "-q", "-m", "one")
            with mock.patch.object(runs, "ROOT", root):
                for file in ("include/README.md", "docs/page.md", "docs/new.md"):
                    (root / file).write_text("two")
                self.assertRegex(runs.commit(), "^[0-9a-f]+$")
                (root / "include" / "new.hpp").write_text("two")
                with self.assertRaisesRegex(runs.Failure, "^include/new.hpp is not committed"):
                    runs.commit()
                (root / "include" / "new.hpp").unlink()
                (root / "include" / "a.hpp").write_text("two")
                with self.assertRaisesRegex(runs.Failure, "^include/a.hpp is not committed"):
                    runs.commit()

    def test_a_result_of_a_changed_tree_is_refused(self):
        found = list(checks.problems_of_trees({"m": {"clean": result(commit="def"), "new": result(commit="abc-dirty")}}))
        self.assertEqual(len(found), 1)
        self.assertIn("docs/results/m/new.json: made from a changed tree (abc-dirty)", found[0])

    def test_a_command_that_fails_leaves_no_result(self):
        with tempfile.TemporaryDirectory() as folder:
            bench = Path(folder) / "bench"
            bench.mkdir()
            failing = bench / "bench_a"
            failing.write_text("#!/bin/sh\necho why >&2\nexit 2\n")
            failing.chmod(0o755)
            with self.assertRaisesRegex(runs.Failure, "a: `bench_a` ended with 2: why"):
                runs.carry_out({"id": "a", "command": "bench_a"}, Path(folder))
            with self.assertRaisesRegex(runs.Failure, "is not there: make figures builds it"):
                runs.carry_out({"id": "b", "command": "bench_b"}, Path(folder))

    def test_an_unknown_id_is_one_line_and_status_2(self):
        errors = io.StringIO()
        with contextlib.redirect_stderr(errors), mock.patch.object(sys, "argv", ["figures.py", "run", "--only", "nothing"]):
            self.assertEqual(figures.main(), 2)
        self.assertRegex(errors.getvalue(), r"^figures: no run is called nothing: docs/results/runs.toml has [^\n]+\n$")


if __name__ == "__main__":
    unittest.main()
