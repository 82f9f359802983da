# SPDX-License-Identifier: Apache-2.0
# What does not hold about results, pages and plots, a line each.
from figure_results import plots, prose
from figure_results.pages import pages, plots_shown, written
from figure_results.runs import ROOT, Failure, machines, results_of, runs


def problems_of_results(all_results):
    """A result of no run, or of another command."""
    known = runs()
    for name, results in all_results.items():
        for one in results:
            if one not in known:
                yield f"docs/results/{name}/{one}.json: runs.toml has no such run"
            elif results[one]["command"] != known[one]["command"]:
                yield f"docs/results/{name}/{one}.json: the command is not that of runs.toml: run make figures ONLY={one}"


def problems_of_trees(all_results):
    """A result of a tree with changes that nobody committed: nobody can build that program again."""
    for name, results in all_results.items():
        for one, result in results.items():
            if result["commit"].endswith("-dirty"):
                yield f"docs/results/{name}/{one}.json: made from a changed tree ({result['commit']}): commit, and run make figures ONLY={one}"


def problems_of_pages(all_results):
    """A page that differs from its results."""
    for path in pages():
        page, text = path.relative_to(ROOT), path.read_text()
        try:
            if written(text, all_results, page) != text:
                yield f"{page}: its figures are not those of docs/results: run tools/figures.py write"
        except Failure as failure:
            yield str(failure)


def problems():
    """All that does not hold."""
    all_results = {name: results_of(name) for name in machines()}
    yield from problems_of_results(all_results)
    yield from problems_of_trees(all_results)
    yield from problems_of_pages(all_results)
    yield from prose.problems(all_results)
    try:
        yield from plots.problems(all_results, plots_shown())
    except Failure as failure:
        yield str(failure)
