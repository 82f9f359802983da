# SPDX-License-Identifier: Apache-2.0
# Small planted errors: each verify/mutants/*.patch is applied to a scratch copy of the tree, the small program that its
# head names is built and run there, and has to fail. One that passes, does not apply or does not build is a failure of
# this part. So is a check that fails on the unchanged tree, or runs no test: it would prove nothing.
# CUBBY_VERIFY_MUTANTS=name,... runs only these.
import os
import queue
import re
import shutil
import signal
import subprocess
import threading
import time
from typing import NamedTuple

from house.tree import list_files
from suite import shell as suite_shell
from suite.shell import Failure, need, say
from suite.tests import without_address_randomisation

TITLE = "planted errors, each caught by a named check"
AT_ONCE = 2
BUILD_SECONDS = 600
RUN_SECONDS = 90
LEAST = 308  # mutants; fewer means that some were lost
SWITCHES = {
    "plain": ["--preset", "clang-debug", "-DCMAKE_CXX_FLAGS_DEBUG=-O0"],  # compiles in a third of the time of g++ -O1
    "optimised": ["--preset", "clang-debug", "-DCMAKE_CXX_FLAGS_DEBUG=-O1"],  # for checks that run for longer than they compile
    "asan": ["--preset", "asan"],
    "tsan": ["--preset", "tsan"],
}
ALONE = ["-DCUBBY_BUILD_PROGRAMS=OFF", "-DCUBBY_BUILD_EXAMPLES=OFF", "-DCUBBY_INSTALL=OFF"]
# A fixed seed: a mutant that is caught once is caught again.
ENVIRONMENT = {"CUBBY_TEST_SEED": "1", "TSAN_OPTIONS": "halt_on_error=1", "UBSAN_OPTIONS": "print_stacktrace=0"}


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


class Ended(NamedTuple):
    code: int  # negative: ended by that signal; None: ran into its limit
    output: str


def execute(command, folder, limit, environment=None):
    """Runs a command to its end or its limit, then ends all that it has started."""
    merged = {**os.environ, **(environment or {})}
    process = subprocess.Popen([str(word) for word in command], cwd=folder, env=merged, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, start_new_session=True)
    try:
        output = process.communicate(timeout=limit)[0]
        return Ended(process.returncode, output.decode(errors="replace"))
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return Ended(None, process.communicate()[0].decode(errors="replace"))


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
        return execute(["cmake", "--build", build, "-j", "1", "--target", check.target], self.folder, BUILD_SECONDS)

    def run(self, check):
        program = next((self.folder / "build" / check.kind).rglob(check.target))
        prefix = without_address_randomisation() if check.kind == "tsan" else []
        command = [*prefix, program, f"--gtest_filter={check.tests}", "--gtest_brief=1"]
        return execute(command, self.folder, RUN_SECONDS, ENVIRONMENT)


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
    ran = scratch.run(mutant.check)
    how = what_failed(ran)
    if not how:
        return False, "ALIVE", ran.output
    if how == "hangs" and not mutant.hangs:
        return False, "the check hangs; that was not expected", ran.output
    return True, how, ran.output


def judge_control(scratch, check):
    """(good, how, output) for a check on the unchanged tree."""
    built = scratch.build(check)
    if built.code != 0:
        return False, "the check does not build", built.output
    ran = scratch.run(check)
    passed = re.search(r"\[  PASSED  \] ([1-9]\d*) test", ran.output)
    if ran.code != 0 or not passed:
        return False, f"the check does not pass without a mutant ({what_failed(ran) or 'it runs no test'})", ran.output
    return True, f"{passed.group(1)} tests pass", ran.output


class Campaign:
    """Jobs in a queue, and a few workers with a scratch copy each."""

    def __init__(self, shell, jobs):
        self.shell = shell
        self.total = len(jobs)
        self.jobs = queue.SimpleQueue()
        for job in jobs:
            self.jobs.put(job)
        self.outcomes = []
        self.lock = threading.Lock()

    def work(self, number):
        scratch = Scratch(suite_shell.BUILD / "verify" / "mutants" / f"tree-{number}", suite_shell.ROOT)
        while True:
            try:
                job = self.jobs.get_nowait()
            except queue.Empty:
                return
            begin = time.monotonic()
            try:
                scratch.restore()
                good, how, output = judge(scratch, job) if isinstance(job, Mutant) else judge_control(scratch, job)
            except Exception as fault:  # a fault of this file must not look like a caught mutant
                good, how, output = False, f"{type(fault).__name__}: {fault}", ""
            name = job.name if isinstance(job, Mutant) else f"control: {job}"
            self.note(Outcome(name, good, how, time.monotonic() - begin), output)

    def note(self, outcome, output):
        with self.lock:
            self.outcomes.append(outcome)
            say(f"mutants: {len(self.outcomes)} of {self.total}: {outcome.name}: {outcome.how} ({outcome.seconds:.0f} s)")
            with self.shell.log.open("a") as log:
                log.write(f"== {outcome.name}: {outcome.how}\n" + output[-20000:] + "\n")

    def run(self):
        workers = [threading.Thread(target=self.work, args=(number,)) for number in range(AT_ONCE)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        return {outcome.name: outcome for outcome in self.outcomes}


def print_mutants(mutants, outcomes):
    """Which check caught which mutant, and how that showed."""
    widest = max(len(mutant.name) for mutant in mutants)
    print(f"\n{'mutant':<{widest}}  caught by: how")
    for mutant in mutants:
        outcome = outcomes[mutant.name]
        print(f"{mutant.name:<{widest}}  {mutant.check if outcome.good else 'NOBODY'}: {outcome.how}")
    print(flush=True)


def run(shell):
    need("git", "cmake", "ninja", "clang++-19")
    begin = time.monotonic()
    mutants = read_mutants(suite_shell.ROOT / "verify" / "mutants")
    checks = sorted({mutant.check for mutant in mutants})
    # By kind and target, so that a worker finds most of what it needs built.
    outcomes = Campaign(shell, [*checks, *sorted(mutants, key=lambda m: (m.check.kind, m.check.target))]).run()
    print_mutants(mutants, outcomes)
    bad = [outcome for outcome in outcomes.values() if not outcome.good]
    if bad:
        raise Failure(f"{len(bad)} of {len(outcomes)}: " + "; ".join(f"{v.name}: {v.how}" for v in bad[:6]))
    minutes = (time.monotonic() - begin) / 60
    return f"{len(mutants)} of {len(mutants)} caught by {len(checks)} checks, which pass without them; {minutes:.0f} minutes"
