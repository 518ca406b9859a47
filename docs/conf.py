"""The site: the pages of this folder, a reference of every public name, and the gallery."""

import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "docs" / "extensions"))

import source_pages  # noqa: E402

import rosenblatt  # noqa: E402

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
REPOSITORY = PROJECT["urls"]["Repository"]
project = "Rosenblatt"
author = "The Rosenblatt developers"
copyright = author  # noqa: A001
version = release = rosenblatt.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "source_pages",
    "sections",
    "commands",
    "rooms",
    "inherited",
    "lab_page",
    "links",
    "mathml",
    "names",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.linkcode",
]
exclude_patterns = ["extensions", "templates"]
templates_path = ["templates"]
nitpicky = True
smartquotes = False  # quotes in types and parameters are Python's

# Pages
myst_heading_anchors = 4
myst_url_schemes = ["http", "https", "mailto", "repository"]
highlight_language = "none"
suppress_warnings = ["myst.header"]  # the changelog begins anew with every version

# Reference
autosummary_generate = True
autosummary_ignore_module_all = False
autodoc_typehints = "none"  # numpydoc's descriptions say more
autodoc_member_order = "bysource"
toc_object_entries_show_parents = "hide"
linkcode_resolve = source_pages.source_of
numpydoc_class_members_toctree = False
numpydoc_show_class_members = False

# Gallery
extensions.append("sphinx_gallery.gen_gallery")
GALLERIES = ["gallery", "course"]
sphinx_gallery_conf = {
    "reset_modules": ("matplotlib", "scripts.strict"),
    "reset_modules_order": "both",
    "parallel": True,
    "examples_dirs": [f"../examples/{name}" for name in GALLERIES],
    "gallery_dirs": GALLERIES,
    "backreferences_dir": "gallery/used",
    "doc_module": ("rosenblatt",),
    "within_subsection_order": "FileNameSortKey",
    "ignore_repr_types": r"matplotlib\.",  # a legend or a title is in the picture
    "remove_config_comments": True,
    "show_signature": False,
    "min_reported_time": 1e9,  # how long it took is no part of an answer
    "write_computation_times": False,
    "default_thumb_file": str(ROOT / "docs" / "plots-boundary.png"),
}
exclude_patterns += [
    f"{name}/**.{ending}" for name in GALLERIES for ending in ("py", "ipynb", "zip")
]

# Look
html_math_renderer = "mathml"
html_theme = "pydata_sphinx_theme"
html_title = f"Rosenblatt {version}"
html_static_path = ["static"]
html_logo = html_favicon = "static/mark.svg"
html_css_files = ["site.css"]
html_show_sourcelink = False
html_show_sphinx = False
html_theme_options = {
    "navbar_center": [],
    "navigation_with_keys": False,
    "show_prev_next": True,
    "use_edit_page_button": False,
    "icon_links": [
        {"name": "Repository", "url": REPOSITORY, "icon": "fa-brands fa-github"},
    ],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"**": ["globaltoc"], "index": [], "changelog": []}  # source_pages has none
