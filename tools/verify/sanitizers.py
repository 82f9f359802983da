# SPDX-License-Identifier: Apache-2.0
# The test command runs all tests under the sanitizers of clang; here those of g++ see what g++ makes of the same code,
# optimised, and with no combination left out for the sake of time under AddressSanitizer.
from suite import tests

TITLE = "all tests built with g++, under AddressSanitizer, UndefinedBehaviorSanitizer and ThreadSanitizer"


def run(shell):
    address = tests.build_and_run(shell, "asan")
    thread = tests.build_and_run(shell, "tsan", prefix=tests.without_address_randomisation())
    return f"AddressSanitizer: {address}; ThreadSanitizer: {thread}"
