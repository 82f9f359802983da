#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# The long command: runs the parts in tools/verify, as many side by side as there are cores, and ends with a table and the
# counts. A part that has passed over the same tree with the same settings is not run again, so an interrupted run goes on
# where it stopped. Exit status 0 only when no part failed. Each part can be run alone: tools/run_verify.py --only mutants
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import verify  # noqa: E402
from suite import driver  # noqa: E402
from suite.memory import Memory, tree_state  # noqa: E402
from suite.shell import Failure  # noqa: E402


def run_of(name):
    """What runs a part."""
    module = verify.load(name)

    def lost(_):
        raise Failure(f"there is no tools/verify/{name}.py")

    return module.run if module else lost


def main():
    parser = driver.options("Run the parts of the long command.", verify.names())
    parser.add_argument("--fresh", action="store_true", help="also run parts that have passed over the same tree")
    arguments = parser.parse_args()
    if arguments.list:
        modules = {name: verify.load(name) for name in verify.names()}
        driver.print_list({name: module.TITLE if module else "missing" for name, module in modules.items()})
        return 0
    memory = Memory("verify", tree_state(), forget=arguments.only if arguments.fresh else ())
    results = driver.run_over({name: run_of(name) for name in arguments.only}, verify.CHAINS, memory)
    return 1 if driver.print_table(results) else 0


if __name__ == "__main__":
    sys.exit(main())
