# SPDX-License-Identifier: Apache-2.0
# Figures of the prose, and what stands behind each. docs/testing.md has the rule. A figure is a number with decimals, or one with a unit that
# is measured: a time, a rate, KB to TB, bytes an entry, instructions, %, times. KiB to TiB and plain bytes are sizes that code sets.
# Backticks hide a number without a unit, in a name or a command. On a page of docs/performance a figure has one of these:
# - a comment behind it with runs and the words of a row: `62 ms<!-- of stores-words: cubby mixed -->`. Such a row has to have this number,
#   perhaps rounded. `ROW / ROW` is the ratio of two numbers in one column, and `ROW | ROW` either row.
# - a line `<!-- from FILE: 75 %, 10 ms -->` for what was chosen, counted or computed and is not of a run. The file has to have these numbers.
# On other pages only numbers with units count, and one of these is enough, in the paragraph, list or table or in the one before it:
# - a command, or an option of one, in backticks;
# - a link to a file that has the number;
# - the word *raw* or "computed".
import re

from figure_results.runs import ROOT

NUMBER = r"\d[\d,]*(?:\.\d+)?"
UNIT = (r"(?:[nu]s|ms|s|seconds?|minutes?|min|hours?|nanoseconds|microseconds|milliseconds|M/s|Mops(?:/s)?|[KMGT]B(?:/s)?|%|times|instructions|"
        r"[a-z]+ a second|bytes an? (?:small )?(?:entry|key|word|text))(?![\w/])")
BEGIN = r"(?<![\w.^/=+,-])"
WITH_UNIT = re.compile(rf"{BEGIN}((?:{NUMBER}(?: to | or | and |, |-))*{NUMBER})(?: million)? {{0,2}}({UNIT})")
FIGURE = re.compile(rf"{WITH_UNIT.pattern}|{BEGIN}(\d[\d,]*\.\d+)(?![\w.]|-\w)")
OF = re.compile(r"[`*)\]]*<!-- of ([\w -]+): ([^>]+?) -->")
FROM = re.compile(r"(?m)^<!-- from (\S+): (.+?) -->$")
SMALLER = {"us": 1, "ms": 2, "s": 3}  # how many units of time are smaller
HIDDEN = re.compile(r"`[^`]*`|\]\([^)]*\)|<!--.*?-->")
COMMAND = re.compile(r"`(?:--?[a-zA-Z][\w-]*|(?:[\w.]+/)+\S+|(?:cubby|make|cmake|ctest|time|perf|valgrind|gnuplot)|(?:bench|cubby)_\w+)(?: [^`]*)?`")
RAW = re.compile(r"\*raw\*|\bcomputed\b")
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")
MARK = re.compile(r"(?m)^<!-- all figures are generated -->$")
LEDGERS = {"docs/performance/raw.md", "docs/dead-ends.md"}  # of figures that no command of today prints, each with its source


def pages():
    """The pages whose figures are checked."""
    found = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "include").rglob("*.md"))]
    return [path for path in found if path.exists() and str(path.relative_to(ROOT)) not in LEDGERS]


def is_of_performance(page):
    return re.match(r"docs/performance\b", str(page)) is not None


def lines_of(text):
    """(number, line) outside of generated blocks, and whether it stands between fences."""
    inside = fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("<!-- figures: "):
            inside = True
        if not inside:
            fenced ^= line.startswith("```")
            yield number, line, fenced
        if line == "<!-- end of figures -->":
            inside = False


def with_next(lines):
    """(number, line, the line after it) of prose; a row of a table, and a line before an item of a list, go on in no other."""
    lines = list(lines)
    for (number, line, _), (next_number, after, _) in zip(lines, [*lines[1:], (0, "", False)]):
        goes_on = next_number == number + 1 and not re.match(r"\s*(?:[|#-]|<!--|```)", after)
        yield number, line, after if goes_on else ""


def hidden(found):
    """A link or a comment, and the name or the command between backticks; a figure stays."""
    text = found.group()
    shown = text[0] == "`" and (text[1:2].isdigit() or WITH_UNIT.search(text[1:]))
    return text.replace("`", " ") if shown else "~" * len(text)


def figures_of(line, pattern=FIGURE, after=""):
    """(figure, its parts as number and unit, what stands behind it) of a line; a figure may go on in the line after it."""
    whole = f"{line} {after.strip()}"
    plain = HIDDEN.sub(hidden, whole)
    for found in pattern.finditer(plain):
        if found.start() < len(line):
            unit = found.group(2) or ""
            numbers = re.findall(NUMBER, found.group(1) or found.group(3))
            yield re.sub(" +", " ", found.group()), [f"{number} {unit}".strip() for number in numbers], whole[found.end():]


def value_and_steps(number):
    """A number of a page, and the digits to which it may have been rounded."""
    text = number.split(" ")[0].replace(",", "")
    decimals = len(text.partition(".")[2])
    zeros = 0 if "." in text else len(text) - len(text.rstrip("0"))
    return float(text), range(-zeros, decimals + 1) if decimals == 0 else [decimals]


def says(part, value):
    """Whether the number of a page is this value, perhaps rounded, by at most a tenth; a time may be of a smaller unit in the result."""
    wanted, steps = value_and_steps(part)
    scales = [10.0 ** (3 * step) for step in range(SMALLER.get(part.split(" ")[-1], 0) + 1)]
    coarsest = max(0.1 * abs(wanted), 0.5001 * 10.0 ** -max(steps))
    return any(abs(value / scale - wanted) <= min(coarsest, 0.5001 * 10.0 ** -digits) for digits in steps for scale in scales)


def rows_of(result):
    """The lines of a result in which figures are searched: what was printed but for remarks, and the rows of `cubby bench`."""
    yield from (line for line in result["output"] if not line.startswith(("!", "*")))
    for row in result["results"]:
        given = " ".join(f"{name}={row[name]}" for name in ("batch", "threads", "value_size") if name in row)
        yield (f"{row['workload']} {row['engine']} {given} mops {row['median_mops']} bytes {row['bytes_per_key']} "
               f"spread {100 * row['spread']:.1f}")


def lines_with(result, words):
    """The numbers of each line that has these words, in their order."""
    pattern = re.compile(r"(?:^|\s)" + r"(?:\s|\s.*\s)".join(map(re.escape, words.split())) + r"(?:[\s:,]|$)")
    return [[float(one) for one in re.findall(r"(?<![\w.=])\d+(?:\.\d+)?", line)] for line in rows_of(result) if pattern.search(line)]


def has(parts, results, rows):
    """Whether each part of a figure stands in one of the rows, or is the ratio of two of one result, column by column."""
    lines = []
    for result in results:
        for row in rows.split(" | "):
            over, _, under = row.partition(" / ")
            found = lines_with(result, over)
            lines += [[a / b for a, b in zip(*pair) if b] for pair in zip(found, lines_with(result, under))] if under else found
    return all(any(says(part, value) for line in lines for value in line) for part in parts)


def from_files(text):
    """Figures of which a page says that a file has them: {figure: file}."""
    return {figure.strip(): match.group(1) for match in FROM.finditer(text) for figure in match.group(2).split(",")}


def numbers_of(path):
    """All numbers of a file."""
    return [float(one.replace(",", "")) for one in re.findall(NUMBER, path.read_text())] if path.is_file() else []


def problems_of_files(page, text, used):
    for figure, file in from_files(text).items():
        wanted = float(figure.split(" ")[0].replace(",", ""))
        if not (ROOT / file).is_file():
            yield f"{page}: {figure} is said to be from {file}, which is not there"
        elif not {wanted, wanted / 100 if figure.endswith("%") else wanted} & set(numbers_of(ROOT / file)):
            yield f"{page}: {figure} is said to be from {file}, which has no such number"
        elif figure not in used:
            yield f"{page}: {figure} is said to be from {file}, but the page does not have it: remove it there"


def problem_of_source(match, parts, all_results):
    """What is wrong with the comment behind a figure; None if nothing is."""
    known = {name: [results[name] for results in all_results.values() if name in results] for name in match.group(1).split()}
    missing = [name for name, results in known.items() if not results]
    if missing:
        return f"no machine has a result of {missing[0]}"
    if not has(parts, [one for results in known.values() for one in results], match.group(2)):
        return f"no row `{match.group(2)}` of {match.group(1)} has it"
    return None


def problems_of_performance(page, text, all_results):
    """A figure of the prose that no result has."""
    if not MARK.search(text):
        yield f"{page}: the line `<!-- all figures are generated -->` is missing"
    known, used = from_files(text), set()
    for number, line, after in with_next(lines_of(text)):
        for figure, parts, behind in figures_of(line, FIGURE, after):
            match = OF.match(behind)
            used.update(parts)
            wrong = problem_of_source(match, parts, all_results) if match else "no result has this figure; name its row, or let the script write it"
            if wrong and (match or not set(parts) <= set(known)):
                yield f"{page}:{number}: {figure}: {wrong}"
    yield from problems_of_files(page, text, used)


def paragraphs(text):
    """Each heading, paragraph, list or table with its lines."""
    block = []
    for number, line, fenced in lines_of(text):
        is_heading = line.startswith("#") and not fenced
        if is_heading or (not line.strip() and not fenced):
            yield block
            block = []
        if is_heading:
            yield [(number, line, False)]
        elif line.strip() or fenced:
            block.append((number, line, fenced))
    yield block


def source_of(block, folder):
    """What a paragraph says about where figures come from: a function that tells whether that is enough for a figure."""
    if any(fenced or COMMAND.search(line) or RAW.search(line) for _, line, fenced in block):
        return lambda parts: True
    linked = [value for _, line, _ in block for link in LINK.findall(line) for value in numbers_of(folder / link)]
    return lambda parts: all(any(says(part, value) for value in linked) for part in parts)


def problems_of_others(page, text):
    """A figure with a unit, and nothing beside it that says where it comes from."""
    known, used, before = from_files(text), set(), lambda parts: False
    for block in filter(None, paragraphs(text)):
        source = source_of(block, ROOT / page.parent)
        for number, line, after in with_next(line for line in block if not line[2]):
            for figure, parts, _ in figures_of(line, WITH_UNIT, after):
                used.update(parts)
                if not (source(parts) or before(parts) or set(parts) <= set(known)):
                    yield f"{page}:{number}: {figure}: name its command beside it, link to the page that has it, or say which file has it"
        before = source
    yield from problems_of_files(page, text, used)


def problems(all_results):
    for path in pages():
        page, text = path.relative_to(ROOT), path.read_text()
        yield from problems_of_performance(page, text, all_results) if is_of_performance(page) else problems_of_others(page, text)
