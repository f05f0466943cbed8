"""Dataset cards: the ``README.md`` that the Hub shows and that `datasets.load_dataset` reads its configs from.

A benchmark's card is a Markdown file in ``cards/``: a YAML header with what never changes (name, tags, task
categories), then a body with ``$placeholders``. What a build decides (licence, configs and their files, counts,
provenance) is filled in here; what is to be said of each source stands in ``cards/<name>-<source>.md``.
"""

from collections.abc import Mapping
from importlib.resources import files
from string import Template
from typing import Any

from huggingface_hub import DatasetCard

from music_evals.datasets_builders.folder.licences import Licence
from music_evals.datasets_builders.folder import PROVENANCE_FILE, Provenance

_FOLDER = "path/to/this/folder"  # in the examples of all cards


def make_card(
    name: str, provenance: Provenance, *, fields: Mapping[str, str], header: Mapping[str, Any] | None = None
) -> str:
    """Fill in a benchmark's card.

    Args:
        name: name of the card's file in ``cards/``, without ``.md``.
        provenance: what was built, with its counts.
        fields: placeholder → text, besides ``$stimuli``, ``$counts`` and ``$provenance``, which are made here.
        header: further entries of the YAML header, such as ``license_name`` and ``license_link``.

    Returns:
        The card: YAML header and Markdown.

    Raises:
        KeyError: the card has a placeholder that nobody fills.

    >>> made = Provenance("muse", "1.0", "generated", "mit", seed=7, counts={"syncopation": {"test": 20}})
    >>> card = make_card("muse", made, fields={"title": "", "homepage": "", "citation": ""})
    >>> DatasetCard(card).data["configs"]  # doctest: +NORMALIZE_WHITESPACE
    [{'config_name': 'syncopation', 'data_files': [{'split': 'test', 'path': 'syncopation/test-*.parquet'}],
      'default': True}]
    """
    cards = files("music_evals.datasets_builders").joinpath("cards")
    card = DatasetCard(cards.joinpath(f"{name}.md").read_text(encoding="utf-8"))
    stimuli = cards.joinpath(f"{name}-{provenance.source}.md").read_text(encoding="utf-8").strip()
    card.data["license"] = provenance.licence
    for key, value in (header or {}).items():
        card.data[key] = value
    card.data["size_categories"] = [_size_category(sum(sum(splits.values()) for splits in provenance.counts.values()))]
    card.data["configs"] = [
        {
            "config_name": config,
            "data_files": [{"split": split, "path": f"{config}/{split}-*.parquet"} for split in splits],
            **({"default": True} if number == 0 else {}),
        }
        for number, (config, splits) in enumerate(provenance.counts.items())
    ]
    card.text = Template(card.text).substitute(
        {**fields, "stimuli": stimuli, "counts": _counts(provenance), "provenance": _provenance(provenance)}
    )
    return str(card)


def publish_card(text: str, repo: str, licence: Licence) -> str:
    """Make a folder's card that of a repository: its examples name it, and it states the licence.

    Args:
        text: the folder's card.
        repo: name of the repository, ``ORG/REPO``.
        licence: what the data is published as.

    Returns:
        The card: YAML header and Markdown.

    >>> card = "---\\nlicense: other\\n---\\n\\nload_dataset('path/to/this/folder')\\n"
    >>> print(publish_card(card, "ORG/songs", Licence("other", "Ask the composer.", "the score", name="by-permission")))
    ---
    license: other
    license_name: by-permission
    ---
    <BLANKLINE>
    load_dataset('ORG/songs')
    <BLANKLINE>
    ## Licence
    <BLANKLINE>
    Ask the composer.
    <BLANKLINE>
    """
    card = DatasetCard(text)
    card.data["license"] = licence.id
    for key, value in (("license_name", licence.name), ("license_link", licence.link)):
        if value is not None:
            card.data[key] = value
    card.text = f"{card.text.replace(_FOLDER, repo).rstrip()}\n\n## Licence\n\n{licence.statement}\n"
    return str(card)


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
    lines.append(f"- checksums of the data files: `{PROVENANCE_FILE}`")
    return "\n".join(lines)


def _size_category(rows: int) -> str:
    """Return the Hub's name for a number of rows."""
    bounds = [(1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M")]
    return next((name for bound, name in bounds if rows < bound), "n>1M")
