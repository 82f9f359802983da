# SPDX-License-Identifier: Apache-2.0
# The pages: every Markdown file of the repository, and a page for each source file or folder that one of them links to. So each
# link of the repository works in the documentation as well. A line `<!-- code: PATH -->` becomes the text of that file.
import posixpath
import re
from pathlib import Path

LANGUAGES = {".cpp": "cpp", ".hpp": "cpp", ".py": "python", ".sh": "shell", ".go": "go", ".json": "json", ".cff": "yaml"}
IMAGES = {".svg", ".png"}
FRONT = "docs/index.md"
HEADER = re.compile(r"include/cubby/(\w+)\.hpp$")  # such a file has a page of its own, made from its comments
TOKEN = re.compile(r"^[ \t]*```.*?^[ \t]*```[^\n]*$|(?P<ticks>`+)(?!`).*?(?<!`)(?P=ticks)(?!`)|\]\((?P<link>[^)\s]+)\)",
                   re.MULTILINE | re.DOTALL)
CODE = re.compile(r"^<!-- code: (\S+) -->$", re.MULTILINE)
LICENCE = re.compile(r"^<!-- SPDX-[^\n]*-->\n")
LARGEST = 60_000  # a longer file is shown up to here


class Missing(Exception):
    """A page names something that the repository does not have."""


def page_of(path):
    """The name of the page of a file, without suffix: pages of docs/ come first, all else is below `tree`."""
    if path == FRONT:
        return "index"
    if path.endswith(".md"):
        path = path.removesuffix(".md")
        return path.removeprefix("docs/") if path.startswith("docs/") else f"tree/{path}"
    if HEADER.match(path) or path == "include/cubby":
        return HEADER.sub(r"headers/\1", path).replace("include/cubby", "headers")
    return f"tree/{path}"


class Pages:
    """The texts of all pages by their names, made from the files at `root` whose names are `files`."""

    def __init__(self, root, files):
        self.root = Path(root)
        self.files = set(files)
        self.folders = {str(parent) for name in self.files for parent in Path(name).parents if str(parent) != "."}
        self.texts = {}
        self.images = set()
        self.linked = set()
        for path in sorted(self.files):
            if path.endswith(".md"):
                self.texts[page_of(path)] = self.page(path)
        for path in sorted(self.linked):
            self.texts[page_of(path)] = self.folder(path) if path in self.folders else self.source(path)

    def read(self, path):
        return (self.root / path).read_text(encoding="utf-8", errors="replace")

    def page(self, path):
        text = LICENCE.sub("", self.read(path))
        text = CODE.sub(lambda match: self.code(path, match.group(1)), text)
        return TOKEN.sub(lambda match: self.link(path, match), text)

    def code(self, path, name):
        if name not in self.files:
            raise Missing(f"{path}: there is no {name}, whose code it shows")
        return f"```{LANGUAGES.get(Path(name).suffix, 'none')}\n{without_licence(self.read(name))}```"

    def link(self, path, match):
        link = match.group("link")
        if link is None or re.match(r"[a-z][a-z0-9+.-]*:", link) or link.startswith("#"):
            return match.group()
        target, _, anchor = link.partition("#")
        wanted = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
        return f"]({self.address(path, wanted)}{'#' + anchor if anchor else ''})"

    def address(self, path, wanted):
        """Where the page of `wanted` is, seen from the page of `path`."""
        if wanted in self.folders and f"{wanted}/README.md" in self.files:
            wanted = f"{wanted}/README.md"
        here = posixpath.dirname(page_of(path)) or "."
        if Path(wanted).suffix in IMAGES and wanted in self.files:
            self.images.add(wanted)
            return posixpath.relpath(page_of(wanted), here)
        if wanted not in self.files and wanted not in self.folders:
            raise Missing(f"{path}: the link to {wanted} leads nowhere")
        if not wanted.endswith(".md") and not page_of(wanted).startswith("headers"):
            self.linked.add(wanted)
        return posixpath.relpath(page_of(wanted) + ".md", here)

    def source(self, path):
        text = without_licence(self.read(path))
        if len(text) > LARGEST:
            text = text[:LARGEST] + "\n...\n"
        fence = "`" * (4 if "```" in text else 3)
        language = LANGUAGES.get(Path(path).suffix, "none")
        return f"---\norphan: true\nnosearch: true\n---\n# `{path}`\n\n{fence}{language}\n{text.rstrip()}\n{fence}\n"

    def folder(self, path):
        inside = sorted(name for name in self.files if name.startswith(f"{path}/"))
        items = "\n".join(f"- `{name.removeprefix(path + '/')}`" for name in inside[:300])
        return f"---\norphan: true\nnosearch: true\n---\n# `{path}/`\n\n{items}\n"


def without_licence(text):
    lines = text.split("\n")
    return "\n".join(line for number, line in enumerate(lines) if number > 2 or "SPDX-License-Identifier" not in line)


def write_all(texts, folder):
    """Writes each page whose text is new, and removes those that are gone, so that a second build does little."""
    wanted = {folder / f"{name}.md": text for name, text in texts.items()}
    for old in folder.rglob("*.md"):
        if old not in wanted:
            old.unlink()
    for path, text in wanted.items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
