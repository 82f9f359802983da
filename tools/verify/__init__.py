# SPDX-License-Identifier: Apache-2.0
# The parts of `make verify`: the modules of this folder. Each has TITLE, one line, and run(shell), which returns the note
# for the table, with its figures, or raises Failure or Skip (suite/shell.py). Long parts take the seconds that they
# may use from CUBBY_VERIFY_SECONDS and name their default.
import importlib
import pkgutil

from suite.shell import Skip

# The order in which they are shown; a module that is not named here comes last. One that is named and missing has been lost, which is a
# failure.
ORDER = ["tests", "builds", "interleavings", "durable", "histories", "asan_modes", "mutants", "programs", "kmers", "tsan_modes", "models",
         "packages", "fuzz", "documentation"]

# Part `tests` comes first, alone: it runs parts side by side itself. Then these chains run side by side. Parts that share a build folder
# are in one chain.
CHAINS = [["builds", "interleavings", "durable", "histories"], ["asan_modes"], ["mutants"], ["programs", "kmers"], ["tsan_modes"],
          ["models", "packages"], ["fuzz", "documentation"]]

# A run has about an hour. A part begins when it is expected to end within that: these are its minutes on two cores beside another part.
# The others are skipped and said to be. Each day begins with another chain, whose first part runs whatever is left of the hour: so each
# has its turn.
RUN_MINUTES = 60
MINUTES = {"builds": 30, "interleavings": 6, "durable": 6, "histories": 3, "asan_modes": 40, "mutants": 16, "programs": 25, "kmers": 6,
           "tsan_modes": 40, "models": 25, "packages": 5, "fuzz": 8, "documentation": 3}


def chains_of(day):
    """The chains in the order of a day, which is a number."""
    first = day % len(CHAINS)
    return CHAINS[first:] + CHAINS[:first]


def within_an_hour(name, run, elapsed, day):
    """A part that is skipped where it would not end within the hour. `elapsed()`: seconds since the run began."""
    if name == chains_of(day)[0][0]:
        return run

    def begin(shell):
        minutes = MINUTES.get(name, 0)
        if elapsed() > (RUN_MINUTES - minutes) * 60:
            raise Skip(f"no {minutes} minutes of the hour are left; `tools/run_verify.py --only {name}` runs it, FULL=1 runs all")
        return run(shell)

    return begin


def names():
    found = sorted(module.name for module in pkgutil.iter_modules(__path__))
    return ORDER + [name for name in found if name not in ORDER]


def load(name):
    """The part's module; None: there is none of that name."""
    if all(module.name != name for module in pkgutil.iter_modules(__path__)):
        return None
    return importlib.import_module(f"{__name__}.{name}")
