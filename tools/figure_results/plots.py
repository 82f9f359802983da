# SPDX-License-Identifier: Apache-2.0
# The plots of docs/results/plots.toml: docs/performance/plots/<id>.svg. A page shows one by `<!-- figures: plot ID -->`. A plot has `id`,
# `title`, `runs` and `kind`:
# - `rates`: million operations a second of `cubby bench`; a panel for each workload and number of keys a call, a row for each engine.
# - `ahead`: the best of ours over the best of the others; a panel for each run, named by `panels`, a row for each workload.
# - `bytes`: the bytes a key of its first workload; `payload` is what an entry cannot be without.
# - `course`: the inserts over time of populations of `cubby bench`, and the slowest 10 ms meanwhile.
# - `tails`: what `bench_insert_tails` printed. `stores`: what `bench_stores` printed.
# All machines that have results of all `runs` stand side by side.
import os
import re
import tomllib

from figure_results.drawing import NotDrawn, Panel, Row, draw, is_drawn_from, program
from figure_results.ranks import NOT_RANKED, OURS, best
from figure_results.runs import RESULTS, ROOT, Failure

FOLDER = ROOT / "docs" / "performance" / "plots"
LARGEST = 60_000
MOST_MACHINES = 3
WORKLOADS = {"get": "find", "miss": "miss", "insdel": "insert and erase", "upsert": "insert_or_assign", "populate": "fill an empty table",
             "put": "assign"}
TAIL = re.compile(r"^(\S.*?)\s+([\d.]+)\s+\d+%\s+(\d+)\s+(\d+)\s+(\d+)\s+(\d+)\s+\d+%\s+([\d.]+)\s+([\d.]+)(?:\s+([\d.]+))?$")
STORE = re.compile(r"^(\S+)\s+(load|get|mixed)\s+(\d+)\s+\d+%\s+[\d.]+\s+(\d+)$")
PHASES = {"load": "load: inserts of new keys", "get": "get: lookups", "mixed": "mixed: lookups and changes"}


def plots():
    return {plot["id"]: plot for plot in tomllib.loads((RESULTS / "plots.toml").read_text())["plot"]}


def measured(plot, all_results):
    """The results of those machines that have all runs, the first one being the one with the newest."""
    complete = [results for _, results in sorted(all_results.items()) if all(name in results for name in plot["runs"])]
    if not complete:
        raise Failure(f"plots.toml: {plot['id']}: no machine has results of all of {', '.join(plot['runs'])}: run make figures")
    newest = sorted(complete, key=lambda those: max(those[name]["date"] for name in plot["runs"]), reverse=True)
    return newest[:MOST_MACHINES]


def machine_name(result):
    cpu = re.sub(r"\((?:R|TM)\)| Processor", "", result["machine"]["cpu"]).strip()
    return f"{cpu}, {result['machine']['cores']} cores"


def notes(plot, those):
    """Which commands measured this, and what stands in doubt."""
    yield f"{'Run' if len(plot['runs']) == 1 else 'Runs'} of docs/results/runs.toml: {', '.join(plot['runs'])}"
    for results in those:
        commits = dict.fromkeys(results[name]["commit"] for name in plot["runs"])
        yield f"{machine_name(results[plot['runs'][0]])}: commit {', '.join(commits)}"
    if plot["kind"] in ("rates", "ahead"):
        yield "! marks a spread above 30 % between rounds"


def value_of(rows, engine, workload, batch, field="median_mops"):
    return next((row[field] for row in rows if (row["engine"], row["workload"], row["batch"]) == (engine, workload, batch)), None)


def sorted_rows(names, values, ours, decimals=1, doubts=lambda name: []):
    """The largest first, by the first machine that has it."""
    found = [Row(name, ours(name), values(name), decimals, doubts(name)) for name in names]
    return sorted(found, key=lambda row: -next((value for value in row.values if value is not None), 0))


def rates(plot, those):
    for name in plot["runs"]:
        tables = [results[name]["results"] for results in those]
        engines = list(dict.fromkeys(row["engine"] for rows in tables for row in rows))
        for workload, batch in dict.fromkeys((row["workload"], row["batch"]) for rows in tables for row in rows):
            def values(engine):
                return [value_of(rows, engine, workload, batch) for rows in tables]

            def doubts(engine):
                return [(value_of(rows, engine, workload, batch, "spread") or 0) > 0.3 for rows in tables]
            there = [engine for engine in engines if any(values(engine)) and engine not in NOT_RANKED]
            keys = "one key a call" if batch == 1 else f"{batch} keys a call"
            yield Panel(f"{WORKLOADS[workload]}, {keys}", "million operations a second", sorted_rows(there, values, OURS.__contains__, doubts=doubts),
                        values("limit") if "limit" in engines else [], "limit: one line read for each request")


def ahead(plot, those):
    for name, title in zip(plot["runs"], plot["panels"], strict=True):
        tables = [results[name]["results"] for results in those]
        found = []
        for workload in dict.fromkeys(row["workload"] for rows in tables for row in rows):
            pairs = [[best([row for row in rows if row["workload"] == workload], ours) for ours in (True, False)] for rows in tables]
            values = [ours["median_mops"] / other["median_mops"] for ours, other in pairs]
            doubts = [max(ours["spread"], other["spread"]) > 0.3 for ours, other in pairs]
            found.append(Row(WORKLOADS[workload], [value >= 1 for value in values], values, 2, doubts))
        yield Panel(title, "best of ours / best of the others", found, [1] + [None] * (len(those) - 1), "1: as fast as each other",
                    ("ahead", "behind"))


def bytes_of(plot, those):
    tables = [results[plot["runs"][0]]["results"] for results in those]
    workload = tables[0][0]["workload"]
    engines = [row["engine"] for row in tables[0] if row["workload"] == workload and row["engine"] not in NOT_RANKED]
    found = sorted_rows(engines, lambda engine: [value_of(rows, engine, workload, 1, "bytes_per_key") for rows in tables], OURS.__contains__, 0)
    yield Panel("memory of a table", "bytes for an entry", found[::-1], [plot["payload"]] * len(those), f"key and value: {plot['payload']} bytes")


def course(plot, those):
    """The most even one first."""
    tables = [{row["engine"]: row for row in results[plot["runs"][0]]["results"] if row["engine"] not in NOT_RANKED} for results in those]

    def evenness(engine):
        whole = tables[0][engine]["windows"]
        return whole["lowest_mops"] / whole["mean_mops"]
    engines = sorted(tables[0], key=evenness, reverse=True)
    yield Panel("one key a call", "seconds",
                [Row(engine, engine in OURS, [[(one["ms"] / 1e3, one["lowest_mops"], one["mean_mops"]) for one in table[engine]["course"]] if engine in table
                                              else None for table in tables]) for engine in engines],
                curves=("the slowest 10 ms", "inserts, one scale"))


def tails(plot, those):
    """Rows of tables that grow, and one that has space. Two rows of one name belong to the engine above them."""
    found = []
    for results in those:
        table, above = {}, ""
        for match in filter(None, map(TAIL.match, results[plot["runs"][0]]["output"])):
            name = f"{above}, {match.group(1).split(', ')[-1]}" if match.group(1).startswith("the same") else match.group(1).replace("it grows", "grows")
            above = name.split(",")[0]
            table[name] = [float(match.group(at)) for at in (3, 4, 5, 6)] + [float(match.group(8)) * 1e6]
        found.append(table)
    names = [name for name in found[0] if "," in name]
    yield Panel("one insert", "time (logarithmic)",
                [Row(name, True, [table.get(name) for table in found]) for name in names], marks=("p50", "p99", "p99.9", "p99.99", "longest of all"))


def stores(plot, those):
    for name in plot["runs"]:
        tables = [{match.group(1, 2): (int(match.group(3)) / 1e6, int(match.group(4))) for match in
                   filter(None, map(STORE.match, results[name]["output"]))} for results in those]
        kinds = list(dict.fromkeys(kind for kind, _ in tables[0] if all((kind, phase) in table for table in tables for phase in PHASES)))
        what = name.removeprefix("stores-")

        def is_ours(kind):
            return kind.startswith("cubby")
        for phase, said in PHASES.items():
            yield Panel(f"{what}, {said}", "million operations a second",
                        sorted_rows(kinds, lambda kind: [table[kind, phase][0] for table in tables], is_ours, 2))
        longest = sorted_rows(kinds, lambda kind: [table[kind, "mixed"][1] for table in tables], is_ours, 0)
        yield Panel(f"{what}, longest sync of mixed (less is better)", "milliseconds", longest[::-1])


KINDS = {"rates": rates, "ahead": ahead, "bytes": bytes_of, "course": course, "tails": tails, "stores": stores}


def panels_of(plot, all_results):
    those = measured(plot, all_results)
    return list(KINDS[plot["kind"]](plot, those)), those


def program_of(plot, all_results):
    panels, those = panels_of(plot, all_results)
    return program(plot["title"], list(notes(plot, those)), [machine_name(results[plot["runs"][0]]) for results in those], panels)


def said_of(panel):
    """A panel in words, by the first machine: the first of ours, and of the others if there are any."""
    if panel.marks:
        return "; ".join(f"{row.name}: {panel.marks[0]} {row.values[0][0] / 1e3:.2g} us, {panel.marks[-1]} {row.values[0][-1] / 1e6:.2g} ms"
                         for row in panel.rows)
    if panel.curves:
        rates = [(row.name, [one[2] for one in row.values[0]], min(one[1] for one in row.values[0])) for row in panel.rows]
        return "; ".join(f"{name}: {sum(mean) / len(mean):.1f} million a second, {lowest:.1f} in its slowest 10 ms" for name, mean, lowest in rates)
    if isinstance(panel.rows[0].ours, list):
        return f"{panel.title}: " + ", ".join(f"{row.name} {row.values[0]:.2f}" for row in panel.rows)
    first = [next((row for row in panel.rows if row.ours == ours and row.values[0] is not None), None) for ours in (True, False)]
    return f"{panel.title}: " + ", ".join(f"{row.name} {row.values[0]:,.{row.decimals}f}" for row in first if row)


def alternative(plot, all_results):
    """The text for those who do not see the picture."""
    panels, those = panels_of(plot, all_results)
    return f"{plot['title']}, on {machine_name(those[0][plot['runs'][0]])}, {panels[0].axis}. " + "; ".join(map(said_of, panels)) + "."


def shown(all_results, ids, page):
    """The lines of a page that show pictures."""
    for name in ids:
        if name not in plots():
            raise Failure(f"{page}: `{name}` is no plot: docs/results/plots.toml has {', '.join(plots())}")
        address = os.path.relpath(FOLDER / f"{name}.svg", ROOT / page.parent)
        yield f"![{alternative(plots()[name], all_results)}]({address})"
        yield ""


def stale(all_results):
    """(file, plot, program) of each picture that is not there, is not what its results say, or was changed by hand."""
    for plot in plots().values():
        file, drawn = FOLDER / f"{plot['id']}.svg", program_of(plot, all_results)
        if not file.exists() or not is_drawn_from(file.read_text(), drawn):
            yield file, plot, drawn


def superfluous():
    return [file for file in sorted(FOLDER.glob("*")) if file.stem not in plots() or file.suffix != ".svg"]


def write(all_results):
    """Draws what is stale, and removes what no plot has. The files that changed."""
    for file, plot, drawn in list(stale(all_results)):
        try:
            text = draw(drawn, plot["title"])
        except NotDrawn as why:
            raise Failure(str(why)) from None
        if len(text) > LARGEST:
            raise Failure(f"{plot['id']}: a picture of {len(text):,} bytes; {LARGEST:,} are allowed")
        FOLDER.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        yield file.relative_to(ROOT)
    for file in superfluous():
        file.unlink()
        yield file.relative_to(ROOT)


def problems(all_results, shown_ids):
    for file, _, _ in stale(all_results):
        yield f"{file.relative_to(ROOT)}: is not what docs/results says: run tools/figures.py write"
    for file in superfluous():
        yield f"{file.relative_to(ROOT)}: docs/results/plots.toml has no such plot: run tools/figures.py write"
    for name in plots():
        if name not in shown_ids:
            yield f"docs/results/plots.toml: no page shows {name}"
