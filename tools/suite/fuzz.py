# SPDX-License-Identifier: Apache-2.0
# Runs the fuzzers: first over the kept corpus, then on for some seconds with a fixed seed. An input that fails is kept
# in build/fuzz/found, and the message says how to run it again. `api` plays bytes as verbs over a table; `kmers` gives
# them to the readers of `cubby kmer` as a file: sequences, gzip, k-mer files, KFF.
import os
import re
import shutil
from concurrent.futures import ThreadPoolExecutor

from .shell import BUILD, Failure, JOBS, ROOT, Shell, Skip, need, say

TARGETS = {"api": "cubby_fuzz_api", "kmers": "cubby_fuzz_kmers"}
CORPUS = ROOT / "fuzz" / "corpus"
SECONDS = 15
SEED = 3
# Not optimised, it is built in a third of the time and runs a third of the inputs a second: sooner for half a minute, later for five.
QUICK = "clang-fuzz"
OPTIMISED = "fuzz"
SANITIZERS = {"ASAN_OPTIONS": "detect_stack_use_after_return=1:strict_string_checks=1"}
LIMITS = ["-max_len=600", "-len_control=0", "-timeout=60", "-rss_limit_mb=3000"]
# The most memory that a reader may allocate at once, for any claim of a file of 600 bytes.
MORE_LIMITS = {"kmers": ["-malloc_limit_mb=512"]}


def has_fuzzer(shell):
    """Whether clang finds its libFuzzer: a package of its own."""
    probe = BUILD / "fuzz" / "probe"
    probe.parent.mkdir(parents=True, exist_ok=True)
    source = probe.with_suffix(".cpp")
    source.write_text('extern "C" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long) { return 0; }\n')
    try:
        shell.run("look for libFuzzer", ["clang++-19", "-fsanitize=fuzzer,address,undefined", source, "-o", probe])
        return True
    except Failure:
        return False


def build(shell, preset):
    need("clang++-19")
    if not has_fuzzer(shell):
        raise Skip("clang++-19 has no libFuzzer here (Debian: libclang-rt-19-dev)")
    shell.configure(preset)
    shell.build(preset, *TARGETS.values())


def run_target(shell, preset, name, seconds, seed=SEED):
    """Returns how many inputs were run, how many of them were kept ones, and how many edges were reached."""
    found, fresh, kept = BUILD / "fuzz" / "found", BUILD / "fuzz" / "fresh" / f"{name}-{seed}", CORPUS / name
    found.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(parents=True)
    inputs = len(list(kept.iterdir()))
    if inputs == 0:
        raise Failure(f"{kept.relative_to(ROOT)} is empty")
    program = BUILD / preset / "fuzz" / TARGETS[name]
    say(f"{shell.part}: {name}: seed {seed}, {seconds} s, {inputs} kept inputs")
    command = [program, f"-seed={seed}", f"-max_total_time={seconds}", "-print_final_stats=1",
               f"-artifact_prefix={found}{os.sep}", *LIMITS, *MORE_LIMITS.get(name, []), fresh, kept]
    try:
        output = shell.run(f"fuzz {name}", command, env=SANITIZERS, limit=seconds + 600)
    except Failure as why:
        where = found.relative_to(ROOT)
        raise Failure(f"{why}; again: CUBBY_FUZZ_TRACE=1 {program.relative_to(ROOT)} {where}/FILE") from why
    runs = int(re.search(r"stat::number_of_executed_units:\s*(\d+)", output).group(1))
    edges = [int(n) for n in re.findall(r"\bcov: (\d+)", output)]
    if runs <= inputs:
        raise Failure(f"{name}: {runs} inputs were run, and {inputs} are kept: nothing was tried beyond them")
    return runs, inputs, max(edges)


def run_all(shell, seconds, processes=1, preset=QUICK):
    """Each fuzzer for so many seconds of processor time in all, as many processes at a time as there are cores; each process
    with a seed and a log of its own."""
    build(shell, preset)
    seeds = range(SEED, SEED + processes)
    share = -(-seconds // processes)
    jobs = [(name, seed) for name in TARGETS for seed in seeds]
    with ThreadPoolExecutor(int(JOBS)) as pool:
        ran = list(pool.map(lambda job: run_target(Shell(f"{shell.part}.{job[0]}.{job[1]}"), preset, job[0], share, job[1]), jobs))
    notes = []
    for name in TARGETS:
        mine = [one for job, one in zip(jobs, ran) if job[0] == name]
        runs, edges = sum(one[0] for one in mine), max(one[2] for one in mine)
        notes.append(f"{name}: {runs} inputs ({mine[0][1]} kept), {edges} edges, seed {', '.join(map(str, seeds))}")
    return "; ".join(notes)


def fuzz(shell):
    return run_all(shell, SECONDS)
