# SPDX-License-Identifier: Apache-2.0
# Where output goes: standard files that cannot be written, links, and outputs that are looked at before the work begins.
import json
import os
import subprocess
import tempfile

import kmer_support
from kmer_support import Folder, cubby, random_bases


def run(*arguments, **files):
    """With a standard file replaced by the caller; the others are caught."""
    files = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | files
    return subprocess.run([kmer_support.PROGRAM, "kmer", *map(str, arguments)], timeout=60, check=False, **files)


class StandardFiles(Folder):
    def setUp(self):
        super().setUp()
        self.reads = self.write("r.fa", ">r\n" + random_bases(1, 3000) + "\n")
        self.file = self.count(self.reads, k=21)
        self.full = open("/dev/full", "wb", buffering=0)
        self.addCleanup(self.full.close)

    def test_results_that_cannot_be_printed(self):
        for command in ("stats", "histo", "dump"):
            done = run(command, self.file, stdout=self.full)
            self.assertEqual(done.returncode, 2, command)
            self.assertEqual(done.stderr.count(b"\n"), 1)
            self.assertIn(b"standard output: cannot be written: No space left", done.stderr)
        done = run("count", "--help", stdout=self.full)
        self.assertEqual((done.returncode, done.stderr), (2, b"cubby: standard output: cannot be written\n"))

    def test_words_that_cannot_be_said(self):
        """What was asked for is done; once the program ended by a signal."""
        out = self.folder / "again.kc"
        self.assertEqual(run("count", "-o", out, self.reads, stderr=self.full).returncode, 0)
        self.assertEqual(out.read_bytes(), self.file.read_bytes())
        for arguments in (("histo", self.folder / "none"), ("frob",), ("histo", "--frob")):
            self.assertEqual(run(*arguments, stderr=self.full).returncode, 2, arguments)


class Early(Folder):
    """Nothing is counted when what comes of it could not be kept."""

    def setUp(self):
        super().setUp()
        self.reads = self.write("r.fa", ">r\n" + random_bases(1, 3000) + "\n")

    def test_outputs_are_looked_at_first(self):
        none = self.folder / "none"
        self.refused("count", "-o", self.folder / "o", "--json", none / "j", self.reads, says=("none/j", "cannot be written"))
        self.refused("count", "-o", self.folder / "o", "--spill-to", none, self.reads, says=("none", "spill"))
        for summary, says in ((self.reads, "it is an input and the summary"), (self.folder / "." / "o", "the output and the summary")):
            self.refused("count", "-o", self.folder / "o", "--json", summary, self.reads, says=says)
        self.assertEqual(sorted(os.listdir(self.folder)), ["r.fa"])


class Links(Folder):
    def test_links_stay(self):
        reads = self.write("r.fa", ">r\n" + random_bases(1, 3000) + "\n")
        whole = self.count(reads, k=21).read_bytes()
        (self.folder / "below").mkdir()
        for target in (self.write("there.kc", "what was there"), self.folder / "below" / "new.kc"):
            link = self.folder / f"to-{target.name}"
            link.symlink_to(target.relative_to(self.folder))
            second = self.folder / f"to-to-{target.name}"
            second.symlink_to(link)
            self.count(reads, k=21, out=second.name)
            self.assertTrue(link.is_symlink() and second.is_symlink())
            self.assertEqual(target.read_bytes(), whole)

    def test_rights_stay(self):
        reads = self.write("r.fa", ">r\n" + random_bases(1, 3000) + "\n")
        new = self.count(reads, k=21)
        self.assertEqual(new.stat().st_mode & 0o777, self.write("like", "").stat().st_mode & 0o777)
        there, link = self.write("there.kc", "what was there"), self.folder / "link"
        link.symlink_to(there)
        for mode in (0o600, 0o640, 0o664, 0o755):
            there.chmod(mode)
            for command in (("count", "-k", 21, reads), ("merge", new), ("dump", new)):
                self.run_well(*command, "-o", link)
                self.assertEqual(there.stat().st_mode & 0o7777, mode, command)
        self.run_well("stats", new, "--json", there)
        self.assertEqual(there.stat().st_mode & 0o7777, 0o755)

    def test_owners_stay(self):
        reads, there = self.write("r.fa", ">r\nACGT\n"), self.write("there.kc", "what was there")
        if os.geteuid() != 0:
            self.skipTest("only the superuser can give files away")
        os.chown(there, 12345, 12345)
        there.chmod(0o600)
        self.run_well("count", reads, "-o", there)
        about = there.stat()
        self.assertEqual((about.st_uid, about.st_gid, about.st_mode & 0o7777), (12345, 12345, 0o600))

    def test_hard_links_are_parted(self):
        there = self.write("there.kc", "what was there")
        os.link(there, self.folder / "other")
        self.run_well("count", self.write("r.fa", ">r\nACGT\n"), "-o", there)
        self.assertEqual((self.folder / "other").read_text(), "what was there")

    def test_a_link_to_a_pipe_is_written_through(self):
        reads = self.write("r.fa", ">r\n" + random_bases(1, 3000) + "\n")
        whole = self.count(reads, k=21).read_bytes()
        self.assertEqual(self.run_well("count", "-k", 21, "-o", "/dev/stdout", reads).stdout, whole)

    def test_descriptors_keep_what_they_have(self):
        file = self.count(self.write("r.fa", ">r\n" + random_bases(1, 3000) + "\n"), k=21)
        whole = self.run_well("histo", file).stdout
        for name in ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "-"):
            with tempfile.TemporaryFile() as kept:
                kept.write(b"before\n")
                kept.flush()
                self.assertEqual(run("histo", "-o", name, file, stdout=kept).returncode, 0, name)
                kept.seek(0)
                self.assertEqual(kept.read(), b"before\n" + whole, name)

    def test_names_that_can_be_no_file(self):
        reads = self.write("r.fa", ">r\nACGT\n")
        loop = self.folder / "loop"
        loop.symlink_to(loop)
        for name in (loop, self.folder / ("n" * 300)):
            self.refused("count", "-o", name, reads, says=(str(name), "cannot be written"))
            self.refused("count", "-o", self.folder / "o", "--json", name, reads, says=(str(name), "cannot be written"))
        self.assertTrue(loop.is_symlink())
        self.assertFalse((self.folder / "o").exists())

    def test_a_file_that_is_mounted_by_itself_is_written_over(self):
        reads = self.write("r.fa", ">r\n" + random_bases(1, 3000) + "\n")
        whole = self.count(reads, k=21).read_bytes()
        outside, inside = self.write("outside", "what was there"), self.write("inside", "")
        mount = f"mount --bind {outside} {inside}"
        count = f"{kmer_support.PROGRAM} kmer count --quiet -k 21 -o {inside} {reads}"
        if subprocess.run(["unshare", "-rm", "sh", "-c", mount], capture_output=True, check=False).returncode != 0:
            self.skipTest("no mounts of one's own on this machine")
        subprocess.run(["unshare", "-rm", "sh", "-c", f"{mount} && {count}"], check=True, timeout=60)
        self.assertEqual(outside.read_bytes(), whole)
        self.assertEqual(sorted(os.listdir(self.folder)), ["inside", "out.kc", "outside", "r.fa"])


class Temporary(Folder):
    def without_proc(self, *arguments):
        command = 'mount -t tmpfs none /proc && "$@"'
        own = ["unshare", "-rm", "sh", "-c", command, "sh"]
        if subprocess.run([*own, "true"], capture_output=True, check=False).returncode != 0:
            self.skipTest("no mounts of one's own on this machine")
        return subprocess.run([*own, kmer_support.PROGRAM, "kmer", *map(str, arguments)], capture_output=True, timeout=60, check=False)

    def test_without_proc(self):
        """A file without a name could not be given one, so it has one from the beginning."""
        reads, bad = self.write("r.fa", ">r\n" + random_bases(1, 3000) + "\n"), self.write("bad.fa", ">r\nACGT\n>s\n!\n")
        whole = self.count(reads, k=21).read_bytes()
        again = self.folder / "again.kc"
        done = self.without_proc("count", "-k", 21, "-o", again, reads)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(again.read_bytes(), whole)
        for arguments in (("-o", again, bad), ("-o", again, "--json", self.folder / "none" / "j", reads)):
            self.assertEqual(self.without_proc("count", *arguments).returncode, 2)
        self.assertEqual(sorted(os.listdir(self.folder)), ["again.kc", "bad.fa", "out.kc", "r.fa"])

    def test_descriptors_that_cannot_be_written(self):
        """That is told before the work, and not by the first write."""
        with self.write("kept", "").open("rb") as read_only:
            done = run("count", "-o", "-", self.write("bad.fa", ">r\n!\n"), stdout=read_only)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"standard output: cannot be written: Bad file descriptor", done.stderr)


class Summaries(Folder):
    def test_names_that_are_not_utf_8(self):
        """The counts were written, and then the summary failed."""
        self.write("r.fa", ">r\n" + random_bases(1, 3000) + "\n")
        kept = os.fsencode(self.folder) + b"/\xff.kc"
        for arguments in (("count", "-o", kept, self.folder / "r.fa"), ("stats", kept)):
            done = run(*map(os.fsdecode, arguments), "--json", self.folder / "j")
            self.assertEqual((done.returncode, done.stderr.count(b"\n")), (0, 2 if arguments[0] == "count" else 0), done.stderr)
            figures = json.loads((self.folder / "j").read_text(encoding="utf-8"))
            self.assertIn("/\ufffd.kc", figures["output" if arguments[0] == "count" else "file"])
        self.assertIn("/\ufffd.kc", json.loads(run("stats", os.fsdecode(kept), "--json", "-").stdout)["file"])


class Asked(Folder):
    def test_numbers_and_names(self):
        reads = self.write("r.fa", ">r\n" + random_bases(1, 3000) + "\n")
        file = self.count(reads, k=21)
        for memory, says in (("9999999G", "this machine has"), ("99999999999999G", "the number is too large"),
                             ("99999999999999999999", "the number is too large")):
            self.refused("count", "--memory", memory, "-o", self.folder / "o", reads, says=("--memory", memory, says))
        self.refused("query", file, says="no k-mers to ask for")
        self.refused("frob", says=("'frob' is no command", "cubby kmer --help"))
        self.refused("count", "--fast", says=("'--fast' is no option", "cubby kmer count --help"))
        self.assertIn(b"subcommand", cubby().stderr)
