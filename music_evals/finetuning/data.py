"""Training conversations from a benchmark of questions on scores, kept apart from its test split.

One conversation a question (system prompt, score and question, answer) in the JSONL that TRL reads as conversational
data and LLaMA-Factory as its "openai" kind of the sharegpt format; ``dataset_info.json`` registers both files with the
latter. Nothing of a test score may be in them: `read_plan` compares ids, titles with composers, and the music itself.

Source: "Musical Score Understanding Benchmark" (arXiv 2511.20697), section 5.1 (splits of 6:2:2 by score, a fixed test
set that is never trained on) and Appendix I (long scores are left out of training only).
"""

import hashlib
import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypedDict

from music_evals.datasets_builders.folder import (
    Benchmark,
    DatasetError,
    describe_dataset,
    load_split,
    move_into_place,
    temporary_sibling,
    termination_unwinds,
)
from music_evals.datasets_builders.msu.same_work import music_of, name_of

SPLITS: Final = ("train", "validation")
"""Splits that are written, each as ``<split>.jsonl``."""

HELD_OUT: Final = "test"
RECORD_FILE: Final = "finetune.json"
FORMAT: Final = "music-evals fine-tuning data, version 1"
"""First entry of ``finetune.json``: what a folder must say to count as training data of ours."""

TOO_LONG: Final = "too long"
NO_ABC: Final = "no ABC"

_SCORE_COLUMNS: Final = ("score_id", "title", "composer", "abc")
_SHOWN: Final = 3  # names in a message

# A line such as "A:|" is music, however much it looks like a field; "+:" continues a field.


class Message(TypedDict):
    """A message of a conversation; the role is system, user or assistant."""

    role: str
    content: str


class Conversation(TypedDict):
    """A line of the JSONL: a question's id, and the messages, the last of which is the reference answer."""

    id: str
    messages: list[Message]


MakePrompt = Callable[[Mapping[str, Any], Mapping[str, Any]], Sequence[Message]]
"""Makes the messages ahead of the answer from a score's row and a question's row; the last is the user's."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Training data that can be written.

    Args:
        conversations: split → conversations.
        left_out: split → score id → why its questions are left out.
        questions_left_out: split → number of questions left out.
        source: what the conversations are made from, as a task records it of its dataset.
        max_characters: longest conversation that is kept, None for any.
    """

    conversations: Mapping[str, Sequence[Conversation]]
    left_out: Mapping[str, Mapping[str, str]]
    questions_left_out: Mapping[str, int]
    source: Mapping[str, Any]
    max_characters: int | None


def read_plan(
    dataset: str,
    *,
    benchmark: Benchmark,
    make_prompt: MakePrompt,
    max_characters: int | None = None,
) -> Plan:
    """Make the conversations of a dataset's train and validation splits.

    Args:
        dataset: as for `store.load_split`.
        benchmark: whose dataset it is; it has the configs `scores` and `questions`.
        make_prompt: makes a question's messages; that of the evaluation, so that both ask alike.
        max_characters: longest conversation that is kept, counted over all its messages; None for any.

    Returns:
        The plan; what is too long or has no ABC is left out, counted and named.

    Raises:
        DatasetError: there is no such dataset, it lacks a split, a score of the test split occurs in another one, a
            question is on a score of another split, or a prompt is no prompt.

    >>> from music_evals.datasets_builders.muse import dataset as muse
    >>> read_plan("generated", benchmark=muse.BENCHMARK, make_prompt=lambda score, question: [])
    Traceback (most recent call last):
        ...
    music_evals.datasets_builders.folder.provenance.DatasetError: muse has no config 'scores'; it has: syncopation, \
transposition, chord_quality
    """
    scores: dict[str, dict[str, dict[str, Any]]] = {}
    for split in (*SPLITS, HELD_OUT):
        rows = load_split(dataset, "scores", split, benchmark=benchmark, columns=_SCORE_COLUMNS)
        scores[split] = {row["score_id"]: row for row in rows}
    for split in SPLITS:
        _refuse_leaks(scores[split].values(), scores[HELD_OUT].values(), f"'{split}' of {dataset}")

    conversations: dict[str, list[Conversation]] = {}
    left_out: dict[str, dict[str, str]] = {}
    questions_left_out: Counter[str] = Counter()
    for split in SPLITS:
        conversations[split], left_out[split] = [], {}
        for question in load_split(dataset, "questions", split, benchmark=benchmark):
            score = scores[split].get(question["score_id"])
            if score is None:
                raise DatasetError(
                    f"question {question['id']} in '{split}' of {dataset} is on {question['score_id']}, which is no "
                    f"score of that split"
                )
            if not score["abc"]:
                reason = NO_ABC
            else:
                conversation = _conversation(score, question, make_prompt)
                length = sum(len(message["content"]) for message in conversation["messages"])
                if max_characters is None or length <= max_characters:
                    conversations[split].append(conversation)
                    continue
                reason = TOO_LONG
            left_out[split].setdefault(score["score_id"], reason)
            questions_left_out[split] += 1
        if not conversations[split]:
            raise DatasetError(f"nothing is left of '{split}' of {dataset}: {_reasons(left_out[split])}")
    origin = describe_dataset(dataset, benchmark=benchmark)
    return Plan(conversations, left_out, questions_left_out, origin.metadata(), max_characters)


def _reasons(left_out: Mapping[str, str]) -> str:
    counts = Counter(left_out.values())
    return ", ".join(f"{count} scores left out, {reason}" for reason, count in counts.items()) or "it has no questions"


def _refuse_leaks(others: Iterable[Mapping[str, Any]], held_out: Iterable[Mapping[str, Any]], where: str) -> None:
    others, held_out = list(others), list(held_out)
    kinds: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
        "their ids": lambda score: score["score_id"],
        "their titles and composers": lambda score: name_of(score["title"] or "", score["composer"] or ""),
        "their music": lambda score: music_of(score["abc"] or ""),
    }
    for what, key_of in kinds.items():
        held = {key_of(score): score["score_id"] for score in held_out}
        held.pop("", None)
        leaks = [(score["score_id"], held[key]) for score in others if (key := key_of(score)) in held]
        if leaks:
            shown = ", ".join(f"{one} ({other} in {HELD_OUT})" for one, other in leaks[:_SHOWN])
            more = f" and {len(leaks) - _SHOWN} more" if len(leaks) > _SHOWN else ""
            raise DatasetError(f"{where} has scores of the {HELD_OUT} split, by {what}: {shown}{more}")


def _conversation(score: Mapping[str, Any], question: Mapping[str, Any], make_prompt: MakePrompt) -> Conversation:
    prompt = [Message(role=message["role"], content=message["content"]) for message in make_prompt(score, question)]
    turns = [message["role"] for message in prompt]
    turns = turns[1:] if turns[:1] == ["system"] else turns
    # What LLaMA-Factory and most chat templates accept; they would skip or refuse anything else, one by one.
    if len(turns) % 2 != 1 or any(role != ("user", "assistant")[place % 2] for place, role in enumerate(turns)):
        raise DatasetError(
            f"the prompt of question {question['id']} has the roles {', '.join(turns) or 'none'}; accepted: user and "
            f"assistant in turn, from user to user, after at most one system message"
        )
    return {"id": question["id"], "messages": [*prompt, Message(role="assistant", content=question["answer"])]}


def write_plan(plan: Plan, out: Path, *, overwrite: bool = False) -> None:
    """Write training data as a folder: all of it, or nothing.

    The folder holds ``train.jsonl``, ``validation.jsonl``, ``dataset_info.json`` for LLaMA-Factory, and
    ``finetune.json``: what it is made from, what is left out, and checksums.

    Args:
        plan: the conversations.
        out: the folder; absent, empty, or (with `overwrite`) training data of ours.
        overwrite: whether training data of ours may be replaced.

    Raises:
        DatasetError: the target may not be written.

    >>> import tempfile
    >>> conversation = Conversation(id="q1", messages=[Message(role="user", content="?")])
    >>> plan = Plan(dict.fromkeys(SPLITS, [conversation]), dict.fromkeys(SPLITS, {}), {}, {}, None)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_plan(plan, Path(folder) / "out")
    ...     sorted(path.name for path in (Path(folder) / "out").iterdir())
    ['dataset_info.json', 'finetune.json', 'train.jsonl', 'validation.jsonl']
    """
    with written_whole(out, record=RECORD_FILE, form=FORMAT, overwrite=overwrite) as folder:
        digests: dict[str, str] = {}
        for split, conversations in plan.conversations.items():
            path = folder / f"{split}.jsonl"
            with path.open("w", encoding="utf-8") as file:
                for conversation in conversations:
                    file.write(json.dumps(conversation, ensure_ascii=False) + "\n")
            digests[path.name] = _sha256(path)
        (folder / "dataset_info.json").write_text(_to_json(_dataset_info(plan)), encoding="utf-8")
        record = {
            "format": FORMAT,
            "source": plan.source,
            "max_characters": plan.max_characters,
            "conversations": {split: len(conversations) for split, conversations in plan.conversations.items()},
            "questions_left_out": plan.questions_left_out,
            "scores_left_out": plan.left_out,
            "files": digests,
        }
        (folder / RECORD_FILE).write_text(_to_json(record), encoding="utf-8")


def _dataset_info(plan: Plan) -> dict[str, Any]:
    """Return what LLaMA-Factory reads of a folder of data: how each file is laid out."""
    tags = {"role_tag": "role", "content_tag": "content"}
    tags |= {f"{role}_tag": role for role in ("user", "assistant", "system")}
    return {
        f"msu_{split}": {
            "file_name": f"{split}.jsonl",
            "formatting": "sharegpt",
            "columns": {"messages": "messages"},
            "tags": tags,
        }
        for split in plan.conversations
    }


def read_conversations(folder: Path) -> dict[str, list[Conversation]]:
    """Read training data that `write_plan` wrote, as it was written.

    Args:
        folder: the folder.

    Returns:
        Split → conversations.

    Raises:
        DatasetError: it is no training data of ours, or its files are not those that it names. Other people's files
            are refused, for nothing would say whether they hold scores of the test split.

    >>> read_conversations(Path("a-folder-that-is-not-there"))
    Traceback (most recent call last):
        ...
    music_evals.datasets_builders.folder.provenance.DatasetError: a-folder-that-is-not-there does not exist
    """
    if not folder.is_dir():
        raise DatasetError(f"{folder} {'is not a folder' if folder.exists() else 'does not exist'}")
    record = read_record(folder / RECORD_FILE, FORMAT)
    if record is None:
        raise DatasetError(f"{folder} is no training data of ours; `music-evals finetune-data` writes such folders")
    conversations: dict[str, list[Conversation]] = {}
    for split in SPLITS:
        path = folder / f"{split}.jsonl"
        if not path.is_file() or _sha256(path) != record.get("files", {}).get(path.name):
            raise DatasetError(f"{path} is not the file that {RECORD_FILE} names; write the folder again")
        with path.open(encoding="utf-8") as file:
            conversations[split] = [json.loads(line) for line in file]
    return conversations


def read_record(path: Path, form: str) -> dict[str, Any] | None:
    """Read a file that says what a folder is.

    Args:
        path: the file.
        form: what its entry `format` must be.

    Returns:
        Its entries, or None where there is no such file of that form.

    >>> read_record(Path("a-file-that-is-not-there"), FORMAT) is None
    True
    """
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return record if isinstance(record, dict) and record.get("format") == form else None


def check_folder(out: Path, *, record: str, form: str, overwrite: bool = False) -> None:
    """Check that a folder may be written, before any work is done.

    Args:
        out: the folder.
        record: name of the file that says what such a folder is.
        form: what that file's entry `format` must be for it to be ours.
        overwrite: whether a folder of ours may be replaced.

    Raises:
        DatasetError: the target is a file, a folder of somebody else's, or one of ours and `overwrite` is off; or it
            lies in no folder that may be written to.

    >>> check_folder(Path("a-folder-that-is-not-there"), record=RECORD_FILE, form=FORMAT)
    """
    out = out.expanduser().absolute()
    above = next(folder for folder in out.parents if os.path.lexists(folder))
    if not above.is_dir() or not os.access(above, os.W_OK):
        what = "may not be written to" if above.is_dir() else "is not a folder"
        raise DatasetError(f"{out} cannot be made: {above} {what}")
    if not os.path.lexists(out):
        return
    if not out.is_dir():
        raise DatasetError(f"{out} is not a folder; give a new or an empty one")
    if not any(out.iterdir()):
        return
    if read_record(out / record, form) is None:
        raise DatasetError(f"{out} is not empty, and no folder of this kind that we wrote; give a new or an empty one")
    if not overwrite:
        raise DatasetError(f"{out} is already there; give another folder, or allow it to be overwritten")


@contextmanager
def written_whole(out: Path, *, record: str, form: str, overwrite: bool = False) -> Iterator[Path]:
    """Yield a new folder that takes the place of `out` when the block ends well, and is gone when it does not.

    Args:
        out: the folder to write.
        record: as for `check_folder`.
        form: as for `check_folder`.
        overwrite: whether a folder of ours may be replaced.

    Returns:
        A context manager of the folder to fill.

    Raises:
        DatasetError: as for `check_folder`.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as parent:
    ...     with written_whole(Path(parent) / "out", record="r.json", form="letters") as folder:
    ...         _ = (folder / "a.txt").write_text("a")
    ...     [path.name for path in Path(parent).iterdir()]
    ['out']
    """
    out = Path(os.path.realpath(out.expanduser()))
    check_folder(out, record=record, form=form, overwrite=overwrite)
    with termination_unwinds(), temporary_sibling(out) as folder:
        yield folder
        check_folder(out, record=record, form=form, overwrite=overwrite)  # somebody may have written there meanwhile
        move_into_place(folder, out)


def _to_json(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
