# SPDX-License-Identifier: Apache-2.0
# `cubby kmer` against jellyfish and KMC on a whole genome and on simulated reads: every count of every k-mer.
from suite.shell import BUILD, ROOT, need

TITLE = "k-mer counts of a genome and of simulated reads, against jellyfish and KMC"


def run(shell):
    need("jellyfish", "kmc", "kmc_tools", "art_illumina")
    shell.configure("release")
    shell.build("release", "cubby_program")
    output = shell.run("count and compare", ["python3", ROOT / "apps" / "tests" / "kmer_long.py", BUILD / "release" / "cubby"])
    tests = output.count("... ok")
    return f"{tests} tests"
