"""A taskset for verifiers 0.4: endless composed questions on music, or rows of any task from a file.

Only text is sent. A reply earns what `music_evals.rewards.score` gives it; the parts are metrics.
"""

import asyncio
import json
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from random import Random
from string import Template
from typing import Any, ClassVar

import verifiers.v1 as vf

from music_evals.benchmarks.prompts import load_prompts
from music_evals.datasets_builders.muse import drum_loops
from music_evals.datasets_builders.muse.rows import LETTERS, SYNCOPATION_OPTIONS
from music_evals.datasets_builders.musictheorybench import KNOWLEDGE, SEED
from music_evals.datasets_builders.questions.question_rows import composed_rows
from music_evals.notation.midi.files import midi_to_text, write_midi
from music_evals.rewards import score

__all__ = ["MusicTaskset"]

Prompted = tuple[str, str, dict[str, Any]]  # system prompt, prompt and row
BATCH = 500  # theory questions that are composed together


class MusicData(vf.TaskData):
    """A question: the name of its task, and the columns of its row that the reward needs."""

    task: str
    row: dict[str, Any]


class MusicTask(vf.Task[MusicData]):
    """Rewards a reply by the scorer of the task."""

    @vf.reward
    async def value(self, trace: vf.Trace) -> float:
        """The value; the machine's failures are errors, and no rewards."""
        reward = await self._judge(trace.last_reply)
        if reward.value is None:
            raise RuntimeError(reward.reason)
        return reward.value

    @vf.metric
    async def parts(self, trace: vf.Trace) -> dict[str, float]:
        """The parts of the reward, such as the format."""
        parts = (await self._judge(trace.last_reply)).parts
        return {name: value for name, value in parts.items() if value is not None}

    async def validate(self, runtime: vf.Runtime) -> bool:
        """Whether the reference answer earns 1."""
        right = self.data.row.get("target", self.data.row.get("answer"))
        bare = self.data.task.startswith(("lilybench", "msu"))
        return (await self._judge(right if bare else f"Final Answer: {right}")).value == 1

    async def _judge(self, reply: str) -> Any:
        return await asyncio.to_thread(score, self.data.task, self.data.row, reply)


class MusicConfig(vf.TasksetConfig):
    """Which questions."""

    questions: str = "musictheorybench_knowledge"
    """A task that can be composed without end: see `COMPOSERS`. With `rows`, any task but written music."""
    seed: int = 1_000
    """The first seed; other seeds follow."""
    rows: Path | None = None
    """JSON lines with ``prompt``, ``row`` and, if there is one, ``system``, instead of composed questions."""


class MusicTaskset(vf.Taskset[MusicTask, MusicConfig]):
    """Composed questions without end; with `rows`, those of a file."""

    INFINITE: ClassVar[bool] = True

    def __init__(self, config: MusicConfig) -> None:
        """Check what there is to ask."""
        super().__init__(config)
        if config.rows is None and config.questions not in COMPOSERS:
            names = ", ".join(COMPOSERS)
            raise ValueError(f"questions={config.questions!r} is not composed; accepted are {names}, or give rows")
        self._bounded = config.rows is not None

    def load(self) -> Iterator[MusicTask]:
        """Yield the tasks."""
        name, rows = self.config.questions, self.config.rows
        for system, prompt, row in read_rows(rows) if rows else COMPOSERS[name](name, self.config.seed):
            data = MusicData(system_prompt=system or None, prompt=prompt, task=name, row=row)
            yield MusicTask(data, self.config.task)


def read_rows(path: Path) -> Iterator[Prompted]:
    """Read the lines of a file."""
    with path.open(encoding="utf-8") as lines:
        for entry in map(json.loads, lines):
            yield entry.get("system", ""), entry["prompt"], entry["row"]


def compose_theory(name: str, seed: int) -> Iterator[Prompted]:
    """Compose questions of MusicTheoryBench's form, but none of the default test."""
    from music_evals.datasets_builders.questions.theory import compose

    wording = load_prompts("musictheorybench")
    seen = {question.text["en"] for question in compose.compose_theory(540, SEED, compose.MUSICTHEORYBENCH)}
    for number in count(seed):
        questions = compose.compose_theory(BATCH, number, compose.MUSICTHEORYBENCH)
        fresh = [one for one in questions if (one.kind in KNOWLEDGE) == name.endswith("knowledge")]
        for row in composed_rows([one for one in fresh if one.text["en"] not in seen], str(number)):
            options = dict(zip("abcd", row["options"], strict=True))
            prompt = Template(wording["question"]).substitute(question=row["question"], **options)
            yield wording["instruction"], prompt, {"options": row["options"], "answer": row["answer"]}


def compose_syncopation(name: str, seed: int) -> Iterator[Prompted]:
    """Compose drum loops as MIDI text."""
    wording = load_prompts("muse")["syncopation"]
    system = Template(wording["standalone"]).substitute(given=wording["given"]["midi"])
    for number in count():
        rng = Random(f"train/{seed}/{number}")
        level = rng.randrange(len(LETTERS))
        loop = drum_loops.compose_drum_loop(drum_loops.OFFBEATS[level], rng)
        prompt = f"Excerpt1:\n{midi_to_text(write_midi(loop.performance))}"
        yield system, prompt, {"options": list(SYNCOPATION_OPTIONS), "target": LETTERS[level]}


COMPOSERS: dict[str, Callable[[str, int], Iterator[Prompted]]] = {
    "musictheorybench_knowledge": compose_theory,
    "musictheorybench_reasoning": compose_theory,
    "muse_syncopation": compose_syncopation,
}
"""Task → what composes its questions from a seed."""
