#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# `cubby completion` and `cubby manual`: every command and option that --help names is offered by each shell itself, and stands in a
# page that man and mandoc take without a warning. Usage: test_shell.py PROGRAM [names of tests].
import functools
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from refusals import RefusedCase

PROGRAM = ""
HELP = {"-h", "--help"}
# zsh's own functions are replaced by some that print what they are told.
ZSH = """
compdef() { :; }
_arguments() { print -rl -- "$@"; }
_describe() { :; }
source $1
_${2}
"""
BASH = """
source $1
shift
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_cubby
printf '%s\\n' "${COMPREPLY[@]}"
"""


def run(*command, **options):
    return subprocess.run([str(word) for word in command], capture_output=True, timeout=60, check=False, **options)


def cubby(*arguments):
    return run(PROGRAM, *arguments)


def printed(*command):
    done = run(*command)
    if done.returncode != 0 or done.stderr:
        raise AssertionError((command, done.returncode, done.stderr))
    return done.stdout.decode()


@functools.cache
def help_of(path):
    """The options and the commands that the help of a command names."""
    text = printed(PROGRAM, *path, "--help")
    sections = re.split(r"^(\w+):$", text, flags=re.MULTILINE)
    named = dict(zip(sections[1::2], sections[2::2]))
    options = set()
    for line in re.findall(r"^  (-\S+)", named["Options"], re.MULTILINE):
        options.update(line.split(","))
    return options, set(re.findall(r"^  ([\w-]+)", named.get("Subcommands", ""), re.MULTILINE))


def paths(path=()):
    yield path
    for name in sorted(help_of(path)[1]):
        yield from paths((*path, name))


class Shells(unittest.TestCase):
    def setUp(self):
        kept = tempfile.TemporaryDirectory()
        self.addCleanup(kept.cleanup)
        self.folder = pathlib.Path(kept.name)

    def script(self, shell):
        path = self.folder / f"cubby.{shell}"
        path.write_text(printed(PROGRAM, "completion", shell))
        return path

    def test_help_names_commands(self):
        self.assertGreater(len(list(paths())), 20)
        self.assertIn("--on-duplicate", help_of(("store", "load"))[0])

    def test_bash(self):
        script = self.script("bash")
        ask = lambda *words: set(printed("bash", "-c", BASH, "bash", script, "cubby", *words).split())  # noqa: E731
        for path in paths():
            options, commands = help_of(path)
            self.assertEqual(ask(*path, "-"), options, path)
            self.assertEqual(ask(*path, ""), options | commands if commands else set(), path)
        self.assertEqual(ask("store", "load", "--fo"), {"--format"})
        self.assertEqual(ask("store", "load", "--format", ""), set())  # a value: the shell offers files
        self.assertEqual(ask("store", "--help", "lo"), {"load"})

    def test_zsh(self):
        script = self.script("zsh")
        for path in paths():
            options, commands = help_of(path)
            told = printed("zsh", "-f", "-c", ZSH, "zsh", script, "_".join(("cubby", *path)))
            self.assertEqual(set(re.findall(r"^\*(--?[\w-]+)[=+]?\[", told, re.MULTILINE)), options, path)
            for name in commands:
                self.assertIn(f"        {name}) _{'_'.join(('cubby', *path, name))} ;;\n", script.read_text())

    def test_fish(self):
        script = self.script("fish")
        for path in paths():
            options, commands = help_of(path)
            ask = f"source {script}; complete -C '{' '.join(('cubby', *path))} "
            offered = lambda text: {line.split("\t")[0] for line in text.splitlines()}  # noqa: E731
            self.assertEqual(offered(printed("env", f"HOME={self.folder}", "fish", "-c", ask + "--'")), {o for o in options if o.startswith("--")}, path)
            if commands:
                self.assertEqual(offered(printed("env", f"HOME={self.folder}", "fish", "-c", ask + "'")), commands, path)


class Manual(RefusedCase):
    program = staticmethod(cubby)

    def setUp(self):
        kept = tempfile.TemporaryDirectory()
        self.addCleanup(kept.cleanup)
        self.folder = pathlib.Path(kept.name)

    def pages(self):
        self.assertEqual(cubby("manual", self.folder, "--date", "2026-11-25").returncode, 0)
        return {page.stem: page for page in self.folder.glob("*.1")}

    def test_every_option_is_in_a_page(self):
        pages = self.pages()
        self.assertEqual(set(pages), {"cubby", "cubby-bench", "cubby-kmer", "cubby-store"})
        for path in paths():
            page = pages.get("-".join(("cubby", *path[:1])), pages["cubby"])
            text = page.read_text().replace("\\-", "-")
            section = text if len(path) < 2 else re.split(rf"^\.SS cubby {' '.join(path)}$", text, flags=re.MULTILINE)[1].split("\n.SS")[0]
            for option in help_of(path)[0] - (HELP if len(path) > 1 or path[:1] in (("manual",), ("completion",)) else set()):
                self.assertIn(f"\\fB{option}\\fR", section, (path, option))

    def test_readers_find_no_fault(self):
        for page in self.pages().values():
            self.assertEqual(printed("mandoc", "-T", "lint", page), "")
            done = run("man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", page, env={"LC_ALL": "C.UTF-8", "PATH": "/usr/bin:/bin"})
            self.assertEqual((done.returncode, done.stderr), (0, b""))
            self.assertIn("2026-11-25", page.read_text())

    def test_refusals(self):
        self.refused("completion", "tcsh", says=("'tcsh'", "bash, zsh or fish"))
        self.refused("completion", says="SHELL is required")
        self.refused("manual", self.folder / "absent", says=("absent/cubby-bench.1", "No such file"))
        for date in ("", "today", "2026-11-2", "2026/11/25"):
            self.refused("manual", self.folder, "--date", date, says=f"--date '{date}': not a date")
        with open("/dev/full", "wb") as full:
            done = subprocess.run([PROGRAM, "completion", "bash"], stdout=full, stderr=subprocess.PIPE, check=False)
        self.assertEqual((done.returncode, done.stderr.count(b"\n")), (2, 1), done.stderr)


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main(verbosity=2)
