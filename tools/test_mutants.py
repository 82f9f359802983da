#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# The runner of the mutants. A check catches a mutant only if it passes on the unchanged tree and fails on the changed one.
# A mutant that survives, does not apply, does not build, hangs, or whose check has no test, is a failure.
import contextlib
import io
import re
import sys
import tempfile
import time
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent))
from suite import shell  # noqa: E402
from verify import mutants  # noqa: E402
from verify.mutants import Check, Ended, Mutant  # noqa: E402

CHECK = Check("check_x", "x.*", "plain")
PASSES = Ended(0, "[       OK ] x.of_something (3 ms)\n[  PASSED  ] 1 test.\n")
FAILS = Ended(1, "[  FAILED  ] x.of_something (3 ms)\n")
PATCH = """SPDX-License-Identifier: Apache-2.0
check: check_x x.* plain
why: it is wrong

diff --git a/include/one.txt b/include/one.txt
--- a/include/one.txt
+++ b/include/one.txt
@@ -1,3 +1,3 @@
 first
-right
+wrong
 last
"""


class FakeScratch:
    def __init__(self, applied=Ended(0, ""), built=Ended(0, ""), ran=PASSES):
        self.apply = lambda _: applied
        self.build = lambda _: built
        self.run = lambda *_: ran


def mutant(name="m", hangs=False):
    return Mutant(name, "", CHECK, "why", hangs)


class OfTheTree(unittest.TestCase):
    def test_each_applies(self):
        """The long command would find it, too, an hour later."""
        root = Path(__file__).resolve().parent.parent
        for path in sorted((root / "verify" / "mutants").glob("*.patch")):
            done = mutants.execute(["git", "apply", "--check", path], root, 60)
            self.assertEqual((path.name, done.code), (path.name, 0), done.output)

    def test_each_small_check_has_a_program(self):
        root = Path(__file__).resolve().parent.parent
        built = (root / "tests" / "mutation" / "CMakeLists.txt").read_text()
        for path in sorted((root / "verify" / "mutants").glob("*.patch")):
            target = mutants.read_mutant(path).check.target
            if target.startswith("check_"):
                self.assertRegex(built, rf"\b{target[6:]}\b", f"{path.name} names {target}, which nothing builds")


class Judgement(unittest.TestCase):
    def expect(self, good, how, **scratch):
        self.assertEqual(mutants.judge(FakeScratch(**scratch), mutant())[:2], (good, how))

    def test_a_check_that_fails_has_caught_it(self):
        self.expect(True, "x.of_something fails", ran=FAILS)
        self.expect(True, "ThreadSanitizer", ran=Ended(66, "WARNING: ThreadSanitizer: data race"))
        self.expect(True, "SIGSEGV", ran=Ended(-11, ""))

    def test_alive(self):
        self.expect(False, "ALIVE", ran=PASSES)

    def test_a_check_has_three_seeds(self):
        scratch = FakeScratch()
        asked = []
        scratch.run = lambda check, limit, seed: asked.append(seed) or (FAILS if seed == "3" else PASSES)
        self.assertTrue(mutants.judge(scratch, mutant())[0])
        self.assertEqual(asked, ["1", "2", "3"])

    def test_a_patch_that_does_not_apply_or_build_is_not_caught(self):
        self.expect(False, "does not apply", applied=Ended(1, "error"), ran=FAILS)
        self.expect(False, "does not build", built=Ended(1, "error"), ran=FAILS)

    def test_a_hang_counts_only_where_it_was_foreseen(self):
        self.expect(False, "the check hangs; that was not expected", ran=Ended(None, ""))
        self.assertTrue(mutants.judge(FakeScratch(ran=Ended(None, "")), mutant(hangs=True))[0])

    def test_a_control_has_to_run_a_test_and_pass(self):
        self.assertTrue(mutants.judge_control(FakeScratch(), [CHECK])[0])
        for ran in (FAILS, Ended(0, "[  PASSED  ] 0 tests.\n"), Ended(None, ""), Ended(-6, PASSES.output)):
            self.assertFalse(mutants.judge_control(FakeScratch(ran=ran), [CHECK])[0])

    def test_each_check_of_a_program_has_to_run_a_test(self):
        other = CHECK._replace(tests="y.of_others:y.*/2.*")
        good, how, _ = mutants.judge_control(FakeScratch(), [CHECK, other])
        self.assertFalse(good)
        self.assertIn("y.of_others:y.*/2.* runs no test", how)
        both = Ended(0, PASSES.output + "[       OK ] y.a/2.of_others (1 ms)\n")
        self.assertTrue(mutants.judge_control(FakeScratch(ran=both), [CHECK, other])[0])


class Runner(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.folder = self.root / "verify" / "mutants"
        self.folder.mkdir(parents=True)
        (self.root / "include").mkdir()
        (self.root / "include" / "one.txt").write_text("first\nright\nlast\n")
        for place, name, value in ((shell, "ROOT", self.root), (shell, "BUILD", self.root / "build"), (mutants, "LEAST", 1)):
            patch = mock.patch.object(place, name, value)
            patch.start()
            self.addCleanup(patch.stop)

    def write(self, name, text=PATCH):
        (self.folder / f"{name}.patch").write_text(text)

    def run_part(self, ran):
        """Runs the part with real patches and copies; `ran` says how the check ends over the text of the copy."""
        def run_check(scratch, *_):
            return ran((scratch.folder / "include" / "one.txt").read_text())

        out = io.StringIO()
        with contextlib.ExitStack() as stack:
            stack.enter_context(mock.patch.object(mutants.Scratch, "build", lambda *_: Ended(0, "")))
            stack.enter_context(mock.patch.object(mutants.Scratch, "run", run_check))
            stack.enter_context(mock.patch.object(mutants, "need", lambda *_: None))
            stack.enter_context(contextlib.redirect_stdout(out))
            return mutants.run(shell.Shell("mutants")), out.getvalue()

    def test_each_mutant_meets_a_copy_of_its_own(self):
        for name in ("a", "b", "c"):
            self.write(name)
        note, output = self.run_part(lambda text: FAILS if "wrong" in text else PASSES)
        self.assertIn("3 of 3 caught by 1 checks", note)
        self.assertIn("check_x x.* (plain): x.of_something fails", output)
        self.assertEqual((self.root / "include" / "one.txt").read_text(), "first\nright\nlast\n")

    def test_units_have_all_mutants_and_each_control_once(self):
        names = [f"m{number}" for number in range(2 * mutants.MOST_IN_UNIT + 1)]
        for name in names:
            self.write(name)
        self.write("z", PATCH.replace("check_x", "check_z"))
        units = mutants.units_of(mutants.read_mutants(self.folder))
        self.assertEqual(sorted(len(unit.mutants) for unit in units), [1, 1] + [mutants.MOST_IN_UNIT] * 2)
        self.assertEqual(sorted(mutant.name for unit in units for mutant in unit.mutants), sorted([*names, "z"]))
        self.assertEqual(sorted(check.target for unit in units for check in unit.checks), ["check_x", "check_z"])

    def test_mutants_of_files_that_changed_lately_come_first(self):
        for name in ("a", "b", "c"):
            self.write(name, PATCH.replace("one.txt", "two.txt"))
        self.write("d")
        for seed in range(8):
            units = mutants.units_of(mutants.read_mutants(self.folder), {"include/one.txt"}, seed)
            self.assertEqual([mutant.name for mutant in units[0].mutants], ["d"])
            self.assertEqual([len(unit.checks) for unit in units], [1, 0])

    def test_another_day_draws_another_order(self):
        for number in range(12):
            self.write(f"m{number}", PATCH.replace("check_x", f"check_{number}"))
        read = mutants.read_mutants(self.folder)
        orders = {tuple(unit.mutants[0].name for unit in mutants.units_of(read, seed=day)) for day in range(5)}
        self.assertGreater(len(orders), 1)
        self.assertEqual({tuple(sorted(order)) for order in orders}, {tuple(sorted(mutant.name for mutant in read))})

    def test_what_time_did_not_allow_is_counted_and_full_runs_it(self):
        for name in ("a", "b", "c", "d"):
            self.write(name)

        def slow(text):
            time.sleep(0.4 if "wrong" in text else 0.3)
            return FAILS if "wrong" in text else PASSES

        with mock.patch.dict("os.environ", {"CUBBY_VERIFY_SECONDS": "1"}):
            note, _ = self.run_part(slow)
            left = int(re.search(r"; (\d+) NOT RUN", note).group(1))
            self.assertIn(f"{4 - left} of 4 caught", note)
            self.assertTrue(0 < left < 4, note)
            with mock.patch.dict("os.environ", {"CUBBY_VERIFY_FULL": "1"}):
                self.assertIn("4 of 4 caught", self.run_part(slow)[0])
            with mock.patch.dict("os.environ", {"CUBBY_VERIFY_FULL": "yes"}), self.assertRaisesRegex(shell.Failure, "FULL"):
                self.run_part(slow)

    def test_one_that_lives_fails_the_part(self):
        self.write("a")
        with self.assertRaisesRegex(shell.Failure, "a: ALIVE"):
            self.run_part(lambda _: PASSES)

    def test_one_that_does_not_apply_fails_the_part(self):
        self.write("a", PATCH.replace("-right", "-other"))
        with self.assertRaisesRegex(shell.Failure, "a: does not apply"):
            self.run_part(lambda _: PASSES)

    def test_a_check_that_always_fails_fails_the_part(self):
        self.write("a")
        with self.assertRaisesRegex(shell.Failure, "control: check_x"):
            self.run_part(lambda _: FAILS)

    def test_heads_that_name_no_check(self):
        for line in ("check: check_x plain", "check: check_x x.* quick", "checked: check_x x.* plain"):
            self.write("a", PATCH.replace("check: check_x x.* plain", line))
            with self.assertRaisesRegex(shell.Failure, "does not name its check"):
                self.run_part(lambda _: PASSES)

    def test_too_few_mutants(self):
        with self.assertRaisesRegex(shell.Failure, "0 mutants"):
            self.run_part(lambda _: PASSES)

    def test_a_command_that_hangs_is_ended(self):
        self.assertEqual(mutants.execute(["sleep", "60"], self.root, 0.2).code, None)


if __name__ == "__main__":
    unittest.main()
