"""How the pages become a site: `sphinx-build -W -c docs . build/site`, with the extra `docs`.

The repository itself is the source folder, so that links between the pages, the README files and
the code are the same on the site, on GitHub and on disk.
"""

from music_evals import benchmarks

project = "music-evals"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.viewcode"]
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
root_doc = "docs/index"
include_patterns = [
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "docs/*.md",
    "docs/api/*.md",
    "logs/README.md",
    "perf/README.md",
]
exclude_patterns = [
    ".*",
    "build",
    "data",
    "music_evals",
    "tests",
]  # not searched for pages: large, or linked twice
myst_heading_anchors = 4
html_theme = "furo"
html_title = project
html_copy_source = False
html_show_copyright = False
html_extra_path = ["site"]


def _with_benchmarks(_app: object, page: str, source: list[str]) -> None:
    """Put the list of benchmarks, as their folders have it, where the front page leaves room for
    it.
    """
    lines = ["| benchmark and paper | tasks |", "|---|---|"]
    for facts in map(benchmarks.load, benchmarks.names()):
        tasks = ", ".join(f"`{task.registry_name}`" for task in facts.tasks.values())
        lines.append(f"| {facts.title}: [{facts.paper}]({facts.url}) | {tasks} |")
    if page == root_doc:
        source[0] = source[0].replace("<!-- all benchmarks -->", "\n".join(lines))


def setup(app: object) -> None:
    """Connect it to Sphinx."""
    app.connect("source-read", _with_benchmarks)  # type: ignore[attr-defined]
