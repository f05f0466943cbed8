"""LogicLM: the model transcribes into symbolic lines, a deterministic solver decides, the model answers.

1. *Formulation*: the model writes the lines of the task's schema.
2. *Refinement*: a line that fails the strict validation goes back, with the kind of its error, in a separate chat
   with deterministic decoding, at most twice. A solver that cannot decide earns one further round, whose error is
   made up as a parse error.
3. *Answer*: the solver's minimal result is told to the model in the first chat, and the model answers.

Every call of the solver is a tool event in the log, and every refinement a span of its own.

Source: arXiv 2510.22455, section 2.3 and Appendix C, after Pan et al., "Logic-LM" (arXiv 2305.12295).
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from string import Template
from typing import Any, Literal

import click
from inspect_ai.model import ChatMessageAssistant, ChatMessageUser, GenerateConfig, Model, execute_tools, get_model
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.tool import ToolCall, ToolDef
from inspect_ai.util import span

from music_evals.solvers.symbolic.music import SymbolicSolver
from music_evals.solvers.symbolic.schema import MAX_CHARACTERS, ErrorKind, FormulationError

MAX_REFINEMENTS = 2  # rounds to repair a formulation that fails the validation
# With constrained decoding the token limit falls away, as it would cut a line.
REFINEMENT_CONFIG = GenerateConfig(temperature=0.0, top_p=1.0, top_k=1, max_tokens=256)
CONSTRAINING_PROVIDERS = ("vllm", "openai-api")
"""Inspect's providers whose servers may take ``structured_outputs``; others would fail, or worse, ignore it."""
MAX_ECHO = 4_000  # characters of a refused output that the refinement chat shows again
STORE_KEY = "formulation"
"""Where a sample's store holds its attempts, as dictionaries with the fields of `Attempt`."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One formulation, with the validation's error or the solver's result and answer, as `message` says."""

    text: str
    error: ErrorKind | None
    message: str
    answer: str | None

    @property
    def undecided(self) -> bool:
        """Whether the formulation was valid but did not determine an answer."""
        return self.error is None and self.answer is None


@solver
def logiclm(
    symbolic: SymbolicSolver,
    prompts: Mapping[str, str],
    tools: Literal["text", "native"] = "text",
    structured_output: bool = False,
) -> Solver:
    """Ask for symbolic lines, have a deterministic solver decide, then ask for the answer.

    The sample's metadata names the trial's ``identifiers``; its store then holds the attempts under `STORE_KEY`.

    Args:
        symbolic: the deterministic solver, with its schema.
        prompts: texts ``refine`` ($output, $kind, $message, $template, $constraints), ``final`` ($finding),
            ``decided`` and ``undecided`` ($result) and, for native tools, ``native`` ($tool).
        tools: ``text`` has the harness call the solver on the text that the model writes, as in the paper;
            ``native`` gives the solver to the model as a tool, with the same limits.
        structured_output: constrain the formulation to the schema while decoding (on servers such as vLLM).
    """

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        provider = str(get_model()).partition("/")[0]
        if structured_output and provider not in CONSTRAINING_PROVIDERS:
            raise click.UsageError(
                "structured_output needs a server that takes 'structured_outputs', such as vLLM, by one of the "
                f"providers {', '.join(CONSTRAINING_PROVIDERS)}; the model's provider is {provider!r}"
            )
        trial = _Trial(symbolic, state, prompts, structured_output)
        if tools == "native":
            await trial.formulate_by_calls(state)
        else:
            await trial.formulate(state)
        state.messages.append(ChatMessageUser(content=trial.question(), metadata=trial.asks(answer_type="choice")))
        # A chat that holds tool calls must name its tools again; the choice "none" keeps them from being called.
        known = [trial.tool] if tools == "native" else []
        async with span("answer", type="logiclm"):
            state.output = await get_model().generate(state.messages, tools=known, tool_choice="none")
        state.messages.append(state.output.message)
        # Stored at the end: Inspect compares the whole store at both ends of every span.
        state.store.set(STORE_KEY, [asdict(attempt) for attempt in trial.attempts])
        return state

    return solve


class _Trial:
    """The formulations of one sample."""

    def __init__(
        self, symbolic: SymbolicSolver, state: TaskState, prompts: Mapping[str, str], structured_output: bool
    ) -> None:
        self.symbolic = symbolic
        self.identifiers: list[str] = state.metadata["identifiers"]
        self.asked: dict[str, Any] = (state.messages[-1].metadata or {}).get("asks", {})
        self.prompts = prompts
        self.attempts: list[Attempt] = []
        self.tool = ToolDef(
            self._decide,
            name=symbolic.name,
            description=symbolic.description,
            parameters={"transcription": "The transcription, in exactly the form that is required."},
            parallel=False,
        )
        self.constraint: dict[str, Any] | None = (
            {"structured_outputs": {"regex": symbolic.schema.pattern(self.identifiers)}} if structured_output else None
        )

    @property
    def last(self) -> Attempt:
        return self.attempts[-1]

    async def formulate(self, state: TaskState) -> None:
        """Have the model write text and call the solver on it, with repairs in a chat apart: the paper's way."""
        model = get_model()
        async with span("formulation", type="logiclm"):
            state.output = await model.generate(state.messages, config=GenerateConfig(extra_body=self.constraint))
            state.messages.append(state.output.message)
            await self._call_tool(state.output.completion)
        for number in range(1, MAX_REFINEMENTS + 1):
            if self.last.error is None:
                break
            await self._refine(model, f"refinement {number}", self.last.error)
        if self.last.undecided:
            # The paper hands an undecided result back as if the line had failed to parse.
            await self._refine(model, "refinement after an undecided result", "parse")

    async def formulate_by_calls(self, state: TaskState) -> None:
        """Have the model call the solver by itself, and see errors as results of its calls."""
        model = get_model()
        state.messages.append(ChatMessageUser(content=Template(self.prompts["native"]).substitute(tool=self.tool.name)))
        async with span("formulation", type="logiclm"):
            for _ in range(MAX_REFINEMENTS + 2):
                state.output = await model.generate(state.messages, tools=[self.tool])
                state.messages.append(state.output.message)
                if state.output.message.tool_calls:
                    state.messages.extend((await execute_tools(state.messages, [self.tool])).messages)
                else:
                    # Lines written as text count as an attempt too: the form is what is asked, not the calling.
                    feedback = await self._call_tool(state.output.completion)
                    if self._may_try_again():
                        state.messages.append(ChatMessageUser(content=feedback))
                if not self._may_try_again():
                    break
        if not self.attempts:
            message = f"the tool {self.tool.name} was never called as it requires"
            self.attempts.append(Attempt("", "parse", message, None))

    def question(self) -> str:
        """The closing question, with the solver's result or the news that there is none."""
        wording = self.prompts["undecided" if self.last.answer is None else "decided"]
        finding = Template(wording).substitute(result=f"{self.last.message.rstrip('.')}.")
        return Template(self.prompts["final"]).substitute(finding=finding)

    def asks(self, **facts: Any) -> dict[str, Any] | None:
        """The metadata of a further message: what it asks, and not the music, which an earlier one holds."""
        if not self.asked:
            return None
        return {"asks": {key: value for key, value in self.asked.items() if key != "music"} | facts}

    async def _decide(self, transcription: str) -> str:
        if not self._may_try_again():
            return "No further call is allowed in this trial."
        text = transcription[: MAX_CHARACTERS + 1]
        try:
            decision = self.symbolic.solve(text, self.identifiers)
        except FormulationError as error:
            self.attempts.append(Attempt(text, error.kind, error.message, None))
            return f"{error.kind} error: {error.message}"
        self.attempts.append(Attempt(text, None, decision.result, decision.answer))
        return decision.result if decision.answer is not None else f"undecided: {decision.result}"

    async def _call_tool(self, text: str) -> str:
        # Called through Inspect rather than directly, so that the log shows a tool event.
        call = ToolCall(
            id=f"{self.tool.name}_{len(self.attempts) + 1}",
            function=self.tool.name,
            arguments={"transcription": text[: MAX_CHARACTERS + 1]},
        )
        result = await execute_tools([ChatMessageAssistant(content="", tool_calls=[call])], [self.tool])
        return result.messages[0].text

    async def _refine(self, model: Model, name: str, kind: ErrorKind) -> None:
        output = self.last.text
        if len(output) > MAX_ECHO:
            output = f"{output[:MAX_ECHO]}\n[cut after {MAX_ECHO} characters]"
        request = Template(self.prompts["refine"]).substitute(
            output=output,
            kind=kind,
            message=self.last.message,
            template=self.symbolic.schema.template(self.identifiers),
            constraints=self.symbolic.schema.constraints(),
        )
        config = REFINEMENT_CONFIG
        if self.constraint is not None:
            config = config.model_copy(update={"extra_body": self.constraint, "max_tokens": None})
        async with span(name, type="logiclm"):
            message = ChatMessageUser(content=request, metadata=self.asks(refused=output))
            reply = await model.generate([message], config=config)
            await self._call_tool(reply.completion)

    def _may_try_again(self) -> bool:
        errors = sum(attempt.error is not None for attempt in self.attempts)
        undecided = sum(attempt.undecided for attempt in self.attempts)
        return len(self.attempts) == errors + undecided and errors <= MAX_REFINEMENTS and undecided <= 1
