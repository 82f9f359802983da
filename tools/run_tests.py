#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# The test command: runs its parts, goes on after a failure, and ends with a table and the counts.
# Exit status 0 only when no part failed. Each part can be run alone: tools/run_tests.py --only house,format
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from suite import consumers, driver, fuzz, instructions, source, tests  # noqa: E402

# The cheap parts come first: what they find is known within seconds.
PARTS = {
    "house": (source.house, "rules of the house, and that each rule catches what it should"),
    "format": (source.format, "clang-format"),
    "front_door": (source.front_door, "what #include <cubby/map.hpp> costs"),
    "alone": (source.alone, "each header compiles alone, g++ and clang"),
    "messages": (source.messages, "what must not compile says why"),
    "bare": (source.bare, "without exceptions and run-time types"),
    "consumers": (consumers.consumers, "installed package, subdirectory, pkg-config"),
    "release": (tests.release, "all tests, optimised"),
    "instructions": (instructions.instructions, "instructions of each call against the stored baseline"),
    "examples": (tests.examples, "each example runs"),
    "asan": (tests.asan, "tests built with clang, under AddressSanitizer and UndefinedBehaviorSanitizer"),
    "tsan": (tests.tsan, "tests with free threads built with clang, under ThreadSanitizer"),
    "fuzz": (fuzz.fuzz, "libFuzzer over the whole face and the readers of k-mers, 30 seconds each"),
    "programs": (tests.programs, "the programs and examples, built with clang, and the programs' tests"),
    "tidy": (source.tidy, "clang-tidy"),
    "aarch64": (tests.aarch64, "what the processor matters to, cross-compiled and run under qemu-user"),
}


# Those that take long, side by side, the longest first; parts in one chain share a build folder.
CHAINS = [["release", "instructions"], ["programs", "examples"], ["asan"], ["tsan"], ["fuzz"], ["tidy"], ["aarch64"]]


def run(names):
    """Each part alone if few are asked for; else the quick ones first, then the chains."""
    parts = {name: PARTS[name][0] for name in names}
    chains = [[name for name in chain if name in parts] for chain in CHAINS]
    chains = [chain for chain in chains if chain]
    if len(chains) < 2:
        chains = []
    chained = {name for chain in chains for name in chain}
    results = {name: driver.run_part(name, function) for name, function in parts.items() if name not in chained}
    results |= driver.run_lanes({name: parts[name] for name in parts if name in chained}, chains)
    return {name: results[name] for name in names}


def main():
    arguments = driver.options("Run the parts of the test command.", PARTS).parse_args()
    if arguments.list:
        driver.print_list({name: what for name, (_, what) in PARTS.items()})
        return 0
    return 1 if driver.print_table(run(arguments.only)) else 0


if __name__ == "__main__":
    sys.exit(main())
