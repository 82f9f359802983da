# SPDX-License-Identifier: Apache-2.0
# The programs, benches and examples built with g++ and without precompiled headers, as users build them, and their tests; clang-tidy on
# the files of programs that the check command leaves out.
from suite import source, tests
from suite.shell import need

TITLE = "programs, benches and examples with g++, and their tests; clang-tidy on more of their files"


def run(shell):
    need("g++")
    shell.configure("release")
    shell.build("release", "apps/all", "bench/all", "examples/all")
    ran = tests.ctest(shell, "release", "-R", f"{tests.OF_PROGRAMS}|^example")
    return f"{ran}; clang-tidy: {source.tidy(shell, source.MORE_TIDY_UNITS)}"
