#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# What tools/build_docs.py makes of a small repository: links lead to the same things as before, what is missing is named, no page is
# lost. It needs neither Doxygen nor Sphinx.
import re
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from handbook import navigation, reference  # noqa: E402
from handbook.headers import HEADERS  # noqa: E402
from handbook.links import dead_links  # noqa: E402
from handbook.pages import Missing, Pages, page_of, write_all  # noqa: E402
from handbook.tools import REQUIREMENTS  # noqa: E402
from house.tree import list_files  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
SPDX = "<!-- SPDX-License-Identifier: Apache-2.0 -->\n"


def pages(files):
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            path = Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return Pages(folder, iter(files)).texts


class Names(unittest.TestCase):
    def test_a_name_without_a_page_of_its_header_is_named(self):
        names = "| name | header | what it is |\n|---|---|---|\n| `map`, `pmr::set` | `map.hpp` | x |\n| `rcu::lost` | `rcu.hpp` | y |\n"
        found = list(reference.names_without_a_page(names, "## `cubby::map`\n\n## `cubby::pmr::set`\n"))
        self.assertEqual(len(found), 1)
        self.assertIn("`rcu::lost`", found[0])


class Links(unittest.TestCase):
    def link_in(self, text, **more):
        texts = pages({"docs/a/page.md": SPDX + text, "docs/other.md": "# Other\n", "README.md": "# Top\n", "tests/one.cpp": "int x;\n",
                       "include/cubby/map.hpp": "", **more})
        return texts["a/page"]

    def test_pages_keep_their_anchors(self):
        self.assertEqual(self.link_in("[x](../other.md#part)"), "[x](../other.md#part)")
        self.assertEqual(self.link_in("[x](#part) [y](https://example.org/a.md)"), "[x](#part) [y](https://example.org/a.md)")

    def test_files_outside_of_the_documentation_have_pages(self):
        self.assertEqual(self.link_in("[x](../../README.md)"), "[x](../tree/README.md)")
        self.assertEqual(self.link_in("[x](../../tests/one.cpp) [f](../../tests)"), "[x](../tree/tests/one.cpp.md) [f](../tree/tests.md)")

    def test_public_headers_lead_to_their_reference(self):
        self.assertEqual(self.link_in("[x](../../include/cubby/map.hpp)"), "[x](../headers/map.md)")

    def test_code_is_no_link(self):
        for text in ("`[](int n) { return f(n); }](nowhere.md)`", "```cpp\nauto f = [](x.md) {};\n```"):
            self.assertEqual(self.link_in(text), text)

    def test_a_link_with_code_in_its_text_is_one(self):
        self.assertEqual(self.link_in("[`a` b](../../README.md)"), "[`a` b](../tree/README.md)")

    def test_what_is_missing_is_named(self):
        for text in ("[x](../gone.md)", "<!-- code: examples/gone.cpp -->"):
            with self.assertRaisesRegex(Missing, "docs/a/page.md.*gone"):
                self.link_in(text)

    def test_code_is_included_without_its_licence_line(self):
        text = self.link_in("<!-- code: examples/x.cpp -->", **{"examples/x.cpp": "// SPDX-License-Identifier: Apache-2.0\nint y;\n"})
        self.assertEqual(text, "```cpp\nint y;\n```")

    def test_a_source_page_has_the_source(self):
        texts = pages({"docs/page.md": "[x](../tests/one.cpp)", "tests/one.cpp": "int x;\n"})
        self.assertIn("int x;", texts["tree/tests/one.cpp"])


class FinishedLinks(unittest.TestCase):
    def dead(self, body):
        with tempfile.TemporaryDirectory() as name:
            (Path(name) / "a").mkdir()
            (Path(name) / "a/one.html").write_text('<h1 id="top-part">x</h1>')
            (Path(name) / "two.html").write_text(body)
            return list(dead_links(name))

    def test_those_that_lead_somewhere_pass(self):
        self.assertEqual(self.dead('<a href="a/one.html#top-part">x</a><a href="#">y</a><a href="https://example.org/">z</a>'), [])

    def test_files_and_names_that_are_not_there_are_found(self):
        self.assertEqual(self.dead('<a href="a/one.html#gone">x</a>'), ["two.html: a/one.html#gone: no part of that page has this name"])
        self.assertEqual(self.dead('<img src="a/gone.png">'), ["two.html: a/gone.png leads nowhere"])
        self.assertEqual(self.dead('<a href="../../outside.html">x</a>'), ["two.html: ../../outside.html leads nowhere"])


class Writing(unittest.TestCase):
    def test_old_pages_go_and_the_same_stay_untouched(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            write_all({"a": "1", "b/c": "2"}, folder)
            before = (folder / "a.md").stat().st_mtime_ns
            write_all({"a": "1"}, folder)
            self.assertEqual([str(p.relative_to(folder)) for p in folder.rglob("*.md")], ["a.md"])
            self.assertEqual((folder / "a.md").stat().st_mtime_ns, before)


class Navigation(unittest.TestCase):
    def test_each_page_of_the_documentation_is_in_the_margin_once(self):
        files = [name for name in list_files(ROOT) if name.endswith(".md") and (ROOT / name).exists()]
        names = {page_of(name) for name in files} | {"headers", *(f"headers/{header}" for header in HEADERS)}
        planned = [one for _, section in navigation.plan(names) for name, below in section for one in (name, *below)]
        self.assertEqual(len(planned), len(set(planned)))
        wanted = {name for name in names if not name.startswith("tree/")} - {"index"}
        self.assertEqual(wanted - set(planned), set())

    def test_a_new_page_comes_into_the_last_section(self):
        title, section = navigation.plan({"index", "brand-new"})[-1]
        self.assertEqual((title, section), ("The project", [("brand-new", [])]))

    def test_a_page_of_no_tree_says_so(self):
        texts = {"index": "# I\n", "start": "# S\n", "tree/x/README": "# X\n"}
        navigation.add_trees(texts)
        self.assertIn("/start", texts["index"])
        self.assertTrue(texts["tree/x/README"].startswith("---\norphan: true"))


TABLE = "| call | meaning | cost |\n|---|---|---|\n| `find(k)`, `h.find_ref(k)` | a copy \\| more | O(1) |\n\n| call | throws |\n|---|---|\n| `find(k)` | no |\n"
CLASS = """<compounddef kind="class"><compoundname>cubby::map</compoundname><sectiondef kind="public-func">
<memberdef kind="function"><type>bool</type><name>find</name><argsstring>(int k) const</argsstring>
<detaileddescription><para>Looks at <computeroutput>a&lt;b&gt;</computeroutput> &lt;c&gt;.</para></detaileddescription></memberdef>
<memberdef kind="function"><type/><name>map</name><argsstring>(const map &amp;)=delete</argsstring></memberdef>
<memberdef kind="function"><type>int</type><name>context</name><argsstring>()</argsstring></memberdef>
</sectiondef></compounddef>"""


class Reference(unittest.TestCase):
    def setUp(self):
        self.of = ElementTree.fromstring(CLASS)

    def test_rows_of_two_tables_are_joined(self):
        rows = reference.rows_of(TABLE)
        self.assertEqual(rows["find(k)"], {"meaning": "a copy \\| more", "cost": "O(1)", "throws": "no"})
        self.assertEqual(reference.name_in("h.find_ref(k)"), "find_ref")
        self.assertEqual(reference.name_in("co_await m.async_find(k)"), "async_find")
        self.assertEqual(reference.name_in("to<Container>()"), "to")

    def test_calls_are_those_of_users(self):
        self.assertEqual(reference.calls_of(self.of), ["find"])

    def test_comments_become_text_that_is_no_markup(self):
        lines = reference.section_of("`map`", self.of, reference.public_members(self.of))
        self.assertIn("Looks at `a<b>` \\<c>.", lines)
        self.assertIn("bool find(int k) const;", lines)

    def test_a_call_without_a_row_and_a_row_without_a_column_are_problems(self):
        _, problems = reference.table_of("map", [self.of], ["lookups"], {})
        self.assertEqual(problems, ["include/cubby/map.hpp: no table of docs/api has a row of `find`"])
        lines, problems = reference.table_of("map", [self.of], ["lookups"], {"api/lookups": TABLE})
        self.assertIn("docs/api/lookups.md: `find(k)` has no column `waits for`", problems)
        self.assertTrue(lines[2].startswith("| [`find(k)`](../api/lookups.md) |"))

    def test_links_of_cells_lead_to_the_same_pages(self):
        self.assertEqual(reference.relative("[x](../api.md#a) [y](scans.md) [z](#part)", "space"),
                         "[x](../api/../api.md#a) [y](../api/scans.md) [z](../api/space.md#part)")


class Claims(unittest.TestCase):
    def test_each_test_that_a_topic_names_is_there(self):
        text = "".join(path.read_text() for folder in ("tests", "include", "fuzz") for path in (ROOT / folder).rglob("*.[ch]pp"))
        known = set(re.findall(r"\w+", text))
        for page in sorted((ROOT / "docs/topics").glob("*.md")):
            for name in re.findall(r"`([a-z0-9]+(?:_[a-z0-9]+){2,})`", page.read_text()):
                self.assertIn(name, known, page.name)


class Packages(unittest.TestCase):
    def test_each_package_from_pypi_is_explained_and_has_its_version(self):
        page = (ROOT / "docs/dependencies.md").read_text()
        for line in REQUIREMENTS.read_text().split("\n"):
            if line and not line.startswith("#"):
                name, version = re.fullmatch(r"([\w-]+)==([\w.]+)", line).groups()
                self.assertIn(f"`{name}`", page)
                self.assertTrue(version)


if __name__ == "__main__":
    unittest.main()
