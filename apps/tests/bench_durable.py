# SPDX-License-Identifier: Apache-2.0
# Tests of `cubby bench` about tables in files: their domains, where the files lie, and that none stays behind.
import os
import pathlib
import signal
import subprocess
import time

import bench_support
from bench_engines import DURABLE
from bench_support import Folder, cubby

DOMAINS = {"durable": "process", "durable-line": "line", "durable-page": "page", "durable-seph": "process", "durable-seph-line": "line"}
TINY = ("--keys", "5000", "--threads", "2")


class Durable(Folder):
    def files(self):
        kept = self.folder / "files"
        kept.mkdir(exist_ok=True)
        return kept

    def run_in_files(self, *arguments):
        data, shown = self.run_json(*arguments, "--dir", str(self.files()))
        self.check_schema(data)
        self.assertEqual(list(self.files().iterdir()), [], "a file has stayed")
        return data["results"], shown

    def test_each_row_names_its_domain(self):
        results, shown = self.run_in_files("--engine", f"{DURABLE},iceberg", "--workload", "get,miss,insdel,add,ycsb-d,populate",
                                           "--batch", "1,32", *TINY)
        self.assertEqual(len(results), 6 * 6 * 2)
        for r in results:
            self.assertEqual(r["domain"], DOMAINS.get(r["engine"]), r)
            self.assertEqual(r["medium"] is None, r["engine"] == "iceberg")
            self.assertGreater(r["own_bytes_per_key"], 16, "the file is counted")
        for engine, domain in DOMAINS.items():
            self.assertIn(f"{engine}: domain {domain}; file in {self.files()}, ", shown)
        self.assertNotIn("iceberg: domain", shown)

    def test_texts_and_sizes(self):
        for sizes in (("--key-kind", "12-40", "--batch", "1,32"), ("--value-size", "16,64"), ("--key-size", "16,64")):
            with self.subTest(sizes=sizes):
                results, _ = self.run_in_files("--engine", DURABLE, "--workload", "get,insdel,upsert,populate", *TINY, *sizes)
                self.assertEqual({r["engine"] for r in results}, set(DOMAINS))

    def test_tables_that_change_their_size(self):
        results, _ = self.run_in_files("--engine", DURABLE, "--workload", "resize,grow-shrink", "--keys", "50000", "--threads", "2")
        self.assertEqual({(r["engine"], r["workload"]) for r in results}, {(e, w) for e in DOMAINS for w in ("resize", "grow-shrink")})

    def test_files_in_memory_unless_asked(self):
        shm = pathlib.Path("/dev/shm")
        if not shm.is_dir() or not os.access(shm, os.W_OK | os.X_OK):
            self.skipTest("this machine has no /dev/shm")
        env = {**os.environ, "TMPDIR": str(self.files())}
        done = cubby("bench", "--engine", DURABLE, "--workload", "get", *TINY, "--seconds", "0.01", "--rounds", "1", env=env)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("durable: domain process; file in /dev/shm, ", done.stdout)
        self.assertIn("durable-line: domain line; file in /dev/shm, ", done.stdout)
        self.assertIn(f"durable-page: domain page; file in {self.files()}, ", done.stdout)
        self.assertEqual(list(self.files().iterdir()), [])

    def test_bad_folders(self):
        tiny = ("--engine", "durable", "--workload", "get", *TINY)
        file = self.folder / "file"
        file.write_text("")
        for folder in (self.folder / "none", file):
            with self.subTest(folder=folder):
                self.refused("bench", *tiny, "--dir", str(folder), says=f"--dir '{folder}': no file can be made there")
        self.refused("bench", *tiny, "--dir", "", says="the value is empty")
        self.refused("bench", "--engine", "dlht,iceberg", "--dir", str(self.folder), says="--dir: no engine of this run has a file")
        self.refused("bench", "--dir", str(self.folder), says="--dir: no engine of this run has a file")
        env = {**os.environ, "TMPDIR": str(self.folder / "none")}
        self.refused("bench", "--engine", "durable-page", "--workload", "get", *TINY, env=env, says="no file can be made there")

    def test_a_file_that_cannot_grow(self):
        """The limit of a file's size stands for a full disk, in a batch and one key at a time."""
        for batch in ("1", "32"):
            with self.subTest(batch=batch):
                done = self.limited("--workload", "populate", "--keys", "200k", "--batch", batch)
                self.assertEqual(done.returncode, 2, done.stderr)
                last = done.stderr.rstrip("\n").split("\n")[-1]
                self.assertIn(f"cubby bench: --engine durable: '{self.files()}' has no more space", last)
                self.assertEqual(list(self.files().iterdir()), [])
        done = self.limited("--workload", "get", "--keys", "1M")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("--engine durable: ", done.stderr)

    # A program whose files have at most 1 MiB. The signal that says so is ignored, as a shell's `trap '' XFSZ` does.
    def limited(self, *arguments):
        command = 'trap "" XFSZ; ulimit -f 1024; exec "$@"'
        return subprocess.run(["bash", "-c", command, "bash", bench_support.PROGRAM, "bench", "--engine", "durable", "--threads", "2", "--rounds", "1",
                               "--seconds", "0.01", "--dir", str(self.files()), *arguments],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60, check=False)

    def test_a_signal_leaves_no_file(self):
        for end in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(end=end):
                run = subprocess.Popen([bench_support.PROGRAM, "bench", "--engine", "durable-page,durable", "--workload", "get", *TINY, "--seconds", "30",
                                        "--dir", str(self.files())], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                self.addCleanup(run.kill)
                until = time.monotonic() + 30
                while not list(self.files().iterdir()) and time.monotonic() < until:
                    time.sleep(0.01)
                time.sleep(0.3)
                self.assertNotEqual(list(self.files().iterdir()), [], "the file of durable-page has a name")
                run.send_signal(end)
                self.assertEqual(run.wait(30), -end)
                self.assertEqual(list(self.files().iterdir()), [])
