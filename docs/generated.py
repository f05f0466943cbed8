"""The parts of pages that code and benchmark folders decide: costs in docs/models.md, parameters in
docs/parameters.md, papers in CITATION.cff, the modules of a score in docs/architecture.md, and the
scores of baselines in README.md.

Each is between a line with ``begin NAME`` and a line with ``end``. ``python docs/generated.py``
writes them anew, ``python docs/generated.py README.md`` that of one file.
"""

import dataclasses
import inspect
import re
import sys
import typing
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import yaml
from baseline_scores import baselines, seal
from ways import ways

from music_evals import benchmarks
from music_evals.evals import registry
from music_evals.evals.shared.request_counts import requests_of

ROOT = Path(__file__).parents[1]


def costs() -> str:
    """Return the table of what each task sends that runs with its benchmark."""
    lines = ["| task | requests | tokens of prompts | most new tokens |", "|---|---|---|---|"]
    for benchmark in map(benchmarks.load, benchmarks.names()):
        datasets = benchmark.datasets.values()
        if not any("generated" in dataset.sources for dataset in datasets):
            continue
        for task, facts in benchmark.tasks.items():
            if not facts.by_name:
                sent = requests_of(getattr(registry.MODULES[benchmark.name], task)())
                _, texts, most = sent.cells()
                lines.append(f"| `{facts.registry_name}` | {sent.requests} | {texts} | {most} |")
    return "\n".join(lines)


def references() -> str:
    """Return the references of CITATION.cff: each paper once, with the benchmarks that it
    describes.
    """
    papers: dict[str, dict[str, Any]] = {}
    for benchmark in map(benchmarks.load, benchmarks.names()):
        if benchmark.url in papers:
            papers[benchmark.url]["notes"] += f"; {benchmark.title}"
            continue
        papers[benchmark.url] = {
            "type": "article",
            "title": benchmark.paper,
            "notes": benchmark.title,
            "year": benchmark.year,
            "journal": benchmark.venue,
            "url": benchmark.url,
            "authors": list(map(_person, benchmark.authors)),
        }
    entries = {"references": list(papers.values())}
    text: str = yaml.safe_dump(entries, sort_keys=False, allow_unicode=True, width=120)
    return text.rstrip()


def _person(name: str) -> dict[str, str]:
    """An author as the Citation File Format has it."""
    if name == "and others":
        return {"name": name}
    given_names, _, family_names = name.rpartition(" ")
    return {"family-names": family_names, "given-names": given_names}


def parameters() -> str:
    """Return a table of parameters for each group of tasks that have the same ones."""
    titles: dict[Any, list[str]] = {}  # parameters → benchmarks
    tasks: dict[Any, list[str]] = {}
    for benchmark in map(benchmarks.load, benchmarks.names()):
        for task, facts in benchmark.tasks.items():
            function = inspect.unwrap(getattr(registry.MODULES[benchmark.name], task))
            group = typing.get_type_hints(function)["params"]
            titles.setdefault(group, []).append(benchmark.title)
            tasks.setdefault(group, []).append(f"`{facts.registry_name}`")
    sections: list[str] = []
    for group, names in titles.items():
        heading = f"## {', '.join(dict.fromkeys(names))}"
        if heading not in sections:
            sections.append(heading)
        sections += [f"{', '.join(tasks[group])}:", _rows(group)]
    return "\n\n".join(sections)


def _rows(group: Any) -> str:
    texts: dict[str, str] = {}
    for parent in group.__mro__[-2::-1]:
        for name, text in re.findall(
            r"^    (\w+): (.*(?:\n {8}.*)*)", inspect.getdoc(parent) or "", re.MULTILINE
        ):
            texts[name] = " ".join(text.split()).replace("``", "`")
    lines = ["| parameter | default | |", "|---|---|---|"]
    for field in dataclasses.fields(group):
        default = str(field.default).lower() if isinstance(field.default, bool) else field.default
        lines.append(
            f"| `{field.name}` | {'' if default is None else f'`{default}`'} | "
            f"{texts[field.name]} |"
        )
    return "\n".join(lines)


PARTS: Mapping[str, Callable[[], str]] = {
    "docs/models.md": costs,
    "docs/parameters.md": parameters,
    "CITATION.cff": references,
    "docs/architecture.md": ways,
    "README.md": baselines,
}
"""File → what makes its part."""


def updated(name: str) -> str:
    """Return the text of a file with its part made anew."""
    text = (ROOT / name).read_text(encoding="utf-8")
    before, mark, after = re.split(r"(?m)(^\S+ begin \w+.*\n+)", text)
    end = re.search(r"\n+\S+ end.*\n", after)
    assert end, f"{name} has no line with the end of its part"
    part, ending = PARTS[name](), end[0]
    if name == "README.md":
        ending = f"\n<!-- end {seal(part)} -->\n"
    return before + mark + part + ending + after[end.end() :]


if __name__ == "__main__":
    for name in sys.argv[1:] or PARTS:
        (ROOT / name).write_text(updated(name), encoding="utf-8")
