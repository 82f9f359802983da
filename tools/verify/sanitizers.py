# SPDX-License-Identifier: Apache-2.0
# All tests of tables under AddressSanitizer and UndefinedBehaviorSanitizer, in every mode: the check command leaves out modes, the tests
# with hooks and those of durable tables. Those with threads also under ThreadSanitizer. With clang and not optimised: g++ takes three
# times as long to compile for them, and clang does when it optimises.
# CUBBY_VERIFY_FULL=1 adds what shows a sanitizer little: the explorer, which has a watch of its own over freed memory.
from suite import tests
from suite.shell import is_full, need

TITLE = "all tests under AddressSanitizer and UndefinedBehaviorSanitizer, those with threads under ThreadSanitizer"
TABLES = (["cubby_tests_of_tables"], ("-R", "^cubby_tests"))
ALL = ([], ())
THREADED = ([*tests.PUBLIC, "cubby_tests_hooked", "cubby_tests_of_composed_calls", "cubby_tests_of_the_api"],
            ("-R", "^cubby_tests(_in_place|_of_engines)?(_hooked.*|_others|_without.*|_of_composed_calls|_of_the_api)?$"))


def run(shell):
    need("clang++-19")
    prefix = tests.without_address_randomisation()
    notes = []
    for preset, (targets, only), before in (("asan", ALL if is_full() else TABLES, ()), ("tsan", THREADED, prefix)):
        notes.append(f"{preset}: " + tests.build_and_run(shell, preset, *targets, prefix=before, only=only))
    return "; ".join(notes)
