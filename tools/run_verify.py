#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# The long command: runs the parts in tools/verify one after another and ends with a table and the counts. A part that
# has passed over the same tree with the same settings is not run again, so a run that was cut short goes on where it
# was. Exit status 0 only when no part failed. Each part can be run alone: tools/run_verify.py --only mutants
import hashlib
import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import verify  # noqa: E402
from house.tree import list_files  # noqa: E402
from suite import driver, shell  # noqa: E402
from suite.shell import Failure, say  # noqa: E402

SETTINGS = ("CUBBY_TEST_", "CUBBY_VERIFY_")  # variables of the environment that change what a part does


def tree_state():
    """A hash of every file that is ours, and of the settings of the run."""
    state = hashlib.sha256()
    for name in sorted(list_files(shell.ROOT)):
        path = shell.ROOT / name
        content = path.read_bytes() if path.is_file() else b""
        mode = path.stat().st_mode & 0o111 if path.is_file() else 0
        state.update(f"{name}\0{mode}\0{len(content)}\0".encode())
        state.update(content)
    for name in sorted(os.environ):
        if name.startswith(SETTINGS):
            state.update(f"{name}={os.environ[name]}\0".encode())
    return state.hexdigest()


class Memory:
    """The parts that have passed over one state of the tree, in build/verify/passed.json."""

    def __init__(self, state, forget=()):
        self.path = shell.BUILD / "verify" / "passed.json"
        self.state = state
        self.parts = {name: kept for name, kept in self._read().items() if name not in forget}

    def _read(self):
        try:
            kept = json.loads(self.path.read_text())
            return dict(kept["parts"]) if kept["state"] == self.state else {}
        except (OSError, ValueError, KeyError, TypeError):
            return {}

    def recall(self, name):
        kept = self.parts.get(name)
        return driver.Result("passed", kept["note"], kept["seconds"], earlier=True) if kept else None

    def keep(self, name, result):
        """Only for the tree that the part has seen: whoever edits while it runs has to run it again."""
        if result.outcome != "passed" or tree_state() != self.state:
            self.parts.pop(name, None)
        else:
            self.parts[name] = {"note": result.note, "seconds": result.seconds}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text(json.dumps({"state": self.state, "parts": self.parts}, indent=1) + "\n")


def run_part(name):
    module = verify.load(name)

    def lost(_):
        raise Failure(f"there is no tools/verify/{name}.py")

    return driver.run_part(name, module.run if module else lost)


def run_all(names, memory):
    results = {}
    for number, name in enumerate(names, 1):
        say(f"verify: part {number} of {len(names)}: {name}")
        known = memory.recall(name)
        if known:
            say(f"{name}: passed earlier over the same tree; --fresh runs it again")
        results[name] = known or run_part(name)
        if not known:
            memory.keep(name, results[name])
    return results


def main():
    parser = driver.options("Run the parts of the long command.", verify.names())
    parser.add_argument("--fresh", action="store_true", help="run again what has passed over this very tree")
    arguments = parser.parse_args()
    if arguments.list:
        modules = {name: verify.load(name) for name in verify.names()}
        driver.print_list({name: module.TITLE if module else "missing" for name, module in modules.items()})
        return 0
    memory = Memory(tree_state(), forget=arguments.only if arguments.fresh else ())
    failed = driver.print_table(run_all(arguments.only, memory))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
