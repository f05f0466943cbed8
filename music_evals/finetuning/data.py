"""Training conversations from a benchmark of questions on scores, kept apart from its test split.

One conversation a question (system prompt, score and question, answer) in the JSONL that TRL reads as conversational
data and LLaMA-Factory as its "openai" kind of the sharegpt format; ``dataset_info.json`` registers both files with the
latter. Nothing of a test score may be in them: `read_plan` compares ids, titles with composers, and the music itself.

Source: "Musical Score Understanding Benchmark" (arXiv 2511.20697), section 5.1 (splits of 6:2:2 by score, a fixed test
set that is never trained on) and Appendix I (long scores are left out of training only).
"""

import json
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypedDict

from music_evals.datasets_builders.dataset_io import (
    DatasetError,
    DatasetSpec,
    FolderKind,
    as_json,
    describe_dataset,
    file_sha256,
    list_names,
    load_split,
    replace_folder,
)
from music_evals.datasets_builders.msu.same_work import music_of, name_of

SPLITS: Final = ("train", "validation")  # that are written, each as ``<split>.jsonl``
HELD_OUT: Final = "test"
TRAINING_DATA: Final = FolderKind("training data", "finetune.json", "music-evals fine-tuning data, version 1")

_SCORE_COLUMNS: Final = ("score_id", "title", "composer", "abc")


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
    """Training data that can be written."""

    conversations: Mapping[str, Sequence[Conversation]]  # split → conversations
    left_out: Mapping[str, Mapping[str, str]]  # split → score id → why its questions are left out
    questions_left_out: Mapping[str, int]  # split → number of questions left out
    source: Mapping[str, Any]  # what the conversations are made from, as a task records it of its dataset
    max_characters: int | None  # longest conversation that is kept, None for any


def read_plan(
    dataset: str, *, benchmark: DatasetSpec, make_prompt: MakePrompt, max_characters: int | None = None
) -> Plan:
    """Make the conversations of a dataset's train and validation splits; what is too long or has no ABC is left out.

    DatasetError if there is no such dataset, it lacks a split, a score of the test split occurs in another one, a
    question is on a score of another split, or a prompt is no prompt.
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
            conversation = _conversation(score, question, make_prompt) if score["abc"] else None
            length = sum(len(message["content"]) for message in conversation["messages"]) if conversation else 0
            if conversation and (max_characters is None or length <= max_characters):
                conversations[split].append(conversation)
                continue
            left_out[split].setdefault(score["score_id"], "too long" if conversation else "no ABC")
            questions_left_out[split] += 1
        if not conversations[split]:
            raise DatasetError(f"nothing is left of '{split}' of {dataset}: {_reasons(left_out[split])}")
    origin = describe_dataset(dataset, benchmark=benchmark)
    return Plan(conversations, left_out, questions_left_out, origin.metadata(), max_characters)


def _reasons(left_out: Mapping[str, str]) -> str:
    counts = Counter(left_out.values())
    return ", ".join(f"{count} scores left out, {reason}" for reason, count in counts.items()) or "it has no questions"


def _refuse_leaks(others: Collection[Mapping[str, Any]], held_out: Collection[Mapping[str, Any]], where: str) -> None:
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
            shown = list_names([f"{one} ({other} in {HELD_OUT})" for one, other in leaks])
            raise DatasetError(f"{where} has scores of the {HELD_OUT} split, by {what}: {shown}")


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
    """Write training data as a folder, whole or not at all; ``finetune.json`` in it says what it is made from."""
    with replace_folder(out, TRAINING_DATA, overwrite=overwrite) as folder:
        digests: dict[str, str] = {}
        for split, conversations in plan.conversations.items():
            path = folder / f"{split}.jsonl"
            with path.open("w", encoding="utf-8") as file:
                for conversation in conversations:
                    file.write(json.dumps(conversation, ensure_ascii=False) + "\n")
            digests[path.name] = file_sha256(path)
        (folder / "dataset_info.json").write_text(as_json(_dataset_info(plan)), encoding="utf-8")
        record = {
            "format": TRAINING_DATA.text,
            "source": plan.source,
            "max_characters": plan.max_characters,
            "conversations": {split: len(conversations) for split, conversations in plan.conversations.items()},
            "questions_left_out": plan.questions_left_out,
            "scores_left_out": plan.left_out,
            "files": digests,
        }
        (folder / TRAINING_DATA.marker).write_text(as_json(record), encoding="utf-8")


def _dataset_info(plan: Plan) -> dict[str, Any]:
    """Return what LLaMA-Factory reads of a folder of data: how each file is laid out."""
    tags = {"role_tag": "role", "content_tag": "content"}
    tags |= {f"{role}_tag": role for role in ("user", "assistant", "system")}
    common = {"formatting": "sharegpt", "columns": {"messages": "messages"}, "tags": tags}
    return {f"msu_{split}": {"file_name": f"{split}.jsonl", **common} for split in plan.conversations}


def read_conversations(folder: Path) -> dict[str, list[Conversation]]:
    """Read training data that `write_plan` wrote: split → conversations; nobody else's, which may hold test scores."""
    if not folder.is_dir():
        raise DatasetError(f"{folder} {'is not a folder' if folder.exists() else 'does not exist'}")
    if not TRAINING_DATA.describes(folder):
        raise DatasetError(f"{folder} is no training data of ours; `music-evals finetune-data` writes such folders")
    record = json.loads((folder / TRAINING_DATA.marker).read_text(encoding="utf-8"))
    conversations: dict[str, list[Conversation]] = {}
    for split in SPLITS:
        path = folder / f"{split}.jsonl"
        if not path.is_file() or file_sha256(path) != record.get("files", {}).get(path.name):
            raise DatasetError(f"{path} is not the file that {TRAINING_DATA.marker} names; write the folder again")
        with path.open(encoding="utf-8") as file:
            conversations[split] = [json.loads(line) for line in file]
    return conversations
