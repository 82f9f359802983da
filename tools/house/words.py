# SPDX-License-Identifier: Apache-2.0
# Text: the licence line of each file, words that are not used, links that lead somewhere, one version everywhere,
# and each package that is installed explained in docs/dependencies.md.
import json
import posixpath
import re
from pathlib import Path

from .tree import Finding

SPDX = "SPDX-License-Identifier: Apache-2.0"
CANNOT_COMMENT = {".json", ".txt", ".sum", ".svg", ".png", ".jsonl", ".csv", ".tsv"}
WITHOUT_LICENCE_LINE = {"LICENSE", "packaging/debian/changelog", "packaging/debian/source/format"}  # files without comments
UNFINISHED = re.compile(r"\b(?:" + "|".join(["TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK"]) + r")\b")
EMPTY_NAMES = {"util", "utils", "utility", "common", "misc", "mgr", "helper", "helpers"}
PLAIN = ("include/", "docs/", "apps/", "bench/", "tests/", "tools/", "fuzz/", "verify/", "examples/", "README.md",
         "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")
WITH_THEIR_WORDS = {"tools/house/words.py", "tools/test_check_house.py"}
INSTEAD = {
    "arrival": "insert", "bury": "retire", "business": "work", "cargo": "entries", "chores": "maintenance", "conductor": "driver",
    "crew": "threads", "errand": "write kind", "face": "adapter", "floor": "bound", "glance": "look", "nap": "sleep",
    "patience": "backoff", "room": "space", "rooms": "layers", "scrubbed": "cleared", "seat": "thread record",
    "seats": "thread records", "sighting": "seen slot", "site": "use", "subject": "topic", "unmanned": "without a worker",
    "veil": "hide", "verdict": "conclusion", "verdicts": "conclusions", "walk": "scan", "walks": "scans", "whoever": "a thread that",
}


def forms(word):
    """The word and its inflected forms: `walk`, `walks`, `walked`, `walking`; `bury`, `buries`; `nap`, `napping`."""
    stems = {word} | ({word[:-1]} if word.endswith("e") else set())
    if re.search(r"[^aeiou][aeiou][^aeiouwy]$", word):
        stems.add(word + word[-1])
    if word.endswith("y"):
        stems.add(word[:-1] + "i")
    return {word, word + "s"} | {stem + ending for stem in stems for ending in ("es", "ed", "ing", "er")}


WORD_OF = {form: word for word in INSTEAD for form in forms(word)} | {word: word for word in INSTEAD}
NOT_OURS = re.compile(r"\b(?:ast|os)\.walk\b|\bstd::(?:bit_)?floor\b|\bbuild/site\b")
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)|!\[[^\]]*\]\(([^)\s]+)\)")
VERSION = re.compile(r"^project\(cubby VERSION (\d+\.\d+\.\d+)", re.MULTILINE)


def check_licence_lines(tree):
    for source in tree.sources:
        is_list = source.path.endswith("CMakeLists.txt")
        if source.path in WITHOUT_LICENCE_LINE or (source.suffix in CANNOT_COMMENT and not is_list):
            continue
        if not any(SPDX in line for line in source.lines[:3]):
            yield Finding("licence", source.path, 1, f"no `{SPDX}` in the first three lines")


def check_words(tree):
    for source in tree.sources:
        for number, line in enumerate(source.lines, 1):
            match = UNFINISHED.search(line)
            if match and source.path != "LICENSE":
                yield Finding("words", source.path, number, f"`{match.group()}`: finish it or open an issue")


def check_plain_words(tree):
    """Words that the project had for what the field has a word for, each with the field's."""
    for source in tree.sources:
        if not source.path.startswith(PLAIN) or source.suffix in CANNOT_COMMENT or source.path in WITH_THEIR_WORDS:
            continue
        for number, line in enumerate(source.lines, 1):
            for word in re.findall(r"[a-z]+", NOT_OURS.sub("", line).lower()):
                if word in WORD_OF:
                    yield Finding("words", source.path, number, f"`{word}`: the field's word is `{INSTEAD[WORD_OF[word]]}`")


def check_names(tree):
    folders = set()
    for source in tree.sources:
        if not source.path.startswith("include/"):
            continue
        folders.update(str(parent) for parent in Path(source.path).parents)
        if source.is_cpp:
            yield from judge_name(source.path, Path(source.path).stem)
    for folder in sorted(folders):
        yield from judge_name(folder, Path(folder).name)


def judge_name(path, name):
    empty = EMPTY_NAMES & set(re.split(r"[_\-.]", name.lower()))
    if empty:
        yield Finding("names", path, 1, f"`{sorted(empty)[0]}` says nothing about what is inside")
    if re.search(r"(?:_t|(?<!\d)2)$", name):
        yield Finding("names", path, 1, f"`{name}` ends in `_t` or `2`")
    if name != name.lower():
        yield Finding("names", path, 1, f"`{name}` is not snake_case")


def anchors(text):
    """The names by which a page's headings can be linked to."""
    out, fenced = set(), False
    for line in text.split("\n"):
        fenced ^= line.startswith("```")
        match = re.match(r"^#{1,6}\s+(.*?)\s*#*$", line)
        if match and not fenced:
            out.add(re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", match.group(1).lower())))
    return out


def check_links(tree):
    pages = {s.path: s for s in tree.sources if s.suffix == ".md"}
    for page in pages.values():
        fenced = False
        for number, line in enumerate(page.lines, 1):
            fenced ^= line.lstrip().startswith("```")
            for match in [] if fenced else LINK.finditer(re.sub(r"`[^`]*`", "", line)):
                problem = judge_link(tree, pages, page, match.group(1) or match.group(2))
                if problem:
                    yield Finding("links", page.path, number, problem)


def judge_link(tree, pages, page, link):
    if re.match(r"^[a-z][a-z0-9+.-]*:", link):
        return None
    target, _, anchor = link.partition("#")
    path = posixpath.normpath(posixpath.join(posixpath.dirname(page.path), target)) if target else page.path
    if path.startswith("..") or not tree.exists(path):
        return f"{link} leads nowhere"
    if anchor and path in pages and anchor not in anchors(pages[path].text):
        return f"{link}: no heading of that name"
    return None


def check_version(tree):
    texts = {s.path: s.text for s in tree.sources}
    match = VERSION.search(texts.get("CMakeLists.txt", ""))
    if not match:
        return
    version = match.group(1)
    if "packaging/vcpkg/ports/cubby/vcpkg.json" in texts:
        path = "packaging/vcpkg/ports/cubby/vcpkg.json"
        if json.loads(texts[path]).get("version") != version:
            yield Finding("version", path, 1, f"is not {version}, the version in CMakeLists.txt")
    major, minor, patch = version.split(".")
    macros = "\n".join(f"#define CUBBY_VERSION_{part} {number}" for part, number in zip(("MAJOR", "MINOR", "PATCH"), (major, minor, patch)))
    for path, form in (("CHANGELOG.md", f"[{version}]"), ("CITATION.cff", f"version: {version}"),
                       ("include/cubby/version.hpp", f'"{version}"'), ("include/cubby/detail/platform/version.hpp", macros),
                       ("packaging/debian/changelog", f"cubby ({version}-")):
        if path in texts and form not in texts[path]:
            yield Finding("version", path, 1, f"does not name {version}, the version in CMakeLists.txt")


def check_dependencies(tree):
    texts = {s.path: s.text for s in tree.sources}
    script, page = "tools/install_packages.sh", "docs/dependencies.md"
    for number, line in enumerate(texts.get(script, "").split("\n"), 1):
        match = re.match(r'^\w+_packages="([^"$]*)"', line)
        for package in match.group(1).split() if match else []:
            if f"`{package}`" not in texts.get(page, ""):
                yield Finding("dependencies", script, number, f"{package} is not explained in {page}")
