# SPDX-License-Identifier: Apache-2.0
# The links of the finished pages: each leads to a file that is there, and to a part of it that has that name.
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """The names of the parts of a page, and what it refers to."""

    def __init__(self, text):
        super().__init__()
        self.names, self.links = {"", "top"}, set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        self.names.update(filter(None, (values.get("id"), values.get("name"))))
        self.links.update(filter(None, (values.get("href"), values.get("src"))))


def dead_links(folder):
    """A line for each link of a page below `folder` that leads nowhere."""
    folder = Path(folder).resolve()
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in sorted(folder.rglob("*.html"))}
    for path, page in pages.items():
        for link in sorted(page.links):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            where = path.relative_to(folder)
            if not target.is_relative_to(folder) or not target.is_file():
                yield f"{where}: {link} leads nowhere"
            elif target in pages and unquote(parts.fragment) not in pages[target].names:
                yield f"{where}: {link}: no part of that page has this name"
