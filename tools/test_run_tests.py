#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# The driver of the tests. A failed part, an error of the driver and a hidden failure all show in the last line and the
# exit status. A skipped part is never counted as passed.
import contextlib
import io
import os
import re
import sys
import tempfile
import time
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent))
import run_tests  # noqa: E402
from suite import driver, shell, tests  # noqa: E402


def good(_):
    return "fine"


def bad(_):
    raise shell.Failure("as it should")


def absent(_):
    raise shell.Skip("no such tool")


def broken(_):
    raise KeyError("oops")


def runs_false(part):
    part.run("say no", ["sh", "-c", "echo the reason; exit 3"])


class Driver(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        root = Path(folder.name)
        for name, value in (("BUILD", root / "build"), ("ROOT", root)):
            patch = mock.patch.object(shell, name, value)
            patch.start()
            self.addCleanup(patch.stop)

    def run_parts(self, *options, short=(), **parts):
        table = {name: (function, "") for name, function in parts.items()}
        out = io.StringIO()
        errors = io.StringIO()
        arguments = options or ["--only", ",".join(parts)]
        with contextlib.ExitStack() as stack:
            stack.enter_context(mock.patch.object(run_tests, "PARTS", table))
            stack.enter_context(mock.patch.object(run_tests, "SHORT", list(short)))
            stack.enter_context(mock.patch.object(sys, "argv", ["x", *(option for option in arguments if option)]))
            stack.enter_context(contextlib.redirect_stdout(out))
            stack.enter_context(contextlib.redirect_stderr(errors))
            code = run_tests.main()
        return code, out.getvalue()

    def last_line(self, output):
        return output.rstrip("\n").split("\n")[-1]

    def test_chains_run_side_by_side_and_each_in_order(self):
        begun = []

        def first(_):
            begun.append("first")
            while len(begun) < 2:  # for ever, if the other chain waited for this one
                time.sleep(0.001)

        def second(_):
            begun.append("second")

        chains = [["c", "a"], ["b", "gone"]]
        with mock.patch.object(run_tests, "CHAINS", chains), mock.patch.object(driver, "JOBS", "2"):
            code, output = self.run_parts(a=bad, b=second, c=first, d=good)
        self.assertEqual(code, 1)
        self.assertEqual(self.last_line(output), "3 passed, 1 failed")
        self.assertEqual(sorted(begun), ["first", "second"])
        rows = [line.split()[:2] for line in output.split("\n") if line[:2] in ("a ", "b ", "c ", "d ")]
        self.assertEqual(rows, [["a", "failed"], ["b", "passed"], ["c", "passed"], ["d", "passed"]])

    def test_all_passed(self):
        code, output = self.run_parts(a=good, b=good)
        self.assertEqual((code, self.last_line(output)), (0, "2 passed, 0 failed"))

    def test_failure_does_not_stop_the_rest(self):
        code, output = self.run_parts(a=bad, b=good)
        self.assertEqual((code, self.last_line(output)), (1, "1 passed, 1 failed"))
        self.assertIn("as it should", output)

    def test_skip_is_counted_apart(self):
        code, output = self.run_parts(a=absent, b=good)
        self.assertEqual((code, self.last_line(output)), (0, "1 passed, 0 failed, 1 skipped"))
        self.assertIn("no such tool", output)

    def test_fault_of_the_driver_is_a_failure(self):
        code, output = self.run_parts(a=broken)
        self.assertEqual((code, self.last_line(output)), (1, "0 passed, 1 failed"))

    def test_command_that_fails(self):
        code, output = self.run_parts(a=runs_false)
        self.assertEqual(code, 1)
        self.assertIn("the reason", output)
        self.assertIn("ended with 3", output)

    def test_what_failed_is_said_again_behind_the_table(self):
        script = "echo 'x.cpp:3: Failure'; echo 'got 4'; seq 200; echo '[  FAILED  ] suite.case (1 ms)'; seq 200; exit 8"
        code, output = self.run_parts(a=lambda part: part.run("run", ["sh", "-c", script]), b=good)
        behind = output[output.index("what came of it"):]
        self.assertEqual((code, self.last_line(output)), (1, "1 passed, 1 failed"))
        for line in ("x.cpp:3: Failure", "got 4", "suite.case"):
            self.assertIn(line, behind)

    def test_command_that_hangs_is_ended(self):
        with mock.patch.object(shell, "LIMIT_SECONDS", 0.2):
            code, _ = self.run_parts(a=lambda part: part.run("sleep", ["sleep", "60"]))
        self.assertEqual(code, 1)

    def test_a_folder_is_configured_again_when_the_presets_have_changed(self):
        made = shell.BUILD / "words" / "build.ninja"
        made.parent.mkdir(parents=True)
        presets = shell.ROOT / "CMakePresets.json"
        part, ran = shell.Shell("a"), []
        with mock.patch.object(part, "run", lambda step, _: ran.append(step)):
            for seconds_of_presets, wanted in ((100, []), (300, ["configure"])):
                made.write_text("")
                presets.write_text("")
                os.utime(made, (200, 200))
                os.utime(presets, (seconds_of_presets, seconds_of_presets))
                part.configure("words")
                self.assertEqual(ran, wanted)

    def test_shown_output_reaches_screen_and_log(self):
        code, output = self.run_parts(a=lambda part: part.run("speak", ["echo", "out loud"], show=True).strip())
        self.assertEqual(code, 0)
        self.assertEqual(output.count("out loud"), 3)  # on the screen, behind the part's outcome, and in the table

    def test_the_test_command_runs_the_short_list_alone(self):
        code, output = self.run_parts("", short=["a"], a=good, b=bad)
        self.assertEqual((code, self.last_line(output)), (0, "1 passed, 0 failed"))

    def test_check_runs_all_but_what_passed_over_this_tree(self):
        runs = []
        parts = {"a": lambda _: runs.append("a"), "b": lambda _: runs.append("b")}
        self.run_parts("", short=["a"], **parts)
        code, output = self.run_parts("--check", short=["a"], **parts)
        self.assertEqual((code, self.last_line(output), runs), (0, "2 passed, 0 failed", ["a", "b"]))
        self.assertIn("passed (earlier)", output)
        (shell.ROOT / "source").write_text("another tree")
        self.run_parts("--check", short=["a"], **parts)
        self.assertEqual(runs, ["a", "b", "a", "b"])

    def test_check_runs_again_what_failed(self):
        self.run_parts("", short=["a"], a=bad, b=good)
        code, output = self.run_parts("--check", short=["a"], a=bad, b=good)
        self.assertEqual((code, self.last_line(output)), (1, "1 passed, 1 failed"))

    def test_the_test_command_repeats_what_passed(self):
        runs = []
        for _ in range(2):
            self.run_parts("", short=["a"], a=lambda _: runs.append("a"))
        self.assertEqual(runs, ["a", "a"])

    def test_each_short_part_is_a_part(self):
        self.assertLessEqual(set(run_tests.SHORT), set(run_tests.PARTS))

    def test_tests_that_ctest_lost(self):
        fake = mock.Mock(run=lambda *_, **__: "No tests were found!!!")
        with self.assertRaises(shell.Failure):
            tests.ctest(fake, "release")

    def test_tests_that_no_part_runs(self):
        listed = "  Test #1: cubby_tests_others\n  Test  #2: cubby_kmer_1\n  Test #33: cubby_elsewhere\n"
        self.assertEqual(tests.without_a_part(listed), ["cubby_elsewhere"])
        with self.assertRaises(shell.Failure):
            tests.without_a_part("Total Tests: 0")

    def test_files_of_one_thread_have_one(self):
        root = Path(__file__).resolve().parent.parent / "tests"
        names = re.findall(r"\w+/\w+\.cpp", (root / "files_of_one_thread.cmake").read_text())
        self.assertGreater(len(names), 20)
        for name in names:
            found = re.search(r"run_threads|std::j?thread\b(?!::id)|growing_policies|growth_policy::background", (root / name).read_text())
            self.assertIsNone(found, f"{name}: {found}")

    def test_unknown_part(self):
        with contextlib.redirect_stderr(io.StringIO()), mock.patch.object(sys, "argv", ["x", "--only", "nothing"]):
            with self.assertRaises(SystemExit) as ended:
                run_tests.main()
        self.assertEqual(ended.exception.code, 2)


if __name__ == "__main__":
    unittest.main()
