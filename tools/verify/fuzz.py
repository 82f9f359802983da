# SPDX-License-Identifier: Apache-2.0
# The fuzzers of the test command, for longer: CUBBY_VERIFY_SECONDS of processor time, by default five minutes, shared out
# over the fuzzers and the cores; each process has a seed of its own.
from suite import fuzz
from suite.shell import JOBS, seconds_of_part

TITLE = "libFuzzer over the whole API and the readers of k-mers, AddressSanitizer and UndefinedBehaviorSanitizer"
SECONDS = 300


def run(shell):
    return fuzz.run_all(shell, -(-seconds_of_part(SECONDS) // len(fuzz.TARGETS)), processes=int(JOBS), preset=fuzz.OPTIMISED)
