#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# The long command: runs the parts in tools/verify, as many at a time as there are cores, and ends with a table and the
# counts. A part that has passed over the same tree with the same settings is not run again, so an interrupted run goes on
# where it stopped. It skips what does not end within an hour, and begins with other parts each day; CUBBY_VERIFY_FULL=1 skips nothing.
# Exit status 0 only when no part failed. Each part can be run alone: tools/run_verify.py --only mutants
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import verify  # noqa: E402
from suite import driver, shell  # noqa: E402
from suite.memory import Memory, tree_state  # noqa: E402


def run_of(name):
    """What runs a part."""
    module = verify.load(name)

    def lost(_):
        raise shell.Failure(f"there is no tools/verify/{name}.py")

    return module.run if module else lost


def main():
    parser = driver.options("Run the parts of the long command.", verify.names())
    parser.set_defaults(only=None)
    parser.add_argument("--fresh", action="store_true", help="also run parts that have passed over the same tree")
    arguments = parser.parse_args()
    if arguments.list:
        modules = {name: verify.load(name) for name in verify.names()}
        driver.print_list({name: module.TITLE if module else "missing" for name, module in modules.items()})
        return 0
    names = arguments.only or verify.names()
    memory = Memory("verify", tree_state(), forget=names if arguments.fresh else ())
    parts = {name: run_of(name) for name in names}
    try:
        full = shell.is_full()
    except shell.Failure as why:
        parser.error(str(why))
    day = int(time.time()) // 86400
    if not arguments.only and not full:
        parts = {name: verify.within_an_hour(name, run, shell.elapsed_seconds, day) for name, run in parts.items()}
    results = driver.run_over(parts, verify.chains_of(day), memory)
    return 1 if driver.print_table(results) else 0


if __name__ == "__main__":
    sys.exit(main())
