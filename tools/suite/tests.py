# SPDX-License-Identifier: Apache-2.0
# The parts that build presets and run the tests in them: optimised, under the sanitizers, and for AArch64.
import platform
import re
import shutil
import subprocess

from .shell import BUILD, Failure, JOBS, need

# The programs whose tests see the library as users do, and their runs.
CONFORMANCE = ("cubby_tests", "cubby_tests_in_place")
PUBLIC = (*CONFORMANCE, "cubby_tests_of_engines")
COMPOSED = "cubby_tests_of_composed_calls"


def runs_of(*programs):
    """All runs of these programs."""
    return ("-R", f"^({'|'.join(programs)})(_others|_without_membarrier)?$")


def whole_runs_of(*programs):
    """Not those that repeat a part of a program without the membarrier call. `release` and `asan_engines` have them."""
    return ("-R", f"^({'|'.join(programs)})(_others)?$")


# What the check command gives the tests but those under an emulator: random ones are a quarter as long, and those that stop at each
# step take some of the steps. The long command runs them whole.
SPARSE = {"CUBBY_TEST_SPARSE": "1"}


def ctest(shell, preset, *options, prefix=(), env=None):
    """Runs a preset's tests; says how many. None at all is a failure: a label or a folder has been lost."""
    command = [*prefix, "ctest", "--preset", preset, "-j", JOBS, "--no-tests=error", *options]
    output = shell.run("run the tests", command, env=env)
    match = re.search(r"tests passed, 0 tests failed out of (\d+)", output)
    if not match:
        raise Failure("ctest did not say how many tests passed")
    return count(int(match.group(1)), BUILD / preset / "Testing" / "Temporary" / "LastTest.log")


def count(programs, log):
    """How many programs ran, and how many cases of GoogleTest inside them."""
    text = log.read_text(errors="replace") if log.exists() else ""
    passed = sum(int(n) for n in re.findall(r"\[  PASSED  \] (\d+) tests?", text))
    skipped = sum(int(n) for n in re.findall(r"\[  SKIPPED \] (\d+) tests?", text))
    cases = f" with {passed} cases" if passed else ""
    return f"{programs} programs{cases}" + (f", {skipped} cases skipped" if skipped else "")


# What `release` builds with g++, and the runs of it: the conformance suite over words, and tests of what users link.
OPTIMISED = ("cubby_tests", "cubby_tests_first_use", "cubby_tests_generated", "cubby_images_linked", "cubby_images_linked_hidden",
             "cubby_images_opened", "cubby_images_opened_hidden")
# All of `apps` but `cubby_demo`, which has files of `cubby_program` and is in `make verify`.
PROGRAMS = ("cubby_program", "cubby_conclusion_tests", "cubby_kmer_tests")
# The code of the documentation.
PAGES = ("cubby_tests_of_the_api", "cubby_tests_of_the_lesson", "cubby_tests_of_the_migration", "cubby_tests_of_the_rivals")
# Most of these let one thread run at a time, end processes, or go through states of a file: an optimiser changes little of what they see.
STEPPED = ("cubby_tests_hooked", "cubby_tests_crash", "cubby_tests_durable")
COSTS = ("cubby_counting", "cubby_explore", "cubby_explore_seph", "cubby_explore_in_place")


def release(shell):
    """With -Og, which g++ compiles in half the time of -O1. An optimiser changes what other threads see, so files without a second
    thread are left to `asan`. All tests with g++, in all modes, are in `make verify`."""
    shell.configure("words")
    shell.build("words", *OPTIMISED)
    return ctest(shell, "words", *runs_of(*OPTIMISED), env=SPARSE)


def stops(shell):
    """With clang and not optimised, which compiles in half of g++'s time."""
    need("clang++-19")
    shell.configure("programs")
    shell.build("programs", *STEPPED)
    return ctest(shell, "programs", *runs_of(*STEPPED), env=SPARSE)


def gates(shell):
    """What guards the costs and the checks themselves: for changes of an engine. With clang and not optimised, but for the search of the
    explorer: what is counted is what the source asks for."""
    need("clang++-19")
    shell.configure("programs")
    shell.build("programs", *COSTS)
    return ctest(shell, "programs", *runs_of(*COSTS), env=SPARSE)


def examples(shell):
    """With clang, as the programs; with g++ in `make verify`."""
    need("clang++-19")
    shell.run("compare lengths with those of other libraries", ["python3", "tools/example_lines.py"])
    shell.configure("programs")
    shell.build("programs", "examples/all")
    return ctest(shell, "programs", "-L", "example")


def build_and_run(shell, preset, *targets, prefix=(), only=(), env=None):
    shell.configure(preset)
    shell.build(preset, *targets)
    return ctest(shell, preset, "-LE", "example", "-E", "^cubby_bench$", *only, prefix=prefix, env=env)


def asan(shell):
    """The conformance suite, with clang, which compiles for it in a third of g++'s time. A read through a null pointer ends the program
    without a check in front of it. The checks of alignment, the other modes, the tests with hooks and the explorer, which has a watch of
    its own over freed memory, are in `make verify`."""
    need("clang++-19")
    return build_and_run(shell, "clang-asan", *CONFORMANCE, only=whole_runs_of(*CONFORMANCE), env=SPARSE)


def asan_engines(shell):
    """The same for the tests of single engines and parts, of regressions, and of calls that are made of others."""
    need("clang++-19")
    programs = ("cubby_tests_of_engines", COMPOSED)
    return build_and_run(shell, "clang-asan", *programs, only=runs_of(*programs), env=SPARSE)


def without_address_randomisation():
    """An older ThreadSanitizer cannot map its shadow under the randomisation that newer kernels use."""
    command = ["setarch", platform.machine(), "-R"]
    if shutil.which("setarch") and subprocess.run([*command, "true"], capture_output=True, check=False).returncode == 0:
        return command
    return []


def tsan(shell):
    """With clang, in half of g++'s time, and the conformance suite, whose threads run freely. Tests of single engines are in `make verify`,
    and so are the hooked ones: there a schedule lets one thread run at a time, and shows the sanitizer little."""
    need("clang++-19")
    return build_and_run(shell, "clang-tsan", *CONFORMANCE, prefix=without_address_randomisation(), only=whole_runs_of(*CONFORMANCE), env=SPARSE)


OF_PROGRAMS = "^cubby_(bench$|conclusion|kmer|store|shell)"
OF_DEMO = "cubby_bench_of_demo"  # in part `programs` of the long command


def without_a_part(listed):
    """The names of what ctest lists that no part of the check command runs."""
    run = [runs_of(*OPTIMISED, *PAGES, *STEPPED, *COSTS, *PUBLIC, COMPOSED)[1], OF_PROGRAMS, OF_DEMO]
    names = re.findall(r"^ *Test +#\d+: (\S+)$", listed, re.MULTILINE)
    if not names:
        raise Failure("ctest listed no test")
    return [name for name in names if not any(re.search(pattern, name) for pattern in run)]


def programs(shell):
    """The programs and the code of the pages, with clang: built without a warning, and their tests run. It fails if no part runs some test.
    Not optimised: that costs g++ three minutes, and is in `make verify`, as are the tests file by file with clang."""
    need("clang++-19")
    shell.configure("programs")
    shell.build("programs", *PROGRAMS, *PAGES)
    if lost := without_a_part(shell.run("list the tests", ["ctest", "--preset", "programs", "-N", "-LE", "example"])):
        raise Failure(f"no part runs {', '.join(lost)}")
    return ctest(shell, "programs", "-R", f"{OF_PROGRAMS}|{runs_of(*PAGES)[1]}", env=SPARSE)


def aarch64(shell):
    """Tests for which the processor matters: the 16-byte swap, the order of loads, the layout. The rest in
    `make verify FULL=1`."""
    return cross(shell, "cubby_tests_core")


def cross(shell, *programs):
    """Not the tests with hooks: they hunt orders, which an emulator does not weaken."""
    need("aarch64-linux-gnu-g++", "qemu-aarch64")
    shell.configure("aarch64")
    shell.build("aarch64", *programs)
    return ctest(shell, "aarch64", *whole_runs_of(*programs)) + " under qemu-user"
