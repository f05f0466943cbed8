"""The answers of one person to one task, kept in a file at each answer, and the log that Inspect
makes of them.

The file is JSON lines beside the logs: what the session is of, then a line per answer. Its name has
a checksum of the task, its parameters and its data, so that other parameters or other data begin
another session.
"""

import fcntl
import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from glob import escape
from hashlib import sha256
from itertools import chain, pairwise
from pathlib import Path
from string import Template, ascii_uppercase
from typing import IO, Any

from inspect_ai import Task
from inspect_ai import eval as inspect_eval
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalLog
from inspect_ai.model import ChatMessage, Model, ModelName
from inspect_ai.solver import Solver, TaskState

from music_evals.baselines.human import HumanAPI
from music_evals.datasets_builders.questions.media_questions import MARK
from music_evals.solvers.media import MEDIA
from music_evals.solvers.stimulus import question_message, question_place

LONGEST = 2000  # characters of an answer in words
_LOCKS: dict[Path, IO[bytes]] = {}  # files that this process has open


@dataclass(frozen=True, slots=True)
class Session:
    """A person's answers to the first samples of a task; `open_session` makes it."""

    model: Model  # human/NAME
    task: Task
    samples: Sequence[Sample]
    path: Path
    replies: dict[str, str]  # id of a sample → reply

    @property
    def unanswered(self) -> list[Sample]:
        """The samples without an answer, in the task's order."""
        return [sample for sample in self.samples if str(sample.id) not in self.replies]

    async def shown(self, sample: Sample) -> dict[str, Any]:
        """Return a question as the task's solver asks a model: earlier messages, its parts, and
        answers with labels.
        """
        assert isinstance(sample.input, list)
        assert isinstance(self.task.solver, Solver)

        async def send_nothing(state: TaskState, *_: Any, **__: Any) -> TaskState:
            return state

        metadata = {**(sample.metadata or {}), MEDIA: None}
        state = TaskState(
            ModelName(self.model),
            str(sample.id),
            1,
            sample.input,
            [*sample.input],
            metadata=metadata,
        )
        messages = (await self.task.solver(state, send_nothing)).messages
        place = question_place(messages)
        facts = (messages[place].metadata or {})["asks"]
        answers = facts.get("answers") or []
        options = facts.get("options") or metadata.get("options") or answers
        is_lettered = answers == [*ascii_uppercase[: len(answers)]]
        labels = [MARK.sub("", option).strip() for option in options]
        return {
            "id": sample.id,
            "opening": [(message.role, _parts(message)) for message in messages[:place]],
            "question": _parts(messages[place]),
            "choices": [*zip(answers if is_lettered else options, labels, strict=False)],
        }

    def keep(self, sample_id: str, answer: str) -> None:
        """Write an answer to the file; the first one to a sample counts. ValueError: not an answer
        to a sample.
        """
        sample = next((sample for sample in self.samples if str(sample.id) == sample_id), None)
        facts, answer = question_message(sample)[1] if sample else {}, answer.strip()
        if (
            not facts
            or answer not in facts.get("answers", [answer])
            or not 0 < len(answer) <= LONGEST
        ):
            raise ValueError(f"{answer!r:.60} is not an answer to a question {sample_id!r:.60}")
        if sample_id not in self.replies:
            reply = Template(facts.get("form", "$answer")).safe_substitute(answer=answer)
            _append(
                self.path, {"id": sample_id, "reply": reply, "at": datetime.now(UTC).isoformat()}
            )
            self.replies[sample_id] = reply

    def write_log(self) -> EvalLog:
        """Have Inspect run the task with the answers; if some are missing, on the answered samples
        only.
        """
        assert isinstance(self.model.api, HumanAPI)
        self.model.api.replies = self.replies
        selection: dict[str, Any] = {}
        if self.unanswered:
            selection["sample_id"] = [
                escape(str(sample.id)) for sample in self.samples if str(sample.id) in self.replies
            ]
        elif len(self.samples) < len(self.task.dataset):
            selection["limit"] = len(self.samples)
        folder = str(self.path.parent)
        (log,) = inspect_eval(
            self.task, self.model, log_dir=folder, display="none", log_level="error", **selection
        )
        if log.status != "success":
            raise ValueError(
                f"the log ended with the status {log.status}; the answers are kept in {self.path}"
            )
        return log


def open_session(task: Task, model: Model, folder: Path, limit: int | None = None) -> Session:
    """Begin the session of ``human/NAME`` with the first samples of a task, or go on with it.

    ValueError: the name is not valid, the task wants more than one answer per sample, or another
    process has the session open.
    """
    samples, about = list(task.dataset), task.metadata or {}
    if not re.fullmatch("[A-Za-z0-9][A-Za-z0-9._-]{0,39}", model.name):
        raise ValueError(
            f"the name {model.name!r:.60} is not valid; accepted: at most 40 of A to Z, a to z, 0 "
            "to 9, '.', '-' and '_', with a letter or digit first"
        )
    kinds = {question_message(sample)[1].get("answer_type") for sample in samples}
    if refused := kinds - {"choice", "text"}:
        raise ValueError(
            f"a person gives one answer per question; with these parameters, {task.name} wants "
            f"{refused}"
        )
    wanted = ("benchmark", "config", "condition", "dataset_", "prompts_")
    identity = {key: value for key, value in about.items() if key.startswith(wanted)}
    identity |= {"name": model.name, "task_version": task.version}
    identity["questions"] = sha256(
        "\n".join(f"{sample.id}\t{sample.target}" for sample in samples).encode()
    ).hexdigest()
    checksum = sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()[:8]
    path = folder / f"human-{model.name}-{about['benchmark']}-{about['config']}-{checksum}.jsonl"
    folder.mkdir(parents=True, exist_ok=True)
    _lock(path)
    *lines, cut = (path.read_bytes() if path.exists() else b"").split(b"\n")
    if cut:  # by a kill while it was written; the page had not gone on
        os.truncate(path, path.stat().st_size - len(cut))
    if not lines:
        _append(path, identity)
    rows = [*map(json.loads, lines[1:])]
    return Session(
        model, task, samples[:limit], path, {row["id"]: row["reply"] for row in reversed(rows)}
    )


def _lock(path: Path) -> None:
    """Keep a file for this process, to its end."""
    if path in _LOCKS:
        return
    file = path.open("ab")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise ValueError(
            f"another process writes answers to {path}; stop it, or take another --name"
        ) from None
    except OSError:
        pass  # a file system without locks
    _LOCKS[path] = file


def _append(path: Path, row: dict[str, Any]) -> None:
    with path.open("ab") as file:
        file.write(json.dumps(row, ensure_ascii=False).encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())


def _parts(message: ChatMessage) -> list[tuple[str, str]]:
    """The parts of a message: kind (text, notation, audio or image) and content."""
    if not isinstance(message.content, str):
        return [(part.type, getattr(part, part.type)) for part in message.content]
    spans = (message.metadata or {}).get("asks", {}).get("music") or ()
    pieces = [
        message.content[start:end]
        for start, end in pairwise([0, *chain(*spans), len(message.content)])
    ]
    return [
        ("notation" if at % 2 else "text", piece.strip())
        for at, piece in enumerate(pieces)
        if piece.strip()
    ]
