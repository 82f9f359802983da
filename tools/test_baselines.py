#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# The parts that compare with something stored: a figure that has moved fails, another compiler is skipped and never
# passed.
import json
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent))
from suite import instructions, shell  # noqa: E402


class Differences(unittest.TestCase):
    def test_within_two_per_cent(self):
        self.assertEqual(instructions.differences({"a": 100.0}, {"a": 101.9}), [])

    def test_more_and_fewer(self):
        self.assertIn("+3.0 %", instructions.differences({"a": 100.0}, {"a": 103.0})[0])
        self.assertIn("-3.0 %", instructions.differences({"a": 100.0}, {"a": 97.0})[0])

    def test_lost_and_new(self):
        self.assertEqual(instructions.differences({"a": 1.0}, {"b": 1.0}), ["a: not counted", "b: not in the baseline"])


class InFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)

    def replace(self, module, **values):
        for name, value in values.items():
            patch = mock.patch.object(module, name, value)
            patch.start()
            self.addCleanup(patch.stop)


class Instructions(InFolder):
    def run_part(self, compiler, found):
        baseline = self.root / "baseline.json"
        baseline.write_text(json.dumps({"compiler": "g++ 12", "instructions": {"dlht find": 100, "dlht assign": 50}}))
        self.replace(instructions, BASELINE=baseline, build=lambda _: None, compiler=lambda: compiler,
                     measure=lambda _: found)
        return instructions.instructions(mock.Mock(part="instructions"))

    def test_passes(self):
        self.assertIn("2 verbs", self.run_part("g++ 12", {"dlht find": 100, "dlht assign": 50}))

    def test_moved(self):
        with self.assertRaisesRegex(shell.Failure, "dlht find"):
            self.run_part("g++ 12", {"dlht find": 110, "dlht assign": 50})

    def test_another_compiler_is_skipped(self):
        with self.assertRaisesRegex(shell.Skip, "g[+][+] 13"):
            self.run_part("g++ 13", {"dlht find": 100, "dlht assign": 50})


if __name__ == "__main__":
    unittest.main()
