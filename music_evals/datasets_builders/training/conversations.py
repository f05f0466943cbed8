"""Training conversations from a benchmark of questions on scores, without scores of its test split.

A question becomes one conversation: system prompt, score and question, answer. The score is in ABC,
as pages, or both. TRL reads the JSONL files of text as conversational data; for LLaMA-Factory,
``dataset_info.json`` declares its sharegpt format. With pages, a conversation names its images, and
the text has `IMAGE` in the place of each, as LLaMA-Factory demands. To keep out scores of the test
split, `write_conversations` compares ids, titles with composers, and the music itself.

Source: "Musical Score Understanding Benchmark" (arXiv 2511.20697), section 5.1 (splits of 6:2:2 by
score, a fixed test set that is never trained on) and Appendix I (three settings; long scores are
left out of training only).
"""

import json
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from music_evals.datasets_builders import AnyRow
from music_evals.datasets_builders.dataset_io import (
    DatasetError,
    FolderKind,
    as_json,
    describe_dataset,
    list_names,
    load_split,
    replace_folder,
)
from music_evals.datasets_builders.msu.dataset import BENCHMARK
from music_evals.datasets_builders.msu.same_work import music_of, name_of

SPLITS = ("train", "validation")
"""The splits that are written, as ``<split>.jsonl``."""
HELD_OUT = "test"
TRAINING_DATA = FolderKind(
    "training data", "finetune.json", "music-evals fine-tuning data, version 1"
)

IMAGE = "<image>"
_IMAGES = "images"  # the column, and the folder of the images
_TAGS = {
    "role_tag": "role",
    "content_tag": "content",
    "user_tag": "user",
    "assistant_tag": "assistant",
    "system_tag": "system",
}


def _name_of_score(score: AnyRow) -> str:
    return name_of(score["title"] or "", score["composer"] or "")


_KEYS: Mapping[str, Callable[[AnyRow], str]] = {
    "their ids": lambda score: score["score_id"],
    "their titles and composers": _name_of_score,
    "their music": lambda score: music_of(score["abc"] or ""),
}

Message = dict[str, str]
"""A message: ``role`` (system, user or assistant) and ``content``."""
Conversation = dict[str, Any]
"""A line of the JSONL: ``id`` of the question, ``messages``, with the reference answer last, and
the paths of ``images``, if there are any.
"""
MakePrompt = Callable[[AnyRow, AnyRow], Sequence[Message]]
"""Makes the messages before the answer from a score's row and a question's row."""


def write_conversations(
    dataset: str,
    out: Path,
    make_prompt: MakePrompt,
    columns: Sequence[str] = ("abc",),
    max_characters: int | None = None,
    *,
    overwrite: bool = False,
) -> dict[str, Any]:
    """Write the conversations of a dataset's train and validation splits as a folder, completely or
    not at all.

    Scores that lack one of the columns, and conversations that are too long, are left out.

    Args:
        dataset: of MSU-Bench, as for `load_split`.
        out: the folder; ``finetune.json`` in it records the source.
        make_prompt: words a question.
        columns: what is shown of a score: ``abc``, ``images``, or both.
        max_characters: length of the longest conversation, without its images.
        overwrite: whether a folder of conversations is replaced.

    Returns:
        The content of ``finetune.json``: by split the numbers of ``conversations`` and of
        ``questions_left_out``, and the reason for each of ``scores_left_out``.

    Raises:
        DatasetError: the dataset or a split does not exist, another split has a score of the test
            split, a question is on a score of another split, or no conversation is left in a split.
    """
    counts: dict[str, int] = {}
    left_out: dict[str, dict[str, str]] = {split: {} for split in SPLITS}
    questions_left_out: Counter[str] = Counter()
    with replace_folder(out, TRAINING_DATA, overwrite=overwrite) as folder:
        held_out = _scores(dataset, HELD_OUT, columns)
        for split in SPLITS:
            where, lines = f"'{split}' of {dataset}", []
            scores = _scores(dataset, split, columns)
            _refuse_leaks(scores.values(), held_out.values(), where)
            for question in load_split(dataset, "questions", split, benchmark=BENCHMARK):
                score = scores.get(question["score_id"])
                if score is None:
                    raise DatasetError(
                        f"question {question['id']} in {where} is on {question['score_id']}, which "
                        "is no score of that split"
                    )
                conversation = _conversation(score, question, make_prompt, columns, max_characters)
                if isinstance(conversation, str):
                    left_out[split].setdefault(score["score_id"], conversation)
                    questions_left_out[split] += 1
                    continue
                lines.append(json.dumps(conversation, ensure_ascii=False) + "\n")
                for page in score.get(_IMAGES, ()):
                    (folder / _IMAGES).mkdir(exist_ok=True)
                    (folder / _image_path(page["bytes"])).write_bytes(page["bytes"])
            if not lines:
                _refuse_empty(where, left_out[split])
            (folder / f"{split}.jsonl").write_text("".join(lines), encoding="utf-8")
            counts[split] = len(lines)
        columns_of_files = {"messages": "messages"}
        if _IMAGES in columns:
            columns_of_files[_IMAGES] = _IMAGES
        layout = {"formatting": "sharegpt", "columns": columns_of_files, "tags": _TAGS}
        info = {f"msu_{split}": {"file_name": f"{split}.jsonl", **layout} for split in SPLITS}
        (folder / "dataset_info.json").write_text(as_json(info), encoding="utf-8")
        record = {
            "format": TRAINING_DATA.text,
            "source": describe_dataset(dataset, benchmark=BENCHMARK).metadata(),
            "max_characters": max_characters,
            "conversations": counts,
            "questions_left_out": questions_left_out,
            "scores_left_out": left_out,
        }
        (folder / TRAINING_DATA.marker).write_text(as_json(record), encoding="utf-8")
    return record


def _scores(dataset: str, split: str, columns: Sequence[str]) -> dict[str, Any]:
    """The scores of a split by their ids."""
    names = ("score_id", "title", "composer", "abc", *columns)
    rows = load_split(dataset, "scores", split, benchmark=BENCHMARK, columns=names)
    return {row["score_id"]: row for row in rows}


def _refuse_empty(where: str, left_out: Mapping[str, str]) -> None:
    counts = Counter(left_out.values()).items()
    reasons = ", ".join(f"{count} scores left out, {reason}" for reason, count in counts)
    raise DatasetError(f"nothing is left of {where}: {reasons or 'it has no questions'}")


def _conversation(
    score: AnyRow,
    question: AnyRow,
    make_prompt: MakePrompt,
    columns: Sequence[str],
    max_characters: int | None,
) -> Conversation | str:
    """Make the conversation of a question, or return the reason why it is left out."""
    for column in columns:
        if not score[column]:
            return f"no {column}"
    messages = [
        *make_prompt(score, question),
        {"role": "assistant", "content": question["answer"]},
    ]
    length = sum(len(message["content"]) for message in messages)
    if max_characters is not None and length > max_characters:
        return "too long"
    conversation = {"id": question["id"], "messages": messages}
    if _IMAGES in columns:
        conversation[_IMAGES] = [_image_path(page["bytes"]) for page in score[_IMAGES]]
    return conversation


def _image_path(page: bytes) -> str:
    """Where a page lies in the folder: by its checksum, because an id need not be a name of a
    file.
    """
    kind = "jpg" if page.startswith(b"\xff\xd8") else "png"
    return f"{_IMAGES}/{sha256(page).hexdigest()[:32]}.{kind}"


def _refuse_leaks(scores: Collection[AnyRow], held_out: Collection[AnyRow], where: str) -> None:
    for kind, key_of in _KEYS.items():
        tested = {key_of(score): score["score_id"] for score in held_out}
        tested.pop("", None)
        keys = {score["score_id"]: key_of(score) for score in scores}
        leaks = [
            f"{name} ({tested[key]} in {HELD_OUT})" for name, key in keys.items() if key in tested
        ]
        if leaks:
            raise DatasetError(
                f"{where} has scores of the {HELD_OUT} split, by {kind}: {list_names(leaks)}"
            )
