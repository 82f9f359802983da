# SPDX-License-Identifier: Apache-2.0
# All tests built without optimisation, file by file, with both compilers. The builds of the test command join test files
# into one unit: a missing #include or a shadowed name can hide there. They are not run: the same tests run optimised and
# under the sanitizers of both compilers.
from suite.shell import need

TITLE = "all tests built file by file, unoptimised, with g++ and clang"


def run(shell):
    need("clang++-19")
    for preset in ("debug", "clang-debug"):
        shell.configure(preset)
        shell.build(preset, "tests/all")
    return "built without a warning"
