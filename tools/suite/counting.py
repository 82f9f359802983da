# SPDX-License-Identifier: Apache-2.0
# Renews the counts of lines, read-modify-writes, fences and allocations with which tests/counting compares each verb.
from .shell import BUILD, ROOT

EXPECTED = ROOT / "tests" / "counting" / "expected.json"


def renew(shell):
    shell.configure("release")
    shell.build("release", "cubby_counting")
    EXPECTED.write_text(shell.run("count", [BUILD / "release" / "tests" / "cubby_counting", "--json"]))
    return EXPECTED.relative_to(ROOT)
