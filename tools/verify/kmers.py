# SPDX-License-Identifier: Apache-2.0
# `cubby kmer` against jellyfish and KMC on a whole genome, on simulated and real reads and on hostile inputs: every count of
# every k-mer. Two processes, each with every other test.
import re
from concurrent.futures import ThreadPoolExecutor

from suite.shell import BUILD, ROOT, Failure, Shell, need

TITLE = "k-mer counts of a genome, of reads and of hostile inputs, against jellyfish and KMC"
SHARES = 2


def compare(share):
    """How many tests a process ran."""
    command = ["python3", ROOT / "apps" / "tests" / "kmer_long.py", BUILD / "users" / "cubby"]
    output = Shell(f"kmers.{share}").run("count and compare", command, env={"CUBBY_TEST_SHARD": f"{share}/{SHARES}"})
    ran = re.search(r"^Ran (\d+) tests? in", output, re.MULTILINE)
    if not ran or ran.group(1) == "0":
        raise Failure(f"no test ran in share {share}")
    return int(ran.group(1))


def run(shell):
    need("jellyfish", "kmc", "kmc_tools", "art_illumina")
    shell.configure("users")
    shell.build("users", "cubby_program")
    with ThreadPoolExecutor(SHARES) as pool:
        return f"{sum(pool.map(compare, range(1, SHARES + 1)))} tests"
