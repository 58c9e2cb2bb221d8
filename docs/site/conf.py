"""How Sphinx builds the pages that build.py puts together."""

import re
from typing import Any

from sphinx.application import Sphinx

project = "OpTCP"
author = "The OpTCP developers"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 6
napoleon_google_docstring = False
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
python_use_unqualified_type_names = True
highlight_language = "console"

html_theme = "furo"
html_title = "OpTCP"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_js_files = [(name, {"defer": "defer"}) for name in ("icons.js", "summaries.js", "site.js")]
html_copy_source = False
html_show_copyright = False
# A page that is opened as a file may not fetch others; site.js shows the beginnings of pages that build.py collects.
html_show_search_summary = False


def setup(app: Sphinx) -> None:
    """Have menus open at the current section only: with all of them every page would be twice as large.

    The page of names lists its many parts, so that menus need not.
    """

    def closed(_: Sphinx, page: str, __: str, context: dict[str, Any], ___: object) -> None:
        depth = {"maxdepth": 1} if page.startswith("reference/names") else {}
        if full := context.get("toctree"):
            context["toctree"] = lambda **options: full(**{**options, "collapse": True, **depth})

    app.connect("html-page-context", closed, priority=1)

    def escaped(_: Sphinx, __: str, ___: str, ____: object, _____: object, lines: list[str]) -> None:
        """Napoleon copies annotations as text, in which the name np.bool_ would be a link."""
        lines[:] = [re.sub(r"_\b(?!_)", r"\\_", line) if line.startswith(":type ") else line for line in lines]

    app.connect("autodoc-process-docstring", escaped, priority=1000)
