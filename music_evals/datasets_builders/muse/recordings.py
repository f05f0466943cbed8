"""MUSE's rows from a copy of the authors' recordings.

The copy (``--source``) has the layout of the authors' repository::

    LICENSE_DATA.md
    stimuli/Chords/1.wav … 48.wav
    stimuli/Intermediate/{NoSync,Sync1,Sync2,Sync3,Sync4}_{A..D}.wav, NoSync_E.wav, Sync3_E.wav
    stimuli/M<number>_<key>_<tempo>[_<meter>][_Piano].wav

The examples of rhythms (`NoSync_A` and `Sync3_A`) and of melodies (M11 and M12) are those of the
authors' programs, which do not use them in trials. The four example chords of the paper are not
published; the first four files, on A flat, replace them.

The answers are the published ones, and are not compared with the sound. The columns `key_1` and
`key_2` are the sounding keys; ids and paths follow the names of the files.
"""

import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from music_evals.benchmarks import load
from music_evals.datasets_builders import read_table
from music_evals.datasets_builders.dataset_io import DatasetError, file_sha256, make_provenance
from music_evals.datasets_builders.muse import rows
from music_evals.datasets_builders.muse.chords import QUALITIES, ROOTS, Quality
from music_evals.datasets_builders.muse.drum_loops import OFFBEATS
from music_evals.datasets_builders.muse.rows import NAME, VERSION, Plan, group_makers
from music_evals.notation.audio.clips import check_clip

LICENCE_FILE = "LICENSE_DATA.md"

_LOOP_EXAMPLES = ("NoSync_A", "Sync3_A")
_SAME_EXAMPLE = ("M11_CMaj_180_Piano", "M11_EMaj_180_Piano")
_DIFFERENT_EXAMPLE = ("M11_EMaj_180_Piano", "M12_FMaj_155_Piano")

_NUMBERED_QUALITIES: tuple[Quality, ...] = ("diminished", "dominant", "major", "minor")
"""Order of the numbered chord files of a root; 1 is A flat diminished, 19 is C major."""

_MELODY_NAME = re.compile(
    r"(?P<number>M\d+)_(?P<tonic>[A-G]b?)(?P<mode>Maj|m)_(?P<tempo>\d+)(?:_(?P<upper>\d)_(?P<lower>\d))?(?P<piano>_Piano)?"
)


class Recorded(NamedTuple):
    """A row of recordings: its files, and a function of their bytes that makes it."""

    config: str
    split: str
    paths: tuple[str, ...]
    make: Callable[[Sequence[bytes]], rows.Row]


def build_recordings(
    source: Path, *, allow_partial: bool = False, revision: str | None = None
) -> Plan:
    """Plan the rows of MUSE; see `plan_recordings`."""
    return plan_recordings(
        source, list(recorded_rows()), NAME, VERSION, allow_partial=allow_partial, revision=revision
    )


def plan_recordings(
    source: Path,
    recorded: Sequence[Recorded],
    benchmark: str,
    version: str,
    *,
    allow_partial: bool = False,
    revision: str | None = None,
) -> Plan:
    """Plan rows from a copy of the authors' repository; all files are read and checked first.

    Args:
        source: folder of the copy.
        recorded: the rows of the full set.
        benchmark: name of the benchmark, and of its dataset.
        version: of the rows.
        allow_partial: leave out rows whose files are missing; the provenance lists the files.
        revision: places and commits of the files, if they are known.

    Raises:
        DatasetError: files are missing or cannot be decoded; the message names them.
    """
    source = source.expanduser()
    if not source.is_dir():
        raise DatasetError(
            f"{source} is not a folder; --source wants a copy of {load(benchmark).homepage}"
        )
    wanted = list(dict.fromkeys([LICENCE_FILE, *(path for row in recorded for path in row.paths)]))
    missing = _missing(source, wanted, allow_partial)
    digests = _digests(source, [path for path in wanted if path not in missing])
    listing = "".join(f"{digest}  {path}\n" for path, digest in sorted(digests.items()))

    def make(row: Recorded) -> rows.Row:
        return row.make([(source / path).read_bytes() for path in row.paths])

    present = [row for row in recorded if digests.keys() >= set(row.paths)]
    provenance = make_provenance(
        benchmark,
        version,
        "recordings",
        source_revision=revision,
        source_sha256=hashlib.sha256(listing.encode()).hexdigest(),
        missing=_by_config(missing, recorded),
    )
    # The licence file must accompany the recordings.
    extra = {} if LICENCE_FILE in missing else {LICENCE_FILE: (source / LICENCE_FILE).read_bytes()}
    makers = group_makers((row.config, row.split, partial(make, row)) for row in present)
    return Plan(makers, provenance, extra)


def _missing(source: Path, wanted: Sequence[str], allow_partial: bool) -> list[str]:
    """The files that a copy lacks; DatasetError if it may lack none, or has no recordings."""
    missing = [path for path in wanted if not (source / path).is_file()]
    if {*missing, LICENCE_FILE} == {*wanted}:
        raise DatasetError(
            f"{source} holds none of the recordings (looked for {wanted[1]} and so on)"
        )
    if missing and not allow_partial:
        count = f"{len(missing)} of {len(wanted)} files are missing in {source}"
        raise DatasetError("\n  ".join([f"{count} (--allow-partial builds the rest):", *missing]))
    return missing


def _digests(source: Path, paths: Sequence[str]) -> dict[str, str]:
    """Path → SHA-256; DatasetError if a recording cannot be decoded."""
    digests: dict[str, str] = {}
    broken: list[str] = []
    for path in paths:
        try:
            digests[path] = file_sha256(source / path)
            data = (source / path).read_bytes()
            if path == LICENCE_FILE:
                continue
            if not data.startswith(b"RIFF"):
                raise ValueError(f"audio of {len(data)} bytes is not a WAV file")
            check_clip(data)
        except (OSError, ValueError) as error:
            broken.append(f"{path}: {error}")
    if broken:
        count = f"{len(broken)} files of {source} cannot be used"
        raise DatasetError("\n  ".join([f"{count}; get them again:", *broken]))
    return digests


def _by_config(missing: Sequence[str], recorded: Sequence[Recorded]) -> dict[str, tuple[str, ...]]:
    """Config → its missing files; under "" those of no config."""
    lacking: dict[str, tuple[str, ...]] = {}
    for path in missing:
        for config in dict.fromkeys(row.config for row in recorded if path in row.paths) or [""]:
            lacking[config] = (*lacking.get(config, ()), path)
    return lacking


def recorded_rows() -> Iterator[Recorded]:
    """All rows of the full set, in the order of the dataset."""
    for take, (level, offbeats) in product("ABCDE", enumerate(OFFBEATS)):
        if take == "E" and offbeats not in rows.EXAMPLE_OFFBEATS:
            continue  # only levels with an example have a fifth loop
        stem = f"Sync{level}_{take}" if level else f"NoSync_{take}"
        split = "fewshot" if stem in _LOOP_EXAMPLES else "test"
        path = f"stimuli/Intermediate/{stem}.wav"
        name = f"syncopation-{offbeats}-offbeats-{take.lower()}"
        yield _recorded("syncopation", split, path, "drums", name, level, offbeats=offbeats)

    table = read_table("names/muse_recordings.toml")
    for pairs in zip(table["same"], table["different"], strict=True):
        for first, second in pairs:
            yield recorded_pair("test", (first, second))
    yield recorded_pair("fewshot", _SAME_EXAMPLE)
    yield recorded_pair("fewshot", _DIFFERENT_EXAMPLE)

    for number, (root, quality) in enumerate(product(ROOTS, _NUMBERED_QUALITIES), 1):
        split = "fewshot" if root == rows.EXAMPLE_ROOT else "test"
        path = f"stimuli/Chords/{number}.wav"
        name = f"chord-{root.lower()}-{quality}"
        facts = {"root": root, "quality": quality, "variant": 0}
        place = QUALITIES.index(quality)
        yield _recorded("chord_quality", split, path, "piano", name, place, **facts)


def _recorded(
    config: rows.ConfigName,
    split: str,
    path: str,
    instrument: str,
    name: str,
    place: int,
    **columns: Any,
) -> Recorded:
    """The row of one clip; `place` is that of the right option."""

    def make(wavs: Sequence[bytes]) -> rows.Row:
        clips = [rows.Clip(wavs[0], instrument)]
        return rows.make_row(config, name, clips, place, path, **columns)

    return Recorded(config, split, (path,), make)


def recorded_pair(split: str, stems: tuple[str, str]) -> Recorded:
    """Make the row of two melodies by the names of their files; `ValueError` if these name no
    melodies.
    """
    first, second = (_MELODY_NAME.fullmatch(stem) for stem in stems)
    if first is None or second is None:
        raise ValueError(
            f"{' or '.join(stems)} does not name a melody, as M9_Em_200_3_4_Piano does"
        )
    keys = (_key(first), _key(second))
    # Files of one number are transpositions of each other.
    is_same = first["number"] == second["number"]
    kind = "same" if is_same else "different"
    name = f"transposition-{kind}-{first['number']}-{keys[0]}-{second['number']}-{keys[1]}".lower()
    in_unknown_octaves = read_table("names/muse_recordings.toml")["sounding_keys"]
    sounding = tuple(map(in_unknown_octaves.get, stems, keys))
    paths = tuple(f"stimuli/{stem}.wav" for stem in stems)
    columns = {
        "same": is_same,
        "foil": "none" if is_same else "other_melody",
        "key_1": sounding[0],
        "key_2": sounding[1],
    }

    def make(wavs: Sequence[bytes]) -> rows.Row:
        clips = list(map(_melody_clip, (first, second), wavs))
        source = " + ".join(paths)
        return rows.make_row("transposition", name, clips, not is_same, source, **columns)

    return Recorded("transposition", split, paths, make)


def _melody_clip(name: re.Match[str], wav: bytes) -> rows.Clip:
    meter = f"{name['upper']}/{name['lower']}" if name["upper"] else "4/4"
    return rows.Clip(wav, "piano" if name["piano"] else "guitar", float(name["tempo"]), meter)


def _key(name: re.Match[str]) -> str:
    return name["tonic"] + ("m" if name["mode"] == "m" else "")
