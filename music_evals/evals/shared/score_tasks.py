"""Tasks on written scores, which LilyBench and ABC-Eval have in common: from rows to samples,
prompts and scorers.

Their modules have the tasks; a task differs by the dataset and the notation of its rows.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from string import Template
from typing import Any, Final, Literal

from inspect_ai import Task
from inspect_ai.dataset import Sample
from inspect_ai.model import ChatMessageSystem, ChatMessageUser, GenerateConfig
from inspect_ai.scorer import Scorer

from music_evals.benchmarks.prompts import Prompts, load_prompts
from music_evals.datasets_builders.dataset_io import (
    GENERATED,
    DatasetSpec,
    Origin,
    describe_dataset,
    load_split,
)
from music_evals.datasets_builders.lilybench.reasons import reasons
from music_evals.datasets_builders.lilybench.rows import CLEAN, TASKS, Protocol, TaskName, TaskRow
from music_evals.evals.shared.floors import Floors, floors_of
from music_evals.evals.shared.tasks import (
    check_lilypond,
    check_positive,
    commonest,
    declared_task,
    estimated_tokens,
    question_metadata,
)
from music_evals.scorers.explanations import WHY
from music_evals.scorers.metrics.clustered import macro_mean, mean_interval
from music_evals.scorers.metrics.measures import measure_f1
from music_evals.scorers.readers.written import Kind, measures_of
from music_evals.scorers.score_tasks import (
    CONFUSED,
    JOINED,
    measure_count,
    measure_order,
    option_index,
    wrong_measures,
)
from music_evals.solvers.answer_forms import AnswerForm
from music_evals.solvers.media import MEDIA, SHOWN
from music_evals.solvers.replies import reply
from music_evals.solvers.score_tools import score_tools
from music_evals.solvers.stimulus import Stimulus

Strategy = Literal["standalone", "cot", "logiclm"]
MAX_TOKENS: Final[Mapping[Strategy, int]] = {"standalone": 20, "cot": 2048, "logiclm": 2048}
"""New tokens of a reply; the paper's 20, and room to reason."""

WITH_TOOLS: Final[tuple[TaskName, ...]] = ("bar_count", "metadata_qa", "error_detection")
"""Tasks on whole scores for which tools can help to find the answer without telling it."""

PARTS: Final[tuple[TaskName, ...]] = ("bar_sequencing", "next_bar_prediction")
"""Tasks on single measures. Their octaves depend on the music around them, so no page is drawn."""

Notation = Literal["lilypond", "abc"]
FORMS: Final[Mapping[TaskName, Kind]] = {
    **dict.fromkeys(TASKS, "index"),
    "bar_count": "number",
    "bar_sequencing": "order",
    "error_detection": "measures",
}
"""Task → form of its answers."""
_SCORERS: Final[Mapping[Kind, Callable[[Protocol, bool], Scorer]]] = {
    "number": measure_count,
    "index": option_index,
    "order": measure_order,
    "measures": wrong_measures,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreTaskParameters:
    """Parameters of the ten tasks on understanding, of LilyBench and ABC-Eval.

    Args:
        dataset: ``generated`` for a look-alike of the published test (ABC-Eval's has the questions
            of LilyBench's); ``published`` for that, which is fetched once; a folder; or
            ``hf://datasets/ORG/NAME[@REVISION]``.
        stimulus: ``given``; ``none``, ``noise`` or ``other`` to ask with no music, with random
            music as long, or with another item's, of another answer.
        twin: ``original``; or ``completion`` to show half of the options and ask for the others
            word for word.
        protocol: ``strict`` for rows without leaks whose answers LilyPond confirms, and answers in
            exactly the form asked for; ``paper`` for rows, prompts, readings and figures as
            published (``music_evals/scorers/readers/written.py`` says how replies are read under
            both).
        strategy: ``standalone`` for the answer alone in 20 tokens, as in the paper; ``cot`` to
            think step by step first; ``logiclm``, for LilyBench and the tasks `WITH_TOOLS` only, to
            let the model call tools that parse the score.
        answer: ``text``, read by rules; ``schema`` for a form that the server guarantees;
            ``likelihood`` for the probabilities of the options, also by models without a chat
            template. See ``docs/answers.md``.
        max_score_tokens: the longest score, in tokens estimated as half its characters. Rows with
            longer scores are left out and counted in the task's metadata; scores are never cut, as
            that would change the answer.
        media: number of samples, from the first on, for which the log shows the opening page, of
            ABC also the sound; or ``all``.
        prompts: a TOML file with other wording, see ``prompts.toml`` in LilyBench's folder and
            ABC-Eval's; its table ``paper`` has the wording of that protocol.
    """

    dataset: str = GENERATED
    stimulus: Stimulus = "given"
    twin: Literal["original", "completion"] = "original"
    protocol: Protocol = "strict"
    strategy: Strategy = "standalone"
    answer: AnswerForm = "text"
    max_score_tokens: int | None = None
    media: int | Literal["all"] = SHOWN
    prompts: str | None = None


def score_task(
    name: TaskName, params: ScoreTaskParameters, benchmark: DatasetSpec, notation: Notation
) -> Task:
    """Make a task of a benchmark whose rows have scores in a notation."""
    check_positive(max_score_tokens=params.max_score_tokens)
    if params.strategy == "logiclm":
        if name not in WITH_TOOLS or notation == "abc":
            raise ValueError(
                f"strategy='logiclm' is not valid for {name} of {benchmark.name}; valid values are:"
                f" standalone, cot (tools that parse the score are for {', '.join(WITH_TOOLS)} of "
                "lilybench)"
            )
        check_lilypond("strategy='logiclm' runs LilyPond on the scores, in a sandbox")
    wording = load_prompts(benchmark.name, params.prompts)
    origin = describe_dataset(params.dataset, benchmark=benchmark)
    rows: list[TaskRow] = load_split(
        params.dataset, name, params.protocol, benchmark=benchmark
    ).to_list()
    if not rows:
        raise ValueError(
            f"{params.dataset} has no rows of {name} under protocol='{params.protocol}'"
        )
    longest = params.max_score_tokens
    fitting = [row for row in rows if longest is None or score_tokens(row) <= longest]
    if not fitting:
        raise ValueError(
            f"max_score_tokens={longest} leaves no row of {name} in {params.dataset}; its shortest "
            f"score is estimated at {min(map(score_tokens, rows))} tokens"
        )
    majority = commonest((_shown_kind(name, row), row["answer"]) for row in rows)
    texts = (
        _texts(params.dataset, origin, params.protocol, benchmark)
        if name == "error_detection"
        else {}
    )
    why = reasons(name, params.protocol, fitting, texts)
    is_published = origin.provenance.source != GENERATED
    return declared_task(
        params,
        benchmark.name,
        name,
        origin,
        [
            record_to_sample(
                benchmark.name, name, notation, row, wording, params, majority, why.get(row["id"])
            )
            for row in fitting
        ],
        solver=score_tools() if params.strategy == "logiclm" else reply(),
        scorer=_SCORERS[FORMS[name]](params.protocol, params.strategy != "standalone"),
        config=GenerateConfig(temperature=0.0, max_tokens=MAX_TOKENS[params.strategy]),
        metadata={
            f"is_{benchmark.name}": is_published,
            "protocol": params.protocol,
            "strategy": params.strategy,
            "rows_left_out": len(rows) - len(fitting),
            "score_tokens": sum(map(score_tokens, fitting)),
        },
        floors={"": _floors(name, origin, params.protocol, fitting)},
        is_like=not is_published,
        tools=params.strategy == "logiclm",
        reasons=params.strategy == "cot",
    )


def _texts(
    dataset: str, origin: Origin, protocol: Protocol, benchmark: DatasetSpec
) -> dict[str, str]:
    """Id → text of a piece before errors were put in; empty if the dataset has no corpus."""
    if "corpus" not in origin.provenance.counts:
        return {}
    column = "text" if protocol == "paper" else "score"
    rows = load_split(dataset, "corpus", "full", benchmark=benchmark, columns=["id", column])
    return {
        name: text for name, text in zip(rows["id"], rows[column], strict=True) if text is not None
    }


def _floors(name: TaskName, origin: Origin, protocol: Protocol, rows: Sequence[TaskRow]) -> Floors:
    """The dataset's floors; for `error_detection`, whose answers score from 0 to 1, the most common
    answer's score.
    """
    if name == "error_detection":
        wrong = [row for row in rows if row["kind"] != CLEAN]
        constant = measures_of(commonest(("", row["answer"]) for row in wrong)[""])
        values = [measure_f1(constant, measures_of(row["answer"])) for row in wrong]
        pieces, kinds = [row["piece"] for row in wrong], [row["kind"] for row in wrong]
        low, high = mean_interval(values, pieces, kinds)
        ends = {} if isnan(low) else {"low": low, "high": high}
        return {"majority": {"value": macro_mean(values, kinds), **ends}}
    return floors_of(origin, name, {protocol: rows})


def record_to_sample(
    benchmark: str,
    name: TaskName,
    notation: Notation,
    row: TaskRow,
    wording: Prompts,
    params: ScoreTaskParameters,
    majority: Mapping[str, str],
    why: str | None = None,
) -> Sample:
    """Map a row to a sample; under ``logiclm`` its metadata have the score for the tools."""
    metadata: dict[str, Any] = {
        "task": name,
        "row": row["id"],
        "piece": row["piece"],
        "kind": row["kind"],
        "score_tokens": score_tokens(row),
        **({WHY: why} if why else {}),
        **({MEDIA: {notation: row["score"]}} if name not in PARTS else {}),
    }
    if params.strategy == "logiclm":
        metadata["score"] = row["score"]
    if name == CONFUSED:
        metadata["options"] = row["options"]
    shown_majority = majority[_shown_kind(name, row)]
    if name == "error_detection" and (notation, params.protocol) == ("abc", "paper"):
        metadata[JOINED] = True
        shown_majority = shown_majority.replace(" ", "")
    prompt = prompt_text(name, row, wording, params.protocol, params.strategy)
    form = FORMS[name]
    # A question of order shows its options as the music.
    score = row["score"].strip("\r\n")
    if form == "order":
        score = (
            _published_music(row, form) if params.protocol == "paper" else listed(row["options"])
        )
    start = prompt.index(score)
    facts = question_metadata(
        benchmark,
        name,
        answer_type="choice" if form == "index" else form,
        answers=[str(index) for index in range(len(row["options"]))] if form == "index" else None,
        form="$answer" if params.strategy == "standalone" else "Answer: $answer",
        question=question_text(name, row, wording, params.protocol),
        options=row["options"] or None,
        kind=row["kind"] or None,
        majority=shown_majority,
        notation=notation,
        music=[[start, start + len(score)]] if score else None,
    )
    return Sample(
        id=sample_id(name, params.protocol, row["id"]),
        input=[
            ChatMessageSystem(
                content=(wording["paper"] if params.protocol == "paper" else wording)["instruction"]
            ),
            ChatMessageUser(content=prompt, metadata=facts),
        ],
        choices=row["options"] or None,
        target=row["answer"],
        metadata=metadata,
    )


def sample_id(name: TaskName, protocol: Protocol, row: str) -> str:
    """Return a sample's id: the row's id with the part first that differs between rows.

    Example:
        >>> sample_id("error_detection", "strict",
        ...     "error_detection.strict.bach/bwv101.7.melodic_leap.m4")
        'bwv101.7.melodic_leap.m4.strict.bach'
    """
    common = f"{name}.{protocol}."
    if not row.startswith(common):
        return row
    # Many pieces belong to one collection, whose name is the first part of their id.
    collection, _, rest = row.removeprefix(common).rpartition("/")
    return ".".join(filter(None, [rest, protocol, collection]))


def prompt_text(
    name: TaskName, row: TaskRow, wording: Prompts, protocol: Protocol, strategy: Strategy
) -> str:
    """Word what is asked: the score, the question, its options, and how to reply."""
    if protocol == "paper":
        return _published_prompt(name, row, wording, strategy)
    parts = (
        [Template(wording["score"]).substitute(score=row["score"].strip("\r\n"))]
        if row["score"]
        else []
    )
    parts.append(question_text(name, row, wording, protocol))
    if row["options"]:
        parts.append(Template(wording["options"]).substitute(options=listed(row["options"])))
    parts.append(Template(wording["reply"][strategy]).substitute(form=wording["form"][FORMS[name]]))
    return "\n\n".join(parts)


def question_text(name: TaskName, row: TaskRow, wording: Prompts, protocol: Protocol) -> str:
    """Word the question alone; published rows of ABC-Eval have the authors' wording."""
    if protocol == "paper" and (instruction := row.get("instruction")):
        return str(instruction)
    if protocol == "paper":
        paper = wording["paper"]
        return Template(paper["question"][name]).substitute(
            field=paper["field"].get(row["kind"], "")
        )
    question = wording["question"][name]
    if isinstance(question, Mapping):
        question = question[row["kind"]]
    return Template(question).substitute(numbering=wording["numbering"])


def _published_prompt(name: TaskName, row: TaskRow, wording: Prompts, strategy: Strategy) -> str:
    """Word what is asked as published: options are listed as ``0. …``, and shuffled bars are the
    score.
    """
    paper, form = wording["paper"], FORMS[name]
    parts = [
        Template(paper["score"]).substitute(score=_published_music(row, form)),
        question_text(name, row, wording, "paper"),
    ]
    if form == "index":
        parts.append(
            Template(paper["options"]).substitute(options=_published_options(row["options"]))
        )
        reply_form, demand = wording["form"][form], paper["reply"]["index"]
    else:
        parts.append(Template(paper["form"]).substitute(form=paper["forms"][form]))
        reply_form, demand = paper["forms"][form], paper["reply"]["other"]
    if strategy != "standalone":
        demand = Template(wording["reply"][strategy]).substitute(form=reply_form)
    parts.append(demand)
    return "\n\n".join(parts)


def _published_music(row: TaskRow, form: Kind) -> str:
    """The score; for a question of order the bars ahead, if there are any, and the shuffled
    bars.
    """
    score = row["score"].strip("\r\n")
    return (
        "\n".join(filter(None, [score, _published_options(row["options"])]))
        if form == "order"
        else score
    )


def _published_options(options: Sequence[str]) -> str:
    return "\n".join(f"{index}. {option}" for index, option in enumerate(options))


def listed(options: Sequence[str]) -> str:
    r"""List options with their indices; if one has several lines, all are indented below their
    indices.

    Example:
        >>> print(listed(["G major", "D minor"]))
        0: G major
        1: D minor
        >>> print(listed(["c4 d\ne f |", "g1 |"]))
        0:
            c4 d
            e f |
        1:
            g1 |
    """
    texts = [option.strip("\r\n").splitlines() or [""] for option in options]
    if all(len(lines) == 1 for lines in texts):
        return "\n".join(f"{index}: {lines[0]}" for index, lines in enumerate(texts))
    return "\n".join(
        "\n".join([f"{index}:", *(f"    {line}" for line in lines)])
        for index, lines in enumerate(texts)
    )


def score_tokens(row: TaskRow) -> int:
    """Estimate the tokens of the music in a row, the measures among its options included."""
    return estimated_tokens(len(row["score"]) + sum(map(len, row["options"])))


def _shown_kind(name: TaskName, row: TaskRow) -> str:
    """The kind of a question, unless it would give the answer away: the kind of an error."""
    return "" if name == "error_detection" else row["kind"]
