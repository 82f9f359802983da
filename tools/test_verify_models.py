#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# The runner of the models, over small models. An error, a deadlock, a switch that breaks nothing, an incomplete search
# and a mistake in the model each fail; a good model passes. Needs spin and gcc.
import contextlib
import io
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent))
from suite import shell  # noqa: E402
from verify import models  # noqa: E402

LONGEST_MODEL = 150  # lines

# Two increments, each of two steps unless the lock is taken.
COUNTER = """
byte count, ended; bit lock;
proctype adder() { byte seen;
  %(lock)s
  seen = count; count = seen + 1;
  lock = 0; ended++ }
init { atomic { run adder(); run adder() } ended == 2 -> assert(count == %(sum)s) }
"""
TAKE = """
#ifdef BREAK_LOCK
  skip;
#else
  atomic { !lock -> lock = 1 };
#endif
#ifdef BREAK_DOUBLE
  count++;
#endif
"""
GOOD = COUNTER % {"lock": TAKE, "sum": 2}


class Models(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        for name in ("BUILD", "ROOT"):
            patch = mock.patch.object(shell, name, self.folder)
            patch.start()
            self.addCleanup(patch.stop)

    def check(self, text):
        (self.folder / "small.pml").write_text(text)
        with contextlib.redirect_stdout(io.StringIO()) as self.out:
            return models.check_folder(shell.Shell("models"), self.folder, self.folder / "build")

    def refuses(self, text, why):
        with self.assertRaisesRegex(shell.Failure, why):
            self.check(text)

    def test_a_good_model_passes(self):
        self.assertRegex(self.check(GOOD), r"^1 models, 1 searches of all \d+ states; 2 of 2 planted errors found$")

    def test_an_error_fails(self):
        self.refuses(GOOD.replace("count == 2", "count == 3"), "small: SPIN found an error: assertion violated")

    def test_an_error_in_one_mode_fails(self):
        text = GOOD.replace("count == 2", "count == 2 + wrong")
        self.refuses("#ifdef MODE_ODD\n#define wrong 1\n#else\n#define wrong 0\n#endif\n" + text,
                     "small MODE_ODD: SPIN found an error")

    def test_a_deadlock_fails(self):
        self.refuses(GOOD.replace("lock = 0;", ""), "small: SPIN found an error: invalid end state")

    def test_a_switch_that_breaks_nothing_fails(self):
        self.refuses(GOOD.replace("  count++;", "  skip;"), "small BREAK_DOUBLE: SPIN did not find")

    def test_too_few_switches_fail(self):
        self.refuses(GOOD.replace("BREAK_DOUBLE", "BREAK_LOCK"), "has 1 switches")

    def test_a_search_that_is_not_deep_enough_fails(self):
        with mock.patch.object(models, "DEPTH", 5):
            self.refuses(GOOD, "did not see everything: max search depth too small")

    def test_a_search_that_runs_out_of_memory_fails(self):
        steps = " ".join(f":: {v} < 200 -> {v}++" for v in "abcd")
        many = f"byte a, b, c, d; active proctype p() {{ do {steps} :: else -> break od }}\ninit {{ skip }}\n"
        with mock.patch.object(models, "MEGABYTES", 150):
            self.refuses("#ifdef BREAK_A\n#endif\n#ifdef BREAK_B\n#endif\n" + many, "did not see everything")

    def test_a_slip_of_the_model_is_not_the_planted_error(self):
        slip = GOOD.replace("  count++;", "  places[count + 1] = 1;").replace("byte count", "byte places[1], count")
        self.refuses(slip, "small BREAK_DOUBLE: the model itself is wrong: invalid array index")

    def test_a_model_that_spin_cannot_read_fails(self):
        self.refuses(GOOD + "\nproctype {", "generate ended with|compile ended with")

    def test_a_folder_without_models_fails(self):
        with self.assertRaisesRegex(shell.Failure, "no model"):
            models.check_folder(shell.Shell("models"), self.folder, self.folder / "build")

    def test_every_model_has_switches_and_a_head(self):
        found = models.models_in(models.MODELS)
        self.assertGreaterEqual(len(found), 3)
        for model in found:
            self.assertGreaterEqual(len(models.switches_of(model, "BREAK_")), models.LEAST_SWITCHES, model)
            self.assertLessEqual(len(model.read_text().splitlines()), LONGEST_MODEL, model)


if __name__ == "__main__":
    unittest.main()
