#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Renews a stored baseline after a change that is meant to change costs. Look at the difference, and commit it with the
# change. Usage: tools/renew_baselines.py counting|instructions
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from suite import counting, instructions  # noqa: E402
from suite.shell import Failure, Shell, Skip, say  # noqa: E402

BASELINES = {"counting": counting.renew, "instructions": instructions.renew}


def main():
    names = sys.argv[1:]
    if not names or any(name not in BASELINES for name in names):
        print(f"usage: {sys.argv[0]} {'|'.join(BASELINES)}", file=sys.stderr)
        return 2
    try:
        for name in names:
            say(f"renewed {BASELINES[name](Shell(f'renew_{name}'))}")
    except (Failure, Skip) as why:
        say(f"not renewed: {why}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
