"""Dataset cards: the ``README.md`` that the Hub shows and that `datasets.load_dataset` reads its
configs from.

``card.md`` in a benchmark's folder has a YAML header with what never changes (tags, task
categories) and a body with ``$placeholders``; ``card-SOURCE.md`` describes the data of each source.
This module fills in the rest.
"""

from collections.abc import Sequence
from importlib.resources import files
from string import Template
from typing import Any

from music_evals.benchmarks import Source, dataset_facts, load
from music_evals.datasets_builders.dataset_io.provenance import (
    EVAL_FILE,
    PROMPTED,
    PROVENANCE_FILE,
    Provenance,
    canary,
    source_facts,
)

_FOLDER = "path/to/this/folder"  # in the examples of all cards
# The Hub's names.
_SIZES = {
    "n<1K": 1_000,
    "1K<n<10K": 10_000,
    "10K<n<100K": 100_000,
    "100K<n<1M": 1_000_000,
}


def make_card(provenance: Provenance) -> str:
    """Fill in the card of a dataset from the card in its benchmark's folder."""
    from huggingface_hub import DatasetCard

    facts = dataset_facts(provenance.benchmark)
    source = source_facts(provenance.benchmark, provenance.source)
    benchmark = load(facts.benchmark)
    card = DatasetCard(facts.card())
    total = sum(sum(splits.values()) for splits in provenance.counts.values())
    configs = [
        _config(config, {split: f"{config}/{split}-*.parquet" for split in splits})
        for config, splits in provenance.counts.items()
    ]
    configs[0]["default"] = True
    vars(card.data).update(  # entries that are None are left out of the card
        pretty_name=source.title,
        language=list(source.language),
        license=provenance.licence,
        license_name=source.licence_name,
        license_link=source.link,
        size_categories=[next((name for name, limit in _SIZES.items() if total < limit), "n>1M")],
        configs=configs,
    )
    counts = ["| config | split | rows |", "|---|---|---|"]
    for config, splits in provenance.counts.items():
        counts += [f"| `{config}` | `{split}` | {rows} |" for split, rows in splits.items()]
    if provenance.decontamination is not None:
        card.text = files(__package__).joinpath("training_card.md").read_text("utf-8")
        card.data["tags"] = ["music", "training"]
    card.text = Template(card.text).substitute(
        config=next(iter(provenance.counts)),
        pretty_name=source.title,
        title=benchmark.paper,
        homepage=benchmark.homepage,
        citation=benchmark.citation.strip(),
        stimuli=facts.card(provenance.source).strip(),
        counts="\n".join(counts),
        provenance="\n".join(_provenance_lines(provenance)),
    )
    return str(card)


def publish_card(text: str, repo: str, terms: Source, benchmark: str, tasks: Sequence[str]) -> str:
    """Adapt a folder's card to a repository: put its name into the examples, and add how to run the
    tasks.

    `terms` are those under which the data is published; `tasks` are the splits of the config with
    rendered prompts.
    """
    from huggingface_hub import DatasetCard

    card = DatasetCard(text)
    vars(card.data).update(
        license=terms.licence, license_name=terms.licence_name, license_link=terms.link
    )
    sections = [card.text.replace(_FOLDER, repo).rstrip()]
    if tasks:
        paths = {task: f"{PROMPTED}/{task}-*.parquet" for task in tasks}
        card.data["configs"] = [*card.data["configs"], _config(PROMPTED, paths)]
        names = {"config": PROMPTED, "file": EVAL_FILE, "benchmark": benchmark, "repo": repo}
        section = Template(files(__package__).joinpath("run_section.md").read_text("utf-8"))
        sections.append(section.substitute(names, tasks=", ".join(tasks), first=tasks[0]).rstrip())
    card.text = "\n\n".join([*sections, "## Licence", terms.statement]) + "\n"
    return str(card)


def _config(name: str, paths: dict[str, str]) -> dict[str, Any]:
    return {
        "config_name": name,
        "data_files": [{"split": split, "path": path} for split, path in paths.items()],
    }


def _provenance_lines(provenance: Provenance) -> list[str]:
    entries = {
        "builder": f"music-evals, `{provenance.benchmark}` version {provenance.builder_version}",
        "source": provenance.source,
        "source revision": provenance.source_revision,
        "SHA-256 over the source files": provenance.source_sha256,
        "seed": provenance.seed,
        **{f"made with {name}": value for name, value in provenance.made_with.items()},
    }
    lines = [f"- {name}: {value}" for name, value in entries.items() if value is not None]
    if provenance.missing:
        lines.append("- built from a partial copy, which lacks these files:")
        for config, names in provenance.missing.items():
            lines += [f"    - {f'`{config}`: ' if config else ''}`{name}`" for name in names]
    if provenance.anomalies:
        lines.append("- what is odd in the source, counted:")
        lines += [f"    - {anomaly}: {count}" for anomaly, count in provenance.anomalies.items()]
    if (check := provenance.decontamination) is None:
        lines.append(f"- {canary(provenance.benchmark)}")
    else:
        lines.append(
            f"- decontamination: {check.checked} rows, works or tunes compared, {check.dropped} "
            "dropped:"
        )
        lines += [
            f"    - {name}, {n['rows']} rows: {n['dropped']} dropped"
            for name, n in check.tests.items()
        ]
    return [*lines, f"- checksums of the data files: `{PROVENANCE_FILE}`"]
