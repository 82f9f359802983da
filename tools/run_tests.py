#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# The test command and, with --check, the check command. It runs parts, goes on after a failure, and ends with a table and
# the counts. Exit status 0 only when no part failed. Each part can be run alone: tools/run_tests.py --only house,format
# --check runs every part but those that have passed over the same tree.
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from suite import consumers, documentation, driver, fuzz, instructions, source, tests  # noqa: E402
from suite.memory import Memory, tree_state  # noqa: E402

# The cheap parts come first: their findings are known within seconds.
PARTS = {
    "house": (source.house, "rules of the house, and that each rule catches what it should"),
    "format": (source.format, "clang-format"),
    "front_door": (source.front_door, "what #include <cubby/map.hpp> costs"),
    "alone": (source.alone, "each public header compiles alone; every call under strict warnings, with g++ and clang"),
    "messages": (source.messages, "what must not compile says why"),
    "bare": (source.bare, "without exceptions and run-time types"),
    "consumers": (consumers.consumers, "installed package, subdirectory, pkg-config, single header"),
    "release": (tests.release, "the conformance suite with threads over words, and what users link, built with g++ and optimised"),
    "stops": (tests.stops, "threads stopped at chosen steps, faults, tables in files, killed processes and power cuts, built with clang"),
    "gates": (tests.gates, "what each call costs in lines, locked instructions and allocations; the explorer of schedules"),
    "instructions": (instructions.instructions, "instructions of each call against the stored baseline"),
    "examples": (tests.examples, "each example runs"),
    "asan": (tests.asan, "the conformance suite built with clang, under AddressSanitizer and UndefinedBehaviorSanitizer"),
    "asan_engines": (tests.asan_engines, "the same for tests of single engines and parts, regressions, and calls that are made of others"),
    "tsan": (tests.tsan, "the conformance suite built with clang, under ThreadSanitizer"),
    "fuzz": (fuzz.fuzz, "libFuzzer over the whole API and the readers of k-mers, 15 seconds each"),
    "programs": (tests.programs, "the programs and the code of the documentation, built with clang, and their tests"),
    "tidy": (source.tidy, "clang-tidy"),
    "documentation": (documentation.documentation, "the website builds without a warning; no call lacks a row, no link leads nowhere"),
    "aarch64": (tests.aarch64, "what the processor matters to, cross-compiled and run under qemu-user"),
}

# What `make test` runs: the rules of the source, the examples, and the conformance suite, built once, with AddressSanitizer.
SHORT = ["house", "format", "front_door", "messages", "examples", "asan"]

# Chains of parts run side by side: the first one has those that say soonest what is wrong. Then the longest come first, and those that keep one core
# busy before others. Parts that share a build folder are in one chain.
CHAINS = [["house", "format", "front_door", "messages", "alone", "bare"], ["asan", "asan_engines"], ["programs", "examples", "gates", "stops"],
          ["release", "instructions"], ["fuzz"], ["documentation"], ["aarch64"], ["tsan"], ["consumers"], ["tidy"]]


def main():
    parser = driver.options("Run the parts of the test command.", PARTS)
    parser.set_defaults(only=None)
    parser.add_argument("--check", action="store_true", help="run every part that has not passed over the same tree")
    arguments = parser.parse_args()
    if arguments.list:
        driver.print_list({name: what for name, (_, what) in PARTS.items()})
        return 0
    names = arguments.only or (list(PARTS) if arguments.check else SHORT)
    # The test command runs every part that it is given; --check uses its results.
    memory = Memory("tests", tree_state(), forget=() if arguments.check else names)
    results = driver.run_over({name: PARTS[name][0] for name in names}, CHAINS, memory)
    return 1 if driver.print_table(results) else 0


if __name__ == "__main__":
    sys.exit(main())
