# SPDX-License-Identifier: Apache-2.0
# What the builds of the check command leave out. The tests are compiled file by file: those builds join some of them into one unit,
# where a missing #include or a shadowed name can hide. All tests are built with g++, in every mode, and run. With CUBBY_VERIFY_FULL=1
# they are built for AArch64, too; the check command runs those that the processor matters to.
import json
import shlex
import subprocess
from pathlib import Path

from suite import source, tests
from suite.shell import BUILD, Failure, in_parallel, is_full, need

TITLE = "tests compiled file by file, private headers alone; all tests of tables with g++, in every mode"
PRESET = "clang-debug"
# Where the objects of the programs lie whose files are joined (cmake/own_targets.cmake).
JOINED = tuple(f"tests/CMakeFiles/{name}.dir/" for name in (*tests.PUBLIC, *tests.STEPPED, tests.COMPOSED, "cubby_explore", "cubby_explorer_parts"))
LEAST_FILES = 150


def compilations(rows):
    """The command for each file that other builds join with others, from a list of CMake's. It makes no code, and few modes: errors
    and warnings about what a file lacks need neither."""
    found = {}
    for row in rows:
        words = shlex.split(row["command"])
        words = words[1:] if words[0].endswith("ccache") else words
        at = words.index("-o")
        if words[at + 1].startswith(JOINED):
            words = [word.replace("FEW_MODES=0", "FEW_MODES=1") for word in words[:at] + words[at + 2:] if word != "-c"]
            found[row["file"]] = (row["file"], [*words, "-fsyntax-only"])
    return sorted(found.values())


def file_by_file(shell):
    shell.configure(PRESET)
    folder = BUILD / PRESET
    jobs = compilations(json.loads((folder / "compile_commands.json").read_text()))
    if len(jobs) < LEAST_FILES:
        raise Failure(f"{len(jobs)} files of tests; there should be at least {LEAST_FILES}")

    def one(job):
        name, command = job
        return Path(name).name, subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)

    return in_parallel(shell, f"compile {len(jobs)} files of tests", jobs, one)


def run(shell):
    need("clang++-19")
    files = file_by_file(shell)
    alone = source.alone(shell, long=True)
    shell.configure("release")
    shell.build("release", "cubby_tests_of_tables", *tests.COSTS)
    optimised = tests.ctest(shell, "release", "-R", "^cubby_(counting|explore_|tests)")
    cross = f"; AArch64: {tests.cross(shell, *tests.PUBLIC)}" if is_full() else ""
    return f"files of tests: {files}; headers alone: {alone}; with g++: {optimised}{cross}"
