# SPDX-License-Identifier: Apache-2.0
# The fuzzers of the test command, for longer: CUBBY_VERIFY_SECONDS of processor time each, by default ten minutes, shared
# out over the cores; each process has a seed of its own.
from suite import fuzz
from suite.shell import JOBS, seconds_of_part

TITLE = "libFuzzer over the whole face against std::unordered_map, AddressSanitizer and UndefinedBehaviorSanitizer"
SECONDS = 600


def run(shell):
    return fuzz.run_all(shell, seconds_of_part(SECONDS), processes=int(JOBS))
