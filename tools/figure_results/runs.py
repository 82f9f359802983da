# SPDX-License-Identifier: Apache-2.0
# The commands behind figures, and their results: docs/results/<machine>/<id>.json has the command, the commit, the date, the machine
# and what the command printed.
import datetime
import json
import os
import re
import subprocess
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
RESULTS = ROOT / "docs" / "results"
BUILT_FROM = ("include", "apps", "bench", "tests/counting", "tests/support/replaced_new.cpp", "CMakeLists.txt", "CMakePresets.json", "cmake", ":(exclude)*.md")
KEPT = ("engine", "workload", "threads", "batch", "value_size", "median_mops", "spread", "bytes_per_key", "huge_pages_percent")
# Of a population of the runs that are drawn over time.
OVER_TIME = ("windows", "course")


class Failure(Exception):
    """One line for the user."""


def runs():
    """All of docs/results/runs.toml, by id."""
    listed = tomllib.loads((RESULTS / "runs.toml").read_text())["run"]
    return {run["id"]: run for run in listed}


def is_bench(run):
    return run["command"].split()[:2] == ["cubby", "bench"]


def machine():
    """The processor, the cores and the memory of this machine, and its name as a folder."""
    cpu = next((line.split(":", 1)[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines()
                if line.startswith(("model name", "Model"))), "unknown processor")
    gib = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    cores = os.cpu_count() or 1
    pages = Path("/sys/kernel/mm/transparent_hugepage/enabled")
    huge = re.search(r"\[(\w+)\]", pages.read_text()).group(1) if pages.exists() else "none"
    return folder_of(cpu, cores), {"cpu": cpu, "cores": cores, "memory_gib": round(gib), "huge_pages": huge}


def folder_of(cpu, cores):
    return re.sub(r"(\(r\)|\(tm\)|[^a-z0-9])+", "-", f"{cpu} {cores} cores".lower()).strip("-")


def results_of(name):
    """What a machine has, by id."""
    found = {}
    for file in sorted((RESULTS / name).glob("*.json")):
        found[file.stem] = json.loads(file.read_text())
    return found


def machines():
    return sorted(folder.name for folder in RESULTS.iterdir() if folder.is_dir())


def short_names(all_results):
    """What tables call each machine that has results: as many words of its processor as tell it apart, or its folder."""
    words = {name: next(iter(results.values()))["machine"]["cpu"].replace("(R)", "").split() for name, results in all_results.items() if results}
    for length in range(1, max(map(len, words.values()), default=0) + 1):
        found = {name: " ".join(one[:length]) for name, one in words.items()}
        if len(set(found.values())) == len(found):
            return found
    return {name: name for name in words}


def target_of(run):
    """What the build calls the program of a command."""
    first = run["command"].split()[0]
    return "cubby_program" if first == "cubby" else first


def program_of(run, build):
    """`cubby` itself, or a program of bench/, or else one of tests/."""
    first = run["command"].split()[0]
    paths = [build / first] if first == "cubby" else [build / "bench" / first, build / "tests" / first]
    found = next((path for path in paths if path.exists()), None)
    if found is None:
        raise Failure(f"{' or '.join(map(str, paths))} is not there: make figures builds it, or cmake --build --preset release")
    return found


def carry_out(run, build):
    """Runs one command. What it printed; for `cubby bench`, its results, too."""
    words = run["command"].split()
    words[0] = str(program_of(run, build))
    with tempfile.TemporaryDirectory() as folder:
        json_file = Path(folder) / "out.json"
        if is_bench(run):
            words += ["--json", str(json_file)]
        begin = datetime.datetime.now()
        done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            last = (done.stderr.strip().splitlines() or ["no message"])[-1]
            raise Failure(f"{run['id']}: `{run['command']}` ended with {done.returncode}: {last}")
        seconds = (datetime.datetime.now() - begin).total_seconds()
        rows = json.loads(json_file.read_text())["results"] if is_bench(run) else []
    fields = (*KEPT, *OVER_TIME) if run.get("over_time") else KEPT
    kept = [{field: row[field] for field in fields} for row in rows]
    return {"seconds": round(seconds), "output": done.stdout.rstrip("\n").splitlines(), "results": kept}


def git(*words):
    done = subprocess.run(["git", *words, "--", *BUILT_FROM], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout


def commit():
    """The last commit of what the programs are built from; a page that this script has just written makes it no other one. Refuses a tree
    with changes: nobody could build again what was measured."""
    changed = [line[3:] for line in git("status", "--porcelain", "--untracked-files=all").splitlines()]
    if changed:
        more = f" and {len(changed) - 1} more" if len(changed) > 1 else ""
        raise Failure(f"{changed[0]}{more} is not committed, so nobody could measure this again: commit or stash it, build, and run make figures")
    return git("log", "-1", "--format=%h").strip() or "unknown"


def save(run, result, name, about, source):
    """Written whole or not at all, so that a run that is cut off is run again. `source`: `commit()` before the run."""
    whole = {"id": run["id"], "command": run["command"], "commit": source, "date": datetime.date.today().isoformat(),
             "machine": about, **result}
    folder = RESULTS / name
    folder.mkdir(parents=True, exist_ok=True)
    fresh = folder / f"{run['id']}.json.new"
    fresh.write_text(json.dumps(whole, indent=1) + "\n")
    fresh.replace(folder / f"{run['id']}.json")
