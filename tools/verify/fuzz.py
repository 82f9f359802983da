# SPDX-License-Identifier: Apache-2.0
# The fuzzers of the test command, for longer: CUBBY_VERIFY_SECONDS each, by default ten minutes.
import os

from suite import fuzz

TITLE = "libFuzzer over the whole face against std::unordered_map, AddressSanitizer and UndefinedBehaviorSanitizer"
SECONDS = 600


def run(shell):
    return fuzz.run_all(shell, int(os.environ.get("CUBBY_VERIFY_SECONDS", SECONDS)))
