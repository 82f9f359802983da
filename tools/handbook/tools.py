# SPDX-License-Identifier: Apache-2.0
# Sphinx, its theme and its reader of Markdown, in an environment of their own below build/. Debian's theme lacks its scripts and the dark
# mode that follows the system.
import shutil
import subprocess
import sys
from pathlib import Path

REQUIREMENTS = Path(__file__).resolve().parent / "requirements.txt"


class Unavailable(Exception):
    """The tools cannot be had here; the text says what to do."""


def sphinx_in(folder):
    """The path of sphinx-build, which is installed into `folder` unless it is there in the wanted versions."""
    stamp, wanted = folder / "requirements.txt", REQUIREMENTS.read_text(encoding="utf-8")
    program = folder / "bin" / "sphinx-build"
    if program.exists() and stamp.exists() and stamp.read_text(encoding="utf-8") == wanted:
        return program
    shutil.rmtree(folder, ignore_errors=True)
    print(f"documentation: installing Sphinx and what it needs into {folder.name}", flush=True)
    for command in ([sys.executable, "-m", "venv", folder],
                    [folder / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check", "-r", REQUIREMENTS]):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            why = (done.stderr or done.stdout).strip().split("\n")[-1]
            raise Unavailable(f"cannot install {REQUIREMENTS.name}: {why}; it needs python3-venv, Python 3.11 and PyPI")
    stamp.write_text(wanted, encoding="utf-8")
    return program
