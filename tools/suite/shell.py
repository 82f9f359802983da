# SPDX-License-Identifier: Apache-2.0
# Runs the commands of one part: says what it does and when, keeps all output in build/logs/<part>.log, and stops the
# part at the first command that fails. A command that hangs is ended with everything it started.
import os
import re
import shutil
import signal
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
BUILD = ROOT / "build"
JOBS = str(os.cpu_count() or 2)
STARTED = time.monotonic()
LIMIT_SECONDS = 2400
# A compiler cache then knows a file of another clone of the repository again.
CACHE = {"CCACHE_BASEDIR": os.fspath(ROOT), "CCACHE_NOHASHDIR": "1"}
RUNNING = set()  # processes of all parts
STOPPED = threading.Event()  # set when the driver was interrupted: nothing more is started
# A shell that starts this in the background lets it, and all that it starts, ignore SIGINT. A command that hangs would not end by it.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


class Failure(Exception):
    """A part has failed; the text names the step. `signs` are the lines of its output that say what was wrong."""

    def __init__(self, text, signs=()):
        super().__init__(text)
        self.signs = list(signs)


class Skip(Exception):
    """A part cannot run here; the text says why."""


def elapsed_seconds():
    return time.monotonic() - STARTED


def elapsed():
    return f"[{elapsed_seconds():5.0f} s]"


def say(text):
    print(f"{elapsed()} {text}", flush=True)


def need(*programs):
    for program in programs:
        if shutil.which(program) is None:
            raise Skip(f"{program} is not installed")


class Shell:
    def __init__(self, part):
        self.part = part
        self.log = BUILD / "logs" / f"{part}.log"
        self.log.parent.mkdir(parents=True, exist_ok=True)
        self.log.write_text("")

    def run(self, step, command, cwd=ROOT, env=None, show=False, limit=None):
        """Runs a command, its output into the log and, if `show`, onto the screen; returns that output."""
        say(f"{self.part}: {step}")
        command = [str(word) for word in command]
        with self.log.open("a") as log:
            log.write("$ " + " ".join(command) + "\n")
            log.flush()
            begin = log.tell()
            code = self._wait(command, cwd, env, log, show, limit or LIMIT_SECONDS)
        output = self.log.read_bytes()[begin:].decode(errors="replace")
        if code != 0:
            if not show:
                print(tail(output, 60))
            raise Failure(f"{step} ended with {code}; all of it is in {self.log.relative_to(ROOT)}", signs_of_failure(output))
        return output

    def _wait(self, command, cwd, env, log, show, limit):
        if STOPPED.is_set():
            raise Failure("interrupted")
        merged = {**CACHE, **os.environ, **(env or {})}
        out = subprocess.PIPE if show else log
        process = subprocess.Popen(command, cwd=cwd, env=merged, stdout=out, stderr=subprocess.STDOUT,
                                   stdin=subprocess.DEVNULL, start_new_session=True)
        copier = threading.Thread(target=copy_lines, args=(process.stdout, log), daemon=True)
        RUNNING.add(process)
        if show:
            copier.start()
        try:
            return process.wait(timeout=limit)
        except (subprocess.TimeoutExpired, KeyboardInterrupt) as error:
            end_session(process)
            if isinstance(error, KeyboardInterrupt):
                raise
            log.write(f"\nended after {limit} s\n")
            return -signal.SIGKILL
        finally:
            RUNNING.discard(process)
            if show:
                copier.join()  # all that held the other end has ended with the command's session

    def configure(self, preset):
        """Configures once, and when the presets have changed; of all else the build itself sees when it must be done again."""
        made, presets = BUILD / preset / "build.ninja", ROOT / "CMakePresets.json"
        if not made.exists() or made.stat().st_mtime < presets.stat().st_mtime:
            self.run("configure", ["cmake", "--preset", preset])

    def build(self, preset, *targets):
        wanted = ["--target", *targets] if targets else []
        return self.run("build", ["cmake", "--build", "--preset", preset, "-j", JOBS, *wanted])


def in_parallel(shell, step, items, one):
    """Runs `one` over the items on all cores; shows the output of each that fails."""
    say(f"{shell.part}: {step}")
    with ThreadPoolExecutor(int(JOBS)) as pool:
        results = list(pool.map(one, items))
    failed = [(item, done) for item, done in results if done.returncode != 0]
    with shell.log.open("a") as log:
        for item, done in results:
            log.write(f"{item}: {done.returncode}\n{done.stdout}{done.stderr}\n")
    for item, done in failed[:5]:
        print(f"{item}:\n{(done.stdout + done.stderr)[:4000]}")
    if failed:
        raise Failure(f"{len(failed)} of {len(results)} failed: {', '.join(str(item) for item, _ in failed[:5])}")
    return f"{len(results)} passed"


def end_session(process):
    """Sends SIGINT first: a driver among the commands then ends what it started in sessions of its own."""
    for sign in (signal.SIGINT, signal.SIGKILL):
        try:
            os.killpg(process.pid, sign)
            process.wait(timeout=20)
        except (ProcessLookupError, subprocess.TimeoutExpired):
            pass


def stop_all():
    """Ends what runs in other threads, and starts no more."""
    STOPPED.set()
    for process in list(RUNNING):
        end_session(process)


def seconds_of_part(default):
    """How long a part of the long command may take: CUBBY_VERIFY_SECONDS, or the default of the part."""
    given = os.environ.get("CUBBY_VERIFY_SECONDS", str(default))
    if not given.isdecimal() or int(given) == 0:
        raise Failure(f"CUBBY_VERIFY_SECONDS is {given!r}; give a whole number of seconds, at least 1")
    return int(given)


def is_full():
    """Whether the long command also does what takes more than an hour: CUBBY_VERIFY_FULL=1."""
    full = os.environ.get("CUBBY_VERIFY_FULL", "0")
    if full not in ("0", "1"):
        raise Failure(f"CUBBY_VERIFY_FULL is {full!r}; give 0 or 1")
    return full == "1"


def copy_lines(source, log):
    for line in source:
        text = line.decode(errors="replace")
        log.write(text)
        log.flush()
        print(text, end="", flush=True)


# What compilers, GoogleTest, the sanitizers, the C++ library and ctest write where something went wrong.
SIGN = re.compile(r"\berror:|: Failure$|\[  FAILED  \]|terminate called|what\(\):|Assertion|ERROR: |WARNING: ThreadSanitizer|SUMMARY: "
                  r"|\*\*\*(Failed|Exception|Timeout)|CUBBY_TEST_SEED")


def signs_of_failure(output, after=5, most=40):
    """The lines that say what failed, each with some that follow it: a log of many tests ends with other things."""
    rows = output.rstrip().split("\n")
    wanted = sorted({near for at, row in enumerate(rows) if SIGN.search(row) for near in range(at, min(at + after, len(rows)))})
    return [rows[at] for at in wanted[:most]]


def tail(text, lines):
    rows = text.rstrip().split("\n")
    return "\n".join(rows[-lines:])
