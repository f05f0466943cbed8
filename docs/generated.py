"""The tables that the code decides: costs in docs/models.md, parameters in docs/parameters.md.

Each is between ``<!-- begin NAME -->`` and ``<!-- end -->`` on its page. ``python
docs/generated.py`` writes them anew.
"""

import dataclasses
import inspect
import re
import typing
from pathlib import Path
from typing import Any

from music_evals import benchmarks
from music_evals.evals import registry
from music_evals.evals.shared.request_counts import requests_of

DOCS = Path(__file__).parent


def costs() -> str:
    """Return the table of what each task sends that runs with its benchmark."""
    lines = ["| task | requests | tokens of prompts | most new tokens |", "|---|---|---|---|"]
    for name in benchmarks.names():
        if not any(
            "generated" in dataset.sources for dataset in benchmarks.load(name).datasets.values()
        ):
            continue
        for task, facts in benchmarks.load(name).tasks.items():
            if not facts.by_name:
                sent = requests_of(getattr(registry.MODULES[name], task)())
                media = (
                    f", {n} {kind}"
                    for n, kind in ((sent.sounds, "sounds"), (sent.pictures, "pictures"))
                    if n
                )
                tokens = f"{sent.tokens:,}" + "".join(media)
                most = f"{sent.new_tokens:,}" if sent.new_tokens else "no limit"
                lines.append(f"| `{facts.registry_name}` | {sent.requests} | {tokens} | {most} |")
    return "\n".join(lines)


def parameters() -> str:
    """Return a table of parameters for each group of tasks that have the same ones."""
    titles: dict[Any, dict[str, None]] = {}  # parameters → benchmarks
    tasks: dict[Any, list[str]] = {}
    for benchmark in map(benchmarks.load, benchmarks.names()):
        for task, facts in benchmark.tasks.items():
            function = inspect.unwrap(getattr(registry.MODULES[benchmark.name], task))
            group = typing.get_type_hints(function)["params"]
            titles.setdefault(group, {})[benchmark.title] = None
            tasks.setdefault(group, []).append(f"`{facts.registry_name}`")
    headings = {group: f"## {', '.join(names)}" for group, names in titles.items()}
    sections: list[str] = []
    for group, heading in headings.items():
        sections += [] if heading in sections else [heading]
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


def with_table(page: str) -> str:
    """Return the text of ``models.md`` or ``parameters.md`` with its table made anew."""
    table = {"models.md": costs, "parameters.md": parameters}[page]()
    before, mark, after = re.split(
        r"(<!-- begin \w+ -->\n\n)", (DOCS / page).read_text(encoding="utf-8")
    )
    return f"{before}{mark}{table}\n\n{after[after.index('<!-- end -->') :]}"


if __name__ == "__main__":
    for page in ("models.md", "parameters.md"):
        (DOCS / page).write_text(with_table(page), encoding="utf-8")
