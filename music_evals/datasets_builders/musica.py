"""MusICA: questions on chorales, each asked by ear, from ABC and from a page.

An instance is a TSV file with a row per question and modality. Its paths are those of the authors'
script ``prepare_data.sh``: ``data/DATASET/PIECE/audio.mastermix.wav``, ``symbolic.abc.txt`` and
``visual.short.png``. Recordings, texts and pages of all pieces have the same names, so that the
path tells them apart.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Literal

from music_evals.datasets_builders.dataset_io import Conversion, Provenance
from music_evals.datasets_builders.questions.question_set import (
    MediaQuestion,
    Part,
    Record,
    Records,
    question_set,
)

NAME, VERSION = "musica", "1.0.0"
_MOST_BYTES = 1_000_000  # of a text in ABC
_Kind = Literal["audio", "abc", "image"]
MODALITIES: Mapping[str, tuple[str, _Kind]] = {
    "sound": ("audio", "audio"),
    "notation": ("symbolic", "abc"),
    "pages": ("visual", "image"),
}
"""Task → the modality as the files call it, and the kind of the part that holds the music."""


def read_record(record: Record, modality: str, kind: _Kind, source: Path) -> MediaQuestion | None:
    """Read a row of an instance; the rows of other modalities are left out.

    The id names kind of question, question and piece, so that it is the same in each modality.
    """
    if record["modality"] != modality:
        return None
    options = json.loads(record["index2ans"])
    letters = sorted(options)
    path = record["path_to_question_context_file"]
    key = sha256(f"{record['question']}\n{record['piece_id']}".encode()).hexdigest()[:8]
    is_none_right = record["is_nota_correct"].strip() == "1"
    music = _tune(path, source) if kind == "abc" else Part(kind, path)
    return MediaQuestion(
        f"{record['subcategory']}-{key}",
        [music, record["question"]],
        [options[letter] for letter in letters],
        letters.index(record["label_of_final_correct_option"]),
        theme=record["subcategory"],
        subtheme=record["skill"],
        piece=record["piece_id"],
        tags=["right: none of the others" if is_none_right else "right: another option"],
    )


def _tune(path: str, source: Path) -> Part:
    """The text of a file in ABC; without it a part that names the file, so that it is missed."""
    within, file = PurePosixPath(path), source / path
    is_inside = not within.is_absolute() and ".." not in within.parts
    if not is_inside or not file.is_file() or file.stat().st_size > _MOST_BYTES:
        return Part("image", path)
    return Part("abc", file.read_text(encoding="utf-8", errors="replace"))


def _records(source: Path) -> dict[str, Records]:
    return {
        task: Records(
            ("*seed_*.tsv",), partial(read_record, modality=modality, kind=kind, source=source)
        )
        for task, (modality, kind) in MODALITIES.items()
    }


def _convert(conversion: Conversion) -> Provenance:
    convert = question_set(NAME, VERSION, _records(conversion.source)).convert
    return convert(conversion)  # type: ignore[misc]


BENCHMARK = replace(question_set(NAME, VERSION, _records(Path())), convert=_convert)
