# SPDX-License-Identifier: Apache-2.0
# The documentation: that it builds without a warning, and, in `make verify`, that it looks well in a browser.
import re

from .shell import Failure, Skip, need

BUILD_DOCS = ["python3", "tools/build_docs.py"]


def documentation(shell):
    """Each call of each public header is in a table of docs/api; each link and anchor leads somewhere; no warning."""
    need("doxygen")
    return build(shell, "build it", BUILD_DOCS)


def in_browser(shell):
    need("doxygen", "chromium")
    shell.run("test_docs_browser.py", ["python3", "tools/test_docs_browser.py"])
    return build(shell, "build it and open it", [*BUILD_DOCS, "--check"])


def build(shell, step, command):
    try:
        output = shell.run(step, command)
    except Failure as failure:
        if "ended with 2;" in str(failure):  # its status where a tool cannot be had
            raise Skip("a tool of the documentation cannot be had here: is PyPI reached?") from failure
        raise
    lines = re.findall(r"^documentation: (\d+ pages.*)$", output, re.MULTILINE)
    if not lines:
        raise Failure("tools/build_docs.py did not say how many pages it made")
    return "; ".join(lines)
