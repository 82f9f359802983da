# SPDX-License-Identifier: Apache-2.0
# What users can name: the names that the library declares in namespace cubby, beside cubby::detail, are those of docs/names.md.
import re

from .layers import LIBRARY
from .tree import Finding

PAGE = "docs/names.md"
OPENS = re.compile(r"^namespace (cubby::inline v0(?:::\w+)*|\w+(?:::\w+)*) \{")
CLOSES = re.compile(r"^\} // namespace ")
KIND = re.compile(r"^(?:class|struct|enum class|concept|using) (\w+)")
VALUE = re.compile(r"^inline constexpr [\w:<>, ]*?(\w+)(?:<[^=;]*>)? ?[={;]")
FUNCTION = re.compile(r"(\w+)\($")
ROW = re.compile(r"^\| `(\w+)` \|")


def without_template(text):
    """The declaration behind its template parameters and their constraint."""
    text = re.sub(r"\s+", " ", text).strip()
    while text.startswith("template "):
        depth = 0
        for at, char in enumerate(text):
            depth += (char == "<") - (char == ">")
            if char == ">" and depth == 0:
                break
        text = text[at + 1:].strip()
        if text.startswith("requires"):
            text = re.sub(r"^requires.*?(?=\b(?:class|struct|inline|using|auto|void|\[\[))", "", text)
    return re.sub(r"^(?:inline (?!constexpr)|constexpr )+", "", text)


def name_of(text):
    text = without_template(re.sub(r"\[\[\w+\]\]", "", text))
    text = re.sub(r"\s+", " ", text).strip()
    match = KIND.match(text) or VALUE.match(text)
    if match:
        return match.group(1)
    match = FUNCTION.search(text.split("(")[0] + "(")
    return match.group(1) if match and "::" + match.group(1) not in text else None  # not a member that is defined outside


def declared(source):
    """(line, name) of each declaration that stands directly in namespace cubby."""
    spaces, text, start = [], "", 0
    for number, (line, whole) in enumerate(zip(source.code_lines, source.lines), 1):
        opened = OPENS.match(line)
        if opened:
            spaces.append(opened.group(1))
        elif CLOSES.match(whole):
            spaces.pop()
        elif spaces == ["cubby::inline v0"] and line.strip():
            if not text and re.match(r"[ }#]|\w+:$", line):
                continue  # inside a body, or of a parameter list, whose first line has been read
            text, start = text + " " + line, start or number
            if re.search(r"[{;]\s*$|[{;]", line):
                yield start, name_of(text)
                text, start = "", 0


def check_public_names(tree):
    rows = [ROW.match(line) for source in tree.sources if source.path == PAGE for line in source.lines]
    known = {row.group(1) for row in rows if row}
    seen = set()
    for source in tree.cpp(LIBRARY):
        for number, name in declared(source):
            if name is None or name.startswith("operator"):
                continue
            seen.add(name)
            if name not in known:
                yield Finding("names", source.path, number, f"{name} is in namespace cubby and not in {PAGE}: declare it in cubby::detail")
    for name in sorted(known - seen):
        yield Finding("names", PAGE, 1, f"no header declares cubby::{name}")


def check_public_headers(tree):
    """A public header begins with a comment that a generator of documentation reads."""
    for source in tree.cpp(LIBRARY):
        if "/" not in source.path[len(LIBRARY):] and source.lines[1:2] != ["/// @file"]:
            yield Finding("names", source.path, 2, "a public header has a comment `/// @file` behind its licence line")
