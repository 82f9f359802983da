#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# The driver of the long command. It remembers what has passed, for the same tree and settings only. It does not remember
# what failed or was skipped. A part that is named but missing is a failure.
import ast
import contextlib
import io
import os
import re
import sys
import tempfile
import threading
import types
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent))
import run_tests  # noqa: E402
import run_verify  # noqa: E402
import verify  # noqa: E402
from suite import driver, shell  # noqa: E402
from verify import builds as builds_part  # noqa: E402
from verify import asan_modes as asan_part  # noqa: E402
from verify import tests as tests_part  # noqa: E402


class Counted:
    """A part that counts its runs, and ends as the test wants it."""

    TITLE = "a part"

    def __init__(self, act=lambda: "fine"):
        self.act = act
        self.runs = 0

    def run(self, _):
        self.runs += 1
        return self.act()


def refuse():
    raise shell.Failure("as it should")


def stay_away():
    raise shell.Skip("no such tool")


class Verify(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        (self.root / "source").write_text("one")
        for name, value in (("ROOT", self.root), ("BUILD", self.root / "build")):
            self.patch(mock.patch.object(shell, name, value))

    def patch(self, patch):
        patch.start()
        self.addCleanup(patch.stop)

    def run_parts(self, parts, *options):
        out = io.StringIO()
        with contextlib.ExitStack() as stack:
            stack.enter_context(mock.patch.object(verify, "names", lambda: list(parts)))
            stack.enter_context(mock.patch.object(verify, "load", parts.get))
            stack.enter_context(mock.patch.object(sys, "argv", ["x", *options]))
            stack.enter_context(contextlib.redirect_stdout(out))
            stack.enter_context(contextlib.redirect_stderr(io.StringIO()))
            code = run_verify.main()
        return code, out.getvalue().rstrip("\n").split("\n")[-1], out.getvalue()

    def test_passed_is_remembered_and_said_so(self):
        part = Counted()
        self.run_parts({"a": part})
        code, last, output = self.run_parts({"a": part})
        self.assertEqual((code, last, part.runs), (0, "1 passed, 0 failed", 1))
        self.assertIn("passed (earlier)", output)

    def test_fresh_runs_it_again(self):
        part = Counted()
        self.run_parts({"a": part})
        self.run_parts({"a": part}, "--fresh")
        self.assertEqual(part.runs, 2)

    def test_another_tree_runs_it_again(self):
        part = Counted()
        self.run_parts({"a": part})
        (self.root / "source").write_text("two")
        self.run_parts({"a": part})
        self.assertEqual(part.runs, 2)

    def test_a_file_that_becomes_executable_is_another_tree(self):
        part = Counted()
        self.run_parts({"a": part})
        (self.root / "source").chmod(0o755)
        self.run_parts({"a": part})
        self.assertEqual(part.runs, 2)

    def test_other_settings_run_it_again(self):
        part = Counted()
        with mock.patch.dict(os.environ, {"CUBBY_VERIFY_SECONDS": "1"}):
            self.run_parts({"a": part})
        self.run_parts({"a": part})
        self.assertEqual(part.runs, 2)

    def test_a_tree_that_changed_while_the_part_ran_is_not_remembered(self):
        part = Counted(lambda: (self.root / "source").write_text("edited") and "fine")
        self.run_parts({"a": part})
        (self.root / "source").write_text("one")
        self.run_parts({"a": part})
        self.assertEqual(part.runs, 2)

    def test_failed_is_run_again(self):
        part, good = Counted(refuse), Counted()
        self.assertEqual(self.run_parts({"a": part, "b": good})[:2], (1, "1 passed, 1 failed"))
        self.assertEqual(self.run_parts({"a": part, "b": good})[:2], (1, "1 passed, 1 failed"))
        self.assertEqual((part.runs, good.runs), (2, 1))

    def test_skipped_is_never_passed(self):
        part = Counted(stay_away)
        for _ in range(2):
            code, last, output = self.run_parts({"a": part})
            self.assertEqual((code, last), (0, "0 passed, 0 failed, 1 skipped"))
            self.assertIn("no such tool", output)
        self.assertEqual(part.runs, 2)

    def test_a_failure_is_not_covered_by_an_earlier_pass(self):
        part = Counted()
        self.run_parts({"a": part})
        part.act = refuse
        self.assertEqual(self.run_parts({"a": part}, "--fresh")[0], 1)
        self.assertEqual(self.run_parts({"a": part})[0], 1)

    def test_a_run_of_one_part_forgets_nothing_about_the_others(self):
        one, two = Counted(), Counted()
        self.run_parts({"a": one, "b": two})
        self.run_parts({"a": one, "b": two}, "--only", "a", "--fresh")
        self.run_parts({"a": one, "b": two})
        self.assertEqual((one.runs, two.runs), (2, 1))

    def test_a_lost_part_is_a_failure(self):
        self.assertEqual(self.run_parts({"a": None})[:2], (1, "0 passed, 1 failed"))

    def test_a_memory_that_cannot_be_read_is_none(self):
        part = Counted()
        self.run_parts({"a": part})
        for text in ("not json", "[]", "{}", '{"state": 3}'):
            (self.root / "build" / "passed" / "verify.json").write_text(text)
            self.assertEqual(self.run_parts({"a": part})[0], 0)
        self.assertEqual(part.runs, 5)

    def test_list_names_each_part(self):
        output = self.run_parts({"a": Counted(), "b": None}, "--list")[2]
        self.assertIn("a part", output)
        self.assertIn("missing", output)

    def test_what_a_part_takes_from_the_suite_exists(self):
        """A part runs for minutes before it meets a name that was renamed elsewhere."""
        taken = 0
        for name in verify.names():
            module = verify.load(name)
            for node in ast.walk(ast.parse(Path(module.__file__).read_text())):
                if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                    other = getattr(module, node.value.id, None)
                    if isinstance(other, types.ModuleType):
                        taken += 1
                        self.assertTrue(hasattr(other, node.attr), f"{name}: {node.value.id}.{node.attr}")
        self.assertGreater(taken, 10)

    def test_each_part_of_the_tree_follows_the_contract(self):
        for name in verify.names():
            module = verify.load(name)
            if module is not None:
                self.assertTrue(isinstance(module.TITLE, str) and callable(module.run), name)


    def test_chains_run_side_by_side_and_each_part_is_remembered_when_it_ends(self):
        begun = threading.Event()
        kept = []

        def wait():  # for ever, if the other chain waited for this one
            begun.wait()
            kept.append((self.root / "build" / "passed" / "verify.json").read_text())

        def begin():
            begun.set()
            return stay_away()

        parts = {"a": Counted(wait), "b": Counted(), "c": Counted(begin), "d": Counted(refuse)}
        chains = [["b", "a"], ["c", "d"]]
        with mock.patch.object(verify, "CHAINS", chains), mock.patch.object(driver, "JOBS", "2"):
            code, last, output = self.run_parts(parts)
        self.assertEqual((code, last), (1, "2 passed, 1 failed, 1 skipped"))
        self.assertIn('"b"', kept[0])
        self.assertEqual([line[0] for line in output.split("\n") if line[1:3] == "  " and line[0] != "["], ["a", "b", "c", "d"])
        self.assertEqual([part.runs for part in parts.values()], [1, 1, 1, 1])

    def test_chains_name_parts_of_the_tree_and_no_part_twice(self):
        chained = [name for chain in verify.CHAINS for name in chain]
        self.assertEqual(sorted(chained), sorted(set(chained)))
        self.assertEqual(set(verify.names()) - set(chained), {"tests"})
        self.assertLessEqual(set(chained), set(verify.names()))

    def test_each_chain_comes_first_on_some_day(self):
        first = [verify.chains_of(day)[0] for day in range(700, 700 + len(verify.CHAINS))]
        self.assertCountEqual(first, verify.CHAINS)
        for day in range(7):
            self.assertCountEqual(verify.chains_of(day), verify.CHAINS)

    def test_a_part_that_would_not_end_within_the_hour_is_skipped(self):
        part = Counted()
        last = (verify.RUN_MINUTES - verify.MINUTES["builds"]) * 60
        first_day = next(day for day in range(7) if verify.chains_of(day)[0][0] == "builds")
        other_day = first_day + 1
        self.assertEqual(verify.within_an_hour("builds", part.run, lambda: last, other_day)(None), "fine")
        with self.assertRaisesRegex(shell.Skip, "--only builds"):
            verify.within_an_hour("builds", part.run, lambda: last + 1, other_day)(None)
        self.assertEqual(part.runs, 1)
        self.assertEqual(verify.within_an_hour("builds", part.run, lambda: last + 1, first_day)(None), "fine", "the first of its day")

    def test_each_part_says_how_long_it_takes(self):
        self.assertEqual(set(verify.MINUTES) | {"tests"}, set(verify.names()))

    def test_full_skips_nothing(self):
        part = Counted()
        with mock.patch.object(verify, "within_an_hour", lambda *_: stay_away):
            with mock.patch.dict(os.environ, {"CUBBY_VERIFY_FULL": "1"}):
                code, last, _ = self.run_parts({"a": part})
        self.assertEqual((code, last, part.runs), (0, "1 passed, 0 failed", 1))

    def test_what_part_tests_leaves_out_is_in_another_part(self):
        for name, other in tests_part.REPEATED.items():
            self.assertIn(name, run_tests.PARTS)
            self.assertIn(other, verify.names())


class BuildsPart(unittest.TestCase):
    def note(self, full):
        """What the part says when its steps are others."""
        steps = {"file_by_file": lambda _: "2 passed", "need": lambda *_: None}
        with contextlib.ExitStack() as stack:
            for name, step in steps.items():
                stack.enter_context(mock.patch.object(builds_part, name, step))
            for name in ("ctest", "cross"):
                stack.enter_context(mock.patch.object(builds_part.tests, name, lambda _, what, *__, name=name: f"{name} {what}"))
            for name in ("tidy", "alone"):
                stack.enter_context(mock.patch.object(builds_part.source, name, lambda *_, **__: "3 passed"))
            stack.enter_context(mock.patch.dict(os.environ, {"CUBBY_VERIFY_FULL": full}))
            return builds_part.run(mock.Mock())

    def test_full_runs_all_tests_for_aarch64(self):
        self.assertNotIn("AArch64", self.note("0"))
        self.assertIn("AArch64: cross cubby_tests", self.note("1"))
        with self.assertRaisesRegex(shell.Failure, "FULL"):
            self.note("2")

    def row(self, program, name, extra=""):
        output = f"tests/CMakeFiles/{program}.dir/{name}.o"
        return {"file": f"/t/{name}", "command": f"clang++ -DCUBBY_TEST_FEW_MODES=0 {extra} -Wall -o {output} -c /t/{name}"}

    def test_only_what_is_joined_is_compiled_alone_and_makes_no_code(self):
        rows = [self.row("cubby_tests", "a.cpp", "-DX=1"), self.row("cubby_counting", "b.cpp"), self.row("mutation", "a.cpp")]
        wanted = ["clang++", "-DCUBBY_TEST_FEW_MODES=1", "-DX=1", "-Wall", "/t/a.cpp", "-fsyntax-only"]
        self.assertEqual(builds_part.compilations(rows), [("/t/a.cpp", wanted)])

    def test_each_program_whose_files_are_joined_is_known(self):
        text = (Path(__file__).resolve().parent.parent / "cmake" / "own_targets.cmake").read_text()
        joined = {name for names in re.findall(r"set_target_properties\(([^()]+) PROPERTIES UNITY_BUILD ON", text) for name in names.split()}
        # Their files are files of cubby_tests.
        joined -= {"cubby_tests_of_the_lesson", "cubby_tests_core"}
        self.assertEqual({f"tests/CMakeFiles/{name}.dir/" for name in joined}, set(builds_part.JOINED))


class AsanPart(unittest.TestCase):
    def built(self, full):
        made = []
        with contextlib.ExitStack() as stack:
            stack.enter_context(mock.patch.object(asan_part, "need", lambda *_: None))
            stack.enter_context(mock.patch.object(asan_part.tests, "build_and_run", lambda _, *targets, **__: made.append(targets)))
            stack.enter_context(mock.patch.dict(os.environ, {"CUBBY_VERIFY_FULL": full}))
            asan_part.run(None)
        return made

    def test_full_adds_what_shows_a_sanitizer_little(self):
        self.assertEqual(self.built("0"), [("asan", "cubby_tests_of_tables")])
        self.assertEqual(self.built("1"), [("asan",)])


class TestsPart(unittest.TestCase):
    def note(self, output):
        return tests_part.run(types.SimpleNamespace(run=lambda *_, **__: output))

    def test_passed(self):
        self.assertEqual(self.note("some text\n\n13 passed, 0 failed\n"), "13 passed, 0 failed")

    def test_what_was_skipped_there_is_skipped_here_with_its_reason(self):
        table = "house         passed                 3  57 files\naarch64       skipped                0  no qemu-aarch64\n"
        with self.assertRaises(shell.Skip) as skip:
            self.note(table + "\n12 passed, 0 failed, 1 skipped\n")
        self.assertIn("aarch64: no qemu-aarch64", str(skip.exception))

    def test_an_end_without_counts_is_a_failure(self):
        for output in ("", "12 passed, 1 failed\n", "Traceback\n"):
            with self.assertRaises(shell.Failure):
                self.note(output)


if __name__ == "__main__":
    unittest.main()
