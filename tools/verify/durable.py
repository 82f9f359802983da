# SPDX-License-Identifier: Apache-2.0
# Durable tables for longer than in the check command. A writer process is killed a thousand times, and 20,000 files are damaged.
# Power cuts on ordinary files and in the crash states take larger samples. Two run at a time.
import re
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from suite.shell import BUILD, Failure, Shell, need

TITLE = "durable tables: a thousand kills, 20,000 damaged files, long power cuts and crash states"
AT_ONCE = 2


class Run(NamedTuple):
    name: str
    program: str
    tests: str  # a filter of GoogleTest
    setting: str
    times: int  # in each test, or so many times as many
    least: int  # of all tests together


RUNS = (
    Run("crash states", "cubby_tests_crash", "*", "CUBBY_TEST_LONG", 4, 0),
    Run("kills", "cubby_tests_durable", "durable_kills*", "CUBBY_TEST_KILLS", 84, 1000),
    Run("damaged files", "cubby_tests_durable", "durable_damage*", "CUBBY_TEST_DAMAGES", 1000, 20000),
    Run("power cuts", "cubby_tests_hooked", "power_cut*", "CUBBY_TEST_LONG", 4, 0),
)


def carry_out(one):
    """What a run has found, for the table."""
    program = BUILD / "release" / "tests" / one.program
    command = [program, f"--gtest_filter={one.tests}", "--gtest_brief=1"]
    shell = Shell("durable." + one.name.replace(" ", "_"))
    output = shell.run(one.name, command, env={one.setting: str(one.times)})
    passed = re.search(r"\[  PASSED  \] ([1-9]\d*) tests?", output)
    if not passed:
        raise Failure(f"{one.name}: no test ran")
    done = int(passed.group(1)) * one.times
    if done < one.least:
        raise Failure(f"{one.name}: {done}; there should be at least {one.least}")
    states = re.search(r"crash states: (.+)", output)
    if states:
        return states.group(0)
    return f"{done} {one.name}" if one.least else f"{passed.group(1)} tests of {one.name}, {one.times} times as long"


def run(shell):
    need("g++")
    shell.configure("release")
    shell.build("release", *dict.fromkeys(one.program for one in RUNS))
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return "; ".join(pool.map(carry_out, RUNS))
