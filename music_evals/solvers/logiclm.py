"""LogicLM: the model transcribes into symbolic lines, a deterministic solver decides, the model
answers.

1. *Formulation*: the model writes the lines of the task's schema.
2. *Refinement*: a line that fails the strict validation goes back, with the kind of its error, in a
   separate chat with deterministic decoding, at most twice. If the solver cannot decide, there is
   one further round with a parse error.
3. *Answer*: the model reads the solver's minimal result in the first chat, and answers.

In the log, calls of the solver are tool events and refinements are spans.

Source: arXiv 2510.22455, section 2.3 and Appendix C, after Pan et al., "Logic-LM" (arXiv
2305.12295).
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from string import Template
from typing import Any

from inspect_ai.model import (
    ChatMessageAssistant,
    ChatMessageUser,
    GenerateConfig,
    ModelOutput,
    execute_tools,
    get_model,
)
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.tool import ToolCall, ToolDef
from inspect_ai.util import span

from music_evals.scorers.readers.cleaning import clean_reply
from music_evals.solvers.symbolic.music import SymbolicSolver
from music_evals.solvers.symbolic.schema import MAX_CHARACTERS, ErrorKind, FormulationError

MAX_REFINEMENTS = 2  # rounds to repair a formulation that fails the validation
REFINEMENT_TOKENS = 256  # per refinement
MAX_ECHO = 4_000  # characters of a refused output that the refinement chat shows again
# key of the attempts in a sample's metadata, dictionaries with the fields of `Attempt`
ATTEMPTS = "formulation"


@dataclass(frozen=True, slots=True)
class Attempt:
    """One formulation, with the validation's error or the solver's result and answer, as `message`
    says.
    """

    text: str
    error: ErrorKind | None
    message: str
    answer: str | None
    extra_round: bool  # whether an undecided result preceded it


@solver
def logiclm(
    symbolic: SymbolicSolver,
    prompts: Mapping[str, str],
    refinement_tokens: int = REFINEMENT_TOKENS,
) -> Solver:
    """Ask for symbolic lines, have a deterministic solver decide, then ask for the answer.

    The sample's metadata names the trial's ``identifiers``, and then holds the attempts under
    `ATTEMPTS`.

    Args:
        symbolic: the deterministic solver, with its schema.
        prompts: texts ``refine`` ($output, $kind, $message, $template, $constraints), ``final``
            ($finding, and other entries of `prompts`), ``decided`` and ``undecided`` ($result).
        refinement_tokens: most tokens of a refinement.
    """

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        refinement = GenerateConfig(
            temperature=0.0, top_p=1.0, top_k=1, max_tokens=refinement_tokens
        )
        trial = _Trial(symbolic, state, prompts, state.metadata["identifiers"], refinement)
        await trial.formulate()
        closing = {"asks": {"answer_type": "choice"}} if trial.question_metadata else None
        state.messages.append(ChatMessageUser(content=trial.closing_question(), metadata=closing))
        state.output = await get_model().generate(state.messages)
        state.messages.append(state.output.message)
        # Not in the store: Inspect compares it around every span and logs each change.
        state.metadata[ATTEMPTS] = [asdict(attempt) for attempt in trial.attempts]
        return state

    return solve


@dataclass
class _Trial:
    """The formulations of one sample."""

    symbolic: SymbolicSolver
    state: TaskState
    prompts: Mapping[str, str]
    identifiers: list[str]
    refinement_config: GenerateConfig
    attempts: list[Attempt] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.question_metadata: dict[str, Any] = (self.state.messages[-1].metadata or {}).get(
            "asks", {}
        )

    async def formulate(self) -> None:
        output = await get_model().generate(self.state.messages)
        self.state.output = output
        self.state.messages.append(output.message)
        await self._call_solver(_lines(output))
        for number in range(1, MAX_REFINEMENTS + 1):
            if (error := self.attempts[-1].error) is None:
                break
            await self._refine(f"refinement {number}", error)
        if self.attempts[-1].error is None and self.attempts[-1].answer is None:
            # The paper hands an undecided result back as if the line had failed to parse.
            await self._refine("refinement after an undecided result", "parse")

    def closing_question(self) -> str:
        last = self.attempts[-1]
        wording = self.prompts["undecided" if last.answer is None else "decided"]
        finding = Template(wording).substitute(result=f"{last.message.rstrip('.')}.")
        return Template(self.prompts["final"]).substitute({**self.prompts, "finding": finding})

    async def _refine(self, name: str, kind: ErrorKind) -> None:
        schema = self.symbolic.schema
        last = self.attempts[-1]
        facts = {"kind": kind, "message": last.message, "constraints": schema.constraints()}
        async with span(name, type="logiclm"):
            text = last.text
            if len(text) > MAX_ECHO:
                text = f"{text[:MAX_ECHO]}\n[cut after {MAX_ECHO} characters]"
            facts |= {"output": text, "template": schema.template(self.identifiers)}
            request = Template(self.prompts["refine"]).substitute(facts)
            asks = {key: fact for key, fact in self.question_metadata.items() if key != "music"} | {
                "refused": text
            }
            message = ChatMessageUser(
                content=request, metadata={"asks": asks} if self.question_metadata else None
            )
            await self._call_solver(
                _lines(await get_model().generate([message], config=self.refinement_config))
            )

    async def _call_solver(self, text: str) -> None:
        # Called through Inspect rather than directly, so that the log shows a tool event.
        name = self.symbolic.name
        tool = ToolDef(
            self._decide,
            name=name,
            description="Decides.",
            parameters={"transcription": "symbolic lines"},
            parallel=False,
        )
        call = ToolCall(
            id=f"{name}_{len(self.attempts) + 1}",
            function=name,
            arguments={"transcription": text[: MAX_CHARACTERS + 1]},
        )
        await execute_tools([ChatMessageAssistant(content="", tool_calls=[call])], [tool])

    async def _decide(self, transcription: str) -> str:
        try:
            decision = self.symbolic.solve(transcription, self.identifiers)
        except FormulationError as error:
            return self._record(transcription, error.kind, error.message, None)
        outcome = self._record(transcription, None, decision.result, decision.answer)
        return outcome if decision.answer is not None else f"undecided: {outcome}"

    def _record(self, text: str, error: ErrorKind | None, message: str, answer: str | None) -> str:
        # Only an undecided result has another round after a valid formulation.
        extra_round = any(attempt.error is None for attempt in self.attempts)
        self.attempts.append(Attempt(text, error, message, answer, extra_round))
        return f"{error} error: {message}" if error else message


def _lines(output: ModelOutput) -> str:
    """The text of a reply without thoughts that Inspect left in it."""
    return clean_reply(output.completion).strip()
