"""Labels and tags of recordings: MTG-Jamendo, MagnaTagATune, and VocalSet as CMI-Bench asks it.

The question and the labels of each task are facts of its benchmark, ``[labels]`` in its
``benchmark.toml``.
"""

import re
from functools import partial
from pathlib import PurePosixPath

from music_evals.benchmarks import load
from music_evals.datasets_builders.questions.question_set import (
    MediaQuestion,
    Part,
    Record,
    Records,
    question_set,
)

VERSION = "1.0.0"
_TEST_FOLDERS = ("d", "e", "f")  # of MagnaTagATune
_TIMES = re.compile(r"-\d+-\d+\.mp3$")  # of a clip in its track


def read_mtg_jamendo(record: Record, task: str) -> MediaQuestion:
    """Read a line of a split; a tag such as ``genre---rock`` is shown without its kind.

    The columns behind the first tag have no heading. A recording is of full or low quality.
    """
    facts = load("mtg_jamendo").table["labels"][task]
    tags = [record["TAGS"], *(record.get(None) or ())]  # type: ignore[call-overload]
    path = record["PATH"]
    return MediaQuestion(
        record["TRACK_ID"],
        [Part("audio", (path, path.replace(".mp3", ".low.mp3"))), facts["question"]],
        facts["labels"],
        "; ".join(tag.partition("---")[2] for tag in tags),
        piece=record["ALBUM_ID"],
        answer_kind="labels",
    )


def read_magnatagatune(record: Record) -> MediaQuestion | None:
    """Read a line of ``annotations_final.csv``; clips of training and validation, and clips without
    any of the 50 tags, are left out.
    """
    path = record["mp3_path"]
    facts = load("magnatagatune").table["labels"]["tags"]
    tags = [tag for tag in facts["labels"] if record[tag] == "1"]
    if not tags or not path.startswith(_TEST_FOLDERS):
        return None
    return MediaQuestion(
        record["clip_id"],
        [Part("audio", path), facts["question"]],
        facts["labels"],
        "; ".join(tags),
        piece=_TIMES.sub("", path),
        answer_kind="labels",
    )


def read_vocalset(record: Record) -> MediaQuestion | None:
    """Read a line of CMI-Bench's file; chunks of training and validation are left out.

    Chunks of one recording have one `piece`, and `theme` is the singer.
    """
    if record["split"] != ["test"]:
        return None
    facts = load("vocalset").table["labels"]["technique"]
    (path,) = record["audio_path"]
    chunk = PurePosixPath(path).stem
    return MediaQuestion(
        chunk,
        [Part("audio", path), facts["question"]],
        facts["labels"],
        facts["labels"].index(record["output"].replace("_", " ")),
        theme=chunk.partition("_")[0],
        piece=chunk.rpartition("_")[0],
        answer_kind="label",
    )


_SPLITS = {"genre": "genre", "mood": "moodtheme", "instrument": "instrument", "top50": "top50tags"}
MTG_JAMENDO = question_set(
    "mtg_jamendo",
    VERSION,
    {
        task: Records((f"autotagging_{split}-test.tsv",), partial(read_mtg_jamendo, task=task))
        for task, split in _SPLITS.items()
    },
)
MAGNATAGATUNE = question_set(
    "magnatagatune", VERSION, {"tags": Records(("annotations_final.csv",), read_magnatagatune)}
)
VOCALSET = question_set(
    "vocalset", VERSION, {"technique": Records(("CMI_VocalSet_tech.jsonl",), read_vocalset)}
)
