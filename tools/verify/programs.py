# SPDX-License-Identifier: Apache-2.0
# The programs, benches and examples built with g++ and without precompiled headers, as users build them, and their tests; the benches
# with clang, too. clang-tidy on the files of programs that the check command leaves out.
from suite import source, tests
from suite.shell import need

TITLE = "programs, benches and examples with g++, and their tests; clang-tidy on more of their files"


def run(shell):
    need("g++", "clang++-19")
    shell.configure("users")
    shell.build("users", "apps/all", "bench/all", "examples/all")
    ran = tests.ctest(shell, "users", "-R", f"{tests.OF_PROGRAMS}|{tests.OF_DEMO}|^example")
    shell.configure("programs")
    shell.build("programs", "apps/all", "bench/all")
    return f"{ran}; clang-tidy: {source.tidy(shell, source.MORE_TIDY_UNITS)}"
