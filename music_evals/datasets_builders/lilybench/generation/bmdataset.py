"""BMdataset: its labels as works and their entries, and its LilyPond files where they are at hand.

Title: BMdataset, a musicologically curated LilyPond dataset
Homepage: https://github.com/CSCPadova/lilybert
Source: https://doi.org/10.5281/zenodo.18723290 (files), ``data/labels/labels_v1.json`` of the repository (labels)
Licence: Apache-2.0 (labels)

Expected layout: a folder with ``labels_v1.json`` and the files ``*.ly`` anywhere beneath. The labels' keys are works,
``NAME_processed.ly``; a file belongs to the work whose name its own name, or that of a folder it is in, begins with.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, NamedTuple

from music_evals.datasets_builders import read_table
from music_evals.datasets_builders.dataset_io import DatasetError
from music_evals.datasets_builders.lilybench.facts import licence_of
from music_evals.datasets_builders.lilybench.generation.rows import FULL, Description, Score
from music_evals.datasets_builders.lilybench.generation.works import Entry, Work
from music_evals.datasets_builders.lilybench.rows import not_measured
from music_evals.notation.lilypond.converters import ConversionError
from music_evals.notation.lilypond.source import SourceError, included_names, read_text, resolve_includes
from music_evals.notation.lilypond.syntax.header import read_header
from music_evals.notation.lilypond.syntax.languages import pitch_of
from music_evals.notation.lilypond.upgrade import upgrade

LABELS: Final = "labels_v1.json"

_ENDING: Final = ".ly"
_PROCESSED: Final = "_processed"
_LETTERS: Final = "CDEFGAB"
_SIGNS: Final[Mapping[int, str]] = {-1: "-flat", 0: "", 1: "-sharp"}
_MOVEMENT: Final = re.compile(r"([0-9]{1,4}):(.{0,200})", re.DOTALL)
_METRE: Final = re.compile(r"[0-9]{1,3}/[0-9]{1,3}")
_CATALOGUED: Final = re.compile(r"(?<![^ _])(BWV|RV|ZWV)[ _](?:Z_)?([0-9]{1,4})")
_LISTS: Final = ("musical_form", "midi_instruments")
_TEXTS: Final = ("composer", "period")
_NOTHING: Final[Description] = {
    "composer": None,
    "period": None,
    "form": None,
    "ensemble": None,
    "part": None,
    "key": None,
    "metre": None,
}


class Labels(NamedTuple):
    """What the labels say: works in the order of their names, and the file as it is."""

    works: tuple[Work, ...]
    data: bytes


def read_labels(folder: Path) -> Labels:
    """Read the labels that lie beneath a folder in the layout above; DatasetError says what is wrong with them."""
    if not folder.is_dir():
        raise DatasetError(f"{folder} is not a folder; one with BMdataset's {LABELS} is needed")
    found = sorted(folder.rglob(LABELS))
    if len(found) != 1:
        raise DatasetError(f"{folder} holds {len(found)} files {LABELS}; exactly one is needed")
    data = found[0].read_bytes()
    try:
        listed = json.loads(data)
    except ValueError as error:
        raise DatasetError(f"{found[0]} is no JSON: {error}") from error
    if not isinstance(listed, dict) or not listed:
        raise DatasetError(f"{found[0]} lists no works; an object with a work an entry is needed")
    names = sorted(map(_name, listed))
    if twice := [one for one, other in pairwise(names) if one == other]:
        raise DatasetError(f"{found[0]} lists the work {twice[0]!r} twice")
    works = (_work(key, labels, _shares(_name(key), names)) for key, labels in listed.items())
    return Labels(tuple(sorted(works, key=lambda work: work.id)), data)


def read_scores(
    folder: Path, works: Sequence[Work], *, convert: Callable[[str], str] = upgrade
) -> tuple[list[Score], dict[str, str]]:
    """Read the works' files, each as one self-contained text in the current syntax; and files left out → why.

    A file that another one includes is no score of its own. `convert` brings the text of one file to that syntax.
    DatasetError where the machine kept a file from being converted.
    """
    paths = sorted(path for path in folder.rglob(f"*{_ENDING}") if path.is_file())
    included = {
        (path.parent / name).resolve() for path in paths for name in included_names(_text(path)) if "\0" not in name
    }
    scores: list[Score] = []
    left_out: dict[str, str] = {}
    mains = [path for path in paths if path.resolve() not in included]
    with ThreadPoolExecutor() as pool:
        read = partial(_read, folder, [work.id for work in works], convert)
        for path, score in zip(mains, pool.map(read, mains), strict=True):
            if isinstance(score, Score):
                scores.append(score)
            else:
                left_out[_id(folder, path)] = score
    return sorted(scores, key=lambda score: score.id), left_out


def read_file_entries(folder: Path, works: Sequence[Work]) -> list[tuple[str, Entry]]:
    """The LilyPond files beneath a folder, in the order of their names, as works and entries to draw prompts from.

    A file has its work's composer, period, form and ensemble, by the longest name of a work that its own begins with;
    `part` is the rest of its name, or `FULL`. Of one that belongs to no work nothing else is known.
    """
    known = {work.id: work.entries[0].description for work in works}
    entries: list[tuple[str, Entry]] = []
    for path in sorted(folder.rglob(f"*{_ENDING}"), key=lambda path: (path.name, path)):
        name = path.stem.removesuffix(_PROCESSED)
        work = max((work for work in known if _begins(name, work)), key=len, default=None)
        part = None if work is None else _plain(name.removeprefix(work))
        told: Description = {**known.get(work or "", _NOTHING), "part": part or FULL, "key": None, "metre": None}
        entries.append((work or name, Entry(_id(folder, path), told)))
    return entries


def _id(folder: Path, path: Path) -> str:
    return path.relative_to(folder).with_suffix("").as_posix()


def _text(path: Path) -> str:
    """A file's text, or nothing where it cannot be read, which `_read` then says."""
    try:
        return read_text(path)
    except SourceError:
        return ""


def _read(folder: Path, works: Sequence[str], convert: Callable[[str], str], path: Path) -> Score | str:
    """A score, or why there is none."""
    names = [path.stem, *path.relative_to(folder).parts[:-1]]
    work = max((work for work in works for name in names if _begins(name, work)), key=len, default=None)
    if work is None:
        return "it belongs to no work of the labels"
    try:
        text = resolve_includes(path, root=folder, convert=convert)
    except (SourceError, ConversionError) as error:
        if isinstance(error, ConversionError) and not error.is_measured:
            raise not_measured([_id(folder, path)]) from error
        return str(error)
    return Score(_id(folder, path), work, text, licence_of(read_header(text)))


def _begins(name: str, work: str) -> bool:
    """Whether a file's or folder's name is that of a work, or begins with it as whole words."""
    name = name.removesuffix(_PROCESSED)
    return name == work or (name.startswith(work) and not name[len(work)].isalnum())


def _name(key: str) -> str:
    """A work's name, by its key in the labels."""
    return key.removesuffix(_ENDING).removesuffix(_PROCESSED)


def _shares(name: str, names: Sequence[str]) -> tuple[str, ...]:
    """The numbers in a catalogue that a work's name tells, and the works with whose names its own begins."""
    numbers = tuple(f"{found[1]} {found[2]}" for found in _CATALOGUED.finditer(name))
    return (*numbers, *(other for other in names if other != name and _begins(name, other)))


def _work(key: str, labels: object, shares: tuple[str, ...]) -> Work:
    name = _name(key)
    if not isinstance(labels, dict):
        raise DatasetError(f"{LABELS}: {key!r} holds no object of labels")
    for field in _TEXTS:
        if not isinstance(labels.get(field, ""), str):
            raise DatasetError(f"{LABELS}: {field!r} of {key!r} is no text")
    for field in _LISTS:
        values = labels.get(field, [])
        if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
            raise DatasetError(f"{LABELS}: {field!r} of {key!r} is no list of texts")
    movements = labels.get("meta", {})
    if not isinstance(movements, dict) or not all(isinstance(said, dict) for said in movements.values()):
        raise DatasetError(f"{LABELS}: 'meta' of {key!r} is no object with an object a movement")
    known: Description = {
        "composer": _plain(labels.get("composer", "")),
        "period": _plain(labels.get("period", "")),
        "form": ", ".join(form for value in labels.get("musical_form", ()) if (form := _plain(value))) or None,
        "ensemble": ensemble(labels.get("midi_instruments", ())),
        "part": None,
        "key": None,
        "metre": None,
    }
    if not movements:
        return Work(name, (Entry(name, known),), shares)
    numbered = enumerate(movements.items(), 1)
    return Work(name, tuple(_entry(name, known, number, title, said) for number, (title, said) in numbered), shares)


def _entry(work: str, known: Description, position: int, title: str, said: Mapping[str, Any]) -> Entry:
    """An entry for a movement, which the labels call such as ``2: allegro_molto``."""
    stated = _MOVEMENT.fullmatch(title)
    number, words = (stated[1], _plain(stated[2])) if stated else (str(position), _plain(title))
    metre = said.get("time")
    return Entry(
        f"{work}/{number}",
        {
            **known,
            "part": f"{number}: {words}" if words else number,
            "key": key_name(said.get("key"), said.get("scale")),
            "metre": metre if isinstance(metre, str) and _METRE.fullmatch(metre) else None,
        },
    )


def key_name(tonic: object, scale: object) -> str | None:
    """A key in English, by the tonic's Italian name; None where it is not told, or in other words."""
    if not isinstance(tonic, str) or scale not in ("major", "minor"):
        return None
    pitch = pitch_of(tonic, "italiano")
    sign = None if pitch is None or pitch.alteration.denominator != 1 else _SIGNS.get(int(pitch.alteration))
    return None if pitch is None or sign is None else f"{_LETTERS[pitch.step]}{sign} {scale}"


def ensemble(instruments: Sequence[str]) -> str | None:
    """Instruments in readable words, each once, in the order of a score; None where there are none."""
    listed = read_table("names/bmdataset.toml")["instruments"]
    words = {label: name for name, labels in listed.items() for label in labels}
    order = list(dict.fromkeys(words.values()))
    found = dict.fromkeys(words.get(name, _plain(name) or "") for name in instruments)
    known = sorted((name for name in found if name in order), key=order.index)
    return ", ".join([*known, *(name for name in found if name and name not in order)]) or None


def _plain(label: str) -> str | None:
    """A label in words: underscores are spaces."""
    return " ".join(label.replace("_", " ").split()) or None
