#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Reads the tree and names each line that breaks a rule of the house; exits with 1 when there is one.
# The rules: layers, public names, the platform seam, sizes, memory orders, licence lines, names, words, sentences, links,
# versions, the engines that pages name, the files of tests that their README names.
import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from house import evidence, layers, names, orders, prose, sizes, words  # noqa: E402
from house.tree import Tree  # noqa: E402

RULES = [
    layers.check_library_includes,
    layers.check_user_includes,
    layers.check_platform_seam,
    layers.check_support,
    names.check_public_names,
    names.check_public_headers,
    evidence.check_engines,
    evidence.check_contract,
    evidence.check_matrix,
    evidence.check_cells,
    sizes.check_file_sizes,
    sizes.check_front_page,
    sizes.check_engine_sizes,
    sizes.check_engine_headers,
    sizes.check_cpp_functions,
    sizes.check_python_functions,
    orders.check_tags,
    orders.check_page,
    orders.check_uses,
    words.check_licence_lines,
    words.check_names,
    words.check_words,
    words.check_plain_words,
    prose.check_sentences,
    words.check_links,
    words.check_version,
    words.check_dependencies,
]


def check(root):
    """All findings of all rules over the tree at `root`, and the number of files that were read."""
    tree = Tree.read(root)
    return [finding for rule in RULES for finding in rule(tree)], len(tree.sources)


def main():
    parser = argparse.ArgumentParser(description="Check the tree against the rules of the house.")
    parser.add_argument("root", nargs="?", default=Path(__file__).resolve().parent.parent, type=Path)
    root = parser.parse_args().root
    if not root.is_dir():
        parser.error(f"{root} is no folder")
    findings, files = check(root)
    for finding in findings:
        print(finding)
    print(f"house: {files} files, {len(RULES)} rules, {len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
