# SPDX-License-Identifier: Apache-2.0
# Evidence that can be found: the pages name each engine of the one list, and tests/README.md names each file of tests/.
# check_links proves that their links lead to files that exist; this file does it for the names in its table.
import re
from pathlib import Path

from .tree import Finding

LIST = "tests/engine_list.hpp"
LINE = re.compile(r"^  X\((\w+),", re.MULTILINE)
CONTRACT = "include/cubby/detail/core/contract"
PAGES = ("README.md", "docs/guarantees.md", "docs/proof.md", "docs/writing-an-engine.md")
MATRIX = "tests/README.md"
LINK = re.compile(r"\]\(([^)#\s]+)\)")
CELL = 120


def check_engines(tree):
    """Each page names each engine of the list in backquotes; an engine has its pages of guarantees and of evidence."""
    texts = {source.path: source.text for source in tree.sources}
    for engine in LINE.findall(texts.get(LIST, "")):
        for page in PAGES:
            if page in texts and f"`{engine}`" not in texts[page]:
                yield Finding("engines", page, 1, f"does not name `{engine}`, an engine of {LIST}")


def check_contract(tree):
    """The contract names no engine: what is true of one engine alone stands in that engine's folder."""
    engines = LINE.findall(next((source.text for source in tree.sources if source.path == LIST), ""))
    named = re.compile(rf"(?:`|\bcubby::)({'|'.join(engines) or '(?!)'})\b")
    for source in tree.sources:
        for number, line in enumerate(source.lines if source.path.startswith(CONTRACT) else [], 1):
            match = named.search(line)
            if match:
                yield Finding("engines", source.path, number, f"the contract names `{match.group(1)}`, an engine of {LIST}")


def check_matrix(tree):
    """Each source file of tests/ has a link in tests/README.md."""
    page = next((source for source in tree.sources if source.path == MATRIX), None)
    if page is None:
        return
    named = set(LINK.findall(page.text))
    for source in tree.sources:
        inside = source.path.removeprefix("tests/")
        if source.is_cpp and inside != source.path and not is_named(inside, named):
            yield Finding("matrix", source.path, 1, f"{MATRIX} does not name it")


def is_named(path, named):
    """Whether the file is named, or its whole folder."""
    return path in named or any(f"{parent}/" in named for parent in Path(path).parents)


def check_cells(tree):
    """A cell of a table on a page of guarantees or evidence is one line at most; a link counts by its text."""
    for source in tree.sources:
        if not re.match(r"(docs/(guarantees|proof|testing)|tests/README)", source.path) or source.suffix != ".md":
            continue
        for number, line in enumerate(source.lines, 1):
            if not line.startswith("|"):
                continue
            for cell in re.sub(r"\]\([^)]*\)", "]", line).split("|"):
                if len(cell.strip()) > CELL:
                    yield Finding("cells", source.path, number, f"a cell of {len(cell.strip())} characters; {CELL} are allowed")
