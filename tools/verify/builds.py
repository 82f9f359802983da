# SPDX-License-Identifier: Apache-2.0
# Everything built with both compilers: all without optimisation, file by file (the builds of the test command join test
# files into one unit, and a missing #include or a shadowed name can hide there), the programs with g++ as users build them, and all
# tests for AArch64. The latter two are run: the other tests run optimised and under the sanitizers of both compilers.
from suite import source, tests
from suite.shell import need

TITLE = "everything built file by file with g++ and clang, clang-tidy; the programs with g++, optimised; all tests for AArch64"


def run(shell):
    need("clang++-19")
    for preset in ("debug", "clang-debug"):
        shell.configure(preset)
        shell.build(preset)
    shell.configure("release")
    shell.build("release")
    programs = tests.ctest(shell, "release", "-R", "^cubby_(bench|kmer)")
    tidy = source.tidy(shell, source.MORE_TIDY_UNITS)
    return f"built without a warning; clang-tidy: {tidy}; programs: {programs}; AArch64: " + tests.cross(shell, "cubby_tests")
