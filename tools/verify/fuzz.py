# SPDX-License-Identifier: Apache-2.0
# The fuzzers of the test command, for longer: CUBBY_VERIFY_SECONDS each, by default ten minutes.
from suite import fuzz
from suite.shell import seconds_of_part

TITLE = "libFuzzer over the whole face against std::unordered_map, AddressSanitizer and UndefinedBehaviorSanitizer"
SECONDS = 600


def run(shell):
    return fuzz.run_all(shell, seconds_of_part(SECONDS))
