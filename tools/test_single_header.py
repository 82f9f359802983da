#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# The script that joins the public headers, and the one that compares the lengths of examples.
import contextlib
import io
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import example_lines  # noqa: E402
import single_header  # noqa: E402


class SingleHeader(unittest.TestCase):
    def test_each_header_is_in_it_once(self):
        text = single_header.single_header()
        self.assertNotRegex(text, r"(?m)^\s*#\s*include\s*<cubby/")
        self.assertNotIn("#pragma once", text)
        names = re.findall(r"(?m)^// (cubby/\S+\.hpp)$", text)
        self.assertEqual(len(names), len(set(names)))
        for header in (single_header.INCLUDE / "cubby").glob("*.hpp"):
            self.assertEqual(f"cubby/{header.name}" in names, f"cubby/{header.name}" not in single_header.LEFT_OUT)
        standard = re.findall(r"(?m)^#include <\S+>$", text.split("\n// cubby/")[0])
        self.assertEqual(len(standard), len(set(standard)))

    def test_refusals(self):
        script = Path(single_header.__file__)
        for arguments in (["-x"], ["a", "b"], ["/proc/cubby/all.hpp"]):
            done = subprocess.run([sys.executable, script, *arguments], capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done.stderr)


class ExampleLines(unittest.TestCase):
    def found(self, ours, theirs, row, boost=None):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            (root / "examples" / "rivals" / "boost").mkdir(parents=True)
            (root / "docs").mkdir()
            (root / "examples" / "a.cpp").write_text("// head\n\n" + "x;\n" * ours)
            (root / "examples" / "rivals" / "a.cpp").write_text("x;\n" * theirs)
            if boost is not None:
                (root / "examples" / "rivals" / "boost" / "a.cpp").write_text("x;\n" * boost)
            (root / "docs" / "features.md").write_text(f"| [a](../examples/a.cpp) | x | y | {row} |\n")
            with contextlib.redirect_stdout(io.StringIO()):
                return list(example_lines.problems(root))

    def test_lengths(self):
        self.assertEqual(self.found(3, 3, "3 | 3 | -"), [])
        self.assertEqual(self.found(3, 3, "3 | 3 | 4", boost=4), [])
        self.assertEqual(len(self.found(4, 3, "4 | 3 | -")), 1)  # longer
        self.assertEqual(len(self.found(4, 5, "4 | 5 | 3", boost=3)), 1)  # longer than with Boost
        self.assertEqual(len(self.found(3, 3, "2 | 3 | -")), 1)  # the page has another count


if __name__ == "__main__":
    unittest.main()
