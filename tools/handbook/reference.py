# SPDX-License-Identifier: Apache-2.0
# The reference of the public headers: their comments and declarations come from Doxygen's XML, what a call costs and waits for from
# the tables of docs/api. Both are joined into one table a header.
import re
import xml.etree.ElementTree as ElementTree

from .headers import FREE, HEADERS, NOT_FOR_USERS, PLAIN

SPACES = ("cubby", "cubby::rcu", "cubby::pmr")
COLUMNS = ["meaning", "cost", "waits for", "function runs", "throws", "invalidates"]
PAGE = re.compile(r"(?<![`/])\b(docs/([\w/-]+)\.md)")  # as comments name the pages
DOXYFILE = """INPUT={root}/include/cubby
RECURSIVE=YES
FILE_PATTERNS=*.hpp
OUTPUT_DIRECTORY={out}
GENERATE_HTML=NO
GENERATE_LATEX=NO
GENERATE_XML=YES
XML_PROGRAMLISTING=NO
EXTRACT_ALL=YES
QUIET=YES
WARNINGS=NO
AUTOLINK_SUPPORT=NO
MACRO_EXPANSION=YES
EXPAND_ONLY_PREDEF=YES
PREDEFINED=CUBBY_ALWAYS_INLINE= CUBBY_NEVER_INLINE= CUBBY_OF_IMAGE= CUBBY_INLINED=
INPUT_FILTER="sed -e s/cubby::inline\\ v0/cubby/"
"""


def read_headers(root, work, run):
    """Runs Doxygen; the elements of all compounds by their names."""
    work.mkdir(parents=True, exist_ok=True)
    doxyfile = work / "Doxyfile"
    doxyfile.write_text(DOXYFILE.format(root=root, out=work))
    run(["doxygen", doxyfile])
    found = {}
    for entry in ElementTree.parse(work / "xml/index.xml").getroot():
        name, kind = entry.findtext("name"), entry.get("kind")
        if kind in ("class", "struct", "namespace", "file") and name not in found:
            found[name if kind != "file" else f"file {name}"] = work / "xml" / f"{entry.get('refid')}.xml"
    return found


def compound(xml, name):
    return ElementTree.parse(xml[name]).getroot().find("compounddef") if name in xml else None


def text_of(element):
    """The text of a description as Markdown, one paragraph a line."""
    if element is None:
        return ""
    return "\n\n".join(filter(None, (inline(para).strip() for para in element.iter("para"))))


def inline(element):
    parts = [escaped(element.text)]
    for child in element:
        if child.tag == "computeroutput":
            parts.append(f"`{''.join(child.itertext())}`")
        elif child.tag not in ("para", "itemizedlist", "simplesect"):
            parts.append(inline(child))
        parts.append(escaped(child.tail))
    return PAGE.sub(r"[\1](../\2.md)", re.sub(r"\s+", " ", "".join(parts)))


def escaped(text):
    return re.sub(r"([<*_\[\]])", r"\\\1", text or "")


def comment_of(member):
    return "\n\n".join(filter(None, (text_of(member.find(tag)) for tag in ("briefdescription", "detaileddescription"))))


def plain(element):
    return "" if element is None else re.sub(r"\s+", " ", "".join(element.itertext())).strip()


def declaration_of(member):
    """The declaration of a function, a variable, an enumeration or an alias, as a user reads it."""
    kind, name = member.get("kind"), member.findtext("name")
    if kind == "enum":
        values = ", ".join(value.findtext("name") for value in member.iter("enumvalue"))
        return f"enum class {name} {{ {values} }};"
    head = template_of(member)
    type_of = re.sub(r"\b(constexpr|static|explicit|friend|inline) ", "", plain(member.find("type")))
    static = "static " if member.get("static") == "yes" and kind == "function" else ""
    if kind == "function":
        needs = member.find("requiresclause")
        tail = member.findtext("argsstring").replace("=delete", " = delete")
        text = f"{head}{static}{type_of} {name}{tail}" + (f" requires {plain(needs)}" if needs is not None else "")
    elif kind == "typedef":
        text = f"{head}using {name} = {type_of}"
    else:
        text = f"{head}{type_of} {name} {plain(member.find('initializer'))}"
    return re.sub(r"\s+", " ", text.replace("detail::", "")).strip() + ";"


def template_of(member):
    found = member.find("templateparamlist")
    if found is None:
        return ""
    each = []
    for param in found.iter("param"):
        default = plain(param.find("defval"))
        each.append(f"{plain(param.find('type'))} {plain(param.find('declname'))}".strip() + (f" = {default}" if default else ""))
    return f"template <{', '.join(each)}> "


def public_members(of):
    """Functions, values and types of a class that users may name: {name: [members]}, in their order."""
    out = {}
    for section in of.iter("sectiondef"):
        if not section.get("kind").startswith(("public", "friend")):
            continue
        for member in section.iter("memberdef"):
            name = member.findtext("name")
            internal = name in NOT_FOR_USERS or name.startswith("~") or member.findtext("argsstring", "").endswith("=delete")
            wanted = member.get("kind") in ("function", "variable", "enum") or name.startswith("operator")
            if wanted and not internal:
                out.setdefault(name, []).append(member)
    return out


def calls_of(of):
    """The names of the functions of a class, without constructors and operators."""
    own = re.sub(r"<.*", "", of.findtext("compoundname")).split("::")[-1].strip()
    return [name for name, members in public_members(of).items()
            if members[0].get("kind") == "function" and name != own and not name.startswith("operator")]


def rows_of(text):
    """The rows of the tables of a page of docs/api: {call as written: {column: cell}}. Tables begin with a column `call`."""
    out, columns = {}, None
    for line in text.split("\n"):
        if not line.startswith("|"):
            columns = None
            continue
        cells = [cell.strip().replace("\0", "\\|") for cell in line.replace("\\|", "\0").strip().strip("|").split("|")]
        if columns is None:
            columns = cells
        elif columns[0] == "call" and not set(line) <= set("|- :"):
            for call in re.findall(r"`([^`]+)`", cells[0]):
                out.setdefault(call, {}).update(zip(columns[1:], cells[1:]))
    return out


def name_in(call):
    """The function's name in a call as a page writes it: `m.find(k)`, `p.find(k, tag)`, `update(k, f)`, `to<C>()`."""
    match = re.match(r"(?:co_await )?(?:\w+\.|\w+::)*(\w+|operator==)\s*(?:<.*>)?\(", call)
    return match.group(1) if match else None


def relative(cell, page):
    """A cell of docs/api/<page> for a page beside that folder: its links lead to the same pages."""

    def link(match):
        target = match.group(1)
        if target.startswith("#"):
            return f"](../api/{page}.md{target})"
        return match.group() if re.match(r"[a-z]+:", target) else f"](../api/{target})"

    return re.sub(r"\]\(([^)\s]+)\)", link, cell)


def table_of(header, classes, pages, texts):
    """The table of a header, and what is missing or too much in it."""
    rows = [(page, call, row) for page in pages for call, row in rows_of(texts.get(f"api/{page}", "")).items()]
    lines = ["| call | " + " | ".join(COLUMNS) + " |", "|---" * (len(COLUMNS) + 1) + "|"]
    problems = []
    verbs_first = sorted(classes, key=lambda of: not of.findtext("compoundname").endswith("_api"))
    for name in dict.fromkeys(name for of in verbs_first for name in calls_of(of)):
        found = [(page, call, row) for page, call, row in rows if name_in(call) == name]
        alike = {}  # calls that a page has in one row
        for page, call, row in found:
            if page == found[0][0]:
                cells = tuple(relative(row.get(column, "-"), page) for column in COLUMNS)
                alike.setdefault(cells, []).append(f"[`{call}`](../api/{page}.md)")
                problems += [f"docs/api/{page}.md: `{call}` has no column `{column}`" for column in COLUMNS if column not in row]
        lines += [f"| {', '.join(calls)} | " + " | ".join(cells) + " |" for cells, calls in alike.items()]
        if not found:
            problems.append(f"include/cubby/{header}.hpp: no table of docs/api has a row of `{name}`")
    return lines, problems


def section_of(title, of, members):
    """The part of a page about a class: its comment, a table of its variables, and each function under a heading of its own."""
    lines = [f"## {title}", "", *filter(None, [comment_of(of)]), ""]
    fields = [each[0] for each in members.values() if each[0].get("kind") == "variable"]
    if fields:
        lines += ["| member | default | meaning |", "|---|---|---|"]
        lines += [f"| `{field.findtext('name')}` | {default_of(field)} | {in_cell(comment_of(field))} |" for field in fields] + [""]
    for name, each in members.items():
        if each[0].get("kind") != "variable":
            lines += [f"### `{name}`", ""] if len(members) > 1 else []
            lines += part_of(each)
    return lines


def part_of(overloads):
    said = "\n\n".join(filter(None, (comment_of(member) for member in overloads)))
    values = [f"- `{value.findtext('name')}`: {comment_of(value)}" for value in overloads[0].iter("enumvalue") if comment_of(value)]
    declarations = dict.fromkeys(declaration_of(member) for member in overloads)
    return ["```cpp", *declarations, "```", *([said] if said else []), "", *values, ""]


def default_of(field):
    text = plain(field.find("initializer")).lstrip("= ")
    return f"`{in_cell(text)}`" if text and text != "{}" else "-"


def in_cell(text):
    return text.replace("|", "\\|").replace("\n\n", " ") or "-"


def page_of_header(header, xml, texts):
    names, pages = HEADERS[header]
    found = {name: compound(xml, name) for name in names}
    plain_ones = {name: compound(xml, name) for name in PLAIN.get(header, [])}
    problems = [f"include/cubby/{header}.hpp: Doxygen finds no {name}" for name, of in {**found, **plain_ones}.items() if of is None]
    classes = [of for of in found.values() if of is not None]
    about = compound(xml, f"file {header}.hpp")
    lines = [f"# `cubby/{header}.hpp`", "", comment_of(about) if about is not None else "", ""]
    lines += [f"```cpp\n#include <cubby/{header}.hpp>\n```", ""]
    if pages:
        table, more = table_of(header, classes, pages, texts)
        problems += more
        lines += ["## All calls", "", "Each name leads to its page, which has examples.", "", *table, ""]
    for name, of in {**found, **plain_ones}.items():
        if of is not None:
            lines += section_of(f"`{name.replace('detail::', '').split('<')[0].strip()}`", of, public_members(of))
    return lines + free_names(header, xml), problems


def free_names(header, xml):
    lines, wanted = [], FREE.get(header, [])
    for space in SPACES:
        of = compound(xml, space)
        members = {}
        for member in of.iter("memberdef") if of is not None else ():
            if member.findtext("name") in wanted and f"{space}::" in f"{member.findtext('definition') or space}::":
                members.setdefault(member.findtext("name"), []).append(member)
        for name in wanted:
            if name in members:
                lines += section_of(f"`{space}::{name}`", ElementTree.Element("none"), {name: members[name]})
    return lines


def make_pages(xml, texts):
    """{page: text} of all headers, and the problems: lines that say what is missing."""
    out, problems = {}, []
    for header in HEADERS:
        lines, more = page_of_header(header, xml, texts)
        out[f"headers/{header}"] = "\n".join(lines) + "\n"
        problems += more
    problems += rows_without_a_call(xml, texts)
    problems += names_without_a_page(texts.get("names", ""), "\n".join(out.values()))
    listed = "\n".join(f"- [`cubby/{header}.hpp`](headers/{header}.md)" for header in HEADERS)
    out["headers"] = f"# The headers\n\nThe public headers, each with a table of its calls and its declarations.\n\n{listed}\n"
    return out, list(dict.fromkeys(problems))


def names_without_a_page(names, pages):
    """The first column of the tables of docs/names.md, as far as no page of a header has it as a heading or a declaration."""
    for row in re.findall(r"(?m)^\| (`.*?`) \| `\w+\.hpp`", names):
        for name in re.findall(r"`([\w:]+)`", row):
            if not re.search(rf"(?m)^##+ `(?:cubby::)?{name}`$", pages):
                yield f"docs/names.md: `{name}` is in no page of a header: put it into tools/handbook/headers.py"


def rows_without_a_call(xml, texts):
    known = set()
    for names, _ in HEADERS.values():
        for of in filter(None, (compound(xml, name) for name in names)):
            known.update([*calls_of(of), re.sub(r"<.*", "", of.findtext("compoundname")).split("::")[-1].strip()])
    for space in SPACES:
        known.update(member.findtext("name") for member in compound(xml, space).iter("memberdef"))
    known |= {"operator==", "make_table"}
    for page in sorted({page for _, pages in HEADERS.values() for page in pages}):
        for call in rows_of(texts.get(f"api/{page}", "")):
            if name_in(call) is not None and name_in(call) not in known:
                yield f"docs/api/{page}.md: there is no call `{call}`"
