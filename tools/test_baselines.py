#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# The parts that compare with a stored baseline: a figure that has changed fails. Another compiler or a missing tool is
# skipped and never passed. A fuzzer that has tried nothing new fails.
import json
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent))
from suite import fuzz, instructions, shell  # noqa: E402


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


class Fuzz(InFolder):
    def run_part(self, inputs, output):
        corpus = self.root / "corpus" / "api"
        corpus.mkdir(parents=True)
        for number in range(inputs):
            (corpus / str(number)).write_bytes(b"x")
        self.replace(fuzz, BUILD=self.root / "build", ROOT=self.root, CORPUS=self.root / "corpus")
        runner = mock.Mock(part="fuzz")
        runner.run = output if callable(output) else mock.Mock(return_value=output)
        return fuzz.run_target(runner, fuzz.QUICK, "api", 1)

    def test_passes(self):
        output = "#9 NEW cov: 70 ft: 1\n#10 pulse cov: 71 ft: 1\nstat::number_of_executed_units: 12\n"
        self.assertEqual(self.run_part(2, output), (12, 2, 71))

    def test_an_empty_corpus_fails(self):
        with self.assertRaisesRegex(shell.Failure, "empty"):
            self.run_part(0, "")

    def test_nothing_new_fails(self):
        with self.assertRaisesRegex(shell.Failure, "nothing was tried"):
            self.run_part(2, "#2 INITED cov: 70\nstat::number_of_executed_units: 2\n")

    def test_a_find_says_how_to_run_it_again(self):
        def fail(*_, **__):
            raise shell.Failure("fuzz api ended with 77")

        with self.assertRaisesRegex(shell.Failure, "77; again: .*cubby_fuzz_api"):
            self.run_part(2, fail)

    def test_without_the_fuzzer_the_part_is_skipped(self):
        self.replace(fuzz, need=lambda *_: None, has_fuzzer=lambda _: False)
        with self.assertRaises(shell.Skip):
            fuzz.fuzz(mock.Mock(part="fuzz"))


if __name__ == "__main__":
    unittest.main()
