# SPDX-License-Identifier: Apache-2.0
# The tests with threads under ThreadSanitizer, in every mode: the check command has records alone, and leaves out the tests with hooks.
# With clang and not optimised, for the reasons of asan_modes.py.
from suite import tests
from suite.shell import need

TITLE = "all tests with threads under ThreadSanitizer, in every mode"
THREADED = ([*tests.PUBLIC, "cubby_tests_hooked", tests.COMPOSED, "cubby_tests_of_the_api"],
            ("-R", "^cubby_tests(_in_place|_of_engines)?(_hooked.*|_others|_without.*|_of_composed_calls|_of_the_api)?$"))


def run(shell):
    need("clang++-19")
    targets, only = THREADED
    return tests.build_and_run(shell, "tsan", *targets, prefix=tests.without_address_randomisation(), only=only)
