# SPDX-License-Identifier: Apache-2.0
# Small planted errors: each verify/mutants/*.patch is applied to a scratch copy of the tree, the small program that its
# head names is built and run there, and has to fail. One that passes, does not apply or does not build is a failure of
# this part. So is a check that fails on the unchanged tree, or runs no test: it would prove nothing.
# CUBBY_VERIFY_MUTANTS=name,... runs only these. When CUBBY_VERIFY_SECONDS have passed (900 by default), no further mutant begins,
# and the note says how many were not run; CUBBY_VERIFY_FULL=1 runs all. Those of files that have changed lately come first, then the
# others in an order that the day draws, so that each has its turn.
import fnmatch
import os
import queue
import random
import re
import shutil
import signal
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from house.tree import list_files
from suite import shell as suite_shell
from suite.shell import Failure, is_full, need, say, seconds_of_part
from suite.tests import without_address_randomisation

TITLE = "planted errors, each caught by a named check"
AT_ONCE = 2
MOST_IN_UNIT = 12  # mutants that one worker takes at a time: their program is built once, and no worker is alone at the end
SECONDS = 900
RECENT_COMMITS = 30
BUILD_SECONDS = 600
RUN_SECONDS = 90
HANG_SECONDS = 20  # where a hang is how the mutant shows; the check alone ends within a few seconds
LEAST = 410  # mutants; fewer means that some were lost
SWITCHES = {
    "plain": ["--preset", "clang-debug", "-DCMAKE_CXX_FLAGS_DEBUG=-O0"],  # compiles in a third of the time of g++ -O1
    "optimised": ["--preset", "clang-debug", "-DCMAKE_CXX_FLAGS_DEBUG=-O1"],  # for checks that run for longer than they compile
    "asan": ["--preset", "asan", "-DCMAKE_CXX_FLAGS=-O0 -fsanitize=address,undefined -fno-sanitize-recover=all"],
    "tsan": ["--preset", "tsan", "-DCMAKE_CXX_FLAGS=-O0 -fsanitize=thread"],
}
ALONE = ["-DCUBBY_BUILD_PROGRAMS=OFF", "-DCUBBY_BUILD_EXAMPLES=OFF", "-DCUBBY_INSTALL=OFF"]
# Fixed seeds: a mutant that is caught once is caught again. A random check may miss one of ten with any seed, so it has three.
SEEDS = ("1", "2", "3")
ENVIRONMENT = {"TSAN_OPTIONS": "halt_on_error=1", "UBSAN_OPTIONS": "print_stacktrace=0"}


class Check(NamedTuple):
    target: str
    tests: str  # a filter of GoogleTest
    kind: str  # a key of SWITCHES

    def __str__(self):
        return f"{self.target} {self.tests} ({self.kind})"


class Mutant(NamedTuple):
    name: str
    patch: str
    check: Check
    why: str
    hangs: bool  # the check may catch it by running into the time limit


class Unit(NamedTuple):
    """What one worker does without a break: the checks of one program, and mutants that they have to catch."""

    checks: list
    mutants: list


class Outcome(NamedTuple):
    name: str
    good: bool
    how: str
    seconds: float


def read_mutant(path):
    head = path.read_text().split("\ndiff --git ")[0]
    fields = dict(re.findall(r"^(check|why|hangs): *(.+)$", head, re.MULTILINE))
    words = fields.get("check", "").split()
    if len(words) != 3 or words[2] not in SWITCHES or "why" not in fields:
        raise Failure(f"{path.name} does not name its check (target, tests, {'|'.join(SWITCHES)}) and why")
    return Mutant(path.stem, os.fspath(path), Check(*words), fields["why"], "hangs" in fields)


def read_mutants(folder):
    found = [read_mutant(path) for path in sorted(folder.glob("*.patch"))]
    if len(found) < LEAST:
        raise Failure(f"{len(found)} mutants in {folder}; there should be at least {LEAST}")
    asked = os.environ.get("CUBBY_VERIFY_MUTANTS")
    if not asked:
        return found
    names = asked.split(",")
    unknown = set(names) - {mutant.name for mutant in found}
    if unknown:
        raise Failure(f"no such mutant: {', '.join(sorted(unknown))}")
    return [mutant for mutant in found if mutant.name in names]


def changed_files(patch):
    return sorted(set(re.findall(r"^(?:---|\+\+\+) [ab]/(.+)$", Path(patch).read_text(), re.MULTILINE)))


class Ended(NamedTuple):
    code: int  # negative: ended by that signal; None: ran into its limit
    output: str


def execute(command, folder, limit, environment=None):
    """Runs a command to its end or its limit, then ends all that it has started."""
    merged = {**os.environ, **(environment or {})}
    process = subprocess.Popen([str(word) for word in command], cwd=folder, env=merged, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, start_new_session=True)
    suite_shell.RUNNING.add(process)  # an interrupt ends it
    try:
        output = process.communicate(timeout=limit)[0]
        return Ended(process.returncode, output.decode(errors="replace"))
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return Ended(None, process.communicate()[0].decode(errors="replace"))
    finally:
        suite_shell.RUNNING.discard(process)


class Scratch:
    """A copy of the tree, one at a time changed by a mutant, and its build folders, which are kept."""

    def __init__(self, folder, root):
        self.folder = folder
        self.root = root
        folder.mkdir(parents=True, exist_ok=True)

    def restore(self):
        """Makes the copy equal to the tree; leaves alone what is equal, so that little is built again."""
        wanted = {name for name in list_files(self.root) if (self.root / name).is_file()}
        for name in wanted:
            source, copy = self.root / name, self.folder / name
            if copy.is_file() and copy.read_bytes() == source.read_bytes():
                continue
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, copy)
        for path in self.folder.rglob("*"):
            name = path.relative_to(self.folder)
            if path.is_file() and name.parts[0] != "build" and name.as_posix() not in wanted:
                path.unlink()

    def undo(self, patch):
        """Takes back what `apply` has changed: the files that the patch names."""
        for name in changed_files(patch):
            (self.folder / name).unlink(missing_ok=True)
            if (self.root / name).is_file():
                shutil.copyfile(self.root / name, self.folder / name)

    def apply(self, patch):
        # The copy lies in an ignored folder of the repository; git must take it for a folder of its own.
        outside = {"GIT_CEILING_DIRECTORIES": os.fspath(self.folder.parent)}
        return execute(["git", "apply", "--whitespace=nowarn", patch], self.folder, 60, outside)

    def build(self, check):
        build = self.folder / "build" / check.kind
        if not (build / "build.ninja").exists():
            done = execute(["cmake", *SWITCHES[check.kind], "-B", build, *ALONE], self.folder, BUILD_SECONDS)
            if done.code != 0:
                return done
        # A compiler cache then takes the files of all copies for the same.
        shared = {**suite_shell.CACHE, "CCACHE_BASEDIR": os.fspath(self.folder)}
        return execute(["cmake", "--build", build, "-j", "1", "--target", check.target], self.folder, BUILD_SECONDS, shared)

    def run(self, check, limit, seed=SEEDS[0]):
        program = next((self.folder / "build" / check.kind).rglob(check.target))
        prefix = without_address_randomisation() if check.kind == "tsan" else []
        return execute([*prefix, program, f"--gtest_filter={check.tests}"], self.folder, limit, {**ENVIRONMENT, "CUBBY_TEST_SEED": seed})


def what_failed(done):
    """How a check has caught a mutant, from how it ended; empty: it did not."""
    if done.code == 0:
        return ""
    if done.code is None:
        return "hangs"
    for tool in ("ThreadSanitizer", "AddressSanitizer", "UndefinedBehaviorSanitizer"):
        if tool in done.output:
            return tool
    failed = re.search(r"\[  FAILED  \] (\S+?),? ", done.output)
    if failed:
        return f"{failed.group(1)} fails"
    if done.code < 0:
        return signal.Signals(-done.code).name
    return f"exit {done.code}"


def judge(scratch, mutant):
    """(good, how, output) for a mutant."""
    applied = scratch.apply(mutant.patch)
    if applied.code != 0:
        return False, "does not apply", applied.output
    built = scratch.build(mutant.check)
    if built.code != 0:
        return False, "does not build", built.output
    for seed in SEEDS:
        ran = scratch.run(mutant.check, HANG_SECONDS if mutant.hangs else RUN_SECONDS, seed)
        how = what_failed(ran)
        if how:
            break
    if not how:
        return False, "ALIVE", ran.output
    if how == "hangs" and not mutant.hangs:
        return False, "the check hangs; that was not expected", ran.output
    return True, how, ran.output


def matches(name, tests):
    """Whether a filter of GoogleTest without exceptions takes a test."""
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in tests.split(":"))


def judge_control(scratch, checks):
    """(good, how, output) for the checks of one program on the unchanged tree: all tests pass, and each check has one."""
    together = checks[0]._replace(tests=":".join(sorted({check.tests for check in checks})))
    built = scratch.build(together)
    if built.code != 0:
        return False, "the check does not build", built.output
    ran = scratch.run(together, RUN_SECONDS * len(checks))
    passed = re.findall(r"^\[       OK \] (\S+)", ran.output, re.MULTILINE)
    idle = [check for check in checks if not any(matches(name, check.tests) for name in passed)]
    if ran.code != 0 or idle:
        why = what_failed(ran) or f"{idle[0].tests} runs no test"
        return False, f"the check does not pass without a mutant ({why})", ran.output
    return True, f"{len(passed)} tests of {len(checks)} checks pass", ran.output


def recent_files(root):
    """What the last commits and the work that is not committed have changed; nothing where git is of no help."""
    listed = execute(["git", "log", f"-{RECENT_COMMITS}", "--name-only", "--format="], root, 60)
    changed = execute(["git", "diff", "--name-only", "HEAD"], root, 60)
    return {name for done in (listed, changed) if done.code == 0 for name in done.output.split("\n") if name}


def units_of(mutants, recent=frozenset(), seed=0):
    """The work: first the mutants of files that have changed lately, then the others in an order that the seed draws. The first unit of a
    program has its checks. Mutants of one file follow each other."""
    programs = {}
    for mutant in mutants:
        is_old = recent.isdisjoint(changed_files(mutant.patch))
        programs.setdefault((is_old, mutant.check.kind, mutant.check.target), []).append(mutant)
    units = []
    for own in programs.values():
        own.sort(key=lambda mutant: (changed_files(mutant.patch), mutant.name))
        units += [own[first:first + MOST_IN_UNIT] for first in range(0, len(own), MOST_IN_UNIT)]
    random.Random(seed).shuffle(units)
    units.sort(key=lambda own: recent.isdisjoint(changed_files(own[0].patch)))
    seen, out = set(), []
    for own in units:
        program = own[0].check.kind, own[0].check.target
        checks = {mutant.check for mutant in mutants if (mutant.check.kind, mutant.check.target) == program}
        out.append(Unit([] if program in seen else sorted(checks), own))
        seen.add(program)
    return out


class Campaign:
    """Units of work in a queue, and a few workers with a scratch copy each."""

    def __init__(self, shell, units, end):
        self.shell = shell
        self.end = end  # of time.monotonic(); None: all are run
        self.total = sum(len(unit.mutants) + (1 if unit.checks else 0) for unit in units)
        self.units = queue.SimpleQueue()
        for unit in units:
            self.units.put(unit)
        self.outcomes = []
        self.lock = threading.Lock()

    def work(self, number):
        scratch = Scratch(suite_shell.BUILD / "verify" / "mutants" / f"tree-{number}", suite_shell.ROOT)
        while True:
            try:
                unit = self.units.get_nowait()
            except queue.Empty:
                return
            if self.is_over():
                return
            scratch.restore()
            if unit.checks:
                self.take(f"control: {unit.checks[0].target} ({unit.checks[0].kind})", judge_control, scratch, unit.checks)
            for mutant in unit.mutants:
                if suite_shell.STOPPED.is_set():
                    raise Failure("interrupted")
                if self.is_over():
                    return
                self.take(mutant.name, judge, scratch, mutant)
                scratch.undo(mutant.patch)

    def is_over(self):
        return self.end is not None and time.monotonic() >= self.end

    def take(self, name, judging, scratch, what):
        begin = time.monotonic()
        try:
            good, how, output = judging(scratch, what)
        except Exception as fault:  # a fault of this file must not look like a caught mutant
            good, how, output = False, f"{type(fault).__name__}: {fault}", ""
        self.note(Outcome(name, good, how, time.monotonic() - begin), output)

    def note(self, outcome, output):
        with self.lock:
            self.outcomes.append(outcome)
            say(f"mutants: {len(self.outcomes)} of {self.total}: {outcome.name}: {outcome.how} ({outcome.seconds:.0f} s)")
            with self.shell.log.open("a") as log:
                log.write(f"== {outcome.name}: {outcome.how}\n" + output[-20000:] + "\n")

    def run(self):
        with ThreadPoolExecutor(AT_ONCE) as pool:
            for worker in [pool.submit(self.work, number) for number in range(AT_ONCE)]:
                worker.result()
        return {outcome.name: outcome for outcome in self.outcomes}


def print_mutants(mutants, outcomes):
    """Which check caught which mutant, and how that showed."""
    widest = max(len(mutant.name) for mutant in mutants)
    print(f"\n{'mutant':<{widest}}  caught by: how")
    for mutant in mutants:
        outcome = outcomes[mutant.name]
        print(f"{mutant.name:<{widest}}  {mutant.check if outcome.good else 'NOBODY'}: {outcome.how}")
    print(flush=True)


def end_of_part(begin):
    """When no further mutant begins. None: never, as when all or some are asked for by name."""
    return None if is_full() or os.environ.get("CUBBY_VERIFY_MUTANTS") else begin + seconds_of_part(SECONDS)


def run(shell):
    need("git", "cmake", "ninja", "clang++-19")
    begin = time.monotonic()
    mutants = read_mutants(suite_shell.ROOT / "verify" / "mutants")
    day = int(time.time()) // 86400
    units = units_of(mutants, recent_files(suite_shell.ROOT), day)
    outcomes = Campaign(shell, units, end_of_part(begin)).run()
    ran = [mutant for mutant in mutants if mutant.name in outcomes]
    print_mutants(ran, outcomes)
    bad = [outcome for outcome in outcomes.values() if not outcome.good]
    if bad:
        raise Failure(f"{len(bad)} of {len(outcomes)}: " + "; ".join(f"{v.name}: {v.how}" for v in bad[:6]))
    if not ran:
        raise Failure("no mutant was run in the time that was given")
    minutes = (time.monotonic() - begin) / 60
    left = len(mutants) - len(ran)
    tail = f"; {left} NOT RUN, for lack of time (order of day {day}); CUBBY_VERIFY_FULL=1 runs all" if left else ""
    checks = {mutant.check for mutant in ran}
    return f"{len(ran)} of {len(mutants)} caught by {len(checks)} checks, which pass without them; {minutes:.0f} minutes{tail}"
