"""How `make docs` builds the site; CONTRIBUTING says what lives where."""

import sys
from pathlib import Path

import multiauc

sys.path.insert(0, str(Path(__file__).parent / "_site"))

project = "multiauc"
author = "the multiauc developers"
version = release = multiauc.__version__
language = "en"

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_copybutton",
    "sphinx_design",
    "formulas",
    "names",
    "reference_index",
    "repository",
]
exclude_patterns = ["_site"]
nitpicky = True
# References at the end of a docstring are read, not cited.
suppress_warnings = ["ref.citation"]

# Names in single backquotes: `names` links those that are public.
default_role = "literal"
autosummary_generate = False
autodoc_default_options = {
    "members": True,
    "inherited-members": "object,tuple,Mapping,dict,_BaseScorer,_MetadataRequester",
    "member-order": "bysource",
}
autodoc_mock_imports = ["pyspark"]
autodoc_typehints = "none"
autodoc_preserve_defaults = True
numpydoc_show_class_members = False
numpydoc_attributes_as_param_list = True
add_module_names = False
python_display_short_literal_types = True
python_maximum_signature_line_length = 80

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4
myst_links_external_new_tab = False

html_theme = "furo"
html_title = f"multiauc {version}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_search_scorer = str(Path(__file__).parent / "_site" / "scorer.js")
html_math_renderer = "svg"
html_copy_source = False
html_show_copyright = False
html_show_sourcelink = False
# Extracts of the pages found would be fetched, which browsers forbid for files on the disk.
html_show_search_summary = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#0b5c8a", "color-brand-content": "#0b5c8a"},
    "dark_css_variables": {"color-brand-primary": "#6cb8e6", "color-brand-content": "#6cb8e6"},
}
copybutton_exclude = ".linenos, .gp, .go"
copybutton_prompt_text = "$ "
copybutton_only_copy_prompt_lines = False
