# SPDX-License-Identifier: Apache-2.0
# A file has at most 400 lines, a function at most 40 from its opening brace (Python: from its `def`) to its end. An engine has
# at most 1,500 lines of headers, or its README says why under `## Size`; and one of several headers has `lifecycle.hpp`, `grow.hpp` and a README.
# The README of the whole takes two screens: at most 80 lines of 120 characters.
# C++ functions are found by their braces: a block that is in no other function and is no type, namespace or list.
import ast
import re

from .tree import Finding

FILE_LINES = 400
FUNCTION_LINES = 40
ENGINE_LINES = 1500
FRONT_PAGE = "README.md"
FRONT_LINES = 80
FRONT_WIDTH = 120
ENGINE = re.compile(r"(include/cubby/(?:\w+/)*engines?/\w+)/[^/]+\.hpp")
SAYS_WHY = re.compile(r"^## Size$", re.MULTILINE)
SIZED = {".hpp", ".cpp", ".h", ".cc", ".py", ".sh", ".cmake"}
SCOPE = re.compile(r"\b(?:namespace|class|struct|union|enum|extern|concept)\b")
TEMPLATE = re.compile(r"\btemplate\s*<")


def check_file_sizes(tree):
    for source in tree.sources:
        count = source.text.count("\n") + (0 if source.text.endswith("\n") else 1)
        is_build_file = source.path.endswith(("CMakeLists.txt", "Makefile"))
        if (source.suffix in SIZED or is_build_file) and count > FILE_LINES:
            yield Finding("size", source.path, count, f"{count} lines; a file has at most {FILE_LINES}")


def check_front_page(tree):
    for source in tree.sources:
        if source.path != FRONT_PAGE:
            continue
        lines = source.text.splitlines()
        if len(lines) > FRONT_LINES:
            yield Finding("size", source.path, len(lines), f"{len(lines)} lines; two screens have {FRONT_LINES}")
        for number, line in enumerate(lines, 1):
            if len(line) > FRONT_WIDTH and not line.startswith("<!--"):  # comments are not shown
                yield Finding("size", source.path, number, f"{len(line)} characters; a screen has {FRONT_WIDTH}")


def check_engine_sizes(tree):
    counts = {}
    for source in tree.sources:
        if match := ENGINE.fullmatch(source.path):
            counts[match.group(1)] = counts.get(match.group(1), 0) + source.text.count("\n")
    pages = {source.path: source.text for source in tree.sources}
    for folder, count in sorted(counts.items()):
        page = folder + "/README.md"
        if count > ENGINE_LINES and not SAYS_WHY.search(pages.get(page, "")):
            yield Finding("size", page, 1, f"an engine of {count:,} lines; above {ENGINE_LINES:,} `## Size` says why")


def check_engine_headers(tree):
    """An engine of several headers has what every engine has under the same names, and a README."""
    headers = {}
    for source in tree.sources:
        if match := ENGINE.fullmatch(source.path):
            headers.setdefault(match.group(1), []).append(source.path)
    for folder, paths in sorted(headers.items()):
        page = folder + "/README.md"
        if len(paths) > 1 and not tree.exists(page):
            yield Finding("readme", page, 1, "an engine of several headers has a README of its own")
        for name, what in (("lifecycle", "its table's beginning and end"), ("grow", "`reserve` and `shrink_to_fit`")):
            header = f"{folder}/{name}.hpp"
            if len(paths) > 1 and header not in paths:
                yield Finding(name, header, 1, f"an engine of several headers has {what} there")


def without_directives(code):
    return re.sub(r"^[ \t]*#(?:[^\n\\]|\\.|\\\n)*", lambda m: re.sub(r"[^\n]", " ", m.group()), code, flags=re.MULTILINE)


def drop_template_parameters(header):
    """`template <class T> void f()` names no class: the parameter list goes."""
    while match := TEMPLATE.search(header):
        depth, end = 0, len(header)
        for at in range(match.end() - 1, len(header)):
            depth += {"<": 1, ">": -1}.get(header[at], 0)
            if depth == 0:
                end = at + 1
                break
        header = header[:match.start()] + header[end:]
    return header


def drop_parentheses(header):
    previous = None
    while previous != header:
        previous, header = header, re.sub(r"\([^()]*\)", "@", header)
    return header


def block_kind(header):
    """What a brace opens, from the text since the last statement: a scope, a list, or a function's body."""
    plain = drop_parentheses(drop_template_parameters(header)).strip()
    if SCOPE.search(plain):
        return "scope"
    if not plain or plain.startswith(","):
        return "function"  # a constructor's body behind an initialiser list with braces
    if plain.endswith("=") or "@" not in plain:
        return "list"
    return "function"


def cpp_functions(code):
    """Yields (first line, last line) of each outermost function body."""
    code = without_directives(code)
    stack, header_start, line = [], 0, 1
    for at, char in enumerate(code):
        if char == "\n":
            line += 1
        elif char == "{":
            inside = bool(stack) and stack[-1][0] != "scope"
            kind = "inner" if inside else block_kind(code[header_start:at])
            stack.append((kind, line))
            header_start = at + 1
        elif char == "}":
            if stack:
                kind, first = stack.pop()
                if kind == "function":
                    yield first, line
            header_start = at + 1
        elif char == ";":
            header_start = at + 1


def check_cpp_functions(tree):
    for source in tree.cpp():
        for first, last in cpp_functions(source.code):
            if last - first + 1 > FUNCTION_LINES:
                text = f"a function of {last - first + 1} lines; {FUNCTION_LINES} are allowed"
                yield Finding("size", source.path, first, text)


def check_python_functions(tree):
    for source in tree.sources:
        if source.suffix != ".py":
            continue
        try:
            module = ast.parse(source.text)
        except SyntaxError as error:
            yield Finding("syntax", source.path, error.lineno or 1, "not valid Python")
            continue
        for node in ast.walk(module):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                count = node.end_lineno - node.lineno + 1
                if count > FUNCTION_LINES:
                    text = f"{node.name} has {count} lines; {FUNCTION_LINES} are allowed"
                    yield Finding("size", source.path, node.lineno, text)
