"""How the pages become a site: `sphinx-build -W -c docs . build/site`, with the extra `docs`.

The repository itself is the source folder, so that links between the pages, the README files and the code are the same
on the site, on GitHub and on disk.
"""

project = "music-evals"
extensions = ["myst_parser"]
root_doc = "docs/index"
include_patterns = ["README.md", "CHANGELOG.md", "docs/*.md", "logs/README.md", "perf/README.md"]
exclude_patterns = [".*", "build", "data", "music_evals", "tests"]  # not searched for pages: large, or linked twice
myst_heading_anchors = 4
html_theme = "furo"
html_title = project
html_copy_source = False
html_show_copyright = False
html_extra_path = ["site"]
