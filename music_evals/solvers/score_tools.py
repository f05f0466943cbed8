"""LogicLM on scores: the model may call tools that parse the score of its question, and then answers.

The tools are deterministic: LilyPond itself reads the text, in a sandbox. They read the sample's own score, so no model
needs to copy it. Text that the model writes is never run.

Source: the strategy of arXiv 2510.22455, section 2.3 (a model with a deterministic solver), applied to the tasks of
arXiv 2606.08722, section 3.2, which has no such strategy.
"""

from collections.abc import Callable
from functools import partial
from typing import Final, Literal

import anyio
import anyio.to_thread
from inspect_ai.model import execute_tools
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.tool import ToolDef, ToolError
from inspect_ai.util import store

from music_evals.notation.lilypond.compiler import NOT_MEASURED, lilypond_cache
from music_evals.notation.lilypond.sandbox.slots import cores
from music_evals.notation.lilypond.structure import Structure, StructureError, read_structure
from music_evals.notation.lilypond.syntax.header import read_header
from music_evals.solvers.replies import asked
from music_evals.solvers.symbolic.lilypond import tell_count, tell_header, tell_measure, tell_problems, tell_signatures

MAX_TURNS: Final = 6  # turns in which the model may call tools
MAX_CALLS: Final = 12  # calls that are answered


@solver
def score_tools() -> Solver:
    """Let the model call tools that parse the score, then ask for its answer.

    The sample's metadata has the text of its score as ``score``. After `MAX_TURNS` turns with calls the model must
    answer without a call; calls beyond `MAX_CALLS` are refused.
    """
    limiter = anyio.CapacityLimiter(cores())

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        tools = ScoreTools(state.metadata["score"], limiter).definitions()
        for turn in range(MAX_TURNS + 1):
            # A chat with tool calls must list its tools again; the choice "none" forbids further calls.
            choice: Literal["auto", "none"] = "auto" if turn < MAX_TURNS else "none"
            state.output = await asked(state, state.messages, tools=tools, tool_choice=choice)
            state.messages.append(state.output.message)
            if not state.output.message.tool_calls or choice == "none":
                break
            state.messages.extend((await execute_tools(state.messages, tools)).messages)
        return state

    return solve


class ScoreTools:
    """Tools on one score, given as LilyPond, which is read at the first call."""

    def __init__(self, text: str, limiter: anyio.CapacityLimiter | None = None) -> None:
        self._text = text
        self._limiter = limiter
        self._calls = 0
        self._read: Structure | StructureError | None = None
        self._reading = anyio.Lock()

    def definitions(self) -> list[ToolDef]:
        """Return the tools for a model."""
        signatures = "Lists the key and time signatures of the score, with the measures where they begin."
        problems = "Lists what LilyPond finds wrong with the text, with line and column."
        return [
            self._about("count_measures", "Counts the measures of the score.", tell_count),
            self._about("read_key_and_metre", signatures, tell_signatures),
            ToolDef(
                self._list_measure,
                name="list_measure",
                description="Lists the notes and rests of one measure, with staff, voice, onset and length.",
                parameters={"number": "Number of the measure; the first complete one is 1, a pickup is 0."},
            ),
            self._about("list_problems", problems, tell_problems),
            ToolDef(self._read_header, name="read_header", description="Lists the fields of the score's header."),
        ]

    def _about(self, name: str, description: str, tell: Callable[[Structure], str]) -> ToolDef:
        async def tool() -> str:
            return tell(await self._structure())

        return ToolDef(tool, name=name, description=description)

    async def _list_measure(self, number: int) -> str:
        score = await self._structure()
        try:
            return tell_measure(score, number)
        except ValueError as error:
            raise ToolError(str(error)) from error

    async def _read_header(self) -> str:
        self._count()
        return tell_header(read_header(self._text))

    async def _structure(self) -> Structure:
        self._count()
        async with self._reading:
            if self._read is None:
                try:
                    read = partial(read_structure, self._text, cache=lilypond_cache())
                    self._read = await anyio.to_thread.run_sync(read, limiter=self._limiter)
                except StructureError as error:
                    self._read = error  # kept, so that a text that cannot be read takes its time only once
                    if not error.is_measured:
                        store().set(NOT_MEASURED, str(error))
        if isinstance(self._read, StructureError):
            raise ToolError(str(self._read))
        return self._read

    def _count(self) -> None:
        self._calls += 1
        if self._calls > MAX_CALLS:
            raise ToolError(f"no more than {MAX_CALLS} calls are answered; give your answer now")
