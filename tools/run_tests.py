#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# The test command: runs its parts one after another, goes on after a failure, and ends with a table and the counts.
# Exit status 0 only when no part failed. Each part can be run alone: tools/run_tests.py --only house,format
import argparse
import sys
import time
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from suite import consumers, source, tests  # noqa: E402
from suite.shell import Failure, Shell, Skip, say  # noqa: E402

# The cheap parts come first: what they find is known within seconds.
PARTS = {
    "house": (source.house, "rules of the house, and that each rule catches what it should"),
    "format": (source.format, "clang-format"),
    "front_door": (source.front_door, "what #include <cubby/map.hpp> costs"),
    "alone": (source.alone, "each header compiles alone, g++ and clang"),
    "bare": (source.bare, "without exceptions and run-time types"),
    "consumers": (consumers.consumers, "installed package, subdirectory, pkg-config"),
    "release": (tests.release, "all tests, optimised"),
    "examples": (tests.examples, "each example runs"),
    "asan": (tests.asan, "all tests under AddressSanitizer and UndefinedBehaviorSanitizer"),
    "tsan": (tests.tsan, "all tests under ThreadSanitizer"),
    "clang": (tests.clang, "everything builds with clang"),
    "tidy": (source.tidy, "clang-tidy"),
    "aarch64": (tests.aarch64, "tests cross-compiled and run under qemu-user"),
}


def run_part(name):
    """Returns (outcome, note, seconds)."""
    begin = time.monotonic()
    try:
        outcome, note = "passed", PARTS[name][0](Shell(name))
    except Skip as why:
        outcome, note = "skipped", str(why)
    except Failure as why:
        outcome, note = "failed", str(why)
    except Exception:  # a fault of the driver itself must not hide the other parts' results
        outcome, note = "failed", traceback.format_exc(limit=3).strip().split("\n")[-1]
        traceback.print_exc()
    seconds = time.monotonic() - begin
    say(f"{name}: {outcome} in {seconds:.0f} s" + (f" ({note})" if note else ""))
    return outcome, note, seconds


def print_table(results):
    print(f"\n{'part':<12} {'outcome':<8} {'seconds':>7}  what came of it")
    for name, (outcome, note, seconds) in results.items():
        print(f"{name:<12} {outcome:<8} {seconds:7.0f}  {note}")
    counts = {what: sum(1 for r in results.values() if r[0] == what) for what in ("passed", "failed", "skipped")}
    line = f"{counts['passed']} passed, {counts['failed']} failed"
    print("\n" + line + (f", {counts['skipped']} skipped" if counts["skipped"] else ""), flush=True)
    return counts["failed"]


def chosen(only):
    names = [name.strip() for name in only.split(",")] if only else list(PARTS)
    unknown = [name for name in names if name not in PARTS]
    if unknown:
        raise argparse.ArgumentTypeError(f"no such part: {', '.join(unknown)}; there are {', '.join(PARTS)}")
    return names


def main():
    parser = argparse.ArgumentParser(description="Run the parts of the test command.")
    parser.add_argument("--only", type=chosen, default=list(PARTS), metavar="PART,...", help="run these parts alone")
    parser.add_argument("--list", action="store_true", help="name the parts and leave")
    arguments = parser.parse_args()
    if arguments.list:
        for name, (_, what) in PARTS.items():
            print(f"{name:<12} {what}")
        return 0
    return 1 if print_table({name: run_part(name) for name in arguments.only}) else 0


if __name__ == "__main__":
    sys.exit(main())
