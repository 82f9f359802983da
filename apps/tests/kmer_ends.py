# SPDX-License-Identifier: Apache-2.0
# What a command reads and what it writes must not be one file, by any names and descriptors.
import os
import subprocess

import kmer_support
from kmer_support import Folder, random_bases


class Shell(Folder):
    """Commands as a shell gives them, in the test's folder; `cubby` stands for `cubby kmer`."""

    def setUp(self):
        super().setUp()
        self.reads = self.write("s.fa", ">r\n" + random_bases(1, 3000) + "\n")
        self.file = self.count(self.reads, k=21, out="s.kc")
        self.run_well("to-kff", self.file, "-o", self.folder / "s.kff")

    def shell(self, command):
        return subprocess.run(["sh", "-c", 'cubby() { "$PROGRAM" kmer "$@"; }; ' + command], capture_output=True, timeout=60,
                              check=False, cwd=self.folder, env=os.environ | {"PROGRAM": os.path.abspath(kmer_support.PROGRAM)})

    def kept(self):
        """What lies in the folder."""
        return {p.name: p.read_bytes() for p in self.folder.iterdir() if p.is_file()}

    def refuse(self, command, *says):
        before = self.kept()
        done = self.shell(command)
        text = (done.stderr + done.stdout).decode(errors="replace")
        self.assertEqual(done.returncode, 2, (command, text))
        self.assertEqual(text.count("\n"), 1, (command, text))
        for part in says:
            self.assertIn(part, text, command)
        self.assertEqual(self.kept(), before, command)


class OutputsThatAreInputs(Shell):
    def test_by_any_name(self):
        for name in ("s.fa", "s.kc", "s.kff"):
            (self.folder / f"soft-{name}").symlink_to(name)
            os.link(self.folder / name, self.folder / f"hard-{name}")
        for form in ("{}", "./{}", "soft-{}", "hard-{}"):
            fa, kc, kff = (form.format(name) for name in ("s.fa", "s.kc", "s.kff"))
            for command in (f"count -o {fa} s.fa", f"from-kff -o {kff} s.kff", f"to-kff -o {kc} s.kc", f"dump -o {kc} s.kc",
                            f"histo -o {kc} s.kc", f"query -o {kc} s.kc {'A' * 21}", f"query -o {fa} -s s.fa s.kc",
                            f"count -o {fa} --reference s.fa s.kff"):
                self.refuse(f"cubby {command}", "it is the input and the output", "give -o another name")
            for command in (f"count --json {fa} -o y.kc s.fa", f"stats --json {kc} s.kc"):
                self.refuse(f"cubby {command}", "it is an input and the summary", "give --json another name")

    def test_standard_input(self):
        self.refuse("cubby count -o s.fa - < s.fa", "standard input: it is the input and the output")
        self.refuse("cubby count -o s.fa /dev/stdin < s.fa", "it is the input and the output")
        self.refuse("cubby from-kff -o s.kff - < s.kff", "standard input: it is the input and the output")
        self.refuse("cubby query -o s.fa -s - s.kc < s.fa", "standard input: it is the input and the output")
        self.refuse("cubby count --json s.fa -o y.kc - < s.fa", "standard input: it is an input and the summary")

    def test_standard_output(self):
        for command in ("dump s.kc >> s.kc", "histo s.kc >> s.kc", "stats s.kc >> s.kc", "query s.kc -s s.fa >> s.fa",
                        "count -o - s.fa >> s.fa", "count -o /dev/fd/3 s.fa 3>> s.fa"):
            self.refuse(f"cubby {command}", "it is the input and the output")

    def test_what_is_read_before_it_is_replaced(self):
        """Set operations have their inputs open, and the output takes its name when all of them were read."""
        half = self.count(self.reads, k=21, out="half.kc", more=("--count-limit", 1)).read_bytes()
        (self.folder / "link.kc").symlink_to("s.kc")
        for output in ("s.kc", "link.kc"):
            for command in ("merge", "union", "intersect", "subtract"):
                self.shell(f"cubby {command} -o other.kc s.kc half.kc")
                before = self.file.read_bytes()
                self.assertEqual(self.shell(f"cubby {command} -o {output} s.kc half.kc").returncode, 0)
                self.assertEqual(self.file.read_bytes(), (self.folder / "other.kc").read_bytes(), command)
                self.file.write_bytes(before)
        self.assertEqual((self.folder / "half.kc").read_bytes(), half)
        self.assertTrue((self.folder / "link.kc").is_symlink())
        self.refuse("cubby merge -o - s.kc half.kc >> s.kc", "it is the input and the output")
        self.refuse("cubby merge -o /dev/fd/3 s.kc half.kc 3<> half.kc", "it is the input and the output")

    def test_devices_are_shared(self):
        self.assertEqual(self.shell("cubby count -o /dev/null --json /dev/null /dev/null < /dev/null").returncode, 0)


class OutputsThatAreOne(Shell):
    def test_result_and_summary(self):
        os.mkfifo(self.folder / "pipe")
        for name in ("f", "x"):
            self.write(name, "")
        for command in ("count -o pipe --json pipe s.fa", "count -o pipe --json ./pipe s.fa", "count -o /dev/fd/3 --json - s.fa > f 3>&1",
                        "count -o - --json /dev/fd/3 s.fa 3>&1", "count -o x --json - s.fa > x", "count -o - --json x s.fa > x",
                        "stats --json x s.kc > x", "stats --json /dev/stdout s.kc > x"):
            self.refuse(f"cubby {command}", "it is the output and the summary", "give --json another name")

    def test_result_and_words(self):
        for command in ("count -o /dev/stderr s.fa 2> f", "count -o f s.fa 2> f", "count -o - s.fa > f 2>&1",
                        "merge -o /dev/stderr s.kc 2> f", "from-kff -o /dev/fd/2 s.kff 2> f", "count --quiet -o /dev/stderr s.fa 2> f",
                        "to-kff -o f s.kc 2> f", "dump -o f s.kc 2> f", "histo -o f s.kc 2> f", f"query -o f s.kc {'A' * 21} 2> f"):
            self.assertEqual(self.shell(f"cubby {command}").returncode, 2, command)
            words = (self.folder / "f").read_text()
            self.assertEqual(words.count("\n"), 1, words)
            self.assertIn("it is the output and standard error; give -o another name", words)

    def test_summary_and_words(self):
        for command in ("count -o x --json f s.fa 2> f", "count --quiet -o x --json ./f s.fa 2> f", "count -o x --json /dev/stderr s.fa 2> f",
                        "count -o x --json - s.fa > f 2>&1", "stats --json f s.kc 2> f"):
            self.assertEqual(self.shell(f"cubby {command}").returncode, 2, command)
            words = (self.folder / "f").read_text()
            self.assertEqual(words.count("\n"), 1, words)
            self.assertIn("it is the summary and standard error; give --json another name", words)
            self.assertFalse((self.folder / "x").exists(), command)

    def test_results_that_go_there_by_default(self):
        for command in ("dump s.kc", "histo s.kc", "stats s.kc", "stats --json - s.kc", f"query s.kc {'A' * 21}"):
            self.assertEqual(self.shell(f"cubby {command} > f 2>&1").returncode, 0, command)

    def test_files_that_do_not_exist_yet(self):
        """Their names were compared as they were typed, and the later output replaced the other."""
        (self.folder / "below").mkdir()
        (self.folder / "link").symlink_to("below")
        for one, other in (("nf", "./nf"), ("./nf", "nf"), ("nf", "$PWD/nf"), ("nf", "below/../nf"), ("nf", "dd/../nf"),
                           ("below/nf", "link/nf"), ("nf", "link/../nf"), ("nf", "nf")):
            self.refuse(f'cubby count -k 5 -o {one} --json "{other}" s.fa', "it is the output and the summary")
        self.assertEqual(self.shell("cubby count -k 5 -o nf --json below/nf s.fa").returncode, 0)

    def test_devices_are_shared(self):
        for command in ("count -o /dev/stderr s.fa 2> /dev/null", "count -o - --json /dev/null s.fa > /dev/null 2>&1",
                        "stats --json /dev/null s.kc > /dev/null"):
            self.assertEqual(self.shell(f"cubby {command}").returncode, 0, command)


class InputsAreLookedAtFirst(Shell):
    def setUp(self):
        super().setUp()
        self.write("bad.fa", ">r\n!\n")

    def test_files_that_cannot_be_read(self):
        for command in ("count -o x bad.fa none", "query s.kc -s bad.fa -s none"):
            self.refuse(f"cubby {command}", "none: cannot be read: No such file or directory")
        self.refuse("cubby count -o x bad.fa .", ".: is a folder")
        self.refuse("cubby count -o x --reference none bad.fa", "--reference 'none': cannot be read: No such file or directory")
        self.refuse("cubby count -o x --reference . bad.fa", "--reference '.': is a folder")

    def test_pipes_are_opened_once(self):
        done = self.shell("mkfifo p q; cat s.fa > p & cat bad.fa > q & cubby count -k 21 -o x p && cubby count -o y q; wait")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"q: record 1", done.stderr)
        self.assertEqual((self.folder / "x").read_bytes(), self.file.read_bytes())


class StandardInput(Shell):
    def test_that_is_closed(self):
        for command in ("count -o x -", "count -o x /dev/stdin", "count -o x s.fa -", "from-kff -o x -", "query s.kc -s -"):
            for closed in ("<&-", "0> /dev/null"):
                self.refuse(f"cubby {command} {closed}", "standard input is closed")
        self.assertEqual(self.shell("cubby count -o /dev/null s.fa <&-").returncode, 0)
        self.assertEqual(self.shell("cubby count -o /dev/null - < /dev/null").returncode, 0)

    def test_that_is_given_twice(self):
        for command in ("count -o x - -", "count -o x - s.fa /dev/stdin", "query s.kc -s - -s -"):
            self.refuse(f"cubby {command} < s.fa", "standard input is given twice")
