# SPDX-License-Identifier: Apache-2.0
# The parts that read the source: house rules, format, clang-tidy, and what the headers cost and need on their own.
import re
import subprocess
import time
from collections import Counter
from pathlib import Path

from house.tree import CPP, list_files
from .shell import BUILD, Failure, ROOT, in_parallel, need

COMPILERS = ["g++", "clang++-19"]
LEAST_USES = 5  # of a header by small files, so that it is worth precompiling
FLAGS = ["-std=c++20", "-Iinclude", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror"]
# More warnings that users' builds may enable, and treat as errors.
STRICT = {
    "g++": ["-O1", "-Wpedantic", "-Wsign-conversion", "-Wuseless-cast", "-Wold-style-cast", "-Wnull-dereference", "-Wlogical-op",
            "-Wduplicated-cond", "-Wcast-qual", "-Wcast-align", "-Wextra-semi", "-Wdouble-promotion", "-Wnon-virtual-dtor"],
    "clang++-19": ["-fsyntax-only", "-Weverything"] + [f"-Wno-{name}" for name in (
        "c++98-compat", "c++98-compat-pedantic", "c++20-compat", "pre-c++20-compat-pedantic", "pre-c++17-compat", "padded",
        "unsafe-buffer-usage", "global-constructors", "exit-time-destructors", "ctad-maybe-unsupported", "missing-noreturn",
        "switch-default", "weak-vtables", "atomic-implicit-seq-cst", "reserved-identifier")],
}
EVERY_VERB = "tests/consumer/every_verb.cpp"
FRONT_DOOR_LINES = 80_000
LONGEST_OUTPUT = 26  # lines of a compiler about a call of a deleted function
USER = "tests/consumer/main.cpp"
WAITS = "tests/consumer/waits_for_itself.cpp"
USER_SIZE = "tests/consumer/small_user.cpp"
# The files that see most of the headers; the others would cost minutes and show the same.
TIDY_UNITS = ["examples/coroutines.cpp", "examples/custom.cpp", "examples/hot_counts.cpp"]
TIDY_UNITS += ["apps/kmer/reader.cpp"]
# In `make verify`.
MORE_TIDY_UNITS = [f"apps/{name}.cpp" for name in ("main", "bench/arena", "bench/options", "bench/report", "bench/session", "store/load")]
MORE_TIDY_UNITS += ["examples/config.cpp", "examples/routes.cpp"]
MORE_TIDY_UNITS += [f"apps/kmer/{name}.cpp" for name in ("combine", "count", "run", "show", "store", "text_parser")]


def cpp_files():
    return sorted(name for name in list_files(ROOT) if Path(name).suffix in CPP and (ROOT / name).exists())


def headers():
    return [name for name in cpp_files() if name.startswith("include/")]


def house(shell):
    output = shell.run("check the tree", ["python3", "tools/check_house.py"])
    names = ("baselines", "build_docs", "check_house", "figure_plots", "figure_prose", "figures", "install_packages", "mutants", "run_tests", "run_verify", "single_header")
    for test in (f"test_{name}" for name in names):
        shell.run(f"{test}.py", ["python3", f"tools/{test}.py"])
    return output.strip().split("\n")[-1].removeprefix("house: ")


def format(shell):
    need("clang-format-19")
    files = cpp_files()
    shell.run("compare with clang-format", ["clang-format-19", "--dry-run", "-Werror", *files])
    return f"{len(files)} files"


def tidy(shell, units=(USER, *TIDY_UNITS)):
    need("clang-tidy-19")
    compile_flags = ["--", "-std=c++20", "-Iinclude"]

    def one(unit):
        command = ["clang-tidy-19", "--quiet", "--warnings-as-errors=*", unit, *compile_flags]
        return unit, subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)

    return in_parallel(shell, f"clang-tidy on {len(units)} files", units, one)


def alone(shell, long=False):
    """Each public header compiles as the only one of its file, with g++; a user of every verb under flags of his own, with both compilers. In
    the long command also the private headers, and the public ones with clang. A file that lacks an #include lacks it with both, which read the
    same standard library."""
    need(*COMPILERS)

    def one(job):
        compiler, header = job
        if header == EVERY_VERB:
            command = [compiler, *FLAGS, *STRICT[compiler], "-c", EVERY_VERB, "-o", "/dev/null"]
        else:
            command = [compiler, *FLAGS, "-fsyntax-only", "-x", "c++", "-"]
        text = f'#define I macro_of_complex_h\n#include "{header.removeprefix("include/")}"\n'
        return f"{compiler} {header}", subprocess.run(command, cwd=ROOT, input=text, capture_output=True, text=True,
                                                     check=False)

    if long:
        gcc, clang = COMPILERS
        jobs = [(gcc if "/detail/" in header else clang, header) for header in headers()]
        return in_parallel(shell, "each private header alone, and with clang each public one", jobs, one)
    jobs = [(COMPILERS[0], header) for header in headers() if "/detail/" not in header]
    every_verb = [(compiler, EVERY_VERB) for compiler in COMPILERS]  # first: they take longest
    return in_parallel(shell, "each public header alone, and every verb, strictly", every_verb + jobs, one)


def precompiled(shell, files):
    """Precompiles the headers that many of the files include first, once for each compiler: reading them is most of what a small
    file costs. Returns the flags that use them, for a compiler and a file; none for a file with flags of its own."""

    def header_of(compiler, text):
        # g++ takes a precompiled header only as the first thing that a file includes
        headers = re.findall(r"^#include <(.+)>$", text, re.MULTILINE)[:1 if compiler == "g++" else None]
        return next((header for header in headers if header.startswith("cubby/") and "\n// with:" not in text), "")

    of = {(compiler, name): header_of(compiler, (ROOT / name).read_text()) for compiler in COMPILERS for name in files}
    uses = Counter((compiler, header) for (compiler, _), header in of.items() if header)
    made = {job: BUILD / "precompiled" / job[0] / f"{job[1]}.gch" for job, count in uses.items() if count >= LEAST_USES}

    def one(job):
        compiler, header = job
        made[job].parent.mkdir(parents=True, exist_ok=True)
        pragma = "-Wno-error" if compiler == "g++" else "-Wno-pragma-once-outside-header"
        command = [compiler, *FLAGS, pragma, "-x", "c++-header", f"include/{header}", "-o", made[job]]
        return f"{compiler} {header}", subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)

    in_parallel(shell, "precompile what most of them include", list(made), one)

    def flags(compiler, name):
        job = (compiler, of[compiler, name])
        if job not in made:
            return []
        return ["-I", BUILD / "precompiled" / compiler] if compiler == "g++" else ["-include-pch", made[job]]

    return flags


def is_refused(how, wanted, output):
    """Whether the compiler's output has the text that the file names. `says`: in the first error. `says alone`: and there is no
    other error. `shows`: in the line of the source that the first error shows, and the whole output is short. `mentions`: anywhere,
    because the first error is in the user's own function."""
    lines = output.split("\n")
    errors = [number for number, line in enumerate(lines) if "error:" in line]
    if how == "shows":
        shown = lines[errors[0]:(errors + [len(lines)])[1]] if errors else []
        return len(lines) <= LONGEST_OUTPUT and any("= delete" in line and wanted in line for line in shown)
    if how == "mentions":
        return errors != [] and wanted in output
    return errors != [] and wanted in lines[errors[0]] and (how == "says" or len(errors) == 1)


def messages(shell):
    """What does not compile says what to write instead, as `is_refused` has it. A file may name flags for its own compilation."""
    need(*COMPILERS)
    files = [name for name in cpp_files() if name.startswith("tests/compile/")]
    flags_of = precompiled(shell, files)

    def one(job):
        compiler, name = job
        how, wanted = re.search(r"^// (says|says alone|shows|mentions): (.+)$", (ROOT / name).read_text(), re.MULTILINE).groups()
        with_flags = re.search(r"^// with: (.+)$", (ROOT / name).read_text(), re.MULTILINE)
        flags = flags_of(compiler, name) + FLAGS + (with_flags[1].split() if with_flags else [])
        done = subprocess.run([compiler, *flags, "-fsyntax-only", name], cwd=ROOT, capture_output=True, text=True, check=False)
        good = done.returncode != 0 and is_refused(how, wanted, done.stderr)
        found = done.stderr if how == "shows" else "\n".join(line for line in done.stderr.split("\n") if "error:" in line)
        found = found or "it compiles"
        return f"{compiler} {name}", subprocess.CompletedProcess(done.args, 0 if good else 1, f"wanted: {wanted}\n", f"{found}\n")

    return in_parallel(shell, "what must not compile", [(c, f) for c in COMPILERS for f in files], one)


def bare(shell):
    """The library without exceptions and run-time types: built and run, with both compilers."""
    need(*COMPILERS)
    out = BUILD / "bare"
    out.mkdir(parents=True, exist_ok=True)
    for compiler in COMPILERS:
        flags = [*FLAGS, "-O1", "-fno-exceptions", "-fno-rtti", "-pthread"]
        shell.run(f"build with {compiler}", [compiler, *flags, USER, "-o", out / compiler])
        shell.run("run", [out / compiler])
        shell.run(f"build what waits for itself with {compiler}", [compiler, *flags, WAITS, "-o", out / "waits"])
        done = subprocess.run([out / "waits"], capture_output=True, text=True, check=False)
        if done.returncode >= 0 or "would wait for itself" not in done.stderr:
            raise Failure(f"{WAITS} ended with {done.returncode}, and said: {done.stderr}")
    return "-fno-exceptions -fno-rtti, g++ and clang++"


def front_door(shell):
    """Preprocessed lines of the front door, a bound; seconds to compile a small user, for information."""
    command = ["g++", "-std=c++20", "-Iinclude", "-E", "-x", "c++", "-"]
    done = subprocess.run(command, cwd=ROOT, input="#include <cubby/map.hpp>\n", capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        raise Failure(done.stderr[:2000])
    lines = done.stdout.count("\n")
    if lines > FRONT_DOOR_LINES:
        raise Failure(f"<cubby/map.hpp> is {lines} preprocessed lines; {FRONT_DOOR_LINES} are allowed")
    begin = time.monotonic()
    shell.run("compile a small user", ["g++", "-std=c++20", "-O2", "-Iinclude", "-c", USER_SIZE, "-o", "/dev/null"])
    return f"{lines} lines of {FRONT_DOOR_LINES}; {time.monotonic() - begin:.1f} s at -O2"
