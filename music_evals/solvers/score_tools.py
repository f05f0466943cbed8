"""LogicLM on scores: the model may call tools that parse the score of its question, and then
answers.

LilyPond reads the sample's score, in a sandbox. Text that the model writes is never run. The length
of every tool's text is bounded.

Source: the strategy of arXiv 2510.22455, section 2.3, applied to the tasks of arXiv 2606.08722,
section 3.2.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Literal

import anyio
import anyio.to_thread
from inspect_ai.model import execute_tools, get_model
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.tool import ToolDef, ToolError
from inspect_ai.util import store

from music_evals.notation.lilypond.compiler import NOT_MEASURED, lilypond_cache
from music_evals.notation.lilypond.sandbox.slots import cores
from music_evals.notation.lilypond.structure import Structure, StructureError, read_structure
from music_evals.notation.lilypond.syntax.header import read_header

MAX_TURNS = 6  # turns in which the model may call tools
MAX_CALLS = 12  # calls that are answered
MAX_LINES = 200  # lines of a tool's text
MAX_LINE = 200  # characters of a line


@solver
def score_tools() -> Solver:
    """Let the model call tools that parse the score, ``score`` of the sample's metadata, then ask
    for its answer.

    After `MAX_TURNS` turns with calls the model must answer without a call; calls beyond
    `MAX_CALLS` are refused.
    """
    limiter = anyio.CapacityLimiter(cores())

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        tools = ScoreTools(state.metadata["score"], limiter).definitions()
        for turn in range(MAX_TURNS + 1):
            # A chat with tool calls must list its tools again; the choice "none" forbids further
            # calls.
            choice: Literal["auto", "none"] = "auto" if turn < MAX_TURNS else "none"
            state.output = await get_model().generate(
                state.messages, tools=tools, tool_choice=choice
            )
            state.messages.append(state.output.message)
            if not state.output.message.tool_calls or choice == "none":
                break
            state.messages.extend((await execute_tools(state.messages, tools)).messages)
        return state

    return solve


class ScoreTools:
    """Tools on one LilyPond score, which is read at the first call."""

    def __init__(self, text: str, limiter: anyio.CapacityLimiter | None = None) -> None:
        self._text, self._limiter, self._calls = text, limiter, 0
        self._read: Structure | StructureError | None = None
        self._reading = anyio.Lock()

    def definitions(self) -> list[ToolDef]:
        """Return the tools for a model."""
        signatures = (
            "Lists the key and time signatures of the score, with the measures where they begin."
        )
        measure = "Lists the notes and rests of one measure, with staff, voice, onset and length."
        number = {"number": "Number of the measure; the first complete one is 1, a pickup is 0."}
        problems = "Lists what LilyPond finds wrong with the text, with line and column."
        return [
            self._on_structure("count_measures", "Counts the measures of the score.", tell_count),
            self._on_structure("read_key_and_metre", signatures, tell_signatures),
            ToolDef(
                self._list_measure, name="list_measure", description=measure, parameters=number
            ),
            self._on_structure("list_problems", problems, tell_problems),
            ToolDef(
                self._read_header,
                name="read_header",
                description="Lists the fields of the score's header.",
            ),
        ]

    def _on_structure(
        self, name: str, description: str, tell: Callable[[Structure], str]
    ) -> ToolDef:
        async def tool() -> str:
            return tell(await self._structure())

        return ToolDef(tool, name=name, description=description)

    async def _list_measure(self, number: int) -> str:
        return tell_measure(await self._structure(), number)

    async def _read_header(self) -> str:
        self._count_call()
        return tell_header(read_header(self._text))

    async def _structure(self) -> Structure:
        self._count_call()
        async with self._reading:
            if self._read is None:
                try:
                    read = partial(read_structure, self._text, cache=lilypond_cache())
                    self._read = await anyio.to_thread.run_sync(read, limiter=self._limiter)
                except StructureError as error:
                    self._read = error  # so that later calls do not read the text again
                    if not error.is_measured:
                        store().set(NOT_MEASURED, str(error))
        if isinstance(self._read, StructureError):
            raise ToolError(str(self._read))
        return self._read

    def _count_call(self) -> None:
        self._calls += 1
        if self._calls > MAX_CALLS:
            raise ToolError(f"no more than {MAX_CALLS} calls are answered; give your answer now")


def tell_count(score: Structure) -> str:
    """Say how many measures there are and, if their number is in doubt, why."""
    text = f"{score.measures} measure{'' if score.measures == 1 else 's'}"
    text += ", and a pickup ahead of measure 1" if score.pickup else ""
    return f"{text}. But {'; '.join(score.problems)}." if score.problems else text


def tell_signatures(score: Structure) -> str:
    """List the time signatures, then the key signatures; equal ones of several staves once."""
    metres = [f"measure {metre.measure}: time signature {metre.name}" for metre in score.metres]
    keys = [
        f"measure {key.measure}: key signature {key.name or 'of no common name'}"
        for key in score.keys
    ]
    return _lines([*(metres or ["no time signature"]), *(keys or ["no key signature"])])


def tell_measure(score: Structure, number: int) -> str:
    """List the time signature of a measure, 0 for a pickup, and its notes and rests by staff, voice
    and time.
    """
    first = 0 if score.pickup else 1
    if not first <= number <= score.measures:
        raise ToolError(
            f"there is no measure {number}; the measures are {first} to {score.measures}"
        )
    events = [event for event in score.events if event.measure == number and event.kind != "skip"]
    lines = (
        [f"time signature {score.metre_at(events[0].moment).name}"]
        if events and score.metres
        else []
    )
    events.sort(key=lambda event: (event.staff, event.voice, event.moment, not event.grace))
    for event in events:
        name = (
            "rest"
            if event.kind == "rest"
            else f"{'grace note ' if event.grace else ''}{event.name}"
        )
        place = f"staff {event.staff}, voice {event.voice}, at {event.position}"
        lines.append(f"{place}: {name} lasting {event.duration}")
    return _lines(lines or ["nothing begins in this measure"])


def tell_problems(score: Structure) -> str:
    """List LilyPond's own messages, with lines and columns of the text, or say that there are
    none.
    """
    lines = [line for line in score.messages.splitlines() if line.strip()]
    return _lines([*score.problems, *lines] or ["LilyPond has nothing to say against the text"])


def tell_header(header: Mapping[str, str]) -> str:
    """List the fields of a header, or say that there are none."""
    return _lines(
        [f"{name}: {text}" for name, text in header.items()] or ["the text has no header"]
    )


def _lines(lines: Iterable[str]) -> str:
    unique = list(dict.fromkeys(" ".join(line.split())[:MAX_LINE] for line in lines))
    if len(unique) > MAX_LINES:
        unique = [*unique[:MAX_LINES], f"and {len(unique) - MAX_LINES} more lines"]
    return "\n".join(unique)
