#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# `cubby kmer count` beside KMC and Jellyfish on simulated reads. The commands take turns, each in a process of its own.
# A table has for each the median of time passed, processor time and peak memory, with what the others take of ours. The
# reads are made once, in FOLDER, from a random genome with a fixed seed. Usage: kmer_rivals.py PROGRAM FOLDER [--bases
# 33000000] [--rounds 3] [--only NAME,...]
import argparse
import os
import pathlib
import random
import shlex
import shutil
import statistics
import subprocess
import sys
import time
from typing import NamedTuple

COVERAGE = 30
PLAIN = "reads.fq"  # the same, unpacked
NEEDED = ("art_illumina", "gzip", "jellyfish", "kmc")


class Row(NamedTuple):
    name: str
    rival_of: str  # the row of ours that it is compared with; empty: one of ours
    command: list


def rows_of(program, reads):
    """The commands; paths are relative to the folder, where they run."""
    ours = [program, "kmer", "count", "--quiet", "-o", "ours.kc"]
    kmc = ["kmc", "-ci1", "-cs4294967295", "-t2"]
    jellyfish = ["jellyfish", "count", "-C", "-m", "21", "-t", "2", "-g", "unpack", "-o", "theirs.jf"]
    alone = shlex.join(map(str, [program, "kmer", "count", "--quiet", "-k", "21", "--threads", "1", reads]))
    return [
        Row("cubby-21", "", [*ours, "-k", "21", "--threads", "2", reads]),
        Row("cubby-21-480M", "", [*ours, "-k", "21", "--threads", "2", "--memory", "480M", reads]),
        Row("cubby-21-plain", "cubby-21", [*ours, "-k", "21", "--threads", "2", PLAIN]),
        *[Row(f"cubby-21-{engine}", "cubby-21", [*ours, "-k", "21", "--threads", "2", "--engine", engine, reads])
          for engine in ("dlht", "dramhit", "partitioned")],
        Row("kmc-21", "cubby-21", [*kmc, "-k21", "-m12", "-r", reads, "theirs", "kmc"]),
        Row("jellyfish-21", "cubby-21", [*jellyfish, "-s", "100M"]),
        # The same without a guess that happens to fit.
        Row("jellyfish-21-10M", "cubby-21", [*jellyfish, "-s", "10M"]),
        Row("cubby-21-alone", "cubby-21", [*ours, "-k", "21", "--threads", "1", reads]),
        # Two of them side by side share nothing but the machine. By as much as they take longer than one alone, two threads
        # cannot be faster either.
        Row("cubby-21-twice", "cubby-21-alone", ["sh", "-c", f"{alone} -o ours.kc & {alone} -o twice.kc && wait $!"]),
        Row("cubby-21-1G", "", [*ours, "-k", "21", "--threads", "2", "--memory", "1G", reads]),
        Row("kmc-21-disk", "cubby-21-1G", [*kmc, "-k21", "-m2", "-sm", reads, "theirs", "kmc"]),
        Row("cubby-31", "", [*ours, "-k", "31", "--threads", "2", reads]),
        Row("kmc-31", "cubby-31", [*kmc, "-k31", "-m12", "-r", reads, "theirs", "kmc"]),
    ]


def make_reads(folder, bases):
    reads = folder / f"reads_{bases}.fq.gz"
    if reads.exists():
        return reads.name
    dice = random.Random(7)
    with (folder / "genome.fa").open("w") as out:
        out.write(">random\n")
        for _ in range(0, bases, 80):
            out.write("".join(dice.choices("ACGT", k=80)) + "\n")
    simulate = ["art_illumina", "-ss", "HS25", "-i", "genome.fa", "-l", "150", "-f", str(COVERAGE), "-o", "reads", "-rs", "7",
                "-na", "-q"]
    subprocess.run(simulate, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["gzip", "-1", "reads.fq"], cwd=folder, check=True)
    (folder / "reads.fq.gz").rename(reads)
    return reads.name


class Cost(NamedTuple):
    passed: float
    processor: float
    megabytes: float


def measure(command, folder):
    """One run; the peak is of the one process that took most."""
    with (folder / "last.log").open("w") as log:
        begin = time.monotonic()
        process = subprocess.Popen([str(word) for word in command], cwd=folder, stdout=log, stderr=log)
        _, status, used = os.wait4(process.pid, 0)
        passed = time.monotonic() - begin
    if status != 0:
        sys.exit(f"{' '.join(map(str, command))} ended with status {status}; see {folder / 'last.log'}")
    return Cost(passed, used.ru_utime + used.ru_stime, used.ru_maxrss / 1000)


def unpack(folder, reads):
    with (folder / PLAIN).open("wb") as out:
        subprocess.run(["gzip", "-dc", reads], cwd=folder, stdout=out, check=True)


def median(costs):
    return Cost(*(statistics.median(column) for column in zip(*costs)))


def print_table(rows, costs):
    print(f"{'run':<16} {'seconds':>8} {'lowest':>7} {'highest':>7} {'processor s':>11} {'peak MB':>8}  x ours, time  x ours, memory")
    for row in rows:
        of = costs[row.name]
        middle = median(of)
        beside = median(costs[row.rival_of]) if row.rival_of in costs else None
        ratios = f"{middle.passed / beside.passed:12.2f}  {middle.megabytes / beside.megabytes:14.2f}" if beside else ""
        seconds = [one.passed for one in of]
        print(f"{row.name:<16} {middle.passed:8.1f} {min(seconds):7.1f} {max(seconds):7.1f} {middle.processor:11.1f} "
              f"{middle.megabytes:8.0f}  {ratios}")


def main():
    parser = argparse.ArgumentParser(description="cubby kmer count beside KMC and Jellyfish, in turns.")
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path, help="for the reads and what the runs write: 10 GB")
    parser.add_argument("--bases", type=int, default=33_000_000, help="length of the genome (default %(default)s)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", help="names of rows, separated by commas")
    chosen = parser.parse_args()
    missing = [name for name in NEEDED if shutil.which(name) is None]
    if missing or not chosen.program.is_file() or chosen.bases < 1000 or chosen.rounds < 1:
        parser.error(f"not installed: {', '.join(missing)} (tools/install_packages.sh verify)" if missing else
                     "PROGRAM must be a file, --bases at least 1000 and --rounds at least 1")
    (chosen.folder / "kmc").mkdir(parents=True, exist_ok=True)
    reads = make_reads(chosen.folder, chosen.bases)
    (chosen.folder / "unpack").write_text(f"gzip -dc {reads}\n")
    rows = rows_of(chosen.program.resolve(), reads)
    if chosen.only:
        rows = [row for row in rows if row.name in chosen.only.split(",")] or parser.error(f"no row is named {chosen.only}")
    if any(row.name == "cubby-21-plain" for row in rows):
        unpack(chosen.folder, reads)
    costs = {row.name: [] for row in rows}
    for turn in range(chosen.rounds):
        for row in rows:
            costs[row.name].append(measure(row.command, chosen.folder))
            print(f"round {turn + 1}: {row.name}: {costs[row.name][-1].passed:.1f} s", file=sys.stderr, flush=True)
    print_table(rows, costs)


if __name__ == "__main__":
    main()
