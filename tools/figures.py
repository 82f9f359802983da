#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Renews the figures of the documentation.
#   tools/figures.py run [--only ID,...] [--fresh]   runs the commands of docs/results/runs.toml that this machine has no result of yet.
#   tools/figures.py targets                         prints the targets of the build that the commands need.
#   tools/figures.py write                           writes tables, blocks and plots of pages from the results.
#   tools/figures.py check                           fails if a page shows what no result has, or a result is of a changed tree.
# `run` and `targets` refuse a tree in which what is measured has changes that are not committed. `run` can be cut off and called again: it goes on with the command that was cut off. Exit 1: `check` has found something. Exit 2: bad
# arguments, or a command failed.
import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from figure_results import checks, pages, runs  # noqa: E402


def chosen(only):
    known = runs.runs()
    wanted = only.split(",") if only else list(known)
    for name in wanted:
        if name not in known:
            raise runs.Failure(f"no run is called {name}: docs/results/runs.toml has {', '.join(known)}")
    return [known[name] for name in wanted]


def run(only, fresh):
    name, about = runs.machine()
    there = runs.results_of(name)
    wanted = [one for one in chosen(only) if fresh or only or one["command"] != there.get(one["id"], {}).get("command")]
    source = runs.commit()
    print(f"{len(wanted)} commands to run on {about['cpu']}, about {sum(one['seconds'] for one in wanted) // 60 + 1} minutes",
          flush=True)
    for number, one in enumerate(wanted, 1):
        print(f"[{number}/{len(wanted)}] {one['id']}, about {one['seconds']} s: {one['command']}", flush=True)
        if runs.commit() != source:  # somebody has gone on working meanwhile: what is measured was built before that
            raise runs.Failure(f"the tree was {source} when the run began, and is another now: build again, and run what is left")
        runs.save(one, runs.carry_out(one, runs.ROOT / "build" / "release"), name, about, source)


def main():
    parser = argparse.ArgumentParser(description="Renews the figures of the documentation.")
    parser.add_argument("action", choices=["run", "targets", "write", "check"])
    parser.add_argument("--only", help="ids of runs, with commas between; they are run even if there are results")
    parser.add_argument("--fresh", action="store_true", help="run also what this machine has results of")
    given = parser.parse_args()
    try:
        if given.action == "run":
            run(given.only, given.fresh)
        if given.action in ("run", "write"):
            for page in pages.write():
                print(f"wrote {page}")
        if given.action == "targets":
            runs.commit()  # refuses before the build, not after it
            print(*sorted({runs.target_of(one) for one in chosen(given.only)}))
        if given.action == "check":
            found = list(checks.problems())
            print("\n".join(found) or "each generated figure has its result")
            return 1 if found else 0
    except (runs.Failure, OSError) as failure:
        print(f"figures: {failure}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
