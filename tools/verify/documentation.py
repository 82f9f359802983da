# SPDX-License-Identifier: Apache-2.0
# The documentation in a browser: the front page, the search, dark pages, and each page at the width of a phone.
from suite.documentation import in_browser

TITLE = "the documentation in headless Chromium: search, dark mode, no error, no page wider than a phone"


def run(shell):
    return in_browser(shell)
