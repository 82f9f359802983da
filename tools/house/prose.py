# SPDX-License-Identifier: Apache-2.0
# Prose: no sentence of a page or of a comment has more than 32 words. A name in backquotes and a link count as one word.
# Diagrams, transition tables, blocks of code and lists of links are no prose.
import re

from .tree import Finding

LONGEST = 32
MANY_LINKS = 5  # more make a sentence a list
ITEM = re.compile(r"^(?:[-*]|\d+\.)\s+")
NAMED = re.compile(r"(?:[-*]|\d+\.|[A-Z]\d+)\s|\[")
DRAWN = re.compile(r"\S {2,}\S|-----|\s->\s")
SENTENCE_END = re.compile(r"[.!?](?:\)|\"|\*\*)?\s+|\s·\s")
HASH_COMMENTS = {".py", ".sh", ".cmake", ".yml", ".txt"}


def check_sentences(tree):
    for source in tree.sources:
        for number, text in paragraphs(source):
            for sentence in SENTENCE_END.split(plain(text)):
                words = count_words(sentence)
                if words > LONGEST and sentence.count("LINK") < MANY_LINKS:
                    yield Finding("sentences", source.path, number, f"{words} words; {LONGEST} are allowed: {sentence[:60]} ...")


def plain(text):
    text = re.sub(r"`[^`]*`", "NAME", re.sub(r"<!--.*?-->", "", text))
    return re.sub(r"\[[^\]]*\]\([^)]*\)", "LINK", text).replace("e.g.", "eg").replace("i.e.", "ie")


def count_words(sentence):
    return sum(1 for word in sentence.split() if re.search(r"\w", word))


def paragraphs(source):
    """The prose of a file: (line number of its first line, text)."""
    if source.suffix == ".md":
        return paragraphs_of_page(source.lines)
    if source.is_cpp:
        return paragraphs_of_code(source.lines, "//[/!]?<?")
    if source.suffix in HASH_COMMENTS:
        return paragraphs_of_code(source.lines, "#+")
    return []


def paragraphs_of_page(lines):
    out, open_since, fenced = [], None, False
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if text.startswith("```"):
            fenced = not fenced
        if text.startswith("|") and not fenced:
            out += [(number, cell) for cell in text.strip("|").split("|")]
        if fenced or not text or text[0] in "#|`<" and re.match(r"#|\||```|<!--", text):
            open_since = None
            continue
        if open_since is None or ITEM.match(text):
            open_since = len(out)
            out.append((number, ITEM.sub("", text, count=1)))
        else:
            out[open_since] = (out[open_since][0], out[open_since][1] + " " + text)
    return out


def paragraphs_of_code(lines, mark):
    whole, trailing = re.compile(rf"^\s*{mark}(\s*)(.*)$"), re.compile(rf"\s{mark}\s(.*)$")
    out, column, hangs = [], None, False
    for number, line in enumerate(lines, 1):
        match = whole.match(line)
        if match is None:
            column = None
            behind = trailing.search(line)
            if behind and '"' not in line[:behind.start()]:
                out.append((number, behind.group(1)))
            continue
        text = match.group(2).strip()
        if not text or text.startswith("SPDX-") or DRAWN.search(text):
            column = None
        elif column is None or NAMED.match(text) or (match.start(2) != column and not hangs):
            out.append((number, ITEM.sub("", text, count=1)))
            column, hangs = match.start(2), bool(NAMED.match(text))
        else:
            out[-1] = (out[-1][0], out[-1][1] + " " + text)
    return out
