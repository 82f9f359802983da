# SPDX-License-Identifier: Apache-2.0
# All tests of tables under AddressSanitizer and UndefinedBehaviorSanitizer, in every mode: the check command leaves out modes, the tests
# with hooks and those of durable tables. With clang and not optimised: g++ takes three times as long to compile for them, and clang
# does when it optimises.
# CUBBY_VERIFY_FULL=1 adds what shows a sanitizer little: the explorer, which has a watch of its own over freed memory.
from suite import tests
from suite.shell import is_full, need

TITLE = "all tests of tables under AddressSanitizer and UndefinedBehaviorSanitizer, in every mode"
TABLES = (["cubby_tests_of_tables"], ("-R", "^cubby_tests"))
ALL = ([], ())


def run(shell):
    need("clang++-19")
    targets, only = ALL if is_full() else TABLES
    return tests.build_and_run(shell, "asan", *targets, only=only)
