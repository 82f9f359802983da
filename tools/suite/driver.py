# SPDX-License-Identifier: Apache-2.0
# What the two commands share. A part is run; its failure does not stop the others. One table at the end has the outcome of
# each part, what was skipped and why. The last line has the counts. A part that could not run is never counted as passed.
import argparse
import threading
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from .shell import JOBS, Failure, Shell, Skip, elapsed_seconds, say, stop_all


class Result(NamedTuple):
    outcome: str  # "passed", "failed" or "skipped"
    note: str
    seconds: float
    earlier: bool = False  # it passed in an earlier run over the same tree
    signs: tuple = ()  # lines of the output that say why it failed


def run_part(name, function):
    begin = time.monotonic()
    signs = ()
    try:
        outcome, note = "passed", function(Shell(name))
    except Skip as why:
        outcome, note = "skipped", str(why)
    except Failure as why:
        outcome, note, signs = "failed", str(why), tuple(why.signs)
    except Exception:  # a fault of the driver itself must not hide the other parts' results
        outcome, note = "failed", traceback.format_exc(limit=3).strip().split("\n")[-1]
        traceback.print_exc()
    result = Result(outcome, note or "", time.monotonic() - begin, signs=signs)
    say(f"{name}: {outcome} in {result.seconds:.0f} s" + (f" ({result.note})" if result.note else ""))
    return result


def run_lanes(parts, chains, note):
    """Runs chains of parts side by side, as many as there are cores: one builds while another's tests wait for each other. Each may use
    every core, so that none is idle behind the last chain's end. The parts of a chain share a build folder, so they follow each
    other. `note` is told of each result."""

    def run_chain(chain):
        for name in chain:
            note(name, run_part(name, parts[name]))

    with ThreadPoolExecutor(int(JOBS)) as pool:
        running = [pool.submit(run_chain, chain) for chain in chains]
        try:
            for one in running:
                one.result()
        except KeyboardInterrupt:
            stop_all()  # they run in their own sessions and did not get the signal
            raise


def run_parts(parts, chains, keep):
    """Runs parts and tells `keep` of each result: one after another if few are wanted; else first those that are in no chain, then the
    chains side by side. Results in the order of `parts`."""
    wanted = [[name for name in chain if name in parts] for chain in chains]
    wanted = [chain for chain in wanted if chain]
    if len(wanted) < 2:
        wanted = []
    results, lock = {}, threading.Lock()

    def note(name, result):
        with lock:
            results[name] = result
            keep(name, result)

    chained = {name for chain in wanted for name in chain}
    for name, function in parts.items():
        if name not in chained:
            note(name, run_part(name, function))
    run_lanes(parts, wanted, note)
    return {name: results[name] for name in parts}


def run_over(parts, chains, memory):
    """Runs the parts that have not passed over this tree, and remembers each that passes as soon as it does."""
    known = {name: memory.recall(name) for name in parts}
    for name, result in known.items():
        if result:
            say(f"{name}: passed earlier over the same tree")
    fresh = run_parts({name: function for name, function in parts.items() if not known[name]}, chains, memory.keep)
    return {name: known[name] or fresh[name] for name in parts}


def print_table(results):
    """Prints the table, what the failed parts said and the counts; returns how many failed."""
    print(f"\n{'part':<13} {'outcome':<16} {'seconds':>7}  what came of it")
    for name, result in results.items():
        outcome = result.outcome + (" (earlier)" if result.earlier else "")
        print(f"{name:<13} {outcome:<16} {result.seconds:7.0f}  {result.note}")
    print(f"{'all':<13} {'':<16} {elapsed_seconds():7.0f}  by the clock, without the installs; parts run side by side")
    for name, result in results.items():
        if result.signs:  # repeated here: a record that keeps the end of the output alone has them, too
            print(f"\n{name} failed with:\n" + "\n".join("  " + line[:300] for line in result.signs))
    counts = {what: sum(r.outcome == what for r in results.values()) for what in ("passed", "failed", "skipped")}
    line = f"{counts['passed']} passed, {counts['failed']} failed"
    print("\n" + line + (f", {counts['skipped']} skipped" if counts["skipped"] else ""), flush=True)
    return counts["failed"]


def chooser(parts):
    """For argparse: names of parts, separated by commas."""

    def chosen(only):
        names = [name.strip() for name in only.split(",")]
        unknown = [name for name in names if name not in parts]
        if unknown:
            raise argparse.ArgumentTypeError(f"no such part: {', '.join(unknown)}; there are {', '.join(parts)}")
        return names

    return chosen


def options(description, parts):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--only", type=chooser(parts), default=list(parts), metavar="PART,...",
                        help="run only these parts")
    parser.add_argument("--list", action="store_true", help="list the parts and exit")
    return parser


def print_list(titles):
    for name, what in titles.items():
        print(f"{name:<13} {what}")
