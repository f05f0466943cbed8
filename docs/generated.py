"""The parts of pages that code and benchmark folders decide: costs in docs/models.md, parameters in
docs/parameters.md, papers in CITATION.cff, and the scores of baselines in README.md.

Each is between a line with ``begin NAME`` and a line with ``end``. ``python docs/generated.py``
writes them anew, ``python docs/generated.py README.md`` that of one file.
"""

import dataclasses
import inspect
import re
import sys
import typing
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml
from baseline_scores import baselines, seal

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


NEEDED_FOR = {
    "paper": "abc asking chat encoder human_labels judges language modality n_prompts options pages"
    " prompt protocol refinement_tokens regime shots strategy subset",
    "[validity](validity.md)": "content level stimulus twin",
    "[answers](answers.md)": "answer",
    "[renderings](msu.md#one-question-every-rendering)": "rendering",
    "[training](msu.md#fine-tuning)": "split",
    "[logs](../logs/README.md)": "media",
    "[mirdata](mirdata.md)": "facts",
    "[sound](sound.md)": "allow_partial seconds",
    "[wording](statistics.md#wording)": "prompts",
    "[long prompts](troubleshooting.md)": "max_score_tokens",
    "[judges](msu.md)": "judge_max_tokens",
    "[at scale](at_scale.md)": "cache",
    "[other tools](other_tools.md)": "seed",
    "[generation](lilybench.md)": "attempts",
    "[publishing](publishing.md)": "dataset",
    "report": "levels reference rotations themes",
}
"""Where a parameter comes from or is used: the paper, a page or the report → names."""


def parameters() -> str:
    """Return the parameters that several families of tasks have, then those of each family."""
    families: dict[Any, dict[str, Any]] = {}  # root of the dataclasses → task → its dataclass
    titles: dict[Any, list[str]] = {}
    for benchmark in map(benchmarks.load, benchmarks.names()):
        for task, facts in benchmark.tasks.items():
            function = inspect.unwrap(getattr(registry.MODULES[benchmark.name], task))
            group = typing.get_type_hints(function)["params"]
            families.setdefault(group.__mro__[-2], {})[facts.registry_name] = group
            titles.setdefault(group.__mro__[-2], []).append(benchmark.title)
    tables = {family: _described(tasks) for family, tasks in families.items()}
    counts = Counter(row for rows in tables.values() for row in rows.items())
    shared = dict(row for row in counts if counts[row] > 1)
    sections = ["## Several benchmarks", _table(shared)]
    for family, rows in tables.items():
        own = {
            key: default for key, default in rows.items() if (key, default) not in shared.items()
        }
        others = ", ".join(f"`{name}`" for name, text in rows if (name, text) not in own)
        sections += [f"## {_heading(titles[family])}", f"Those above: {others or 'none'}."]
        sections += [_table(own)]
    return "\n\n".join(sections)


def _heading(titles: Iterable[str]) -> str:
    names = list(dict.fromkeys(titles))
    return ", ".join(names) if len(names) < 4 else "Other sets with sound, pages or scores"


def _described(tasks: Mapping[str, Any]) -> dict[tuple[str, str], str]:
    """Return name and text of each parameter of a family → its default."""
    defaults: dict[tuple[str, str], dict[str, list[str]]] = {}
    for task, group in tasks.items():
        texts = _texts(group)
        for field in dataclasses.fields(group):
            default = (
                str(field.default).lower() if isinstance(field.default, bool) else field.default
            )
            shown = "" if default in (None, "") else f"`{default}`"
            key = (field.name, texts[field.name])
            defaults.setdefault(key, {}).setdefault(shown, []).append(task)
    return {key: _default(by_default, len(tasks)) for key, by_default in defaults.items()}


def _default(by_default: Mapping[str, list[str]], tasks: int) -> str:
    """Return a default, with the tasks that it holds for where others have none or another one."""
    named = len(by_default) > 1 or sum(map(len, by_default.values())) < tasks
    return "; ".join(
        f"{shown} ({', '.join(f'`{task}`' for task in names)})".strip()
        if named and len(names) < 4
        else shown
        for shown, names in by_default.items()
    )


def _texts(group: Any) -> dict[str, str]:
    """Return what the docstrings of a dataclass and its parents say of each parameter."""
    texts: dict[str, str] = {}
    for parent in group.__mro__[-2::-1]:
        for name, text in re.findall(
            r"^    (\w+): (.*(?:\n {8}.*)*)", inspect.getdoc(parent) or "", re.MULTILINE
        ):
            words = " ".join(text.split()).replace("``", "`")
            texts[name] = re.sub(r"\.? See `docs/\w+\.md`|,? as `docs/\w+\.md` explains", "", words)
    return texts


def _table(rows: Mapping[tuple[str, str], str]) -> str:
    needed = {name: word for word, names in NEEDED_FOR.items() for name in names.split()}
    lines = ["| parameter | default | | see |", "|---|---|---|---|"]
    lines += [
        f"| `{name}` | {default} | {text} | {needed.get(name, '')} |"
        for (name, text), default in rows.items()
    ]
    return "\n".join(lines)


PARTS: Mapping[str, Callable[[], str]] = {
    "docs/models.md": costs,
    "docs/parameters.md": parameters,
    "CITATION.cff": references,
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
