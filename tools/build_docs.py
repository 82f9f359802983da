#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Builds the documentation into build/site: Doxygen reads the headers, the pages are gathered, Sphinx makes the website. A warning is a
# failure. With --check a browser then opens it. Exit 1: something is wrong, and the lines say what; exit 2: a tool is missing.
import argparse
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from handbook import browser, navigation, reference  # noqa: E402
from handbook.links import dead_links  # noqa: E402
from handbook.pages import Missing, Pages, write_all  # noqa: E402
from handbook.tools import Unavailable, sphinx_in  # noqa: E402
from house.tree import list_files  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "build/site"
SHOTS = ROOT / "build/site-shots"
WORK = ROOT / "build/docs"
MOST_LINES = 40  # of what is wrong
TOOLS = {"doxygen": "doxygen"}


class Wrong(Exception):
    """The documentation cannot be built; the text has the lines that say why."""


def need(tools):
    missing = [package for program, package in tools.items() if shutil.which(program) is None]
    if missing:
        print(f"build_docs: missing packages: {' '.join(missing)}; run tools/install_packages.sh docs", file=sys.stderr)
        sys.exit(2)


def run(command, **more):
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, **more)
    if done.returncode != 0:
        raise Wrong((done.stderr or done.stdout).strip())
    return done.stdout


def version():
    return re.search(r"^project\(cubby VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text(), re.MULTILINE).group(1)


def gather():
    """The texts of all pages. Raises Wrong if something that a page needs is not there."""
    pages = Pages(ROOT, (name for name in list_files(ROOT) if (ROOT / name).is_file()))
    xml = reference.read_headers(ROOT, WORK, run)
    headers, problems = reference.make_pages(xml, pages.texts)
    if problems:
        raise Wrong("\n".join(problems))
    pages.texts.update(headers)
    navigation.add_trees(pages.texts)
    return pages


def build():
    pages = gather()
    source = WORK / "source"
    write_all(pages.texts, source)
    for image in pages.images:
        (source / "tree" / image).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / image, source / "tree" / image)
    shutil.copy(ROOT / "tools/handbook/conf.py", source / "conf.py")
    shutil.copytree(ROOT / "tools/handbook/theme", source / "_static", dirs_exist_ok=True)
    shutil.rmtree(OUT, ignore_errors=True)
    run([sphinx_in(ROOT / "build/docs-tools"), "-W", "--keep-going", "-q", "-E", "-d", WORK / "doctrees", source, OUT],
        env={**os.environ, "CUBBY_DOCS_VERSION": version()})
    dead = list(dead_links(OUT))
    if dead:
        raise Wrong("\n".join(dead))
    return len(pages.texts)


def main():
    parser = argparse.ArgumentParser(description="Build the documentation into build/site.")
    parser.add_argument("--check", action="store_true", help="then open it in headless Chromium; pictures go to build/site-shots")
    arguments = parser.parse_args()
    need({**TOOLS, "chromium": "chromium"} if arguments.check else TOOLS)
    try:
        print(f"documentation: {build()} pages; open {(OUT / 'index.html').relative_to(ROOT)}")
        if arguments.check:
            print(f"documentation: {browser.check(OUT, SHOTS)}")
    except Unavailable as why:
        print(f"build_docs: {why}", file=sys.stderr)
        return 2
    except (Wrong, Missing, browser.Failed) as wrong:
        lines = str(wrong).split("\n")
        rest = [f"... and {len(lines) - MOST_LINES} more"] if len(lines) > MOST_LINES else []
        print("build_docs: " + "\n".join(lines[:MOST_LINES] + rest), file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
