# SPDX-License-Identifier: Apache-2.0
# A test in a real browser: headless Chromium opens the pages as a reader would, on a screen, in the dark and on a phone. It is driven by
# its own protocol over two pipes, so nothing else is needed. Whatever a page writes to the console as an error is a failure.
import base64
import json
import os
import shutil
import subprocess
import tempfile
import time

WIDE = {"width": 1280, "height": 900, "deviceScaleFactor": 1, "mobile": False}
WINDOW = {"width": 1060, "height": 900, "deviceScaleFactor": 1, "mobile": False}  # the narrowest with a sidebar, nearly
PHONE = {"width": 390, "height": 844, "deviceScaleFactor": 2, "mobile": True}
SECONDS = 30  # for one page
IS_TOO_WIDE = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
RESULTS = "document.querySelectorAll('#search-results li').length"
IS_SEARCHED = "/found/.test((document.querySelector('.search-summary, #search-results > p') || {}).textContent || '')"


class Failed(Exception):
    """What a reader would see go wrong; one line for each."""


class Browser:
    """One tab. `problems` holds errors of the console and of scripts since the last `open`."""

    def __init__(self):
        self.profile = tempfile.mkdtemp(prefix="cubby-docs-")
        to_browser, self.out = os.pipe()
        self.inward, from_browser = os.pipe()
        command = ["chromium", "--headless=new", "--remote-debugging-pipe", "--no-first-run", "--disable-gpu", "--hide-scrollbars",
                   "--disable-background-networking", f"--user-data-dir={self.profile}", "about:blank"]
        if os.geteuid() == 0:
            command.insert(1, "--no-sandbox")  # Chromium refuses root otherwise

        def place_pipes():  # the browser reads commands from 3 and answers to 4
            ends = os.dup(to_browser), os.dup(from_browser)
            for number, end in zip((3, 4), ends):
                os.dup2(end, number)

        # The copies must not lie at 3 and 4 themselves.
        while to_browser < 5 or from_browser < 5:
            to_browser, from_browser = os.dup(to_browser), os.dup(from_browser)
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                        preexec_fn=place_pipes, close_fds=False)
        os.close(to_browser)
        os.close(from_browser)
        self.number, self.buffer, self.session, self.problems, self.events = 0, b"", None, [], set()
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def end(self):
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)

    def call(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        while True:
            got = self.read()
            if got.get("id") == self.number:
                if "error" in got:
                    raise Failed(f"the browser refuses {method}: {got['error']['message']}")
                return got["result"]

    def read(self):
        """The next message. Those that nobody asked for are noted as well."""
        while b"\0" not in self.buffer:
            part = os.read(self.inward, 1 << 20)
            if not part:
                raise Failed("the browser has ended by itself; does `chromium --headless` run here?")
            self.buffer += part
        text, _, self.buffer = self.buffer.partition(b"\0")
        got = json.loads(text)
        self.events.add(got.get("method"))
        params = got.get("params", {})
        if got.get("method") == "Runtime.exceptionThrown":
            what = params["exceptionDetails"]
            self.problems.append(what.get("exception", {}).get("description") or f"{what['text']} in {what.get('url', 'a script')}")
        if got.get("method") == "Log.entryAdded" and params["entry"]["level"] == "error":
            self.problems.append(f"{params['entry']['text']} {params['entry'].get('url', '')}")
        if got.get("method") == "Runtime.consoleAPICalled" and params["type"] in ("error", "assert"):
            self.problems.append(" ".join(str(one.get("value", one.get("description"))) for one in params["args"]))
        return got

    def look_as(self, screen, dark=False):
        self.call("Emulation.setDeviceMetricsOverride", **screen)
        wanted = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.call("Emulation.setEmulatedMedia", features=wanted)

    def open(self, url):
        self.problems, self.events = [], set()
        self.call("Page.navigate", url=url)
        while "Page.loadEventFired" not in self.events:
            self.read()

    def value(self, expression):
        return self.call("Runtime.evaluate", expression=expression, returnByValue=True)["result"].get("value")

    def wait_for(self, expression):
        """Whether the expression becomes true in time."""
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            if self.value(expression):
                return True
            time.sleep(0.1)
        return False

    def picture(self, path):
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))


def check(folder, shots):
    """Opens the pages below `folder` as files, keeps pictures in `shots`; one line about it. Raises Failed."""
    shutil.rmtree(shots, ignore_errors=True)
    shots.mkdir(parents=True)
    browser = Browser()
    try:
        problems = [*check_pages(browser, folder, shots), *check_search(browser, folder, shots)]
        narrow, pages = check_narrow(browser, folder)
    finally:
        browser.end()
    if problems + narrow:
        raise Failed("\n".join(problems + narrow))
    return f"{pages} pages at the width of a phone, {len(list(shots.iterdir()))} pictures in {shots.name}, no error"


# name of the picture: (page, screen, dark, what must be there)
VIEWS = {
    "front": ("index.html", WIDE, False, ".sidebar-search"),
    "front-dark": ("index.html", WIDE, True, ".theme-toggle"),
    "front-phone": ("index.html", PHONE, False, ".nav-overlay-icon"),
    "call": ("api/changes.html", WIDE, False, "article table td"),
    "call-dark": ("api/changes.html", WIDE, True, ".highlight pre"),
    "call-phone": ("api/changes.html", PHONE, True, ".table-wrapper"),
    "header": ("headers/map.html", WIDE, False, "#all-calls table"),
    "header-phone": ("headers/map.html", PHONE, False, ".table-wrapper"),
    "cookbook": ("cookbook.html", WIDE, False, ".highlight pre"),
    "topic": ("topics/fork.html", WIDE, False, "article table td"),
    "source": ("tree/tests/api/pages.cpp.html", WIDE, False, ".highlight pre"),
}
BACKGROUND = "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).slice(0, 3).map(Number)"


def check_pages(browser, folder, shots):
    for name, (page, screen, dark, wanted) in VIEWS.items():
        browser.look_as(screen, dark)
        browser.open((folder / page).as_uri())
        if not browser.value(f"document.querySelector({json.dumps(wanted)}) !== null"):
            yield f"{page} as {name}: there is no {wanted}"
        brightness = sum(browser.value(BACKGROUND)) / 3
        if (brightness < 128) != dark:
            yield f"{page} as {name}: the background has the brightness {brightness:.0f} of 255"
        browser.picture(shots / f"{name}.png")
        yield from (f"{page} as {name}: {problem}" for problem in browser.problems)


def check_search(browser, folder, shots):
    """A word is typed into the search, and pages are found; one of a word that is nowhere finds none."""
    browser.look_as(WIDE)
    browser.open((folder / "index.html").as_uri())
    browser.call("Runtime.evaluate", expression="document.querySelector('.sidebar-search').focus()")
    browser.events = set()
    browser.call("Input.insertText", text="insert_or_add")
    browser.call("Runtime.evaluate", expression="document.querySelector('.sidebar-search-container').submit()")
    if not browser.wait_for(f"{RESULTS} > 5"):
        yield "the search for insert_or_add finds no more than five pages"
    if not browser.wait_for("[...document.querySelectorAll('#search-results a')].some(a => a.href.includes('api/changes'))"):
        yield "the search for insert_or_add does not find docs/api/changes.md"
    browser.picture(shots / "search.png")
    yield from (f"search: {problem}" for problem in browser.problems)
    browser.open((folder / "search.html").as_uri() + "?q=qwertzuiop")
    if not browser.wait_for("/did not match any/.test(document.body.textContent)"):
        yield "the search for a word that is nowhere does not say so"


def check_narrow(browser, folder):
    """No page is wider than a phone, or than a narrow window that still has the sidebar."""
    problems, pages = [], sorted(folder.rglob("*.html"))
    for page in pages:
        browser.look_as(PHONE)
        browser.open(page.as_uri())
        if browser.value(IS_TOO_WIDE):
            problems.append(f"{page.relative_to(folder)}: wider than a phone; tables and code should scroll in their own frames")
        browser.look_as(WINDOW)
        if browser.value(IS_TOO_WIDE):
            problems.append(f"{page.relative_to(folder)}: wider than a window of {WINDOW['width']} pixels; see tools/handbook/theme")
        problems += [f"{page.relative_to(folder)}: {problem}" for problem in browser.problems]
    return problems, len(pages)
