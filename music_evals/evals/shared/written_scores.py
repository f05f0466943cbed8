"""Tasks on written scores, which LilyBench and ABC-Eval have in common: from rows to samples,
prompts and scorers.

Their modules have the tasks; a task differs by the dataset and the notation of its rows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from string import Template
from typing import Literal

from inspect_ai import Task
from inspect_ai.dataset import Sample
from inspect_ai.model import ChatMessageSystem, ChatMessageUser, GenerateConfig

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
from music_evals.evals.shared.declared_tasks import (
    commonest,
    declared_task,
    notation_tokens,
    question_metadata,
)
from music_evals.evals.shared.floors import Floors, floors_of
from music_evals.evals.shared.levels import Level, at_level
from music_evals.evals.shared.parameters import check_positive
from music_evals.scorers.explanations import WHY
from music_evals.scorers.metrics.clustered import macro_mean, mean_interval
from music_evals.scorers.metrics.measures import measure_f1
from music_evals.scorers.readers.written import Kind, measures_of
from music_evals.scorers.score_tasks import (
    JOINED,
    measure_count,
    measure_order,
    option_index,
    wrong_measures,
)
from music_evals.solvers.media import MEDIA, SHOWN
from music_evals.solvers.replies import AnswerForm, reply
from music_evals.solvers.stimulus import Stimulus

Strategy = Literal["standalone", "cot"]
MAX_MEASURES = 64  # new tokens of a list of measures
MAX_TOKENS: Mapping[Strategy, int] = {"standalone": 20, "cot": 2048}
"""New tokens of a reply; the paper's 20, and room to reason."""

PARTS: tuple[TaskName, ...] = ("bar_sequencing", "next_bar_prediction")
"""Tasks on single measures. Their octaves depend on the music around them, so no page is drawn."""

Notation = Literal["lilypond", "abc"]
FORMS: Mapping[TaskName, Kind] = {
    **dict.fromkeys(TASKS, "index"),
    "bar_count": "number",
    "bar_sequencing": "order",
    "error_detection": "measures",
}
"""Task → form of its answers."""
_SCORERS = {
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
        strategy: ``standalone`` for the answer alone in 20 tokens, as in the paper, or a list of
            measures in 64; ``cot`` to think step by step first.
        answer: ``text``, read by rules; ``schema`` for a form that the server guarantees, and
            ``reasoned`` for the same with a field to reason in first; ``likelihood`` for the
            probabilities of the options, also by models without a chat template. See
            ``docs/answers.md``.
        max_score_tokens: the longest score, in tokens estimated as half its characters. Rows with
            longer scores are left out and counted in the task's metadata; scores are never cut, as
            that would change the answer.
        media: number of samples, from the first on, for which the log shows the opening page, of
            ABC also the sound; or ``all``.
        level: ``1`` is the default test; ``2`` to ``5`` ask `bar_count`, `metadata_qa` and
            `error_detection` on longer scores with more staves, changes and errors; ``all`` asks
            the five levels.
        prompts: ``second`` or ``third`` wording of ``protocol=strict``, or a TOML file with your
            own, see ``prompts.toml`` in LilyBench's folder and ABC-Eval's; its table ``paper`` has
            the wording of that protocol.
    """

    dataset: str = GENERATED
    stimulus: Stimulus = "given"
    twin: Literal["original", "completion"] = "original"
    protocol: Protocol = "strict"
    strategy: Strategy = "standalone"
    answer: AnswerForm = "text"
    max_score_tokens: int | None = None
    media: int | Literal["all"] = SHOWN
    level: Level = 1
    prompts: str | None = None


def score_task(
    name: TaskName, params: ScoreTaskParameters, benchmark: DatasetSpec, notation: Notation
) -> Task:
    """Make a task of a benchmark whose rows have scores in a notation."""
    check_positive(max_score_tokens=params.max_score_tokens)
    if params.level != 1 and params.protocol == "paper":
        raise ValueError(f"level={params.level} is valid with protocol=strict; protocol is paper")
    benchmark = at_level(benchmark, name, params)
    worded = "paper" if params.protocol == "paper" else ""
    wording = load_prompts(benchmark.name, params.prompts, worded)
    origin = describe_dataset(params.dataset, benchmark=benchmark)
    rows = load_split(params.dataset, name, params.protocol, benchmark=benchmark).to_list()
    if not rows:
        raise ValueError(
            f"{params.dataset} has no rows of {name} under protocol='{params.protocol}'"
        )
    longest = params.max_score_tokens
    fitting = [row for row in rows if longest is None or score_tokens(row) <= longest]
    if not fitting:
        raise ValueError(
            f"max_score_tokens={longest} leaves no row of {name} in "
            f"{params.dataset}; its shortest score is estimated at {min(map(score_tokens, rows))} "
            "tokens"
        )
    majority = commonest((_shown_kind(name, row), row["answer"]) for row in rows)
    texts = {}
    if name == "error_detection" and "corpus" in origin.provenance.counts:
        texts = _texts_before_errors(params.dataset, params.protocol, benchmark)
    explanations = reasons(name, params.protocol, fitting, texts)
    samples = []
    for row in fitting:
        why = explanations.get(row["id"])
        samples.append(
            record_to_sample(benchmark.name, name, notation, row, wording, params, majority, why)
        )
    is_published = origin.provenance.source != GENERATED
    return declared_task(
        params,
        benchmark.name,
        name,
        origin,
        samples,
        solver=reply(),
        scorer=_SCORERS[FORMS[name]](params.protocol, params.strategy != "standalone"),
        config=GenerateConfig(temperature=0.0, max_tokens=_token_limit(name, params)),
        metadata={
            f"is_{benchmark.name}": is_published,
            "protocol": params.protocol,
            "strategy": params.strategy,
            "rows_left_out": len(rows) - len(fitting),
            "score_tokens": sum(map(score_tokens, fitting)),
        },
        floors={"": _floors(name, origin, params.protocol, fitting)},
        is_like=not is_published,
    )


def _token_limit(name: TaskName, params: ScoreTaskParameters) -> int:
    """The most new tokens: those of the paper, except that it leaves no room for a list of
    measures.
    """
    is_list = FORMS[name] == "measures" and params.protocol == "strict"
    return max(MAX_TOKENS[params.strategy], MAX_MEASURES if is_list else 0)


def _texts_before_errors(
    dataset: str, protocol: Protocol, benchmark: DatasetSpec
) -> dict[str, str]:
    """Id → text of a piece before errors were put in."""
    column = "text" if protocol == "paper" else "score"
    rows = load_split(dataset, "corpus", "full", benchmark=benchmark, columns=["id", column])
    texts = dict(zip(rows["id"], rows[column], strict=True))
    return {name: text for name, text in texts.items() if text is not None}


def _floors(name: TaskName, origin: Origin, protocol: Protocol, rows: Sequence[TaskRow]) -> Floors:
    """The dataset's floors; for `error_detection`, whose answers score from 0 to 1, the most common
    answer's score.
    """
    if name != "error_detection":
        return floors_of(origin, name, {protocol: rows})
    wrong = [row for row in rows if row["kind"] != CLEAN]
    constant = measures_of(commonest(("", row["answer"]) for row in wrong)[""])
    values = [measure_f1(constant, measures_of(row["answer"])) for row in wrong]
    pieces = [row["piece"] for row in wrong]
    kinds = [row["kind"] for row in wrong]
    low, high = mean_interval(values, pieces, kinds)
    ends = {} if isnan(low) else {"low": low, "high": high}
    return {"majority": {"value": macro_mean(values, kinds), **ends}}


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
    """Map a row to a sample."""
    is_paper = params.protocol == "paper"
    metadata = {
        "task": name,
        "row": row["id"],
        "piece": row["piece"],
        "kind": row["kind"],
        "score_tokens": score_tokens(row),
    }
    if why:
        metadata[WHY] = why
    if name not in PARTS:
        metadata[MEDIA] = {notation: row["score"]}
    if name == "emotion_recognition":
        metadata["options"] = row["options"]
    shown_majority = majority[_shown_kind(name, row)]
    if name == "error_detection" and is_paper and notation == "abc":
        metadata[JOINED] = True
        shown_majority = shown_majority.replace(" ", "")
    prompt = prompt_text(name, row, wording, params.protocol, params.strategy)
    form = FORMS[name]
    answers = None
    if form == "index":
        answers = list(map(str, range(len(row["options"]))))
    options = row["options"] or None
    kind = row["kind"] or None
    music = _shown_music(row, form, is_paper)
    start = prompt.index(music)
    is_bare = params.strategy == "standalone"
    facts = question_metadata(
        benchmark,
        name,
        answer_type="choice" if answers else form,
        answers=answers,
        form="$answer" if is_bare else "Answer: $answer",
        question=question_text(name, row, wording, params.protocol),
        options=options,
        kind=kind,
        majority=shown_majority,
        notation=notation,
        music=[[start, start + len(music)]] if music else None,
    )
    instruction = (wording["paper"] if is_paper else wording)["instruction"]
    return Sample(
        id=sample_id(name, params.protocol, row["id"]),
        input=[
            ChatMessageSystem(content=instruction),
            ChatMessageUser(content=prompt, metadata=facts),
        ],
        choices=options,
        target=row["answer"],
        metadata=metadata,
    )


def _shown_music(row: TaskRow, form: Kind, is_paper: bool) -> str:
    """The music in a prompt; a question of order shows its options as the music."""
    if form != "order":
        return row["score"].strip("\r\n")
    return _published_music(row, form) if is_paper else listed(row["options"])


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
    form = FORMS[name]
    if protocol == "paper":
        return _published_prompt(name, row, wording, strategy)
    parts = []
    if row["score"]:
        parts.append(Template(wording["score"]).substitute(score=row["score"].strip("\r\n")))
    parts.append(question_text(name, row, wording, protocol))
    if row["options"]:
        parts.append(Template(wording["options"]).substitute(options=listed(row["options"])))
    parts.append(Template(wording["reply"][strategy]).substitute(form=wording["form"][form]))
    return "\n\n".join(parts)


def question_text(name: TaskName, row: TaskRow, wording: Prompts, protocol: Protocol) -> str:
    """Word the question alone; published rows of ABC-Eval have the authors' wording."""
    if protocol == "paper":
        if instruction := row.get("instruction"):
            return str(instruction)
        paper = wording["paper"]
        return Template(paper["question"][name]).substitute(
            field=paper["field"].get(row["kind"], "")
        )
    question = wording["question"][name]
    if isinstance(question, Mapping):
        question = question[row["kind"]]
    return Template(question).substitute(
        numbering=wording["numbering"], measure=row["id"].rpartition(".m")[2]
    )


def _published_prompt(name: TaskName, row: TaskRow, wording: Prompts, strategy: Strategy) -> str:
    """Word what is asked as published: options are listed as ``0. …``, and shuffled bars are the
    score.
    """
    paper = wording["paper"]
    form = FORMS[name]
    if form == "index":
        middle = Template(paper["options"]).substitute(options=_published_options(row["options"]))
        reply_form = wording["form"][form]
        demand = paper["reply"]["index"]
    else:
        reply_form = paper["forms"][form]
        demand = paper["reply"]["other"]
        middle = Template(paper["form"]).substitute(form=reply_form)
    if strategy != "standalone":
        demand = Template(wording["reply"][strategy]).substitute(form=reply_form)
    score = Template(paper["score"]).substitute(score=_published_music(row, form))
    return "\n\n".join([score, question_text(name, row, wording, "paper"), middle, demand])


def _published_music(row: TaskRow, form: Kind) -> str:
    """The score; for a question of order the bars ahead, if there are any, and the shuffled
    bars.
    """
    score = row["score"].strip("\r\n")
    if form != "order":
        return score
    return "\n".join(filter(None, [score, _published_options(row["options"])]))


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
    listing = []
    for index, lines in enumerate(texts):
        listing += [f"{index}:", *(f"    {line}" for line in lines)]
    return "\n".join(listing)


def score_tokens(row: TaskRow) -> int:
    """Estimate the tokens of the music in a row, the measures among its options included."""
    return notation_tokens(len(row["score"]) + sum(map(len, row["options"])))


def _shown_kind(name: TaskName, row: TaskRow) -> str:
    """The kind of a question, unless it would give the answer away: the kind of an error."""
    return "" if name == "error_detection" else row["kind"]
