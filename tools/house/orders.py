# SPDX-License-Identifier: Apache-2.0
# Memory orders outside platform/: each that is stronger than relaxed has a named tag above it, each relaxed one a comment. A tag
# reads `[publish] release: pairs with [probe]`; the partner exists and can synchronise with it. The second
# order of a compare-and-swap stands under its tag as `acquire on failure: ... pairs with [publish]`. The page that argues
# the pairs names each tag of the code, and no other.
import re
from collections import defaultdict

from .layers import LIBRARY, PLATFORM
from .tree import Finding

NAME = r"\[[a-z][a-z0-9_. -]*\]"
TAG = re.compile(rf"(?:({NAME})\s+(acquire|release|acq_rel|seq_cst)|\b(acquire|seq_cst) on failure):")
ON_FAILURE = "the order on failure"
PARTNERS = re.compile(rf"pairs with ({NAME}(?:(?:\s*,\s*and\s+|\s*,\s*|\s+and\s+)(?:with\s+)?{NAME})*)")
USE = re.compile(r"\bsync::(relaxed|acquire|release|acq_rel|seq_cst)\b")
ALIAS = re.compile(r"\busing\b")
CANNOT_PAIR = {("release", "release"), ("acquire", "acquire")}
REACH = 2
PAGE = "docs/memory-order.md"


def comment_blocks(source):
    """Yields (line, text) of each run of comment lines, joined, so that a sentence may go on in the next line."""
    start, parts = 0, []
    for number, line in enumerate(source.comment_lines + [""], 1):
        text = line.strip()
        if text:
            start = start or number
            parts.append(re.sub(r"^(?:///?<?|/\*+|\*+/?)\s*", "", text))
        elif parts:
            yield start, " ".join(parts)
            start, parts = 0, []


def tags_of(source):
    """Yields (line, name, order, partners) for each tag in a file's comments."""
    for line, text in comment_blocks(source):
        matches = list(TAG.finditer(text))
        for index, match in enumerate(matches):
            end = matches[index + 1].start() if index + 1 < len(matches) else len(text)
            partners = PARTNERS.search(text[match.end():end])
            names = re.findall(NAME, partners.group(1)) if partners else []
            yield line, match.group(1) or ON_FAILURE, order_of(match), names


def order_of(tag):
    return tag.group(2) or tag.group(3)


def check_tags(tree):
    orders = defaultdict(set)
    tags = [(source, *tag) for source in tree.cpp("include/") for tag in tags_of(source)]
    for _, _, name, order, _ in tags:
        if name != ON_FAILURE:
            orders[name].add(order)
    for source, line, name, order, partners in tags:
        if not partners:
            yield Finding("orders", source.path, line, f"{name} {order} names no partner (`pairs with [tag]`)")
        for partner in partners:
            if partner not in orders:
                yield Finding("orders", source.path, line, f"{name} pairs with {partner}, which exists nowhere")
            elif all((order, other) in CANNOT_PAIR for other in orders[partner]):
                yield Finding("orders", source.path, line, f"{name} and {partner} are both {order}: neither sees the other")


def check_page(tree):
    """Each tag of the code stands on the page, in backquotes, and each on the page in the code."""
    page = next((source for source in tree.sources if source.path == PAGE), None)
    if page is None:
        return
    argued = {}
    for number, line in enumerate(page.lines, 1):
        for name in re.findall(rf"`({NAME})`", line):
            argued.setdefault(name, number)
    used = {}
    for source in tree.cpp("include/"):
        for line, name, _, _ in tags_of(source):
            if name != ON_FAILURE:
                used.setdefault(name, (source.path, line))
    for name in sorted(used.keys() - argued.keys()):
        yield Finding("orders", *used[name], f"{name} is not argued in {PAGE}")
    for name in sorted(argued.keys() - used.keys()):
        yield Finding("orders", PAGE, argued[name], f"{name} is used nowhere in include/")


def statement_start(source, number):
    """The first line of the statement that line `number` (from 1) is a part of."""
    while number > 1:
        above = source.code_lines[number - 2].strip()
        if not above or above[-1] in ";{}:" or above.startswith("#"):
            break
        number -= 1
    return number


def comments_near(source, number):
    """Comments on the statement up to its line, on two lines above it, and the rest of a block that begins higher."""
    first = statement_start(source, number)
    top = max(1, first - REACH)
    while top > 1 and source.comment_lines[top - 1].strip() and source.comment_lines[top - 2].strip():
        top -= 1
    lines = (line.strip() for line in source.comment_lines[top - 1:number])
    return " ".join(line for line in lines if "SPDX" not in line).strip()


def check_uses(tree):
    for source in tree.cpp(LIBRARY):
        if source.path.startswith(PLATFORM):
            continue
        for number, line in enumerate(source.code_lines, 1):
            if ALIAS.search(line):
                continue
            for order in dict.fromkeys(USE.findall(line)):
                near = comments_near(source, number)
                if order == "relaxed":
                    if not near:
                        yield Finding("orders", source.path, number, "sync::relaxed without a word on what makes it safe")
                elif order not in {order_of(match) for match in TAG.finditer(near)}:
                    yield Finding("orders", source.path, number, f"sync::{order} without a tag `[name] {order}: ...`")
