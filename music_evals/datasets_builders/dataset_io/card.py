"""Dataset cards: the ``README.md`` that the Hub shows and that `datasets.load_dataset` reads its configs from.

``card.md`` in a benchmark's folder has a YAML header with what never changes (tags, task categories) and a body with
``$placeholders``; what is to be said of each source stands in ``card-SOURCE.md``. The rest is filled in here.
"""

from collections.abc import Sequence
from string import Template
from typing import Any, Final

from huggingface_hub import DatasetCard

from music_evals.benchmarks import Source, dataset_facts, load
from music_evals.datasets_builders.dataset_io.provenance import (
    EVAL_FILE,
    PROMPTED,
    PROVENANCE_FILE,
    Provenance,
    canary,
)

_FOLDER: Final = "path/to/this/folder"  # in the examples of all cards
_RUN: Final = """\
## Run it

Inspect AI runs the config `$config` without any other package, as `$file` says, all tasks or one of $tasks:

```bash
pip install inspect-ai datasets
inspect eval hf/$repo --model openai/gpt-4o
inspect eval hf/$repo/$first --model openai/gpt-4o
```

The config holds the prompts of the tasks with text, one at a time and without examples. Sound, pages, other conditions
and all metrics need music-evals. Its scorers read more forms of answers than those of `$file`.

```bash
inspect eval music_evals/${benchmark}_$first -T dataset=hf://datasets/$repo --model openai/gpt-4o
```"""


def make_card(provenance: Provenance) -> str:
    """Fill in the card of a dataset, which its benchmark's folder holds."""
    facts = dataset_facts(provenance.benchmark)
    about, source = load(facts.benchmark), facts.sources[provenance.source]
    card = DatasetCard(facts.card())
    header = {
        "pretty_name": source.title,
        "language": list(source.language),
        "license": provenance.licence,
        "license_name": source.licence_name,
        "license_link": source.link,
        "size_categories": [_size_category(sum(sum(splits.values()) for splits in provenance.counts.values()))],
        "configs": [
            {
                "config_name": config,
                "data_files": [{"split": split, "path": f"{config}/{split}-*.parquet"} for split in splits],
                **({"default": True} if number == 0 else {}),
            }
            for number, (config, splits) in enumerate(provenance.counts.items())
        ],
    }
    _state(card, **header)
    card.text = Template(card.text).substitute(
        pretty_name=source.title,
        title=about.paper,
        homepage=about.homepage,
        citation=about.citation.strip(),
        stimuli=facts.card(provenance.source).strip(),
        counts=_counts(provenance),
        provenance=_provenance(provenance),
    )
    return str(card)


def publish_card(text: str, repo: str, licence: Source, benchmark: str, prompted: Sequence[str] = ()) -> str:
    """Make a folder's card that of a repository: its examples name it, it says how to run it, and states the licence.

    `prompted` are the paths of the files with rendered prompts.
    """
    card = DatasetCard(text)
    _state(card, license=licence.licence, license_name=licence.licence_name, license_link=licence.link)
    splits = {path.partition("/")[2].partition("-")[0]: path.replace("00000-of-00001", "*") for path in prompted}
    if splits:
        files = [{"split": split, "path": path} for split, path in splits.items()]
        card.data["configs"] = [*card.data["configs"], {"config_name": PROMPTED, "data_files": files}]
    named = {"first": next(iter(splits), ""), "config": PROMPTED, "file": EVAL_FILE, "benchmark": benchmark}
    run = Template(_RUN).substitute(repo=repo, tasks=", ".join(splits), **named)
    parts = [card.text.replace(_FOLDER, repo).rstrip(), *([run] if splits else [])]
    card.text = "\n\n".join([*parts, "## Licence", licence.statement]) + "\n"
    return str(card)


def _state(card: DatasetCard, **header: Any) -> None:
    for key, value in header.items():
        if value is not None:
            card.data[key] = value


def _counts(provenance: Provenance) -> str:
    lines = ["| config | split | rows |", "|---|---|---|"]
    lines += [
        f"| `{config}` | `{split}` | {rows} |"
        for config, splits in provenance.counts.items()
        for split, rows in splits.items()
    ]
    return "\n".join(lines)


def _provenance(provenance: Provenance) -> str:
    facts: dict[str, object] = {
        "builder": f"music-evals, `{provenance.benchmark}` version {provenance.builder_version}",
        "source": provenance.source,
        "source revision": provenance.source_revision,
        "SHA-256 over the source files": provenance.source_sha256,
        "seed": provenance.seed,
        **{f"made with {what}": which for what, which in provenance.made_with.items()},
    }
    lines = [f"- {name}: {value}" for name, value in facts.items() if value is not None]
    if provenance.missing:
        lines.append(f"- built from a partial copy, which lacks {len(provenance.missing)} files:")
        lines += [f"    - `{name}`" for name in provenance.missing]
    if provenance.anomalies:
        lines.append("- what is odd in the source, counted:")
        lines += [f"    - {what}: {count}" for what, count in provenance.anomalies.items()]
    lines.append(f"- {canary(provenance.benchmark)}")
    lines.append(f"- checksums of the data files: `{PROVENANCE_FILE}`")
    return "\n".join(lines)


def _size_category(rows: int) -> str:
    """Return the Hub's name for a number of rows."""
    bounds = [(1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M")]
    return next((name for bound, name in bounds if rows < bound), "n>1M")
