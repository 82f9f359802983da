# SPDX-License-Identifier: Apache-2.0
# What the builds of the test command leave out. The tests are built file by file: those builds join some of them into one unit,
# where a missing #include or a shadowed name can hide. The programs are built with g++ and without precompiled headers, as users
# build them. All tests are built for AArch64. The last two are run. The tests optimised with clang are built and run in part
# `sanitizers`.
from suite import source, tests
from suite.shell import need

TITLE = "tests built file by file, clang-tidy; the programs with g++; all tests for AArch64"


def run(shell):
    need("clang++-19")
    shell.configure("clang-debug")
    shell.build("clang-debug", "tests/all")
    shell.configure("release")
    shell.build("release")
    programs = tests.ctest(shell, "release", "-R", "^(cubby_(bench|kmer|store)|example)")
    tidy = source.tidy(shell, source.MORE_TIDY_UNITS)
    cross = tests.cross(shell, "cubby_tests")
    return f"built without a warning; clang-tidy: {tidy}; programs and examples: {programs}; AArch64: {cross}"
