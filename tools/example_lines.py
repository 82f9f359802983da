#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Counts the lines of each example that has a twin in examples/rivals, and of the twins. Empty lines and comments do not count.
# Exit 1: an example is longer than a twin, or docs/features.md has other counts.
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = "docs/features.md"


def lines_of(text):
    return sum(1 for line in text.splitlines() if line.strip() and not line.strip().startswith("//"))


def problems(root):
    """Yields what is wrong; prints the counts."""
    twins = sorted((root / "examples" / "rivals").glob("*.cpp"))
    of_boost = {path.name: lines_of(path.read_text()) for path in (root / "examples" / "rivals" / "boost").glob("*.cpp")}
    if not twins:
        yield "examples/rivals has no programs"
    page = (root / PAGE).read_text()
    for twin in twins:
        ours, theirs = (lines_of(path.read_text()) for path in (root / "examples" / twin.name, twin))
        boost = of_boost.get(twin.name, "-")
        print(f"{twin.stem}: {ours} lines, its twin {theirs}, with Boost {boost}")
        if ours > min(theirs, of_boost.get(twin.name, theirs)):
            yield f"examples/{twin.name}: {ours} lines, its twins have {theirs} and {boost}"
        row = re.search(rf"^\|[^|]*examples/{twin.name}\).*\| (\d+) \| (\d+) \| (\d+|-) \|$", page, re.MULTILINE)
        if not row or row.groups() != (str(ours), str(theirs), str(boost)):
            yield f"{PAGE}: no row of {twin.name} with {ours}, {theirs} and {boost}"


def main():
    found = list(problems(ROOT))
    for problem in found:
        print(problem)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
