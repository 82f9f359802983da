# SPDX-License-Identifier: Apache-2.0
# What is written into pages from results. A page has a line `<!-- figures: KIND ID... -->`; all lines behind it up to
# `<!-- end of figures -->` are made by this script. Kinds: `block` has what a command printed, `rows` the table of `cubby bench` alone, and
# `windows` that of its populations.
# `matrix` is a table of engines by workloads, and `ratios` one of an engine over others. `front` is `dlht` beside the best of the others.
# `goals` is the table of docs/results/goals.toml, and `instructions` that of bench/instructions.json. `plot` is a picture (plots.py).
# `runs` is the table of all results.
import itertools
import json
import re

from figure_results import goals, plots
from figure_results.ranks import NOT_RANKED, OURS, best
from figure_results.runs import ROOT, Failure, machines, results_of, runs, short_names

OPEN = re.compile(r"^<!-- figures: (\w+) (.+) -->$")
CLOSE = "<!-- end of figures -->"
WORKLOADS = {"get": "find", "miss": "miss", "insdel": "insert and erase", "upsert": "`insert_or_assign`", "populate": "fill", "put": "`assign`",
             "add": "add", "add-zipf": "add to hot keys", "grow-shrink": "find beside growth", "read-section": "read section"}
CONDITIONS = {"batch": "{} keys a call", "threads": "{} threads", "value_size": "values of {} bytes"}


def made_by(result):
    about = result["machine"]
    return (f"`{result['command']}`, commit {result['commit']}, {result['date']}, {about['cpu']} with {about['cores']} cores and "
            f"{about['memory_gib']} GiB, huge pages by {about['huge_pages']}:")


def block(all_results, ids):
    for name in ids:
        for machine, results in all_results.items():
            if name in results:
                yield from [made_by(results[name]), "", "```", *results[name]["output"], "```", ""]


def rows(all_results, ids, head="workload "):
    """What `cubby bench` printed, without its head and its conclusion. `head`: the first word of the table."""
    for name in ids:
        for machine, results in all_results.items():
            if name in results:
                output = results[name]["output"]
                begin = next((number for number, line in enumerate(output) if line.startswith(head)), None)
                if begin is None:
                    raise Failure(f"{name}: its output has no table of `cubby bench`" + ("" if head == "workload " else f" that begins with `{head.strip()}`"))
                yield from [made_by(results[name]), "", "```", output[begin]]
                yield from itertools.takewhile(lambda line: line and line[0] not in "*!", output[begin + 2:])
                yield from ["```", ""]


def windows(all_results, ids):
    yield from rows(all_results, ids, "Mops/s in 10 ms ")


def ranked(rows, workload, ours):
    """The best of ours, or of the others."""
    return best([row for row in rows if row["workload"] == workload], ours)


def cell(row, best):
    if row is None:
        return "-"
    text = f"{row['median_mops']:.1f}"
    if row["spread"] > 0.3:
        text += " !"
    return f"**{text}**" if row is best else text


def huge_pages(rows):
    shares = [row["huge_pages_percent"] for row in rows if row["huge_pages_percent"] is not None]
    return f"; huge pages: {min(shares):.0f} to {max(shares):.0f} % of what a table took" if shares else ""


def matrix(all_results, ids):
    """A table for each id: engines by workloads, the best of ours over the best of the others, and a sentence for each workload."""
    for name in ids:
        for machine, results in all_results.items():
            if name in results:
                yield from matrix_of(results[name])


def matrix_of(result):
    rows = result["results"]
    workloads = list(dict.fromkeys(row["workload"] for row in rows))
    engines = list(dict.fromkeys(row["engine"] for row in rows))
    best = {(w, o): ranked(rows, w, o) for w in workloads for o in (True, False)}
    yield made_by(result)[:-1] + huge_pages(rows) + "."
    yield ""
    yield "| Mops/s | " + " | ".join(WORKLOADS[w] for w in workloads) + " | bytes a key |"
    yield "|---|" + "---|" * (len(workloads) + 1)
    for engine in sorted(engines, key=lambda e: e not in OURS):
        by = {row["workload"]: row for row in rows if row["engine"] == engine}
        cells = [cell(by.get(w), best[w, engine in OURS]) for w in workloads]
        first = next(iter(by.values()))["bytes_per_key"]
        yield f"| {'`' + engine + '`' if engine in OURS else engine} | " + " | ".join(cells) + f" | {first:.0f} |"
    ratios = [best[w, True]["median_mops"] / best[w, False]["median_mops"] for w in workloads]
    yield "| best of ours / best of the others | " + " | ".join(f"{ratio:.2f}" for ratio in ratios) + " | |"
    yield ""
    for w, ratio in zip(workloads, ratios):
        ours, other = best[w, True]["engine"], best[w, False]["engine"]
        says = f"take `{ours}`" if ratio >= 1 else f"we lose: {other} is ahead of `{ours}`"
        yield f"- **{WORKLOADS[w]}**: {says} ({ratio:.2f} of {other})."
    yield ""


def versus(rows, workload):
    """`dlht`, the best of the others and the ratio, as cells; three empty ones if that was not measured."""
    mine = next((row for row in rows if (row["engine"], row["workload"]) == ("dlht", workload)), None)
    other = ranked(rows, workload, False)
    if mine is None or other is None:
        return " | | "
    return f"{mine['median_mops']:.1f} | {other['engine']} {other['median_mops']:.1f} | {mine['median_mops'] / other['median_mops']:.2f}"


def front(all_results, ids):
    """`dlht` beside the best of the others. An id is LABEL=SINGLE+BATCH, two runs, or LABEL=SINGLE; LABEL may be empty. `:WORKLOAD,...`
    behind it are those to show. The results of one machine, the one that measured all of them last."""
    named = runs_named(ids)
    complete = [results for results in all_results.values() if all(name in results for name in named)]
    if not complete:
        raise Failure(f"no machine has results of all of {', '.join(named)}: run make figures")
    results = max(complete, key=lambda those: min(those[name]["date"] for name in named))
    cpu = results[named[0]]["machine"]["cpu"]
    yield f"| one key a call ({cpu}) | `dlht` | best rival | x | 32 keys a call | `dlht` | best rival | x |"
    yield "|---|---|---|---|---|---|---|---|"
    for one in ids:
        label, names = one.split("=")
        names, _, chosen = names.partition(":")
        single, *batches = [results[name]["results"] for name in names.split("+")]
        batch = batches[0] if batches else []
        for w in dict.fromkeys(row["workload"] for row in single):
            if chosen and w not in chosen.split(","):
                continue
            what = (f"{label}: " if label else "") + WORKLOADS[w]
            yield f"| {what} | {versus(single, w)} | {what if batch else ''} | {versus(batch, w)} |"


def conditions(row, rows):
    """What tells a row apart from others of its run, apart from engine and workload."""
    differing = [field for field in CONDITIONS if len({one.get(field) for one in rows}) > 1]
    said = [CONDITIONS[field].format(row.get(field)) for field in differing]
    return ", ".join(said).replace("1 keys", "one key").replace("1 threads", "one thread") if said else ""


def other_of(rows, other):
    return best(rows, False) if other == "best-rival" else next((row for row in rows if row["engine"] == other), None)


def ratio_cell(mine, other, named):
    if mine is None or other is None:
        return "-"
    text = f"{mine['median_mops'] / other['median_mops']:.2f}" + (" !" if max(mine["spread"], other["spread"]) > 0.3 else "")
    return text + (f" ({other['engine']})" if named else "")


def ratios(all_results, ids):
    """How often an engine does what others do: `RUN:ENGINE/OTHER,...`; OTHER may be `best-rival`. A table for each run and machine."""
    for one in ids:
        found = re.fullmatch(r"([\w-]+):([\w-]+)/([\w,-]+)", one)
        if not found:
            raise Failure(f"`{one}` is no RUN:ENGINE/OTHER,...")
        name, engine, others = found.groups()
        for machine, label in short_names(all_results).items():
            if name in all_results[machine]:
                yield from ratios_of(all_results[machine][name]["results"], f"{label}: `{engine}` over", engine, others.split(","))


def ratios_of(rows, label, engine, others):
    """A row for each other engine and condition."""
    workloads = list(dict.fromkeys(row["workload"] for row in rows))
    yield f"| {label} | " + " | ".join(WORKLOADS[w] for w in workloads) + " |"
    yield "|---|" + "---|" * len(workloads)
    for said in dict.fromkeys(conditions(row, rows) for row in rows):
        alike = [row for row in rows if conditions(row, rows) == said]
        for other in others:
            cells = []
            for w in workloads:
                those = [row for row in alike if row["workload"] == w]
                mine = next((row for row in those if row["engine"] == engine), None)
                cells.append(ratio_cell(mine, other_of(those, other), other == "best-rival"))
            shown = "the best rival" if other == "best-rival" else f"`{other}`" if other in OURS | NOT_RANKED else other
            yield f"| {shown}{', ' + said if said else ''} | " + " | ".join(cells) + " |"
    yield ""


def goal_table(all_results, ids):
    """`all`: the table of docs/results/goals.toml. Another word: the goals of it that have this word as their `page`."""
    for page in ids:
        yield from goals.table(all_results, page)


def run_table(all_results, ids):
    """`all`: each run with the commit and the date of each machine's result."""
    yield "| run | " + " | ".join(all_results) + " |"
    yield "|---|" + "---|" * len(all_results)
    for one in runs():
        cells = [source_of(results[one]) if one in results else "-" for results in all_results.values()]
        yield f"| `{one}` | " + " | ".join(cells) + " |"


def source_of(result):
    return f"{result['commit']}, {result['date']}"


COUNTED = ["find", "miss", "insert", "assign", "upsert", "erase", "find_batch"]
WAYS = {"": "", "handle_": ", by a handle", "guarded_": ", by a handle with a guard"}


def instructions(all_results, ids):
    """What one call takes, counted, not timed: rows of bench/instructions.json, which tools/run_tests.py compares with the code."""
    stored = json.loads((ROOT / "bench" / "instructions.json").read_text())
    yield f"{stored['compiler']}, `-O2`:"
    yield ""
    yield "| instructions | " + " | ".join(WORKLOADS.get(verb, verb.replace("_", ", ")) for verb in COUNTED) + " |"
    yield "|---|" + "---|" * len(COUNTED)
    for engine in ids:
        if not any(f"{engine} {verb}" in stored["instructions"] for verb in COUNTED):
            raise Failure(f"bench/instructions.json has no `{engine}`")
        for way, said in WAYS.items():
            counts = [stored["instructions"].get(f"{engine} {way}{verb}") for verb in COUNTED]
            if any(count is not None for count in counts):
                yield f"| `{engine}`{said} | " + " | ".join("-" if count is None else f"{count:.0f}" for count in counts) + " |"


WITHOUT_RUNS = {"goals", "instructions", "plot", "runs"}  # their arguments name no runs
KINDS = {"block": block, "rows": rows, "windows": windows, "matrix": matrix, "front": front, "ratios": ratios, "goals": goal_table,
         "instructions": instructions, "plot": plots.shown, "runs": run_table}


def runs_named(words):
    """The ids of runs in the arguments of a marker."""
    return [name for word in words for name in word.split("=")[-1].split(":")[0].split("+")]


def written(text, all_results, page):
    """The page with its figures made anew."""
    out, inside = [], False
    for line in text.splitlines():
        if inside and line != CLOSE:
            continue
        inside = False
        out.append(line)
        found = OPEN.match(line)
        if not found:
            continue
        kind, ids = found.group(1), found.group(2).split()
        if kind not in KINDS:
            raise Failure(f"{page}: `{kind}` is no kind of figures: {', '.join(KINDS)}")
        named = [] if kind in WITHOUT_RUNS else runs_named(ids)
        missing = [name for name in named if not any(name in results for results in all_results.values())]
        if missing:
            raise Failure(f"{page}: no machine has a result of {missing[0]}: run make figures")
        made = KINDS[kind](all_results, ids, page) if kind == "plot" else KINDS[kind](all_results, ids)
        out += ["", *"\n".join(made).rstrip("\n").split("\n"), ""]
        inside = True
    if inside:
        raise Failure(f"{page}: `{CLOSE}` is missing")
    return "\n".join(out) + "\n"


def pages():
    """What has a generated block."""
    all_pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [path for path in all_pages if re.search(r"(?m)^<!-- figures: ", path.read_text())]


def plots_shown():
    """The ids of plots that pages show."""
    markers = [match for path in pages() for match in re.finditer(r"(?m)^<!-- figures: plot (.+) -->$", path.read_text())]
    return {name for match in markers for name in match.group(1).split()}


def write_pages(all_results):
    for path in pages():
        text = path.read_text()
        fresh = written(text, all_results, path.relative_to(ROOT))
        if fresh != text:
            path.write_text(fresh)
            yield path.relative_to(ROOT)


def write():
    """Writes all plots and pages. Those that changed."""
    all_results = {name: results_of(name) for name in machines()}
    yield from plots.write(all_results)
    yield from write_pages(all_results)
