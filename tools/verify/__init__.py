# SPDX-License-Identifier: Apache-2.0
# The parts of `make verify`: the modules of this folder. Each has TITLE, one line, and run(shell), which returns the note
# for the table, with its figures, or raises Failure or Skip (suite/shell.py). Long parts take the seconds that they
# may use from CUBBY_VERIFY_SECONDS and name their default.
import importlib
import pkgutil

# The order in which they run; a module that is not named here runs last. One that is named and missing has been lost,
# which is a failure.
ORDER = ["tests", "sanitizers", "builds", "models", "mutants", "interleavings", "histories", "durable", "fuzz", "kmers", "packages",
         "documentation"]

# Part `tests` comes first, alone: it runs parts side by side itself. Then these chains run side by side, the longest first. The parts
# of a chain share a build folder.
CHAINS = [["builds", "kmers", "interleavings", "durable", "histories"], ["mutants"], ["sanitizers"], ["models", "packages"],
          ["fuzz", "documentation"]]


def names():
    found = sorted(module.name for module in pkgutil.iter_modules(__path__))
    return ORDER + [name for name in found if name not in ORDER]


def load(name):
    """The part's module; None: there is none of that name."""
    if all(module.name != name for module in pkgutil.iter_modules(__path__)):
        return None
    return importlib.import_module(f"{__name__}.{name}")
