#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Writes all public headers as one file, for Compiler Explorer and quick trials: tools/single_header.py [FILE]
# Without FILE it writes build/cubby_all.hpp. The same headers give the same bytes. Exit 2: FILE cannot be written.
# Without cubby/execution.hpp: the header of the standard library that it is for may ask for another library when a program is linked.
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from house.tree import Source  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
INCLUDE = ROOT / "include"
NEEDS = "cubby/detail/platform/cpu.hpp"  # says what the library needs, before a header of the standard fails for want of it
LEFT_OUT = {"cubby/execution.hpp"}
LINE = re.compile(r"^\s*#\s*include\s*<([^>]+)>")
OPENS = re.compile(r"^\s*#\s*if")
CLOSES = re.compile(r"^\s*#\s*endif")
HEAD = """// SPDX-License-Identifier: Apache-2.0
// cubby {version}: concurrent hash tables for C++20. All public headers in one file, made by tools/single_header.py.
// Use it instead of the folder cubby/, not beside it. Licence: https://www.apache.org/licenses/LICENSE-2.0
#ifndef CUBBY_ALL_HPP
#define CUBBY_ALL_HPP

{needs}
{standard}
"""


def without_internal_comments(source):
    """Lines of a header of detail/ without those that are comments alone; a public header keeps its documentation."""
    internal = source.path.startswith("cubby/detail/")
    for comment, line in zip(source.comment_lines, source.lines):
        if line == "#pragma once" or "SPDX-License-Identifier" in line:
            continue
        if internal and line.strip() and comment.strip() == line.strip():
            continue
        yield line


class Joined:
    """Headers in the order in which a compiler needs them, each once, where it is included first."""

    def __init__(self):
        self.standard = set()
        self.seen = set()

    def text_of(self, name):
        self.seen.add(name)
        lines, depth = [f"// {name}"], 0
        for line in without_internal_comments(Source(name, (INCLUDE / name).read_text(encoding="utf-8"))):
            depth += bool(OPENS.match(line)) - bool(CLOSES.match(line))
            match = LINE.match(line)
            if match and match.group(1).startswith("cubby/"):
                if match.group(1) not in self.seen:
                    lines.append("\n" + self.text_of(match.group(1)))
            elif match and depth == 0:
                self.standard.add(match.group(1))
            else:  # what one processor alone has stays where its condition is
                lines.append(line)
        return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip("\n") + "\n"


def single_header():
    joined = Joined()
    names = [f"cubby/{header.name}" for header in sorted((INCLUDE / "cubby").glob("*.hpp"))]
    parts = [joined.text_of(name) for name in names if name not in joined.seen | LEFT_OUT]
    version = re.search(r'version_text\[\] = "([\d.]+)"', (INCLUDE / "cubby/version.hpp").read_text()).group(1)
    needs = re.search(r"^#if __cplusplus.*?^#endif", (INCLUDE / NEEDS).read_text(), re.MULTILINE | re.DOTALL).group()
    standard = "\n".join(f"#include <{name}>" for name in sorted(joined.standard))
    return HEAD.format(version=version, needs=needs, standard=standard) + "\n" + "\n".join(parts) + "\n#endif // CUBBY_ALL_HPP\n"


def main():
    if len(sys.argv) > 2 or (len(sys.argv) == 2 and sys.argv[1].startswith("-")):
        print("usage: tools/single_header.py [FILE]", file=sys.stderr)
        return 2
    path = Path(sys.argv[1]) if len(sys.argv) == 2 else ROOT / "build" / "cubby_all.hpp"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(single_header(), encoding="utf-8")
    except OSError as why:
        print(f"single_header: {path}: {why.strerror}; name a file in a folder that can be written", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
