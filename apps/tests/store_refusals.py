# SPDX-License-Identifier: Apache-2.0
# Files that cannot be opened, disks that are full, and programs beside each other: one line that says what, where and what to do, and status 2.
import json
import os
import pathlib
import resource
import signal
import subprocess
import time

import store_support
from store_support import COPIES, Folder, cubby, numbered, tsv

OTHER_USER = 65534


def commands_on(table):
    """One of each kind that opens a table, with what it reads."""
    return ((("get", table, "k"), None), (("put", table, "k", "v"), None), (("put", table, "k"), b"v"), (("del", table, "k"), None),
            (("load", table), b"k\tv\n"), (("dump", table), None), (("stats", table), None))


class Files(Folder):
    def refuse_all(self, *says, check=2, table=None, preexec=None):
        """Every command refuses the file, and leaves it as it was."""
        table = table or self.table
        before = table.read_bytes() if table.is_file() else None
        for arguments, stdin in (*commands_on(table), (("check", table), None)):
            with self.subTest(command=arguments[0]):
                status = check if arguments[0] == "check" else 2
                self.refused(*arguments, stdin=stdin, says=(str(table), *says), status=status, preexec=preexec)
        self.assertEqual(table.read_bytes() if table.is_file() else None, before)
        self.assertFalse(pathlib.Path(f"{table}.load").exists())

    def test_no_file(self):
        self.refuse_all("No such file", "cubby store create")
        self.refuse_all("No such file", table=self.folder / "none" / "t")
        for command in ("create", "bench"):
            self.refused(command, self.folder / "none" / "t", says=("No such file", "or make its folder"))
        self.refused("create", "--capacity", "900G", self.folder / "vast", says=("vast", "for its capacity", "ask for less"))
        self.assertEqual(self.left(), [])

    def test_foreign_files(self):
        for name, data in (("text", b"hello\n" * 5000), ("short", b"x"), ("noise", os.urandom(50_000))):
            self.refuse_all("not a durable table of cubby", table=self.write(name, data))
        for folder in (self.folder, pathlib.Path("/dev/null")):
            for arguments, stdin in commands_on(folder):
                self.refused(*arguments, stdin=stdin, says=str(folder))

    def test_truncated_files(self):
        whole = self.make(numbered(3000)).read_bytes()
        for size in (len(whole) // 2, 20_000, 17_000):
            self.table.write_bytes(whole[:size])
            self.refuse_all("truncated", check=1)

    def test_damaged_superblocks(self):
        whole = bytearray(self.make(numbered(100)).read_bytes())
        for copy in COPIES:
            whole[copy + 100] ^= 1
        self.table.write_bytes(whole)
        self.refuse_all("damaged", "superblock", check=1)

    def test_a_copy_of_the_superblock_that_is_not_whole(self):
        """Whatever such a copy says, the others count: of the engine, and of what stats print."""
        self.run_well("create", "--engine", "seph", self.table)
        self.run_well("put", self.table, "k", "v")
        whole = self.table.read_bytes()
        for copy in COPIES:
            torn = bytearray(whole)
            torn[copy:copy + 512] = whole[:512]
            torn[copy:copy + 8] = b"cubbydur"
            torn[copy + 24] = 1  # iceberg
            torn[copy + 88] = 7  # its bound
            torn[copy + 111] = 1  # the highest byte of its number
            self.table.write_bytes(torn)
            self.assertEqual(self.run_well("get", self.table, "k").stdout, b"v\n")
            figures = json.loads(self.run_well("stats", "--json", "-", self.table).stdout)
            self.assertEqual((figures["engine"], figures["fixed_capacity"], figures["entries"]), ("seph", 0, 1))

    def test_pipes_with_a_name(self):
        """None is waited for, in the place of a table or of a mark."""
        os.mkfifo(self.table)
        self.refuse_all("not a regular file")
        self.table.unlink()
        self.make()
        mark = self.folder / "t.cubby.load"
        os.mkfifo(mark)
        self.refused("load", self.table, stdin=b"k\tv\n", says=(str(mark), "move it away"))
        mark.unlink()
        self.holds({})

    def test_control_characters_of_a_path(self):
        """They make no second line, and command no terminal."""
        odd = self.folder / "a\nb\x1b[31m\x7f"
        for arguments, stdin in commands_on(odd):
            self.refused(*arguments, stdin=stdin, says=("a\\x0ab\\x1b[31m\\x7f: ", "No such file"))
        self.refused("dance\n", says="'dance\\x0a' is no command")

    def test_newer_files(self):
        whole = bytearray(self.make(numbered(100)).read_bytes())
        for copy in COPIES:
            whole[copy + 8] += 100
        self.table.write_bytes(whole)
        self.refuse_all("newer version")

    def test_a_value_that_has_rotted(self):
        """Its entry is left out, and that is said."""
        entries = numbered(100) | {b"key": b"a value that is nowhere else"}
        whole = bytearray(self.make(entries).read_bytes())
        at = whole.index(entries[b"key"])
        whole[at] ^= 1
        self.table.write_bytes(whole)
        done = cubby("check", self.table)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn(b"not sound", done.stderr)
        done = cubby("get", self.table, "key")
        self.assertEqual((done.returncode, done.stdout), (1, b""))
        self.assertIn(b"warning", done.stderr)
        self.assertEqual(self.run_well("get", self.table, "key 1").stdout, entries[b"key 1"] + b"\n")

    def test_permissions(self):
        self.make({b"k": b"v"})
        self.table.chmod(0)
        os.chmod(self.folder, 0o755)
        drop = (lambda: os.setuid(OTHER_USER)) if os.geteuid() == 0 else None
        self.refuse_all("Permission denied", preexec=drop)
        self.refused("create", self.folder / "new", says="Permission denied" if drop else "", preexec=drop, status=2 if drop else 0)

    def test_a_folder_that_takes_no_mark(self):
        """A load that could not go on after a kill does not begin."""
        if os.geteuid() != 0:
            self.skipTest("gives files to another user")
        self.make()
        os.chown(self.table, OTHER_USER, OTHER_USER)
        os.chmod(self.folder, 0o755)
        self.refused("load", self.table, stdin=b"k\tv\n", says=("t.cubby.load", "cannot be written", "Permission denied"),
                     preexec=lambda: os.setuid(OTHER_USER))
        self.holds({})


class Space(Folder):
    def test_a_limit_of_the_size(self):
        entries = numbered(50_000)
        self.run_well("create", self.table)
        source = self.write("in.tsv", tsv(entries))
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))  # noqa: E731
        self.refused("load", self.table, source, says=(str(self.table), "no space", "records before it"), preexec=limit)
        records = json.loads((self.folder / "t.cubby.load").read_bytes())["records"]
        self.assertLess(1000, records)
        self.assertEqual(len(self.run_well("dump", self.table).stdout.splitlines()), records)
        done = self.run_well("load", self.table, source)
        self.assertIn(f"behind its first {records} records".encode(), done.stderr)
        self.holds(entries)

    def test_no_space_for_one(self):
        self.make()
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))  # noqa: E731
        self.refused("put", self.table, "k", stdin=b"v" * 2_000_000, says=(str(self.table), "no space", "free disk space"), preexec=limit)
        self.holds({})
        small = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))  # noqa: E731
        self.refused("create", self.folder / "new", says=("new", "File too large", "free disk space"), preexec=small)
        self.assertFalse((self.folder / "new").exists())

    def test_full_disk(self):
        """A disk of 2 MiB that a load fills; then there is space again."""
        if subprocess.run(["unshare", "-rm", "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True, check=False).returncode != 0:
            self.skipTest("no mounts of one's own on this machine")
        entries = numbered(30_000)
        self.write("in.tsv", tsv(entries))
        program = os.path.abspath(store_support.PROGRAM)
        script = f"""mkdir disk && mount -t tmpfs -o size=2m none disk && cd disk && "{program}" store create t || exit 9
            head -c 500k /dev/zero > filler
            "{program}" store load --sync-every 20 t ../in.tsv 2> ../said; echo $? > ../status
            "{program}" store check t > ../checked 2>&1; echo $? >> ../status
            rm filler; mount -o remount,size=30m . && "{program}" store load t ../in.tsv 2> ../later; echo $? >> ../status
            "{program}" store dump t > ../dumped"""
        subprocess.run(["unshare", "-rm", "sh", "-c", script], cwd=self.folder, check=True, timeout=100, capture_output=True)
        said, later = (self.folder / "said").read_text(), (self.folder / "later").read_text()
        self.assertEqual((self.folder / "status").read_text().split(), ["2", "0", "0"], said + later)
        self.assertEqual(said.count("\n"), 1, said)
        self.assertRegex(said, "no space|No space left")
        self.assertIn("resumes", later)
        self.assertEqual(sorted((self.folder / "dumped").read_bytes().splitlines()), sorted(tsv(entries).splitlines()))


class Beside(Folder):
    def wait_for(self, done):
        until = time.monotonic() + 60
        while not done():
            self.assertLess(time.monotonic(), until)
            time.sleep(0.005)

    def test_a_writer_is_alone(self):
        """Until it ends, also by a kill."""
        self.make({b"k": b"v"})
        writer = self.start("load", self.table)
        self.wait_for((self.folder / "t.cubby.load").exists)
        for arguments, stdin in (*commands_on(self.table), (("check", self.table), None)):
            self.refused(*arguments, stdin=stdin, says=(str(self.table), "in use"))
        self.assertIsNone(writer.poll())
        writer.kill()
        writer.wait()
        self.assertEqual(self.run_well("get", self.table, "k").stdout, b"v\n")
        self.run_well("check", self.table)

    def test_readers_are_not_alone(self):
        self.make(numbered(5000))
        reader = self.start("dump", self.table)  # it waits for us to read
        self.assertEqual(os.read(reader.stdout.fileno(), 1), b"k")  # and none into a buffer of ours
        self.assertEqual(self.run_well("get", self.table, "key 1").stdout, b"value 1 x\n")
        self.run_well("check", self.table)
        self.refused("put", self.table, "k", "v", says="in use")
        self.assertEqual(len((b"k" + reader.communicate()[0]).splitlines()), 5000)
        self.assertEqual(reader.returncode, 0)
        self.run_well("put", self.table, "k", "v")

    def test_bench_that_is_ended(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            running = self.start("bench", "--entries", "1M", self.folder / "x")
            self.wait_for(self.left)
            self.assertTrue(self.left()[0].startswith("x.bench."))
            time.sleep(0.02)  # it is made first, and then has all it needs
            running.send_signal(number)
            self.assertEqual(running.wait(60), -number)
            self.assertEqual(self.left(), [])

    def test_bench_on_a_full_disk(self):
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))  # noqa: E731
        self.refused("bench", "--entries", "50k", self.folder, says=("no space", "bench."), preexec=limit)
        self.assertEqual(self.left(), [])
