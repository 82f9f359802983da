# SPDX-License-Identifier: Apache-2.0
# Instructions of one call, counted by cachegrind: exact where time is not, so a change of a few per cent shows. They are
# compared with a stored baseline for one compiler; with another compiler the part is skipped and says so.
# The baseline is renewed by tools/renew_baselines.py instructions.
import json
import re
import subprocess

from .shell import BUILD, Failure, ROOT, Skip, need, say

BASELINE = ROOT / "bench" / "instructions.json"
SINGLE = ["find", "miss", "insert", "assign", "erase", "insert_erase"]
VERBS = {
    "dlht": [way + verb for way in ("", "handle_", "guarded_") for verb in SINGLE] + ["find_batch"],
    "dlht_single": SINGLE + ["find_batch"],
    "dlht_text": ["find", "miss", "insert", "upsert", "erase", "find_batch", "miss_batch"],
    "dramhit": ["find", "miss", "insert", "assign", "erase", "pipelined_find", "pipelined_add"],
    "dramhit_tuples": ["find", "insert", "assign"],
    "iceberg": ["find", "miss", "insert", "assign", "erase", "find_batch"],
    "iceberg_text": ["find", "miss", "insert", "upsert", "erase", "find_batch", "miss_batch"],
    "relativistic": ["find", "insert", "assign", "erase"],
    "seph": ["find", "miss", "insert", "assign", "erase", "find_batch"],
}
COUNT = 32 * 1024
COUNTS = {way + "erase": 16 * 1024 for way in ("", "handle_", "guarded_")}  # as many as the driver fills in: none misses
TOLERANCE = 0.02
DRIVER = BUILD / "release" / "bench" / "bench_instructions"


def compiler():
    """The compiler of the release build and its version, for example `g++ 12.2.0 x86_64-linux-gnu`."""
    cache = (BUILD / "release" / "CMakeCache.txt").read_text()
    path = re.search(r"^CMAKE_CXX_COMPILER:\w+=(.*)$", cache, re.MULTILINE).group(1)
    says = [subprocess.run([path, option], capture_output=True, text=True, check=True).stdout.strip()
            for option in ("--version", "-dumpfullversion", "-dumpmachine")]
    name = "clang++" if "clang" in says[0] else "g++"
    return f"{name} {says[1]} {says[2]}"


def count(shell, engine, verb, calls):
    command = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null", DRIVER, engine, verb,
               calls]
    output = shell.run(f"count {engine} {verb} {calls}", command)
    match = re.search(r"I\s+refs:\s+([\d,]+)", output)
    if not match:
        raise Failure(f"cachegrind did not say how many instructions {engine} {verb} took")
    return int(match.group(1).replace(",", ""))


def measure(shell):
    """Instructions of one call for each engine and verb: what more calls cost, so that the filling does not count."""
    out = {}
    for engine, verbs in VERBS.items():
        empty = count(shell, engine, verbs[0], 0)
        for verb in verbs:
            calls = COUNTS.get(verb, COUNT)
            out[f"{engine} {verb}"] = round((count(shell, engine, verb, calls) - empty) / calls, 2)
    return out


def differences(expected, found):
    """What is not within the tolerance, as sentences; fewer instructions than expected count as a difference, too."""
    out = []
    for name in sorted(expected.keys() | found.keys()):
        if name not in expected or name not in found:
            out.append(f"{name}: {'not in the baseline' if name in found else 'not counted'}")
        elif abs(found[name] - expected[name]) > TOLERANCE * expected[name]:
            change = 100 * (found[name] / expected[name] - 1)
            out.append(f"{name}: {found[name]} instructions, expected {expected[name]} ({change:+.1f} %)")
    return out


def build(shell):
    need("valgrind")
    shell.configure("release")
    shell.build("release", DRIVER.name)


def instructions(shell):
    build(shell)
    baseline = json.loads(BASELINE.read_text())
    if compiler() != baseline["compiler"]:
        raise Skip(f"the baseline is of {baseline['compiler']}, and this is {compiler()}")
    found = measure(shell)
    for name, figure in found.items():
        say(f"{shell.part}: {name}: {figure}")
    wrong = differences(baseline["instructions"], found)
    if wrong:
        raise Failure("; ".join(wrong) + ": if that is meant, tools/renew_baselines.py instructions")
    return f"{len(found)} verbs within {TOLERANCE:.0%}; dlht find {found['dlht find']}, assign {found['dlht assign']}"


def renew(shell):
    build(shell)
    content = {"compiler": compiler(), "instructions": measure(shell)}
    BASELINE.write_text(json.dumps(content, indent=1) + "\n")
    return BASELINE.relative_to(ROOT)
