"""A taskset for verifiers 0.4: endless composed questions on music, or rows of any task from a
file.

Only text is sent. A reply earns what `music_evals.rewards.score` gives it; the parts are metrics.
"""

import asyncio
import json
from collections.abc import Iterator
from itertools import chain, count
from pathlib import Path
from string import Template
from typing import Any, ClassVar

import verifiers.v1 as vf

from music_evals.benchmarks.prompts import load_prompts
from music_evals.datasets_builders.musictheorybench import KNOWLEDGE, SEED, compose_rows
from music_evals.datasets_builders.questions.question_rows import composed_rows
from music_evals.rewards import score

__all__ = ["MusicTaskset"]

COMPOSED = ("musictheorybench_knowledge", "musictheorybench_reasoning")
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
    """A task that can be composed without end: see `COMPOSED`. With `rows`, any task but written
    music.
    """
    seed: int = 1_000
    """The first seed; other seeds follow."""
    rows: Path | None = None
    """JSON lines with ``prompt``, ``row`` and perhaps ``system_prompt``, instead of composed
    questions.
    """


class MusicTaskset(vf.Taskset[MusicTask, MusicConfig]):
    """Composed questions without end; with `rows`, those of a file."""

    INFINITE: ClassVar[bool] = True

    def __init__(self, config: MusicConfig) -> None:
        """Check what there is to ask."""
        super().__init__(config)
        if config.rows is None and config.questions not in COMPOSED:
            names = ", ".join(COMPOSED)
            raise ValueError(
                f"questions={config.questions!r} is not composed; accepted are {names}, or give "
                "rows"
            )
        self._bounded = config.rows is not None

    def load(self) -> Iterator[MusicTask]:
        """Yield the tasks."""
        name, path = self.config.questions, self.config.rows
        for entry in (
            map(json.loads, path.open(encoding="utf-8"))
            if path
            else compose_theory(name, self.config.seed)
        ):
            yield MusicTask(MusicData(**entry, task=name), self.config.task)


def compose_theory(name: str, seed: int) -> Iterator[dict[str, Any]]:
    """Compose questions of MusicTheoryBench's form, but none of the default test or of the half
    reserved for tests.
    """
    from music_evals.datasets_builders.questions.theory import compose
    from music_evals.datasets_builders.training.decontamination import is_reserved

    wording = load_prompts("musictheorybench")
    splits = chain.from_iterable(config.values() for config in compose_rows(SEED).values())
    seen = {row["question"] for row in chain.from_iterable(splits)}
    for number in count(seed):
        questions = compose.compose_theory(BATCH, number, compose.MUSICTHEORYBENCH)
        fresh = [one for one in questions if (one.kind in KNOWLEDGE) == name.endswith("knowledge")]
        for row in composed_rows([one for one in fresh if one.text["en"] not in seen], str(number)):
            if is_reserved(row["id"]):
                continue
            options = dict(zip("abcd", row["options"], strict=True))
            prompt = Template(wording["question"]).substitute(question=row["question"], **options)
            columns = {"options": row["options"], "answer": row["answer"]}
            yield {"system_prompt": wording["instruction"], "prompt": prompt, "row": columns}
