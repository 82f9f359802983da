# SPDX-License-Identifier: Apache-2.0
# Explores the schedules of the real engines, all groups for CUBBY_VERIFY_SECONDS together (240 by default, 480 with
# CUBBY_VERIFY_FULL=1). Each runs in a process of its own, as many at once as there are cores, up to three preemptions and then at random.
# build/verify/interleavings.tsv has a row for each scenario: how far it was explored, and whether the bound was exhausted. A
# failure prints its schedule and how to run it again.
import re
from concurrent.futures import ThreadPoolExecutor

from suite.shell import BUILD, JOBS, Failure, Shell, is_full, say, seconds_of_part

TITLE = "schedules of the real engines, by bounded preemption and at random"
DEFAULT_SECONDS, FULL_SECONDS = 240, 480
BOUND = 3
PROGRAM = BUILD / "release" / "tests" / "cubby_explore"
ROWS = BUILD / "verify" / "interleavings.tsv"
ROW = re.compile(r"^(?P<group>\S.{23}) +(?P<numbers>\d+(?: +\d+)+)  (?:exhausted|cut)$", re.MULTILINE)


def tests_of(shell):
    listed = shell.run("list the groups", [PROGRAM, "--gtest_list_tests"])
    suite, found = "", []
    for line in listed.split("\n"):
        if re.fullmatch(r"\w+\.", line):
            suite = line
        elif re.fullmatch(r"  \w+", line):
            found.append(suite + line.strip())
    return found


class Counts:
    """Sums of the rows of all groups: scenarios, how many of them are exhausted at each bound, schedules."""

    def __init__(self):
        self.scenarios, self.schedules, self.random = 0, 0, 0
        self.exhausted = [0] * (BOUND + 1)

    def add(self, name, output):
        row = ROW.search(output)
        if not row:
            raise Failure(f"{name} printed no row of figures")
        scenarios, *exhausted, schedules, at_random, _ = (int(n) for n in row["numbers"].split())
        if scenarios == 0 or schedules == 0 or len(exhausted) != BOUND + 1:
            raise Failure(f"{name} explored nothing: {row.group()}")
        self.scenarios += scenarios
        self.schedules += schedules
        self.random += at_random
        self.exhausted = [a + b for a, b in zip(self.exhausted, exhausted)]
        say(f"interleavings: {row['group'].strip()}: {scenarios} scenarios, exhausted at 0 to {BOUND} preemptions: "
            f"{', '.join(str(n) for n in exhausted)}; {schedules:,} schedules and {at_random:,} at random")

    def note(self):
        at = ", ".join(f"{n} at {bound}" for bound, n in enumerate(self.exhausted))
        return (f"{self.scenarios} scenarios, all schedules of so many preemptions exhausted in: {at}; "
                f"{self.schedules:,} schedules by bounds, {self.random:,} at random")


def explore(name, seconds):
    """One group: what it printed, and its rows."""
    group = name.removeprefix("explore.")
    rows = ROWS.with_name(f"interleavings.{group}.tsv")
    rows.parent.mkdir(parents=True, exist_ok=True)
    rows.unlink(missing_ok=True)
    settings = {"CUBBY_EXPLORE_SECONDS": str(seconds), "CUBBY_EXPLORE_BOUND": str(BOUND), "CUBBY_EXPLORE_TABLE": str(rows)}
    output = Shell(f"interleavings.{group}").run(f"explore {group}", [PROGRAM, f"--gtest_filter={name}"], env=settings,
                                                 limit=seconds + 600)
    return output, rows.read_text()


def run(shell):
    shell.configure("release")
    shell.build("release", "cubby_explore")
    seconds = seconds_of_part(FULL_SECONDS if is_full() else DEFAULT_SECONDS)
    names = tests_of(shell)
    groups = [name for name in names if name.startswith("explore.")]
    if not groups or len(groups) == len(names):
        raise Failure("the groups or their controls have been lost")
    shell.run("controls: planted holes are found", [PROGRAM, "--gtest_filter=explore_control.*"])
    with ThreadPoolExecutor(int(JOBS)) as pool:
        explored = list(pool.map(lambda name: explore(name, seconds), groups))
    ROWS.write_text("".join(rows for _, rows in explored))
    counts = Counts()
    for name, (output, _) in zip(groups, explored):
        counts.add(name, output)
    return counts.note()
