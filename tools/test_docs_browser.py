#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# The test in the browser finds what a reader would see go wrong: an error of a script, a picture that is missing, a page that is wider
# than a phone. It needs Chromium.
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from handbook import browser  # noqa: E402

HEAD = '<!doctype html><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">'


class Narrow(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.browser = browser.Browser()

    @classmethod
    def tearDownClass(cls):
        cls.browser.end()

    def problems(self, body):
        with tempfile.TemporaryDirectory() as name:
            (Path(name) / "page.html").write_text(HEAD + body)
            found, pages = browser.check_narrow(self.browser, Path(name))
            self.assertEqual(pages, 1)
            return found

    def test_a_good_page_has_none(self):
        self.assertEqual(self.problems("<p>text</p>"), [])
        self.assertEqual(self.problems('<div style="overflow-x:auto"><div style="width:900px">a wide table</div></div>'), [])

    def test_a_wide_page_is_found(self):
        self.assertIn("wider than a phone", "".join(self.problems('<div style="width:900px">x</div>')))

    def test_a_page_that_only_a_window_cuts_off_is_found(self):
        found = self.problems('<style>@media (min-width: 600px) { div { width: 1200px } }</style><div>x</div>')
        self.assertEqual(len(found), 1)
        self.assertIn("wider than a window", found[0])

    def test_errors_are_found(self):
        self.assertIn("no such thing", "".join(self.problems('<script>console.error("no such thing")</script>')))
        self.assertIn("gone", "".join(self.problems("<script>gone.thing()</script>")))
        self.assertIn("gone.css", "".join(self.problems('<link rel="stylesheet" href="gone.css">')))

    def test_errors_belong_to_their_page(self):
        self.problems("<script>gone.thing()</script>")
        self.assertEqual(self.problems("<p>text</p>"), [])


class Views(unittest.TestCase):
    def test_pages_without_their_parts_are_found(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            for page, *_ in browser.VIEWS.values():
                (folder / page).parent.mkdir(parents=True, exist_ok=True)
                (folder / page).write_text(HEAD + "<body style='background:white'><p>text</p>")
            one = browser.Browser()
            try:
                found = list(browser.check_pages(one, folder, folder))
            finally:
                one.end()
        self.assertEqual(sum("there is no" in line for line in found), len(browser.VIEWS))
        self.assertEqual(sum("brightness" in line for line in found), sum(dark for _, _, dark, _ in browser.VIEWS.values()))


if __name__ == "__main__":
    unittest.main()
