# SPDX-License-Identifier: Apache-2.0
# What the check command runs, as the first part of `make verify`. What has passed over the same tree is not run again. What it had to skip
# is not passed. With CUBBY_VERIFY_FULL=1, without what another part of it does over more.
import re
import sys

import run_tests
from suite.shell import ROOT, Failure, Skip, is_full

TITLE = "what `make check` runs"
# Part of the check command: part of this one that runs at least the same. `asan_modes` and `tsan_modes` run the same tests in more modes.
# `fuzz` runs the same fuzzers for longer. `documentation` opens in a browser what it has built.
REPEATED = {"asan": "asan_modes", "asan_engines": "asan_modes", "tsan": "tsan_modes", "fuzz": "fuzz",
            "documentation": "documentation"}


def run(shell):
    wanted = [name for name in run_tests.PARTS if name not in REPEATED or not is_full()]
    command = [sys.executable, ROOT / "tools" / "run_tests.py", "--check", "--only", ",".join(wanted)]
    output = shell.run("run the check command", command, show=True, limit=2400)
    lines = output.rstrip().split("\n")
    counts = re.fullmatch(r"(\d+) passed, 0 failed(?:, (\d+) skipped)?", lines[-1])
    if not counts:
        raise Failure(f"the check command ended with: {lines[-1]}")
    if counts.group(2):
        skipped = [line.split() for line in lines if re.match(r"\w+ +skipped +\d", line)]
        raise Skip(f"{lines[-1]}: " + "; ".join(f"{row[0]}: {' '.join(row[3:])}" for row in skipped))
    return lines[-1]
