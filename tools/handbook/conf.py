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

trees = {}  # of the pages that are in no tree, by folder


def keep_tree(app, name, template, context, doctree):
    """No entry of the margin is marked on a page that is in no tree, so all such pages of a folder have the same margin. Making it takes half of
    the time of a build otherwise."""
    make = context.get("toctree")
    if make is None or "orphan" not in app.env.metadata.get(name, {}):
        return

    def kept(**how):
        key = (name.rpartition("/")[0], *sorted(how.items()))
        if key not in trees:
            trees[key] = make(**how)
        return trees[key]

    context["toctree"] = kept


def setup(app):
    app.connect("html-page-context", keep_tree, priority=100)  # before the theme asks for the tree
