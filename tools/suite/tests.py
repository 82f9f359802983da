# SPDX-License-Identifier: Apache-2.0
# The parts that build presets and run the tests in them: optimised, under the sanitizers, and for AArch64.
import platform
import re
import shutil
import subprocess

from .shell import BUILD, Failure, JOBS, need


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


def release(shell):
    shell.configure("release")
    shell.build("release")
    return ctest(shell, "release", "-LE", "example")


def examples(shell):
    shell.configure("release")
    shell.build("release")
    return ctest(shell, "release", "-L", "example")


def build_and_run(shell, preset, *targets, prefix=()):
    shell.configure(preset)
    shell.build(preset, *targets)
    return ctest(shell, preset, "-LE", "example", "-E", "^cubby_bench$", prefix=prefix)


def asan(shell):
    """With clang, which compiles for it in a third of g++'s time and so sees the tests, too; g++ in `make verify`."""
    need("clang++-19")
    return build_and_run(shell, "clang-asan")


def without_address_randomisation():
    """g++ 12's ThreadSanitizer cannot map its shadow under the randomisation that newer kernels use."""
    command = ["setarch", platform.machine(), "-R"]
    if shutil.which("setarch") and subprocess.run([*command, "true"], capture_output=True, check=False).returncode == 0:
        return command
    return []


def tsan(shell):
    """With clang, in half of g++'s time; g++ in `make verify`."""
    need("clang++-19")
    return build_and_run(shell, "clang-tsan", prefix=without_address_randomisation())


def clang(shell):
    """What the sanitizers' builds leave out; the tests file by file, as debug builds see them, in `make verify`."""
    need("clang++-19")
    shell.configure("clang-debug")
    shell.build("clang-debug", "apps/all", "bench/all", "examples/all")
    return "built without a warning"


def aarch64(shell):
    """The conformance suite and the unit tests; those with hooks hunt orders, which an emulator does not weaken."""
    need("aarch64-linux-gnu-g++", "qemu-aarch64")
    shell.configure("aarch64")
    shell.build("aarch64", "cubby_tests")
    return ctest(shell, "aarch64", "-R", "^cubby_tests$") + " under qemu-user"
