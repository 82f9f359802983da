# SPDX-License-Identifier: Apache-2.0
# Pictures of results as SVG, by gnuplot. Bars and marks lie in rows, so that names are read from left to right, also on a phone. The
# background is transparent and the colours are of middle brightness: a picture is as readable on a dark page as on a light one.
# `program` is all that gnuplot gets, with the data. Its digest stands in the picture: that tells whether a picture is stale without gnuplot.
import hashlib
import re
import subprocess
from dataclasses import dataclass, field
from xml.sax.saxutils import escape

OURS, OTHERS, TEXT, LINE = "#2f86c5", "#cc7a14", "#7d7d7d", "#8f8f8f"
OPACITY = (1.0, 0.55, 0.3)  # of the first machine, the second, ...
WIDTH, ROW, CURVE, TITLE, AXIS, LETTER = 400, 15, 44, 30, 48, 8.3
MARKS = (6, 4, 8, 12, 7)  # gnuplot's: circle, square, triangle, diamond, full circle
DIGESTS = re.compile(r"<!-- program ([0-9a-f]{64}), drawing ([0-9a-f]{64}) -->\n")


class NotDrawn(Exception):
    """One line for the user."""


@dataclass
class Row:
    """`values`: for each machine what is shown, None where it was not measured; in a panel with marks a list for each machine, in one with
    curves a list of (x, lower, upper)."""
    name: str
    ours: bool  # or for each machine who is ahead
    values: list
    decimals: int = 1
    doubts: list = field(default_factory=list)  # for each machine whether its value spreads widely


@dataclass
class Panel:
    title: str
    axis: str
    rows: list
    limits: list = field(default_factory=list)  # for each machine a bound that is drawn as a line; or None
    limit_name: str = ""
    sides: tuple = ("ours", "others")  # what the two colours mean
    marks: tuple = ()  # the names of marks, where the rows have marks instead of bars. Their axis is logarithmic.
    curves: tuple = ()  # the names of the lower and the upper curve, where the rows have two. All rows have one scale.


def quoted(text):
    return "'" + text.replace("'", "''") + "'"


def label(text, x, y, size=13, colour=TEXT, more="left", bold=False):
    font = f"'sans-serif{':Bold' if bold else ''},{size}'"
    return f"set label {quoted(text)} at {x},{y} {more} noenhanced font {font} textcolor rgb '{colour}' front"


def colour_of(ours):
    return OURS if ours else OTHERS


def is_ours(row, number):
    return row.ours[number] if isinstance(row.ours, list) else row.ours


def name_of(row, left, y):
    """The name on the left of a row."""
    ours = row.ours is True
    colour = TEXT if isinstance(row.ours, list) else colour_of(row.ours)
    return label(row.name, f"screen {(left - 6) / WIDTH:.5f}", f"first {y}", 13, colour, "right", ours)


def wrapped(text, size):
    """The lines of a text that are as wide as the picture at most."""
    lines = [""]
    for word in text.split():
        if (len(lines[-1]) + len(word) + 1) * size * 0.6 > WIDTH - 16:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return lines


def largest(panel):
    shown = [value for row in panel.rows for value in row.values if value is not None]
    if panel.curves:
        return max(x for value in shown for x, _, _ in value)
    values = [one for value in shown for one in (value if panel.marks else [value])]
    return max(values + [limit for limit in panel.limits if limit is not None])


def row_height(panel, machines):
    return (CURVE if panel.curves else ROW) * machines


def height_of(panel, machines):
    return TITLE + len(panel.rows) * (row_height(panel, machines) + 6) + AXIS


def bars(panel, row, top):
    """The bars of a row, one below the other, each with its value: behind the bar, or behind the line of a bound that is in the way."""
    for number, value in enumerate(row.values):
        if value is None:
            continue
        y = top + number * ROW
        yield (f"set object rectangle from 0,{y + 1} to {value:.6g},{y + ROW - 1} fc rgb '{colour_of(is_ours(row, number))}' "
               f"fs transparent solid {OPACITY[number]} noborder")
        text = f"{value:,.{row.decimals}f}" + (" !" if row.doubts and row.doubts[number] else "")
        ends = [limit for limit in panel.limits if limit is not None and value < limit < value + 0.2 * largest(panel)]
        yield label(text, f"first {max([value, *ends]):.6g}", f"first {y + ROW / 2}", 12, more="left offset character 0.5,0")


def mark_colour(ours, number):
    return f"#{255 - round(255 * OPACITY[number]):02x}{colour_of(ours)[1:]}"


def mark_data(panel, rows):
    """Blocks of data, and what plots them: for each machine and colour the lines from first to last marks, and each kind of mark."""
    blocks, plots = [], []
    for ours, number in sorted({(row.ours, number) for row in panel.rows for number in range(len(row.values))}):
        those = [(row.values[number], top + number * ROW + ROW / 2) for top, row in rows if row.ours == ours and row.values[number]]
        name = f"$of{number}{'ours' if ours else 'others'}"
        look = f"lw 1.5 lc rgb '{mark_colour(ours, number)}' notitle"
        blocks += [f"{name} << E", *(f"{values[0]:.6g} {y}\n{values[-1]:.6g} {y}\n" for values, y in those), "E"]
        plots.append(f"{name} using 1:2 with lines {look}")
        for which in range(len(panel.marks)):
            blocks += [f"{name}{which} << E", *(f"{values[which]:.6g} {y}" for values, y in those), "E"]
            plots.append(f"{name}{which} using 1:2 with points pt {MARKS[which]} ps 0.9 {look}")
    return blocks, plots


def curve_data(panel, rows):
    """The same for curves: of each row and machine the lower one and the upper one, above a line of its own."""
    blocks, plots = [], []
    peak = max(upper for row in panel.rows for value in row.values if value for _, _, upper in value)
    for at, (top, row) in enumerate(rows):
        for number, value in enumerate(row.values):
            ground = top + (number + 1) * CURVE
            for which, width in ((1, 1), (2, 2)):
                name = f"$curve{at}of{number}{'lower' if which == 1 else 'upper'}"
                blocks += [f"{name} << E", *(f"{one[0]:.5g} {ground - one[which] / peak * (CURVE - 4):.4g}" for one in value or []), "E"]
                plots.append(f"{name} using 1:2 with lines lw {width} lc rgb '{mark_colour(is_ours(row, number), number) if which == 2 else TEXT}' notitle")
            blocks.append(f"set arrow from 0,{ground} to {value[-1][0] if value else 0:.5g},{ground} nohead lw 0.5 lc rgb '{LINE}'")
    return blocks, plots


def limits(panel, height):
    for number, limit in enumerate(panel.limits):
        if limit is not None:
            yield f"set arrow from {limit:.6g},0 to {limit:.6g},{height} nohead lw 1.5 lc rgb '{TEXT}' dt {2 + number} front"


def axes(panel):
    top = largest(panel)
    if panel.marks:
        shown = [one for row in panel.rows for values in row.values if values for one in values]
        return [f"set logscale x\nset xrange [{min(shown) / 1.6:.6g}:{top * 1.6:.6g}]",
                "set xtics ('1 us' 1e3, '' 1e4, '100 us' 1e5, '' 1e6, '10 ms' 1e7, '' 1e8, '1 s' 1e9)"]
    step = next(step * 10 ** power for power in range(-3, 10) for step in (1, 2, 5) if top / (step * 10 ** power) <= 5)
    return [f"unset logscale x\nset xrange [0:{top:.6g}]", f"set xtics 0,{step:g}"]


def panel_program(panel, above, whole, left, machines):
    """A panel whose upper end is `above` pixels below that of the picture of `whole` pixels."""
    each = row_height(panel, machines)
    height = len(panel.rows) * (each + 6)
    rows = [(3 + number * (each + 6), row) for number, row in enumerate(panel.rows)]
    begin = above + TITLE
    blocks, plots = mark_data(panel, rows) if panel.marks else curve_data(panel, rows) if panel.curves else ([], [])
    lines = ["unset label\nunset arrow\nunset object", *blocks, *axes(panel), f"set yrange [{height}:0]",
             f"set lmargin at screen {left / WIDTH:.5f}\nset rmargin at screen {1 - (20 if panel.marks else 58) / WIDTH:.5f}",
             f"set tmargin at screen {1 - begin / whole:.5f}\nset bmargin at screen {1 - (begin + height) / whole:.5f}",
             label(panel.title, f"screen {8 / WIDTH:.5f}", f"screen {1 - (begin - 12) / whole:.5f}", 14, bold=True),
             label(panel.axis, "graph 0", f"screen {1 - (begin + height + 34) / whole:.5f}", 12), *limits(panel, height)]
    for top, row in rows:
        lines.append(name_of(row, left, top + each / 2))
        lines += [] if panel.marks or panel.curves else bars(panel, row, top)
    return [*lines, "plot " + ", ".join(plots or ["-1 notitle lc rgb '#00000000'"])]


def legend(machines, panels, whole, above):
    """Lines about the colours of each machine, the line of a bound, and the marks."""
    def at(x, line, half=0):
        return f"screen {x / WIDTH:.5f},{1 - (above + 9 + line * 19 + half) / whole:.5f}"
    used = {is_ours(row, number) for panel in panels for row in panel.rows for number in range(len(row.values))}
    colours = [ours for ours in (True, False) if ours in used]
    for number, name in enumerate(machines):
        for place, ours in enumerate(colours):
            yield (f"set object rectangle from {at(8 + 62 * place, number, 5)} to {at(20 + 62 * place, number, -5)} "
                   f"fc rgb '{colour_of(ours)}' fs transparent solid {OPACITY[number]} noborder")
            yield label(panels[0].sides[0 if ours else 1], *at(25 + 62 * place, number).split(","), 12)
        yield label(name, *at(16 + 62 * len(colours), number).split(","), 12)
    lines = len(machines)
    for name in bound_names(panels):
        yield f"set arrow from {at(8, lines)} to {at(46, lines)} nohead lw 1.5 lc rgb '{TEXT}' dt 2"
        yield label(name, *at(52, lines).split(","), 12)
        lines += 1
    for number, name in enumerate(panels[0].curves):
        colour = TEXT if number == 0 else colour_of(True)
        yield f"set arrow from {at(8 + 190 * number, lines)} to {at(30 + 190 * number, lines)} nohead lw {number + 1} lc rgb '{colour}'"
        yield label(name, *at(36 + 190 * number, lines).split(","), 12)
    x = 14
    for number, name in enumerate(mark_names(panels)):
        yield f"set label at {at(x, lines)} point pt {MARKS[number]} ps 0.9 lw 1.5 lc rgb '{TEXT}' front"
        yield label(name, *at(x + 10, lines).split(","), 12)
        x += len(name) * 6.6 + 30


def bound_names(panels):
    return dict.fromkeys(panel.limit_name for panel in panels if any(limit is not None for limit in panel.limits))


def mark_names(panels):
    return next((panel.marks for panel in panels if panel.marks), ())


def program(title, said, machines, panels):
    """What gnuplot reads. `said` are lines below the panels: which commands have measured this."""
    heads, notes = wrapped(title, 15), [line for text in said for line in wrapped(text, 12)]
    head = 8 + 20 * len(heads) + 19 * (len(machines) + len(bound_names(panels)) + bool(mark_names(panels) or panels[0].curves)) + 6
    whole = head + sum(height_of(panel, len(machines)) for panel in panels) + 16 * len(notes) + 8
    left = max(len(row.name) for panel in panels for row in panel.rows) * LETTER + 16
    lines = [f"set terminal svg size {WIDTH},{whole} fixed font 'sans-serif,13'", "set encoding utf8", "set multiplot", "unset key",
             f"set border 1 lc rgb '{LINE}'\nset tics nomirror scale 0.5 font 'sans-serif,12' textcolor rgb '{TEXT}'\nunset ytics",
             f"set grid xtics lc rgb '{LINE}' lw 0.4 dt 3"]
    above = head
    for number, panel in enumerate(panels):
        part = panel_program(panel, above, whole, left, len(machines))
        if number == 0:
            part[-1:-1] = [*(label(line, f"screen {8 / WIDTH:.5f}", f"screen {1 - (16 + 20 * at) / whole:.5f}", 15, bold=True)
                             for at, line in enumerate(heads)), *legend(machines, panels, whole, 8 + 20 * len(heads))]
        if number == len(panels) - 1:
            part[-1:-1] = [label(line, f"screen {8 / WIDTH:.5f}", f"screen {(16 * (len(notes) - at) - 4) / whole:.5f}", 12)
                           for at, line in enumerate(notes)]
        lines += part
        above += height_of(panel, len(machines))
    return "\n".join([*lines, "unset multiplot"]) + "\n"


def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()


GROUP = re.compile(r'<g fill="none" color="\w+" stroke="[^"]*" stroke-width="[\d.]+" stroke-linecap="butt" stroke-linejoin="miter">\s*</g>')
WORDS = re.compile(r'<g transform="translate\(([\d.,-]+)\)" stroke="none" fill="rgb\(([\d ,]+)\)" font-family="sans-serif(:Bold)?" '
                   r'font-size="([\d.]+)00"\s+text-anchor="(\w+)">\s*<text>(?:<tspan[^>]*>)?\s*(.*?)(?:</tspan>)?</text>\s*</g>')


def words(match):
    x, y = match.group(1).split(",")
    weight = ' font-weight="bold"' if match.group(3) else ""
    colour = "#" + "".join(f"{int(part):02x}" for part in match.group(2).split(","))
    return f'<text x="{x}" y="{y}" fill="{colour}" font-size="{float(match.group(4)):g}"{weight} text-anchor="{match.group(5)}">{match.group(6)}</text>'


def slim(text):
    """What gnuplot drew, without its version, its comments, the symbols that are not used, and groups around each word."""
    text = re.sub(r"<\?xml[^>]*>\s*|<!DOCTYPE[^>]*>\s*|<title>.*?</title>\s*|<desc>.*?</desc>\s*|<!--.*?-->", "", text, flags=re.DOTALL)
    text = re.sub(r"\s*<filter .*?</filter>", "", text, flags=re.DOTALL)
    for name in set(re.findall(r"id='(gp\w+)'", text)):
        if f"'#{name}'" not in text:
            text = re.sub(rf"\s*<(\w+) [^>]*id='{name}'[^>]*?(?:/>|>.*?</\1>)", "", text, count=1, flags=re.DOTALL)
    text = re.sub(r'<g id="gnuplot_plot_\d+[^>]*><title>.*?</title>', "<g>", text)
    text = GROUP.sub("", WORDS.sub(words, text))
    text = re.sub(r"<g stroke='none' shape-rendering='crispEdges'>\s*(<polygon [^>]*/>)\s*</g>",
                  lambda found: found.group(1).replace("<polygon", "<polygon stroke='none' shape-rendering='crispEdges'"), text)
    text = re.sub(r' stroke="currentColor" stroke-width="1.00" stroke-linecap="butt" stroke-linejoin="miter"', "", text)
    return re.sub(r"\s*\n\s*", "\n", text).strip() + "\n"


def draw(drawn, title):
    """The picture. The same program makes the same bytes."""
    try:
        done = subprocess.run(["gnuplot"], input=drawn, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise NotDrawn("gnuplot is not installed: run tools/install_packages.sh demo") from None
    if done.returncode != 0 or done.stderr.strip():
        raise NotDrawn(f"gnuplot: {(done.stderr.strip().splitlines() or ['it failed'])[-1]}")
    body = slim(done.stdout)
    body = re.sub(r"(<svg[^>]*)>", lambda found: f'{found.group(1)} font-family="sans-serif" role="img">\n<title>{escape(title)}</title>', body, count=1)
    return f"<!-- program {digest(drawn)}, drawing {digest(body)} -->\n{body}"


def is_drawn_from(text, drawn):
    """Whether a picture was drawn by this program, and was not changed since."""
    found = DIGESTS.match(text)
    return bool(found) and found.group(1) == digest(drawn) and found.group(2) == digest(text[found.end():])
