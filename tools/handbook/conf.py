# SPDX-License-Identifier: Apache-2.0
# The configuration of Sphinx: Markdown by MyST, the theme Furo, everything in files of our own, so that it works without a network.
import os

project = "cubby"
version = release = os.environ.get("CUBBY_DOCS_VERSION", "")
copyright = "The cubby maintainers, Apache-2.0"  # the name is Sphinx's
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
root_doc = "index"
highlight_language = "none"
pygments_style = "friendly"
pygments_dark_style = "github-dark"
myst_heading_anchors = 6
  # the anchors of MyST are those that the links of the repository use
html_theme = "furo"
html_title = f"cubby {version}".strip()
html_static_path = ["_static"]
html_css_files = ["handbook.css"]
html_js_files = ["offline.js"]
html_copy_source = False
html_show_sphinx = False
html_theme_options = {"sidebar_hide_name": False, "navigation_with_keys": True}
