# SPDX-License-Identifier: Apache-2.0
# All tests under g++'s sanitizers, optimised, in every mode, with no combination left out for the sake of time under
# AddressSanitizer. The check command runs clang's sanitizers, over the tests whose threads run freely.
# Programs of one thread, as the explorer with its fibers is, have nothing to show to ThreadSanitizer.
from suite import tests

TITLE = "all tests under g++'s AddressSanitizer and UndefinedBehaviorSanitizer, those with threads under ThreadSanitizer"
THREADED = ("cubby_tests", "cubby_tests_hooked")


def run(shell):
    prefix = tests.without_address_randomisation()
    return "; ".join(
        (
            "asan: " + tests.build_and_run(shell, "asan"),
            "tsan: " + tests.build_and_run(shell, "tsan", *THREADED, prefix=prefix, only=("-R", "^cubby_tests(_hooked.*|_others|_without.*)?$")),
        )
    )
