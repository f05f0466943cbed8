"""LilyBench: ten tasks on understanding scores written in LilyPond.

"Can LLMs understand LilyPond? A benchmark for symbolic music generation and understanding"
Matteo Spanio, Mohammad Torabi, Andrea Poltronieri, Antonio Rodà
https://arxiv.org/abs/2606.08722

inspect eval evals/lilybench.py@bar_count --model baseline/reader
inspect eval evals/lilybench.py --model vllm/Qwen/Qwen2.5-Coder-14B-Instruct -T dataset=data/lilybench -T protocol=paper
inspect eval evals/lilybench.py@bar_count --model openai/gpt-4o -T strategy=logiclm
inspect eval evals/lilybench.py@error_detection --model openai/gpt-4o -T strategy=cot -T max_score_tokens=8000
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from string import Template
from typing import Any, Final, Literal, get_args

from inspect_ai import Task
from inspect_ai.dataset import Sample
from inspect_ai.model import ChatMessageSystem, ChatMessageUser, GenerateConfig
from inspect_ai.scorer import Scorer

from music_evals.benchmarks.prompts import Prompts, load_prompts
from music_evals.datasets_builders.dataset_io import GENERATED, Origin, describe_dataset, load_split
from music_evals.datasets_builders.lilybench.reasons import reasons
from music_evals.datasets_builders.lilybench.rows import BENCHMARK, CLEAN, Protocol, TaskName, TaskRow
from music_evals.evals.floors import Floors, floors_of
from music_evals.evals.tasks import (
    check_lilypond,
    check_media,
    check_positive,
    commonest,
    declared_task,
    estimated_tokens,
    question_metadata,
    samples_view,
    task,
)
from music_evals.scorers.explanations import WHY
from music_evals.scorers.metrics.clustered import macro_mean, mean_interval
from music_evals.scorers.metrics.measures import measure_f1
from music_evals.scorers.readers.written import measures_of
from music_evals.scorers.score_tasks import CONFUSED, measure_count, measure_order, option_index, wrong_measures
from music_evals.solvers.media import MEDIA, SHOWN
from music_evals.solvers.replies import reply
from music_evals.solvers.score_tools import score_tools
from music_evals.solvers.stimulus import Stimulus

Strategy = Literal["standalone", "cot", "logiclm"]
MAX_TOKENS: Final[Mapping[Strategy, int]] = {"standalone": 20, "cot": 2048, "logiclm": 2048}
"""New tokens of a reply; the paper's 20, and room to reason."""

WITH_TOOLS: Final[tuple[TaskName, ...]] = ("bar_count", "metadata_qa", "error_detection")
"""Tasks on whole scores whose answers tools can help to find without giving a recognition away."""

PARTS: Final[tuple[TaskName, ...]] = ("bar_sequencing", "next_bar_prediction")
"""Tasks on single measures, whose octaves depend on the music around them; there is no page of these."""

Form = Literal["number", "index", "order", "measures"]
FORMS: Final[Mapping[TaskName, Form]] = {
    "bar_count": "number",
    "bar_sequencing": "order",
    "error_detection": "measures",
}
"""Forms of answers other than an index."""

_SCORERS: Final[Mapping[Form, Callable[[Protocol, bool], Scorer]]] = {
    "number": measure_count,
    "index": option_index,
    "order": measure_order,
    "measures": wrong_measures,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class LilyBenchParameters:
    """Parameters of the tasks on understanding.

    Args:
        dataset: ``generated`` (another test of the same form), a dataset folder, or
            ``hf://datasets/ORG/NAME[@REVISION]``.
        stimulus: ``given``; ``none``, ``noise`` or ``other`` to ask with no music, with random music as long, or with
            another item's, of another answer.
        twin: ``original``; or ``completion`` to show half of the options and ask for the others word for word.
        protocol: ``strict`` for rows without leaks whose answers LilyPond confirms, and answers in exactly the form
            asked for; ``paper`` for rows, prompts, readings and figures as published
            (``music_evals/scorers/readers/written.py`` says how replies are read under both).
        strategy: ``standalone`` for the answer alone in 20 tokens, as in the paper; ``cot`` to think step by step
            first; or, for the tasks `WITH_TOOLS`, ``logiclm``: the model may call tools that parse the score. On the
            other tasks tools have nothing to parse, or would tell what is to be recognised.
        max_score_tokens: rows whose score is longer, in tokens estimated as half its characters, are left out, and
            their number is in the task's metadata. Scores are never cut: the answer to a part of a score is another.
        media: of how many samples, the first ones, the log shows the opening page, which LilyPond draws: a number, or
            ``all``.
        prompts: a TOML file with other wording, see ``music_evals/benchmarks/lilybench/prompts.toml``, whose table
            ``paper`` is for that protocol.
    """

    dataset: str = GENERATED
    stimulus: Stimulus = "given"
    twin: Literal["original", "completion"] = "original"
    protocol: Protocol = "strict"
    strategy: Strategy = "standalone"
    max_score_tokens: int | None = None
    media: int | Literal["all"] = SHOWN
    prompts: str | None = None

    def __post_init__(self) -> None:
        """Check the numbers."""
        check_positive(max_score_tokens=self.max_score_tokens)
        check_media(self.media)


@task
def bar_count(params: LilyBenchParameters) -> Task:
    """Count the measures of a score (section 3.2)."""
    return _task("bar_count", params)


@task
def metadata_qa(params: LilyBenchParameters) -> Task:
    """Tell key, metre or note length of a score: four options (section 3.2)."""
    return _task("metadata_qa", params)


@task
def bar_sequencing(params: LilyBenchParameters) -> Task:
    """Put four measures in order (section 3.2)."""
    return _task("bar_sequencing", params)


@task
def next_bar_prediction(params: LilyBenchParameters) -> Task:
    """Choose the measure that follows four others: four options (section 3.2)."""
    return _task("next_bar_prediction", params)


@task
def metadata_prediction(params: LilyBenchParameters) -> Task:
    """Infer a key, metre or note length that was taken out of a score: four options (section 3.2)."""
    return _task("metadata_prediction", params)


@task
def music_captioning(params: LilyBenchParameters) -> Task:
    """Choose the title of a piece: four options (section 3.2)."""
    return _task("music_captioning", params)


@task
def composer_recognition(params: LilyBenchParameters) -> Task:
    """Choose the composer of a piece: four options (section 3.2)."""
    return _task("composer_recognition", params)


@task
def genre_recognition(params: LilyBenchParameters) -> Task:
    """Choose the style of a piece: four options (section 3.2)."""
    return _task("genre_recognition", params)


@task
def emotion_recognition(params: LilyBenchParameters) -> Task:
    """Choose the quadrant of emotion that a piece expresses: four options (section 3.2)."""
    return _task("emotion_recognition", params)


@task
def error_detection(params: LilyBenchParameters) -> Task:
    """Find the measures of a score that are wrong (section 3.2)."""
    return _task("error_detection", params)


def _task(name: TaskName, params: LilyBenchParameters) -> Task:
    _check_strategy(name, params.strategy)
    wording = load_prompts("lilybench", params.prompts)
    origin = describe_dataset(params.dataset, benchmark=BENCHMARK)
    rows: list[TaskRow] = load_split(params.dataset, name, params.protocol, benchmark=BENCHMARK).to_list()
    if not rows:
        raise ValueError(f"{params.dataset} has no rows of {name} under protocol='{params.protocol}'")
    most = params.max_score_tokens
    kept = [row for row in rows if most is None or score_tokens(row) <= most]
    if not kept:
        raise ValueError(
            f"max_score_tokens={most} leaves no row of {name} in {params.dataset}; its shortest score is "
            f"estimated at {min(map(score_tokens, rows))} tokens"
        )
    majority = commonest((_shown_kind(name, row), row["answer"]) for row in rows)
    texts = _texts(params.dataset, origin, params.protocol) if name == "error_detection" else {}
    why = reasons(name, params.protocol, kept, texts)
    is_lilybench = origin.provenance.source != GENERATED
    return declared_task(
        params,
        "lilybench",
        name,
        origin,
        [record_to_sample(name, row, wording, params, majority, why.get(row["id"])) for row in kept],
        solver=score_tools() if params.strategy == "logiclm" else reply(),
        scorer=_SCORERS[_form(name)](params.protocol, params.strategy != "standalone"),
        config=GenerateConfig(temperature=0.0, max_tokens=MAX_TOKENS[params.strategy]),
        viewer=samples_view("LilyBench"),
        metadata={
            "is_lilybench": is_lilybench,
            "protocol": params.protocol,
            "strategy": params.strategy,
            "rows_left_out": len(rows) - len(kept),
            "score_tokens": sum(map(score_tokens, kept)),
        },
        floors={"": _floors(name, origin, params.protocol, kept)},
        is_like=not is_lilybench,
        tools=params.strategy == "logiclm",
    )


def _texts(dataset: str, origin: Origin, protocol: Protocol) -> dict[str, str]:
    """The pieces' texts that errors were put into, by id; none where the dataset has none."""
    if "corpus" not in origin.provenance.counts:
        return {}
    column = "text" if protocol == "paper" else "score"
    rows = load_split(dataset, "corpus", "full", benchmark=BENCHMARK, columns=["id", column])
    return {name: text for name, text in zip(rows["id"], rows[column], strict=True) if text is not None}


def _floors(name: TaskName, origin: Origin, protocol: Protocol, rows: Sequence[TaskRow]) -> Floors:
    """The dataset's floors, or those of the commonest answer where each answer is right to a degree."""
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
    name: TaskName,
    row: TaskRow,
    wording: Prompts,
    params: LilyBenchParameters,
    majority: Mapping[str, str],
    why: str | None = None,
) -> Sample:
    """Map a row to a sample; for ``logiclm`` the score is in its metadata, where the tools find it."""
    metadata: dict[str, Any] = {
        "task": name,
        "row": row["id"],
        "piece": row["piece"],
        "kind": row["kind"],
        "score_tokens": score_tokens(row),
        **({WHY: why} if why else {}),
        **({MEDIA: {"lilypond": row["score"]}} if name not in PARTS else {}),
    }
    if params.strategy == "logiclm":
        metadata["score"] = row["score"]
    if name == CONFUSED:
        metadata["options"] = row["options"]
    prompt = prompt_text(name, row, wording, params.protocol, params.strategy)
    form = _form(name)
    # Shuffled measures are all the music there is.
    score = row["score"].strip("\r\n")
    if form == "order":
        score = (_published_options if params.protocol == "paper" else listed)(row["options"])
    start = prompt.index(score)
    facts = question_metadata(
        "lilybench",
        name,
        answer_type="choice" if form == "index" else form,
        answers=[str(index) for index in range(len(row["options"]))] if form == "index" else None,
        form="$answer" if params.strategy == "standalone" else "Answer: $answer",
        question=question_text(name, row, wording, params.protocol),
        options=row["options"] or None,
        kind=row["kind"] or None,
        majority=majority[_shown_kind(name, row)],
        notation="lilypond",
        music=[[start, start + len(score)]] if score else None,
    )
    return Sample(
        id=sample_id(name, params.protocol, row["id"]),
        input=[
            ChatMessageSystem(content=(wording["paper"] if params.protocol == "paper" else wording)["instruction"]),
            ChatMessageUser(content=prompt, metadata=facts),
        ],
        choices=row["options"] or None,
        target=row["answer"],
        metadata=metadata,
    )


def sample_id(name: TaskName, protocol: Protocol, row: str) -> str:
    """Return a sample's id, which begins with what tells it from others; its metadata ``row`` is the row's.

    Example:
        >>> sample_id("error_detection", "strict", "error_detection.strict.bach/bwv101.7.melodic_leap.m4")
        'bwv101.7.melodic_leap.m4.strict.bach'
    """
    common = f"{name}.{protocol}."
    if not row.startswith(common):
        return row
    # Many pieces are of one collection, whose name stands ahead of theirs.
    collection, _, rest = row.removeprefix(common).rpartition("/")
    return ".".join(filter(None, [rest, protocol, collection]))


def prompt_text(name: TaskName, row: TaskRow, wording: Prompts, protocol: Protocol, strategy: Strategy) -> str:
    """Word what is asked: the score, the question, its options, and how to reply."""
    if protocol == "paper":
        return _published_prompt(name, row, wording, strategy)
    parts = [Template(wording["score"]).substitute(score=row["score"].strip("\r\n"))] if row["score"] else []
    parts.append(question_text(name, row, wording, protocol))
    if row["options"]:
        parts.append(Template(wording["options"]).substitute(options=listed(row["options"])))
    parts.append(Template(wording["reply"][strategy]).substitute(form=wording["form"][_form(name)]))
    return "\n\n".join(parts)


def question_text(name: TaskName, row: TaskRow, wording: Prompts, protocol: Protocol) -> str:
    """Word the question alone."""
    if protocol == "paper":
        paper = wording["paper"]
        return Template(paper["question"][name]).substitute(field=paper["field"].get(row["kind"], ""))
    question = wording["question"][name]
    if isinstance(question, Mapping):
        question = question[row["kind"]]
    return Template(question).substitute(numbering=wording["numbering"])


def _published_prompt(name: TaskName, row: TaskRow, wording: Prompts, strategy: Strategy) -> str:
    """Word what is asked as published: options are listed as ``0. …``, and shuffled bars are the score."""
    paper, form = wording["paper"], _form(name)
    options = _published_options(row["options"])
    score = options if form == "order" else row["score"].strip("\r\n")
    parts = [
        Template(paper["score"]).substitute(score=score),
        question_text(name, row, wording, "paper"),
    ]
    if form == "index":
        parts.append(Template(paper["options"]).substitute(options=options))
        reply_form, demand = wording["form"][form], paper["reply"]["index"]
    else:
        parts.append(Template(paper["form"]).substitute(form=paper["forms"][form]))
        reply_form, demand = paper["forms"][form], paper["reply"]["other"]
    parts.append(
        demand if strategy == "standalone" else Template(wording["reply"][strategy]).substitute(form=reply_form)
    )
    return "\n\n".join(parts)


def _published_options(options: Sequence[str]) -> str:
    return "\n".join(f"{index}. {option}" for index, option in enumerate(options))


def listed(options: Sequence[str]) -> str:
    r"""List options with their indices; where one has several lines, all are set in below their indices.

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
    return "\n".join("\n".join([f"{index}:", *(f"    {line}" for line in lines)]) for index, lines in enumerate(texts))


def score_tokens(row: TaskRow) -> int:
    """Estimate the tokens of the music in a row, the measures among its options included."""
    return estimated_tokens(len(row["score"]) + sum(map(len, row["options"])))


def _shown_kind(name: TaskName, row: TaskRow) -> str:
    """The kind of a question, unless it would give the answer away: the kind of an error."""
    return "" if name == "error_detection" else row["kind"]


def _check_strategy(name: TaskName, strategy: Strategy) -> None:
    if strategy == "logiclm" and name not in WITH_TOOLS:
        valid = ", ".join(one for one in get_args(Strategy) if one != "logiclm")
        raise ValueError(
            f"strategy='logiclm' is not valid for {name}; valid values are: {valid} "
            f"(tools that parse the score are for {', '.join(WITH_TOOLS)})"
        )
    if strategy == "logiclm":
        check_lilypond("strategy='logiclm' runs LilyPond on the scores, in a sandbox")


def _form(name: TaskName) -> Form:
    return FORMS.get(name, "index")
