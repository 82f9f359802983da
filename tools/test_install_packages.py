#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# The installer with fake versions of apt-get, dpkg-query, id and sudo: what it calls, what it prints, how it ends.
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parent / "install_packages.sh"
BASIC = ["sh", "env", "mktemp", "rm", "tail", "touch", "grep"]

QUERY = """#!/bin/sh
for last; do :; done
grep -qx "$last" "$STATE/installed" && printf installed
exit 0
"""
APT = """#!/bin/sh
echo "apt-get $*" >>"$STATE/calls"
case "$1" in update) touch "$STATE/updated"; exit 0 ;; esac
if [ -e "$STATE/needs-update" ] && [ ! -e "$STATE/updated" ]; then echo "404 not found"; exit 100; fi
if [ -e "$STATE/broken" ]; then echo "unable to locate package"; exit 100; fi
for word; do echo "$word" >>"$STATE/installed"; done
"""
SUDO = """#!/bin/sh
echo "sudo $1" >>"$STATE/calls"
exec "$@"
"""


class Installer(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.state = Path(folder.name)
        self.programs = self.state / "bin"
        self.programs.mkdir()
        for name in BASIC:
            found = next(p for p in (Path("/usr/bin") / name, Path("/bin") / name) if p.exists())
            (self.programs / name).symlink_to(found)
        self.program("dpkg-query", QUERY)
        self.program("apt-get", APT)
        self.program("id", "#!/bin/sh\necho 0\n")
        self.write("installed", "")

    def program(self, name, text):
        (self.programs / name).write_text(text)
        (self.programs / name).chmod(0o755)

    def write(self, name, text):
        (self.state / name).write_text(text)

    def calls(self):
        path = self.state / "calls"
        return path.read_text().splitlines() if path.exists() else []

    def run_script(self, *arguments):
        environment = {"PATH": str(self.programs), "STATE": str(self.state), "TMPDIR": str(self.state)}
        return subprocess.run([self.programs / "sh", SCRIPT, *arguments], env=environment, capture_output=True, text=True,
                              check=False)

    def test_names_each_package_and_installs_it(self):
        done = self.run_script("test")
        self.assertEqual(done.returncode, 0, done.stderr)
        installs = [call.split() for call in self.calls()]
        self.assertEqual(len(installs), 1)
        packages = [word for word in installs[0][2:] if not word.startswith("-")]
        self.assertIn("clang-tidy-19", packages)
        for package in packages:
            self.assertIn(f"\n  {package}\n", done.stdout)

    def test_a_second_call_touches_nothing(self):
        self.run_script("test")
        (self.state / "calls").unlink()
        done = self.run_script("test")
        self.assertEqual((done.returncode, done.stdout, done.stderr, self.calls()), (0, "", "", []))

    def test_installs_only_what_is_missing(self):
        self.run_script("demo")
        installed = (self.state / "installed").read_text()
        self.write("installed", installed.replace("libfmt-dev\n", ""))
        (self.state / "calls").unlink()
        self.run_script("demo")
        packages = [word for word in self.calls()[0].split()[2:] if not word.startswith("-")]
        self.assertEqual(packages, ["libfmt-dev"])

    def test_installs_go_only_where_there_is_none(self):
        self.run_script("verify")
        self.assertIn("golang-go\n", (self.state / "installed").read_text())
        self.write("installed", "")
        self.program("go", "#!/bin/sh\n")
        self.run_script("verify")
        self.assertIn("clang-19\n", (self.state / "installed").read_text())
        self.assertNotIn("golang-go\n", (self.state / "installed").read_text())

    def test_fetches_the_lists_when_they_are_stale(self):
        self.write("needs-update", "")
        self.assertEqual(self.run_script("demo").returncode, 0)
        self.assertEqual([call.split()[1] for call in self.calls()], ["install", "update", "install"])

    def test_says_so_when_a_package_cannot_be_had(self):
        self.write("broken", "")
        done = self.run_script("demo")
        self.assertEqual(done.returncode, 2)
        self.assertIn("unable to locate package", done.stderr)

    def test_uses_sudo_when_not_root(self):
        self.program("id", "#!/bin/sh\necho 1000\n")
        done = self.run_script("demo")
        self.assertEqual(done.returncode, 2)
        self.assertIn("no sudo", done.stderr)
        self.assertEqual(self.calls(), [])
        self.program("sudo", SUDO)
        self.assertEqual(self.run_script("demo").returncode, 0)
        self.assertTrue(self.calls()[0].startswith("sudo "))

    def test_another_distribution(self):
        os.unlink(self.programs / "apt-get")
        done = self.run_script("demo")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("neither Debian nor Ubuntu", done.stderr)
        self.assertIn("\n  libcuckoo-dev\n", done.stderr)

    def test_wrong_use(self):
        self.assertEqual(self.run_script("everything").returncode, 2)
        self.assertEqual(self.calls(), [])


if __name__ == "__main__":
    unittest.main()
