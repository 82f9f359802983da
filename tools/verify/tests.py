# SPDX-License-Identifier: Apache-2.0
# Everything that the check command runs, as the first part of `make verify`. What it had to skip is not passed.
import re
import sys

from suite.shell import ROOT, Failure, Skip

TITLE = "everything that `make check` runs"
COMMAND = [sys.executable, ROOT / "tools" / "run_tests.py", "--check"]


def run(shell):
    output = shell.run("run the check command", COMMAND, show=True, limit=2400)
    lines = output.rstrip().split("\n")
    counts = re.fullmatch(r"(\d+) passed, 0 failed(?:, (\d+) skipped)?", lines[-1])
    if not counts:
        raise Failure(f"the check command ended with: {lines[-1]}")
    if counts.group(2):
        skipped = [line.split() for line in lines if re.match(r"\w+ +skipped +\d", line)]
        raise Skip(f"{lines[-1]}: " + "; ".join(f"{row[0]}: {' '.join(row[3:])}" for row in skipped))
    return lines[-1]
