# SPDX-License-Identifier: Apache-2.0
# Remembers which parts of a command have passed over one state of the tree, so that an interrupted run goes on where it
# stopped. For the same reason `make check` does not repeat what `make test` has just done.
import hashlib
import json
import os

from house.tree import list_files
from . import driver, shell

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
    """The parts of one command that have passed over one state of the tree, in build/passed/<command>.json."""

    def __init__(self, command, state, forget=()):
        self.path = shell.BUILD / "passed" / f"{command}.json"
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
        """Only for the tree that the part has seen: after an edit while it runs, run it again."""
        if result.outcome != "passed" or tree_state() != self.state:
            self.parts.pop(name, None)
        else:
            self.parts[name] = {"note": result.note, "seconds": result.seconds}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        whole = self.path.with_suffix(".new")  # a run that ends while it writes leaves the older file
        whole.write_text(json.dumps({"state": self.state, "parts": self.parts}, indent=1) + "\n")
        whole.replace(self.path)
