# SPDX-License-Identifier: Apache-2.0
# Everything built with both compilers: all without optimisation, file by file (the builds of the test command join test
# files into one unit, and a missing #include or a shadowed name can hide there), and all tests for AArch64. Only the latter
# are run: the others run optimised and under the sanitizers of both compilers.
from suite import tests
from suite.shell import need

TITLE = "everything built file by file with g++ and clang; all tests for AArch64"


def run(shell):
    need("clang++-19")
    for preset in ("debug", "clang-debug"):
        shell.configure(preset)
        shell.build(preset)
    return "built without a warning; AArch64: " + tests.cross(shell, "cubby_tests")
