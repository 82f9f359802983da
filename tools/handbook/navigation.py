# SPDX-License-Identifier: Apache-2.0
# The order of the pages in the margin. A name with `*` takes all pages of that form that no other line names. The last section takes
# what is left of docs/, so that a new page is never lost.
from fnmatch import fnmatchcase

# (title, entries); an entry is the name of a page, or (page, [pages below it])
SECTIONS = [
    ("Begin", ["start", "choose", "cookbook", ("migration", ["migration/*"])]),
    ("Reference", [
        ("api", ["api/lookups", "api/inserts", "api/get-or-create", "api/changes", "api/erases", "api/batches", "api/scans",
                 "api/contents", "api/in-place", "api/space", "api/handles", "api/reservations", "api/pipelines", "api/coroutines",
                 "api/delegated", "api/durable", "api/rcu", "api/*"]),
        ("headers", ["headers/map", "headers/set", "headers/in_place_map", "headers/durable_map", "headers/delegated_map", "headers/pipeline",
                     "headers/coro", "headers/rcu", "headers/options", "headers/results", "headers/hash", "headers/*"]),
        "tuning", "glossary"]),
    ("In depth", ["topics/plugins", "topics/fork", "topics/threads", "topics/empty-maps", "topics/visitors", "topics/full-tables",
                  "topics/destructors", "topics/hostile-keys", "topics/*", "processes", "tree/SECURITY"]),
    ("Promises", [("guarantees", ["guarantees/letters", "guarantees/keys", "guarantees/nested-calls", "guarantees/*"]),
                  ("proof", ["proof/means", "proof/letters", "proof/*"]), "testing", "tree/tests/README"]),
    ("Engines", ["tree/include/cubby/detail/engines/*/README"]),
    ("Performance", [("performance", ["performance/*"]), "bench", "dead-ends"]),
    ("Files", ["durability", "format"]),
    ("Programs", ["kmer", "store", "format-kmer"]),
    ("The project", ["tree/README", "tree/CHANGELOG", "tree/CONTRIBUTING", "writing-an-engine", "memory-order", "names",
                     "dependencies", "*"]),
]


def named(entries):
    for entry in entries:
        yield from [entry[0], *entry[1]] if isinstance(entry, tuple) else [entry]


def plan(pages):
    """[(title, [(page, [pages below])])], each page of `pages` at most once."""
    exact = {name for _, entries in SECTIONS for name in named(entries) if "*" not in name}
    taken = {"index"}

    def take(pattern):
        found = [pattern] if "*" not in pattern else [name for name in sorted(pages) if may_stand_for(pattern, name, exact)]
        found = [name for name in found if name in pages and name not in taken]
        taken.update(found)
        return found

    out = []
    for title, entries in SECTIONS:
        section = []
        for entry in entries:
            parent, below = entry if isinstance(entry, tuple) else (entry, [])
            children = [name for pattern in below for name in take(pattern)]
            section += [(name, children if name == parent else []) for name in take(parent)]
        out.append((title, section))
    return out


def may_stand_for(pattern, name, exact):
    return name not in exact and fnmatchcase(name, pattern) and (pattern != "*" or not name.startswith("tree/"))


def tree_of(names, caption=None):
    head = "```{toctree}\n:hidden:\n" + (f":caption: {caption}\n" if caption else "")
    return head + "\n" + "\n".join(f"/{name}" for name in names) + "\n```\n"


def add_trees(texts):
    """Appends the trees of pages to the front page and to the parents, and says of all other pages that they are in none."""
    reached = {"index"}
    for title, section in plan(set(texts)):
        if not section:
            continue
        texts["index"] += "\n" + tree_of([name for name, _ in section], title)
        for name, children in section:
            reached.update([name, *children])
            if children:
                texts[name] += "\n" + tree_of(children)
    for name in texts:
        if name not in reached and not texts[name].startswith("---\n"):
            texts[name] = "---\norphan: true\n---\n" + texts[name]
