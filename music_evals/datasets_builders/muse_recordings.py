"""MUSE's recordings: the rows of `datasets_builders.muse`, from a copy of the authors' repository.

Expected layout of a copy of the recordings (``--source``), as in the authors' repository::

    LICENSE_DATA.md
    stimuli/Chords/1.wav … 48.wav
    stimuli/Intermediate/{NoSync,Sync1,Sync2,Sync3,Sync4}_{A..D}.wav, NoSync_E.wav, Sync3_E.wav
    stimuli/M<number>_<key>_<tempo>[_<meter>][_Piano].wav

Recordings have no MIDI: their MIDI and note columns are null. Which examples the paper showed is published as
numbers only; of the recordings these are the natural ones: the two rhythms and the two melodies (M11, M12) that
no published trial uses, and of the chords the first four files, all on A flat.
"""

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

from music_evals.benchmarks import load
from music_evals.datasets_builders.muse import (
    CHORD_OPTIONS,
    CONFIGS,
    DIFFERENT,
    EXAMPLE_OFFBEATS,
    EXAMPLE_ROOT,
    LETTERS,
    LICENCE_FILE,
    NAME,
    OFFBEATS,
    RECORDINGS,
    RECORDINGS_LICENCE,
    SAME,
    SYNCOPATION_OPTIONS,
    VERSION,
    AudioCell,
    ChordQualityRow,
    ConfigName,
    Maker,
    Plan,
    SyncopationRow,
    TranspositionRow,
    plan_rows,
    shared,
)
from music_evals.datasets_builders.stimuli.chords import ROOTS
from music_evals.datasets_builders.folder import DatasetError, Provenance
from music_evals.notation.audio import describe_wav

_SAME_PAIRS: Final = (
    ("M1_EbMaj_90", "M1_GMaj_90"),
    ("M2_Abm_155_3_4", "M2_Fm_155_3_4"),
    ("M3_DbMaj_78", "M3_GbMaj_78"),
    ("M4_AMaj_130", "M4_EMaj_130"),
    ("M5_Bm_100", "M5_Dm_100"),
    ("M6_Cm_120_Piano", "M6_Bbm_120_Piano"),
    ("M7_CMaj_140_Piano", "M7_DbMaj_140_Piano"),
    ("M8_AbMaj_95_Piano", "M8_FMaj_95_Piano"),
    ("M9_Em_200_3_4_Piano", "M9_Gm_200_3_4_Piano"),
    ("M10_Dbm_165_3_4", "M10_Fm_165_3_4"),
)
_DIFFERENT_PAIRS: Final = (
    ("M1_EbMaj_90", "M2_Abm_155_3_4"),
    ("M2_Fm_155_3_4", "M3_DbMaj_78"),
    ("M3_GbMaj_78", "M4_AMaj_130"),
    ("M4_EMaj_130", "M5_Bm_100"),
    ("M5_Dm_100", "M1_GMaj_90"),
    ("M6_Cm_120_Piano", "M7_CMaj_140_Piano"),
    ("M7_DbMaj_140_Piano", "M8_AbMaj_95_Piano"),
    ("M8_FMaj_95_Piano", "M9_Em_200_3_4_Piano"),
    ("M9_Gm_200_3_4_Piano", "M10_Dbm_165_3_4"),
    ("M10_Fm_165_3_4", "M6_Bbm_120_Piano"),
)
"""Test pairs of the published experiment, after the authors' list of joined files (``stimuli/combined``)."""

_SAME_EXAMPLE: Final = ("M11_CMaj_180_Piano", "M11_EMaj_180_Piano")
_DIFFERENT_EXAMPLE: Final = ("M11_CMaj_180_Piano", "M12_FMaj_155_Piano")

_NUMBERED_QUALITIES: Final = ("diminished", "dominant", "major", "minor")
"""Order of the numbered chord files within a root."""

_MELODY_NAME: Final = re.compile(
    r"(?P<number>M\d+)_(?P<tonic>[A-G]b?)(?P<mode>Maj|m)_(?P<tempo>\d+)(?:_(?P<upper>\d)_(?P<lower>\d))?(?P<piano>_Piano)?"
)


@dataclass(frozen=True, slots=True)
class _Recorded:
    """A row of recordings before its files are read: what they are, and how the row is made of their bytes."""

    config: ConfigName
    split: str
    paths: tuple[str, ...]
    make: Callable[[Sequence[AudioCell]], Mapping[str, Any]]


def build_recordings(source: Path, *, allow_partial: bool = False) -> Plan:
    """Take the rows from a copy of the authors' repository; every file is read and checked before any is written.

    Args:
        source: the copy's folder; its layout is described at the top of this module.
        allow_partial: whether rows whose files are missing may be left out. What is missing is then in the
            provenance. An unreadable file is an error all the same.

    Returns:
        What to write with `write`.

    Raises:
        DatasetError: the folder is not there, files are missing (all are named), or some cannot be decoded (all are
            named, with the reason).

    Source: arXiv 2510.22455 for the trials; the authors' repository for file names and numbering.

    >>> build_recordings(Path("no-such-folder"))
    Traceback (most recent call last):
        ...
    music_evals.datasets_builders.folder.provenance.DatasetError: no-such-folder is not a folder; --source wants a copy of \
https://github.com/brandoncarone/MUSE_music_benchmark
    """
    source = source.expanduser()
    if not source.is_dir():
        raise DatasetError(f"{source} is not a folder; --source wants a copy of {load('muse').homepage}")
    recorded = recorded_rows()
    wanted = list(dict.fromkeys([LICENCE_FILE, *(path for row in recorded for path in row.paths)]))
    missing = [path for path in wanted if not (source / path).is_file()]
    if len([path for path in missing if path != LICENCE_FILE]) == len(wanted) - 1:
        raise DatasetError(f"{source} holds none of the recordings (looked for {wanted[1]} and so on)")
    digests: dict[str, str] = {}
    broken: list[str] = []
    for path in wanted:
        if path in missing:
            continue
        try:
            content = (source / path).read_bytes()
            if path != LICENCE_FILE:
                describe_wav(content)
        except (OSError, ValueError) as error:
            broken.append(f"{path}: {error}")
        else:
            digests[path] = hashlib.sha256(content).hexdigest()
    problems: list[str] = []
    if broken:
        problems += [f"{len(broken)} files of {source} cannot be used; get them again:", *broken]
    if missing and not allow_partial:
        problems += [
            f"{len(missing)} of {len(wanted)} files are missing in {source} (--allow-partial builds the rest):",
            *missing,
        ]
    if problems:
        raise DatasetError("\n  ".join(problems))

    makers: dict[str, dict[str, list[Maker]]] = {config: {"test": [], "fewshot": []} for config in CONFIGS}
    for row in recorded:
        if all(path in digests for path in row.paths):
            makers[row.config][row.split].append(partial(_read_row, source, row, digests))
    listing = "".join(f"{digest}  {path}\n" for path, digest in sorted(digests.items()))
    provenance = Provenance(
        benchmark=NAME,
        builder_version=VERSION,
        source=RECORDINGS,
        licence=RECORDINGS_LICENCE,
        source_sha256=hashlib.sha256(listing.encode()).hexdigest(),
        missing=tuple(missing),
    )
    # The licence asks to travel with the recordings.
    extra = {} if LICENCE_FILE in missing else {LICENCE_FILE: (source / LICENCE_FILE).read_bytes()}
    return plan_rows(makers, provenance, extra)


def _read_row(source: Path, row: _Recorded, digests: Mapping[str, str]) -> Mapping[str, Any]:
    cells: list[AudioCell] = []
    for path in row.paths:
        content = (source / path).read_bytes()
        if hashlib.sha256(content).hexdigest() != digests[path]:
            raise DatasetError(f"{source / path} has changed while the dataset was being built")
        cells.append({"bytes": content, "path": None})
    return row.make(cells)


def recorded_rows() -> list[_Recorded]:
    """Return all rows of the full set, in the order of the dataset."""
    rows: list[_Recorded] = []
    takes = [(level, take) for take in "ABCD" for level in range(len(OFFBEATS))]
    takes += [(OFFBEATS.index(offbeats), "E") for offbeats in EXAMPLE_OFFBEATS]
    for level, take in takes:
        path = f"stimuli/Intermediate/{f'Sync{level}' if level else 'NoSync'}_{take}.wav"
        split = "fewshot" if take == "E" else "test"
        rows.append(_Recorded("syncopation", split, (path,), partial(_recorded_loop, path, level, take)))

    pairs = [("test", pair) for both in zip(_SAME_PAIRS, _DIFFERENT_PAIRS, strict=True) for pair in both]
    pairs += [("fewshot", _SAME_EXAMPLE), ("fewshot", _DIFFERENT_EXAMPLE)]
    for split, stems in pairs:
        paths = (f"stimuli/{stems[0]}.wav", f"stimuli/{stems[1]}.wav")
        rows.append(_Recorded("transposition", split, paths, partial(_recorded_pair, paths, stems)))

    for number in range(1, len(ROOTS) * len(_NUMBERED_QUALITIES) + 1):
        root, quality = chord_of_file(number)
        path = f"stimuli/Chords/{number}.wav"
        split = "fewshot" if root == EXAMPLE_ROOT else "test"
        rows.append(_Recorded("chord_quality", split, (path,), partial(_recorded_chord, path, root, quality)))
    return rows


def chord_of_file(number: int) -> tuple[str, str]:
    """Say which chord a numbered recording holds.

    Args:
        number: 1 to 48, as in ``stimuli/Chords/<number>.wav``.

    Returns:
        Root and quality.

    Raises:
        ValueError: there is no such number.

    Source: the authors' repository.

    >>> chord_of_file(1), chord_of_file(19)
    (('Ab', 'diminished'), ('C', 'major'))
    """
    if not 1 <= number <= len(ROOTS) * len(_NUMBERED_QUALITIES):
        raise ValueError(f"chord files are numbered 1 to 48, not {number}")
    root, quality = divmod(number - 1, len(_NUMBERED_QUALITIES))
    return ROOTS[root], _NUMBERED_QUALITIES[quality]


def _recorded_loop(path: str, level: int, take: str, cells: Sequence[AudioCell]) -> SyncopationRow:
    return {
        "id": f"syncopation-{OFFBEATS[level]}-offbeats-{take.lower()}",
        "audio": cells[0],
        "midi": None,
        "midi_text": None,
        "kick": None,
        "snare": None,
        "offbeats": OFFBEATS[level],
        "tempo": 120.0,
        "meter": "4/4",
        "instrument": "drums",
        "target": LETTERS[level],
        "options": list(SYNCOPATION_OPTIONS),
        "source": path,
    }


class _MelodyName(NamedTuple):
    """What the file name of a recorded melody says; files of one number are transpositions of each other."""

    number: str
    key: str
    tempo: float
    meter: str
    instrument: str


def _read_melody_name(stem: str) -> _MelodyName:
    match = _MELODY_NAME.fullmatch(stem)
    if match is None:
        raise ValueError(f"{stem!r} does not name a melody, as M9_Em_200_3_4_Piano does")
    return _MelodyName(
        number=match["number"],
        key=match["tonic"] + ("m" if match["mode"] == "m" else ""),
        tempo=float(match["tempo"]),
        meter=f"{match['upper']}/{match['lower']}" if match["upper"] else "4/4",
        instrument="piano" if match["piano"] else "guitar",
    )


def _recorded_pair(paths: tuple[str, str], stems: tuple[str, str], cells: Sequence[AudioCell]) -> TranspositionRow:
    first, second = map(_read_melody_name, stems)
    same = first.number == second.number
    name = f"{'same' if same else 'different'}-{first.number}-{first.key}-{second.number}-{second.key}"
    return {
        "id": f"transposition-{name.lower()}",
        "audio_1": cells[0],
        "audio_2": cells[1],
        "midi_1": None,
        "midi_2": None,
        "midi_text_1": None,
        "midi_text_2": None,
        "pitches_1": None,
        "pitches_2": None,
        "same": same,
        "foil": "none" if same else "other_melody",
        "semitones": None,  # the names give the keys, not the octave
        "key_1": first.key,
        "key_2": second.key,
        "tempo": shared(first.tempo, second.tempo),
        "meter": shared(first.meter, second.meter),
        "instrument": shared(first.instrument, second.instrument),
        "target": SAME if same else DIFFERENT,
        "options": [SAME, DIFFERENT],
        "source": " + ".join(paths),
    }


def _recorded_chord(path: str, root: str, quality: str, cells: Sequence[AudioCell]) -> ChordQualityRow:
    return {
        "id": f"chord-{root.lower()}-{quality}",
        "audio": cells[0],
        "midi": None,
        "midi_text": None,
        "pitches": None,
        "root": root,
        "quality": quality,
        "variant": 0,
        "tempo": 120.0,
        "meter": "4/4",
        "instrument": "piano",
        "target": LETTERS[CHORD_OPTIONS.index(quality.capitalize())],
        "options": list(CHORD_OPTIONS),
        "source": path,
    }
