# SPDX-License-Identifier: Apache-2.0
# All tests under the sanitizers, in every mode: the check command leaves out modes, the tests with hooks, those of durable tables
# and the explorer. Programs of one thread, as the explorer with its fibers is, have nothing to show to ThreadSanitizer.
# With clang and not optimised: g++ takes three times as long to compile for them, and clang does when it optimises.
from suite import tests
from suite.shell import need

TITLE = "all tests under AddressSanitizer and UndefinedBehaviorSanitizer, those with threads under ThreadSanitizer"
THREADED = ("cubby_tests", "cubby_tests_hooked")
THEIR_RUNS = ("-R", "^cubby_tests(_hooked.*|_others|_without.*)?$")


def run(shell):
    need("clang++-19")
    prefix = tests.without_address_randomisation()
    return "; ".join(
        (
            "asan: " + tests.build_and_run(shell, "asan"),
            "tsan: " + tests.build_and_run(shell, "tsan", *THREADED, prefix=prefix, only=THEIR_RUNS),
        )
    )
