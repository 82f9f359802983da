# SPDX-License-Identifier: Apache-2.0
# All tests built without optimisation, file by file, with both compilers, and run. The builds of the test command join
# test files into one unit: a missing #include or a shadowed name can hide there.
from suite import tests
from suite.shell import need

TITLE = "all tests built file by file, unoptimised, with g++ and clang"


def run(shell):
    need("clang++-19")
    notes = {preset: tests.build_and_run(shell, preset, "tests/all") for preset in ("debug", "clang-debug")}
    return "; ".join(f"{preset}: {note}" for preset, note in notes.items())
