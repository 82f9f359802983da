#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Has SPIN search every state of the protocol models in verify/models, which must hold plainly and in each mode
# (`#ifdef MODE_x`). Then each model is broken once by each switch (`#ifdef BREAK_x`), and SPIN must find the error. A search
# that was not exhaustive proves nothing, so it is a failure. Alone: tools/verify/models.py
import re
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from suite.shell import BUILD, Failure, ROOT, Shell, need, say  # noqa: E402

TITLE = "protocol models: SPIN searches all states, and finds what each switch breaks"
MODELS = ROOT / "verify" / "models"
SWITCH = re.compile(r"^\s*#\s*(?:ifn?def|(?:el)?if\b.*?defined\()\s*((?:BREAK|MODE)_\w+)", re.MULTILINE)
INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)
LEAST_SWITCHES = 2
MEGABYTES = 3500
DEPTH = 100_000
LIMIT_SECONDS = 900
AT_ONCE = 2  # a search is one thread
# Messages of `pan` which mean that the search was not complete.
CUT_SHORT = ("max search depth too small", "Search not completed", "out of memory", "reached -DMEMLIM", "VECTORSZ",
             "Bit statespace", "hash-compact", "truncated")
# Mistakes in the model itself, which must not count as the error that a switch makes.
SLIPS = ("invalid array index", "division by zero", "block in d_step", "transition failed", "never claim moved")


def text_of(model):
    """The model with what it includes."""
    own = model.read_text()
    return own + "".join((model.parent / name).read_text() for name in INCLUDE.findall(own))


def switches_of(model, kind):
    return sorted({name for name in SWITCH.findall(text_of(model)) if name.startswith(kind)})


def models_in(folder):
    """Files with an `init`; the others are included by these."""
    return sorted(path for path in folder.glob("*.pml") if re.search(r"^init\b", path.read_text(), re.MULTILINE))


def search(shell, model, switch, build):
    """Builds and runs the search of one model under one switch (or none); returns what `pan` printed."""
    name = f"{model.stem} {switch}".strip()
    place = build / name.replace(" ", "-")
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    defines = [f"-D{switch}"] if switch else []
    options = ["-O1", "-w", "-DSAFETY", "-DCOLLAPSE", f"-DMEMLIM={MEGABYTES}", "-o", "pan", "pan.c"]
    shell.run(f"{name}: generate", ["spin", *defines, "-a", model], cwd=place, limit=LIMIT_SECONDS)
    shell.run(f"{name}: compile", ["gcc", *options], cwd=place, limit=LIMIT_SECONDS)
    return name, shell.run(f"{name}: search", ["./pan", f"-m{DEPTH}"], cwd=place, limit=LIMIT_SECONDS)


def figures(name, output):
    """How many states were stored, how deep the search went and how many errors it met."""
    states = re.search(r"^\s*(\d+(?:\.\d+e\+\d+)?) states, stored", output, re.MULTILINE)
    depth = re.search(r"depth reached (\d+), errors: (\d+)", output)
    if not states or not depth:
        raise Failure(f"{name}: the search printed no figures")
    slip = next((words for words in SLIPS if words in output), None)
    if slip:
        raise Failure(f"{name}: the model itself is wrong: {slip}")
    return int(float(states.group(1))), int(depth.group(1)), int(depth.group(2))


def judge_whole(name, output):
    """A model that must hold: (states, depth) of a search that saw everything and met no error."""
    states, depth, errors = figures(name, output)
    if errors:
        found = re.search(r"^pan:\d+: (.*)$", output, re.MULTILINE)
        raise Failure(f"{name}: SPIN found an error: {found.group(1) if found else 'it does not say which'}")
    short = next((words for words in CUT_SHORT if words in output), None)
    if short or "Full statespace search" not in output:
        raise Failure(f"{name}: the search did not see everything: {short or 'it was not a full search'}")
    return states, depth


def judge_broken(name, output):
    """A model with a switch: the error that SPIN found."""
    _, _, errors = figures(name, output)
    found = re.search(r"^pan:\d+: ((?:assertion violated|invalid end state).*)$", output, re.MULTILINE)
    if not errors or not found:
        raise Failure(f"{name}: SPIN did not find the error that the switch makes")
    return found.group(1)


def check_model(shell, model, build):
    """Returns (searches that saw everything, their states, errors found)."""
    broken = switches_of(model, "BREAK_")
    if len(broken) < LEAST_SWITCHES:
        raise Failure(f"{model.name} has {len(broken)} switches that break it; {LEAST_SWITCHES} are the least")
    modes = ["", *switches_of(model, "MODE_")]
    total = 0
    for mode in modes:
        name, output = search(shell, model, mode, build)
        states, depth = judge_whole(name, output)
        say(f"{shell.part}: {name}: {states} states, depth {depth}, all of them seen, no error")
        total += states
    for switch in broken:
        name, output = search(shell, model, switch, build)
        say(f"{shell.part}: {name}: found, as it must be: {judge_broken(name, output)}")
    return len(modes), total, len(broken)


def check_folder(shell, folder, build):
    models = models_in(folder)
    if not models:
        raise Failure(f"there is no model in {folder}")
    with ThreadPoolExecutor(AT_ONCE) as pool:
        counts = list(pool.map(lambda model: check_model(Shell(f"{shell.part}.{model.stem}"), model, build), models))
    sums = [sum(column) for column in zip(*counts)]
    return f"{len(models)} models, {sums[0]} searches of all {sums[1]} states; {sums[2]} of {sums[2]} planted errors found"


def run(shell):
    need("spin", "gcc")
    shell.run("test_verify_models.py", ["python3", ROOT / "tools" / "test_verify_models.py"], limit=LIMIT_SECONDS)
    return check_folder(shell, MODELS, BUILD / "verify" / "models")


if __name__ == "__main__":
    try:
        say(run(Shell("models")))
    except Failure as why:
        sys.exit(str(why))
