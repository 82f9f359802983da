# SPDX-License-Identifier: Apache-2.0
# All tests under the sanitizers of both compilers. The test command runs some of them with clang's; those of g++ see what
# g++ makes of the same code, optimised, and with no combination left out for the sake of time under AddressSanitizer.
from suite import tests
from suite.shell import need

TITLE = "all tests under AddressSanitizer, UndefinedBehaviorSanitizer and ThreadSanitizer, with g++ and clang"


def run(shell):
    need("clang++-19")
    notes = []
    for compiler in ("clang-", ""):
        notes.append(f"{compiler}asan: " + tests.build_and_run(shell, f"{compiler}asan"))
        prefix = tests.without_address_randomisation()
        notes.append(f"{compiler}tsan: " + tests.build_and_run(shell, f"{compiler}tsan", prefix=prefix))
    return "; ".join(notes)
