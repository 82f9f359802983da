# SPDX-License-Identifier: Apache-2.0
# The goals of docs/results/goals.toml beside what was measured. A goal has `what`, `run`, `bound`, perhaps `unit`, `decimals` and `page`, the
# page of an engine that shows it as well, and one of:
# - `ratio = ["ENGINE WORKLOAD FIELD=N", ...]`: of two rows of `cubby bench`. The engine is one, the best of `a|b`, or `best-rival`.
# - `bytes = "ENGINE WORKLOAD"`: the bytes a key of such a row.
# - `match`: the first group of a regular expression, of its first hit in the output, or of the one that `pick` says. `divide` is another
#   one whose hit it is divided by, `times` a number.
import re
import tomllib

from figure_results.ranks import best, fastest
from figure_results.runs import RESULTS, Failure, short_names

SIGNS = {"<=": lambda value, bound: value <= bound, ">=": lambda value, bound: value >= bound}


def goals():
    return tomllib.loads((RESULTS / "goals.toml").read_text())["goal"]


def row_of(rows, words, goal):
    engine, workload, *more = words.split()
    wanted = {key: int(value) for key, value in (one.split("=") for one in more)}
    those = [row for row in rows if row["workload"] == workload and all(row.get(key) == value for key, value in wanted.items())]
    found = best(those, False) if engine == "best-rival" else fastest(row for row in those if row["engine"] in engine.split("|"))
    if found is None:
        raise Failure(f"goals.toml: {goal['what']}: {goal['run']} has no row `{words}`")
    return found


def hit(lines, pattern, goal):
    found = [float(one.group(1)) for line in lines for one in re.finditer(pattern, line)]
    if not found:
        raise Failure(f"goals.toml: {goal['what']}: {goal['run']} printed nothing like `{pattern}`")
    picks = {"smallest": min, "largest": max}
    return picks[goal["pick"]](found) if "pick" in goal else found[0]


def measured(goal, result):
    """The value, and how far one run's rounds leave it open: 0 where the output says nothing about that."""
    if "ratio" in goal:
        over, under = [row_of(result["results"], words, goal) for words in goal["ratio"]]
        return over["median_mops"] / under["median_mops"], max(over["spread"], under["spread"])
    if "bytes" in goal:
        return row_of(result["results"], goal["bytes"], goal)["bytes_per_key"], 0
    value = hit(result["output"], goal["match"], goal)
    if "divide" in goal:
        value /= hit(result["output"], goal["divide"], goal)
    return value * goal.get("times", 1), 0


def conclusion(goal, value, spread):
    sign, bound = goal["bound"].split()
    kept = SIGNS[sign](value, float(bound))
    open_ = any(SIGNS[sign](value * (1 + one), float(bound)) != kept for one in (-spread, spread))
    return ("reached" if kept else "missed") + (", within the spread" if open_ else "")


def shown_on(page):
    """All goals, or those of a page."""
    those = [goal for goal in goals() if page in ("all", goal.get("page"))]
    if not those:
        raise Failure(f"goals.toml: no goal has `page = \"{page}\"`")
    return those


def table(all_results, page="all"):
    """A line for each goal, with a column for each machine that has a result of one of them, and a line that counts them."""
    listed = shown_on(page)
    names = short_names(all_results)
    all_results = {name: results for name, results in all_results.items() if any(goal["run"] in results for goal in listed)}
    names = {name: names[name] for name in all_results}
    yield "| goal | bound | " + " | ".join(names.values()) + " | run |"
    yield "|---|---|" + "---|" * len(names) + "---|"
    counts = {name: {"reached": 0, "missed": 0} for name in all_results}
    for goal in listed:
        if not any(goal["run"] in results for results in all_results.values()):
            raise Failure(f"goals.toml: {goal['what']}: no machine has a result of {goal['run']}: run make figures")
        cells = [cell(goal, results.get(goal["run"]), counts[name]) for name, results in all_results.items()]
        bound = goal["bound"].replace("<=", "&le;").replace(">=", "&ge;") + unit_of(goal)
        yield f"| {goal['what']} | {bound} | " + " | ".join(cells) + f" | `{goal['run']}` |"
    yield ""
    said = [f"{names[name]}: {count['reached']} of {sum(count.values())} reached" for name, count in counts.items()]
    yield "; ".join(said) + "."


def unit_of(goal):
    return f" {goal['unit']}" if "unit" in goal else ""


def cell(goal, result, count):
    """What one machine says about a goal; a minus if it has no result. Counts it."""
    if result is None:
        return "-"
    value, spread = measured(goal, result)
    says = conclusion(goal, value, spread)
    count[says.split(",")[0]] += 1
    return f"{shown(value, goal)}{unit_of(goal)}, {says}"


def shown(value, goal):
    """The value with as many decimals as the goal says, and more where it would look like the bound, which it is not."""
    sign, bound = goal["bound"].split()
    decimals = goal.get("decimals", 2)
    while decimals < 6 and SIGNS[sign](value, float(bound)) != SIGNS[sign](round(value, decimals), float(bound)):
        decimals += 1
    return f"{value:.{decimals}f}"
