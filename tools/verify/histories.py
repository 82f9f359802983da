# SPDX-License-Identifier: Apache-2.0
# Histories of every engine, recorded by a program of ours and judged by two checkers that share no code: ours, and
# Porcupine. Both have to accept each file, and both have to refuse each file into which an error was planted.
# It repeats with new seeds for CUBBY_VERIFY_SECONDS (60 by default), at least once.
import os
import secrets
import shutil
import subprocess
import time

from suite.shell import BUILD, ROOT, Failure, Skip, need, say, seconds_of_part

TITLE = "recorded histories, judged by our checker and by Porcupine"
SECONDS = 60
FOLDER = BUILD / "verify" / "histories"
PROGRAM = BUILD / "release" / "tests" / "cubby_histories"
PORCUPINE = BUILD / "verify" / "porcupine"
# Which error goes into which files: all are about values, which sets lack; a swap needs a batch in which an insert is
# followed by a find of its key.
PLANTS = {"stale": "", "invented": "", "swapped": ".batches."}


def build(shell):
    need("go")
    module = ROOT / "verify" / "porcupine"
    try:
        shell.run("download Porcupine", ["go", "mod", "download"], cwd=module)
    except Failure as why:
        raise Skip(f"Porcupine could not be had: {why}") from why
    shell.run("build Porcupine", ["go", "build", "-o", PORCUPINE, "."], cwd=module)
    shell.configure("release")
    shell.build("release", "cubby_histories")


def conclusions(output):
    """What a checker printed: file name -> (conclusion, records, objects judged)."""
    found = {}
    for line in output.split("\n"):
        fields = line.split("\t")
        if len(fields) == 5:
            found[os.path.basename(fields[0])] = (fields[1], int(fields[2]), int(fields[3]))
    return found


def judge(shell, what, files, *options):
    """Both checkers' conclusions on the same files: [(name, ours, Porcupine's, records)]. Sizes must agree as well."""
    files = sorted(files)
    ours = conclusions(shell.run(f"judge {len(files)} {what}", [PROGRAM, "judge", *files]))
    theirs = conclusions(shell.run("judge them with Porcupine", [PORCUPINE, *options, *files]))
    names = [path.name for path in files]
    if sorted(ours) != names or sorted(theirs) != names:
        raise Failure("a checker did not judge every file")
    for name in names:
        if ours[name][1] != theirs[name][1]:
            raise Failure(f"{name}: the checkers saw {ours[name][1]} and {theirs[name][1]} records")
    return [(name, ours[name][0], theirs[name][0], ours[name][1]) for name in names]


def expect(wanted, judged):
    wrong = [f"{name}: ours says {ours}, Porcupine {theirs}" for name, ours, theirs, _ in judged
             if (ours, theirs) != (wanted, wanted)]
    if wrong:
        raise Failure(f"{len(wrong)} of {len(judged)} files are not `{wanted}` for both; " + "; ".join(wrong[:3]))


def controls(shell, files):
    """Files with a planted error are refused; a checker that gives up does not say that it accepts."""
    planted = FOLDER / "planted"
    planted.mkdir()
    made = []
    for error, where in PLANTS.items():
        for path in files:
            if where in path.name and "-set" not in path.name:
                made.append(planted / f"{error}.{path.name}")
                shell_quietly(shell, [PROGRAM, "plant", error, path, made[-1]])
    expect("refused", judge(shell, "files with a planted error", made))
    output = shell.run("judge one with too small a bound", [PORCUPINE, "-records", "10", files[0]])
    if conclusions(output)[files[0].name][0] != "not checked":
        raise Failure("Porcupine said that it checked what it had not")
    return len(made)


def shell_quietly(shell, command):
    """One of many commands: no line on the screen for each."""
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    with shell.log.open("a") as log:
        log.write("$ " + " ".join(str(word) for word in command) + "\n" + done.stdout + done.stderr)
    if done.returncode != 0:
        raise Failure(f"{' '.join(str(word) for word in command)}: {done.stderr.strip()}")


def run(shell):
    build(shell)
    begin = time.monotonic()
    seconds = seconds_of_part(SECONDS)
    first_seed = int(os.environ.get("CUBBY_TEST_SEED") or str(secrets.randbits(48)), 0)
    rounds = files = records = refused = 0
    while rounds == 0 or time.monotonic() - begin < seconds:
        seed = first_seed + rounds
        shutil.rmtree(FOLDER, ignore_errors=True)
        FOLDER.mkdir(parents=True)
        shell.run(f"record histories, seed {seed}", [PROGRAM, "record", seed, FOLDER])
        recorded = sorted(FOLDER.glob("*.his"))
        judged = judge(shell, "histories", recorded)
        expect("linearizable", judged)
        if rounds == 0:
            refused = controls(shell, recorded)
        rounds += 1
        files += len(judged)
        records += sum(one[3] for one in judged)
        say(f"histories: {time.monotonic() - begin:.0f} of {seconds} s, {files} files, {records} records")
    return (f"{files} files with {records} records linearizable for both checkers, {refused} planted errors refused by "
            f"both, seeds {first_seed} to {first_seed + rounds - 1}")
