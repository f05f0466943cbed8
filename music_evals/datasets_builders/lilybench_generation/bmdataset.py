"""BMdataset: its labels as works and their entries, and its LilyPond files, if they are at hand.

Title: BMdataset, a musicologically curated LilyPond dataset
Homepage: https://github.com/CSCPadova/lilybert
Source: https://doi.org/10.5281/zenodo.18723290 (files), ``data/labels/labels_v1.json`` of the
repository (labels) Licence: Apache-2.0 (labels)

Expected layout: a folder with ``labels_v1.json`` and the files ``*.ly`` anywhere below it. The keys
of the labels are works, ``NAME_processed.ly``. A file belongs to a work if its own name, or that of
a folder it is in, begins with the work's name.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pydantic

from music_evals.datasets_builders import read_table
from music_evals.datasets_builders.dataset_io import DatasetError
from music_evals.datasets_builders.dataset_io.provenance import format_error
from music_evals.datasets_builders.lilybench.facts import licence_of
from music_evals.datasets_builders.lilybench.rows import LeftOut, not_measured
from music_evals.datasets_builders.lilybench_generation.rows import (
    FULL,
    NOTHING_KNOWN,
    Description,
    Score,
)
from music_evals.datasets_builders.lilybench_generation.works import Entry, Work
from music_evals.notation.lilypond.converters import ConversionError, modernise
from music_evals.notation.lilypond.source import SourceError, read_text
from music_evals.notation.lilypond.syntax.header import read_header
from music_evals.notation.lilypond.syntax.languages import pitch_of

LABELS = "labels_v1.json"

_ENDING = ".ly"
_PROCESSED = "_processed"
_SIGNS: Mapping[Fraction | int, str] = {-1: "-flat", 0: "", 1: "-sharp"}
_MOVEMENT = re.compile(r"([0-9]{1,4}):(.{0,200})", re.DOTALL)
_METRE = re.compile(r"[0-9]{1,3}/[0-9]{1,3}")
_CATALOGUED = re.compile(r"(?<![^ _])(BWV|RV|ZWV)[ _](?:Z_)?([0-9]{1,4})")


class _WorkLabels(pydantic.BaseModel):
    composer: str = ""
    period: str = ""
    musical_form: list[str] = []
    midi_instruments: list[str] = []
    meta: dict[str, dict[str, Any]] = {}  # movement → its labels


_LABELS = pydantic.TypeAdapter(dict[str, _WorkLabels])


class Labels(NamedTuple):
    """The works of the labels, by id, and the content of the file."""

    works: tuple[Work, ...]
    data: bytes


def read_labels(folder: Path) -> Labels:
    """Read the labels in a folder of the layout above; DatasetError says what is wrong with
    them.
    """
    if not folder.is_dir():
        raise DatasetError(f"{folder} is not a folder; one with BMdataset's {LABELS} is needed")
    paths = sorted(folder.rglob(LABELS))
    if len(paths) != 1:
        raise DatasetError(f"{folder} holds {len(paths)} files {LABELS}; exactly one is needed")
    data = paths[0].read_bytes()
    try:
        labels = _LABELS.validate_json(data)
    except pydantic.ValidationError as error:
        raise DatasetError(f"{paths[0]} cannot be read{format_error(error)}") from error
    if not labels:
        raise DatasetError(f"{paths[0]} lists no works; an object with an entry per work is needed")
    names = sorted(map(_name, labels))
    works = (_work(_name(key), work_labels, names) for key, work_labels in labels.items())
    return Labels(tuple(sorted(works, key=lambda work: work.id)), data)


def read_scores(folder: Path, works: Sequence[Work]) -> tuple[list[Score], LeftOut]:
    """Read the works' files, each in the current syntax; files that they include are not read.

    Returns the scores by id, and id → reason for the files that were left out. DatasetError if the
    machine stopped a conversion.
    """
    paths = sorted(path for path in folder.rglob(f"*{_ENDING}") if path.is_file())
    scores = []
    left_out = {}
    read = partial(_read, folder, [work.id for work in works])
    with ThreadPoolExecutor() as pool:
        for path, score in zip(paths, pool.map(read, paths), strict=True):
            if isinstance(score, Score):
                scores.append(score)
            else:
                left_out[_id(folder, path)] = score
    return sorted(scores, key=lambda score: score.id), left_out


def read_file_entries(folder: Path, works: Sequence[Work]) -> list[tuple[str, Entry]]:
    """Return the LilyPond files in a folder, by name, as works and entries to draw prompts from.

    A file has composer, period, form and ensemble of the work with the longest name with which its
    own begins. `part` is the rest of its name, or `FULL`. Nothing else is known of a file that
    belongs to no work.
    """
    descriptions = {work.id: work.entries[0].description for work in works}
    entries = []
    for path in sorted(folder.rglob(f"*{_ENDING}"), key=lambda path: (path.name, path)):
        name = path.stem.removesuffix(_PROCESSED)
        work = _longest(work for work in descriptions if _begins(name, work))
        facts = NOTHING_KNOWN if work is None else descriptions[work]
        rest = "" if work is None else name.removeprefix(work)
        description: Description = {
            **facts,
            "part": _spaced(rest) or FULL,
            "key": None,
            "metre": None,
        }
        entries.append((work or name, Entry(_id(folder, path), description)))
    return entries


def key_name(tonic: object, scale: object) -> str | None:
    """Return the English name of a key, given by the Italian name of its tonic; None if that is not
    possible.
    """
    if not isinstance(tonic, str) or scale not in ("major", "minor"):
        return None
    pitch = pitch_of(tonic, "italiano")
    sign = _SIGNS.get(pitch.alteration) if pitch else None
    return None if pitch is None or sign is None else f"{'CDEFGAB'[pitch.step]}{sign} {scale}"


def ensemble(instruments: Sequence[str]) -> str | None:
    """Return instruments in readable words, each once, in the order of a score; None if there are
    none.
    """
    table = read_table("names/bmdataset.toml")["instruments"]
    words: dict[str, str] = {}
    for name, labels in table.items():
        words |= dict.fromkeys(labels, name)
    order = [name for name, labels in table.items() if labels]
    names = dict.fromkeys(words.get(label, _spaced(label) or "") for label in instruments)
    listed = [name for name in order if name in names]
    further = [name for name in names if name and name not in order]
    return ", ".join(listed + further) or None


def _id(folder: Path, path: Path) -> str:
    return path.relative_to(folder).with_suffix("").as_posix()


def _longest(names: Iterable[str]) -> str | None:
    return max(names, key=len, default=None)


def _read(folder: Path, works: Sequence[str], path: Path) -> Score | str:
    """A score, or the reason why there is none."""
    names = [path.stem, *path.relative_to(folder).parts[:-1]]
    work = _longest(work for work in works if any(_begins(name, work) for name in names))
    if work is None:
        return "it belongs to no work of the labels"
    try:
        text = modernise(read_text(path))
    except (SourceError, ConversionError) as error:
        if isinstance(error, ConversionError) and not error.is_measured:
            raise not_measured([_id(folder, path)]) from error
        return str(error)
    return Score(_id(folder, path), work, text, licence_of(read_header(text)))


def _begins(name: str, work: str) -> bool:
    """Whether the name of a file or folder is that of a work, or begins with it as whole words."""
    name = name.removesuffix(_PROCESSED)
    return name == work or (name.startswith(work) and not name[len(work)].isalnum())


def _name(key: str) -> str:
    return key.removesuffix(_ENDING).removesuffix(_PROCESSED)


def _work(name: str, labels: _WorkLabels, names: Sequence[str]) -> Work:
    catalogue = [f"{match[1]} {match[2]}" for match in _CATALOGUED.finditer(name)]
    longer = [other for other in names if other != name and _begins(name, other)]
    description: Description = {
        **NOTHING_KNOWN,
        "composer": _spaced(labels.composer),
        "period": _spaced(labels.period),
        "form": ", ".join(filter(None, map(_spaced, labels.musical_form))) or None,
        "ensemble": ensemble(labels.midi_instruments),
    }
    entries = [
        _movement(name, title, str(position), movement, description)
        for position, (title, movement) in enumerate(labels.meta.items(), 1)
    ]
    entries = entries or [Entry(name, description)]
    return Work(name, tuple(entries), (*catalogue, *longer))


def _movement(
    work: str, title: str, number: str, labels: Mapping[str, Any], description: Description
) -> Entry:
    """The entry of a movement with a title such as ``2: allegro_molto``, or without a number."""
    if stated := _MOVEMENT.fullmatch(title):
        number, title = stated.groups()
    words = _spaced(title)
    metre = labels.get("time")
    has_metre = isinstance(metre, str) and _METRE.fullmatch(metre)
    movement: Description = {
        **description,
        "part": f"{number}: {words}" if words else number,
        "key": key_name(labels.get("key"), labels.get("scale")),
        "metre": metre if has_metre else None,
    }
    return Entry(f"{work}/{number}", movement)


def _spaced(label: str) -> str | None:
    return " ".join(label.replace("_", " ").split()) or None
