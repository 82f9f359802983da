# SPDX-License-Identifier: Apache-2.0
# The files that a check looks at, and C++ text with its comments and literals told apart from its code.
# Lengths and line numbers survive every transformation, so that a finding can name its line.
import re
import subprocess
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

CPP = {".hpp", ".cpp", ".h", ".cc"}
RAW = "fuzz/corpus/"  # inputs of programs: bytes, even where they happen to be text
SKIPPED_FOLDERS = {".git", "build", "__pycache__", ".cache"}

TOKEN = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)"""
    r"""|(?P<raw>R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)")"""
    r"""|(?P<string>"(?:\\.|[^"\\\n])*")"""
    r"""|(?P<digits>\b\d[\w.]*(?:'[\w.]+)+)"""
    r"""|(?P<char>'(?:\\.|[^'\\\n])+')""",
    re.DOTALL,
)


@dataclass(frozen=True)
class Finding:
    rule: str
    path: str
    line: int
    text: str

    def __str__(self):
        return f"{self.path}:{self.line}: {self.rule}: {self.text}"


def blank(text):
    return re.sub(r"[^\n]", " ", text)


@dataclass
class Source:
    path: str
    text: str

    @property
    def suffix(self):
        return Path(self.path).suffix

    @property
    def is_cpp(self):
        return self.suffix in CPP

    @cached_property
    def lines(self):
        return self.text.split("\n")

    @cached_property
    def code(self):
        """The C++ text with comments and literals blanked; the quotes and paths of #include lines stay."""

        def replace(match):
            start = self.text.rfind("\n", 0, match.start()) + 1
            is_include = self.text[start:match.start()].lstrip().startswith("#include")
            return match.group() if is_include and match.group("string") else blank(match.group())

        return TOKEN.sub(replace, self.text)

    @cached_property
    def code_lines(self):
        return self.code.split("\n")

    @cached_property
    def comment_lines(self):
        """The comments alone, line by line; everything else is blanked."""
        out, last = [], 0
        for match in TOKEN.finditer(self.text):
            if match.group("comment"):
                out += [blank(self.text[last:match.start()]), match.group()]
                last = match.end()
        out.append(blank(self.text[last:]))
        return "".join(out).split("\n")


@dataclass
class Tree:
    root: Path
    sources: list = field(default_factory=list)

    @classmethod
    def read(cls, root):
        root = Path(root).resolve()
        tree = cls(root)
        for path in sorted(name for name in list_files(root) if not name.startswith(RAW)):
            try:
                text = (root / path).read_text(encoding="utf-8")
            except (UnicodeDecodeError, FileNotFoundError, IsADirectoryError):
                continue  # an image, or a file that was removed but is still in the index
            tree.sources.append(Source(path, text))
        return tree

    def cpp(self, prefix=""):
        return [s for s in self.sources if s.is_cpp and s.path.startswith(prefix)]

    def exists(self, path):
        return (self.root / path).exists()


def list_files(root):
    """Committed and new files, without the ignored; every file where there is no repository."""
    if (root / ".git").exists():
        command = ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return {name for name in done.stdout.split("\0") if name}
    names = {str(p.relative_to(root)) for p in root.rglob("*") if p.is_file()}
    return {name for name in names if not SKIPPED_FOLDERS & set(Path(name).parts)}
