"""MusICA: questions on chorales, each asked by ear, from ABC and from a page.

An instance is a TSV file with a row per question and modality. Its paths are those of the authors'
script ``prepare_data.sh``: ``data/DATASET/PIECE/audio.mastermix.wav``, ``symbolic.abc.txt`` and
``visual.short.png``. Recordings, texts and pages of all pieces have the same names, so that the
path tells them apart.
"""

import json
from functools import partial

from music_evals.datasets_builders.dataset_io import text_sha256
from music_evals.datasets_builders.questions.question_set import (
    MediaQuestion,
    Part,
    Record,
    Records,
    question_set,
)

_MOST_BYTES = 1_000_000  # of a text in ABC
_MODALITIES = {"sound": "audio", "notation": "symbolic", "pages": "visual"}
"""Task → the modality as the files call it."""


def read_record(record: Record, modality: str) -> MediaQuestion | None:
    """Read a row of an instance; the rows of other modalities are left out.

    The id names kind of question, question and piece, so that it is the same in each modality.
    """
    if record["modality"] != modality:
        return None
    options = json.loads(record["index2ans"])
    letters = sorted(options)
    key = text_sha256(f"{record['question']}\n{record['piece_id']}")[:8]
    is_none_right = record["is_nota_correct"].strip() == "1"
    return MediaQuestion(
        f"{record['subcategory']}-{key}",
        [_music(record, modality), record["question"]],
        [options[letter] for letter in letters],
        letters.index(record["label_of_final_correct_option"]),
        theme=record["subcategory"],
        subtheme=record["skill"],
        piece=record["piece_id"],
        tags=["right: none of the others" if is_none_right else "right: another option"],
    )


def _music(record: Record, modality: str) -> Part:
    """The part with a file's music; if the file is not there, a part of a name that is missed.

    That name has no folders: the only file of some name would be taken for it.
    """
    path = record["path_to_question_context_file"]
    file = record["files"].get(path)
    if file is None:
        return Part("image", path.replace("/", " "))
    if modality != "symbolic":
        return Part("audio" if modality == "audio" else "image", path)
    with file.open(encoding="utf-8", errors="replace") as text:
        return Part("abc", text.read(_MOST_BYTES))


BENCHMARK = question_set(
    "musica",
    "1.0.0",
    {
        task: Records(("*seed_*.tsv",), partial(read_record, modality=modality))
        for task, modality in _MODALITIES.items()
    },
)
