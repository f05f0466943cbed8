r"""MSU-Bench: open questions on complete scores, read as ABC, seen as pages, or in other notations
and as sound.

"Musical Score Understanding Benchmark: Evaluating Large Language Models' Comprehension of Complete
Musical Scores"
Congren Dai, Yue Yang, Krinos Li, Huichi Zhou, Shijie Liang, Bo Zhang, Enyang Liu, Ge Jin, Hongran
An, Haosen Zhang, Peiyuan Jing, Kinhei Lee, Zhenxuan Zhang, Xiaobing Li, Maosong Sun
https://arxiv.org/abs/2511.20697

inspect eval evals/msu.py@textual --model baseline/reader
inspect eval evals/msu.py@textual --model vllm/Qwen/Qwen2.5-7B-Instruct \
  -T asking=single -T levels=1,2
inspect eval evals/msu.py@visual --model openai/gpt-4o \
  -T judges=openai/gpt-5,openai/o3,openai/gpt-4.1
inspect eval evals/msu.py@visual --model openai/gpt-4o -T pages=pdf -T abc=true
inspect eval evals/msu.py@textual --model openai/gpt-4o -T dataset=published -T content=title
inspect eval evals/msu.py@score --model vllm/Qwen/Qwen2.5-7B-Instruct -T rendering=lilypond
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from importlib.metadata import version
from itertools import chain
from logging import getLogger
from random import Random
from string import Template
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from inspect_ai import Task
from inspect_ai.dataset import Sample
from inspect_ai.model import (
    CachePolicy,
    ChatMessage,
    ChatMessageSystem,
    ChatMessageUser,
    Content,
    ContentText,
    GenerateConfig,
)

from music_evals.benchmarks.prompts import Prompts, load_prompts
from music_evals.datasets_builders.dataset_io import (
    GENERATED,
    DatasetSpec,
    FileCell,
    describe_dataset,
    load_split,
)
from music_evals.datasets_builders.msu.dataset import BENCHMARK
from music_evals.datasets_builders.msu.questions.answerability import is_answerable
from music_evals.datasets_builders.msu.rows import LEVELS, SPLITS, QuestionRow, ScoreRow
from music_evals.datasets_builders.msu.twins import renamed, transposed
from music_evals.datasets_builders.progress import announced
from music_evals.datasets_builders.questions.items import vocabularies
from music_evals.evals.shared.declared_tasks import (
    commonest,
    declared_task,
    notation_tokens,
    question_metadata,
)
from music_evals.evals.shared.floors import floors_of
from music_evals.evals.shared.levels import Level, at_level
from music_evals.evals.shared.parameters import check_positive, condition
from music_evals.evals.shared.registration import task
from music_evals.notation.scores.pdf import pages_to_pdf
from music_evals.notation.scores.renderings import Rendered, Rendering, as_it_stands, render
from music_evals.scorers.judge import RULES, judged
from music_evals.solvers.media import file_content
from music_evals.solvers.replies import reply
from music_evals.solvers.stimulus import Stimulus

Modality = Literal["textual", "visual", "score"]
ScoreContent = Literal["full", "title"]
Twin = Literal["original", "transposed", "renamed"]

# Rendering → its key in the prompts; other renderings have their own name.
_WORDING_KEYS = {
    "abc": "textual",
    "pages": "visual",
}
_MAX_REASON = 300  # characters
_log = getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class MsuParameters:
    """Parameters of all three tasks.

    Args:
        dataset: ``generated`` for a look-alike of the published test; ``published`` for that, which
            is fetched once; a folder; or ``hf://datasets/ORG/NAME[@REVISION]``.
        stimulus: ``given``; ``none``, ``noise`` or ``other`` to ask with no music, with random
            music as long, or with another item's, of another answer.
        asking: ``batch`` for all questions of a score at once, as in the paper's main tables, or
            ``single``.
        answer: ``text``, read by rules; ``schema`` for a form that the server guarantees, by the
            type of each answer.
        level: level of difficulty of generated data, for ``textual`` and ``visual``: 1 is the
            default; up to 5, scores are longer, and up to four sentences lead to the measure that
            a question is about; or ``all``. Not to be confused with ``levels``.
        levels: MSU-Bench's own levels, which are types of questions: only these, e.g. ``1,2``.
        content: ``full``, or ``title`` to show only title and composer, which tests whether the
            model knows the piece.
        split: ``all``, ``train``, ``validation`` or ``test``.
        judges: ``rules`` for no model, or an odd number of models (or roles), separated by commas;
            their majority decides.
        judge_max_tokens: most tokens of a judge's reply; a model that reasons needs thousands;
            ``null`` sets no limit.
        human_labels: a CSV file with the columns id and label, to compare the judges with people.
        cache: take a reply from Inspect's cache if the same prompt was sent within a week, so that
            an interrupted run continues without generating again.
        prompts: ``second`` or ``third`` wording, or a TOML file with your own, see
            ``music_evals/benchmarks/msu/prompts.toml``.
    """

    dataset: str = GENERATED
    stimulus: Stimulus = "given"
    asking: Literal["batch", "single"] = "batch"
    answer: Literal["text", "schema"] = "text"
    level: Level = 1
    levels: int | str | list[int] | None = None
    content: ScoreContent = "full"
    split: Literal["all", "train", "validation", "test"] = "all"
    judges: str | list[str] = "rules"
    judge_max_tokens: int | None = 16
    human_labels: str | None = None
    cache: bool = True
    prompts: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class VisualParameters(MsuParameters):
    """Parameters of `visual`: those of all tasks, and two more.

    Args:
        pages: ``images`` for an image per page, or ``pdf`` for all pages as one PDF; where the data
            has no PDF of a score, it is made of the page images.
        abc: show the score in ABC too, as in the paper's Appendix I.
    """

    pages: Literal["images", "pdf"] = "images"
    abc: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TextualParameters(MsuParameters):
    """Parameters of `textual`: those of all tasks, and two more.

    Args:
        twin: ``original``; ``transposed`` for scores and answers a major second higher or lower; or
            ``renamed`` for scores with title and composer of another score.
        max_score_tokens: the longest score, in tokens, estimated as half its characters; longer
            ones are left out.
    """

    twin: Twin = "original"
    max_score_tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreParameters(MsuParameters):
    """Parameters of `score`: those of all tasks, and two more.

    Args:
        rendering: ``abc``, ``musicxml``, ``midi`` (as text), ``lilypond``, ``pages`` or ``audio``.
        max_score_tokens: the longest score, in tokens, estimated as half its characters; longer
            ones are left out.
    """

    asking: Literal["batch", "single"] = "single"
    rendering: Rendering = "abc"
    max_score_tokens: int | None = None


@task
def textual(params: TextualParameters) -> Task:
    """Answer questions on scores in ABC notation (sections 3 and 5)."""
    return _task("textual", params, "abc", ["abc"])


@task
def visual(params: VisualParameters) -> Task:
    """Answer questions on scores seen as pages, or as pages and ABC (sections 3 and 5, Appendix
    I).
    """
    columns = ["images"]
    if params.pages == "pdf":
        columns.append("pdf")
    if params.abc:
        columns.append("abc")
    return _task("visual", params, "pages", columns)


@task
def score(params: ScoreParameters) -> Task:
    """Answer the same questions on the same scores in any rendering, as far as it holds the
    answers.
    """
    return _task("score", params, params.rendering, ["musicxml"])


@dataclass(slots=True)
class _Selection:
    """The scores of a task, what the model sees of them, and their questions."""

    scores: list[ScoreRow]
    shown: dict[str, Rendered]  # score → its rendering; empty if only titles are shown
    questions: dict[str, list[QuestionRow]] = field(default_factory=dict)  # score → questions
    unlike: list[str] = field(default_factory=list)  # scores that cannot be shown, with the reason
    refused: list[str] = field(default_factory=list)  # scores that are too long

    def problem(self, rendering: Rendering) -> str:
        """Say why no question is left."""
        if self.refused:
            return "every score is longer than max_score_tokens"
        return self.unlike[0] if self.unlike else f"{rendering} holds no answer"


def _task(
    modality: Modality, params: MsuParameters, rendering: Rendering, columns: Sequence[str]
) -> Task:
    longest: int | None = getattr(params, "max_score_tokens", None)
    twin: Twin = getattr(params, "twin", "original")
    check_positive(
        max_score_tokens=longest,
        judge_max_tokens=params.judge_max_tokens,
    )
    _check_content(params)
    levels = _levels(params.levels)
    is_by_rules = params.judges in (RULES, [RULES])
    scorer = judged(
        params.judges,
        human_labels=params.human_labels,
        max_tokens=params.judge_max_tokens,
    )
    spec = at_level(BENCHMARK, modality, params)
    origin = describe_dataset(params.dataset, benchmark=spec)
    available = [name for name in SPLITS if name in origin.provenance.counts.get("questions", {})]
    splits = available if params.split == "all" else [params.split]
    by_split = {split: _load_questions(params.dataset, split, spec) for split in splits}
    rows = list(chain(*by_split.values()))

    selection = _choose_stimulus(params, rendering, columns, splits, spec)
    if longest is not None:
        _limit_length(selection, longest)
    rows_of_levels = [row for row in rows if row["level"] in levels]
    if not rows_of_levels:
        own = ", ".join(sorted({str(row["level"]) for row in rows}))
        raise ValueError(
            f"{origin.label} has no question of levels={params.levels}; it has levels {own}"
        )
    _choose_questions(selection, rows_of_levels, modality, rendering)
    originals = None
    if twin != "original":
        originals = {row["id"]: row["answer"] for row in rows}
        _make_twins(selection, twin)
    remaining = [row for row in rows_of_levels if row["score_id"] in selection.questions]
    questions_not_held = len(remaining) - sum(map(len, selection.questions.values()))

    learnt = _load_questions(params.dataset, "train", spec) if "train" in available else rows
    vocabulary = vocabularies(
        (row["kind"] or _type_of(row), _type_of(row), row["answer"]) for row in rows
    )
    majority = commonest((row["kind"] or "", row["answer"]) for row in learnt)
    prompt = Prompt(load_prompts("msu", params.prompts), modality, rendering, majority, vocabulary)
    samples = _samples(selection, prompt, params.asking, originals)
    if not samples:
        raise ValueError(f"no question is left to ask: {selection.problem(rendering)}")
    scored: dict[str, list[QuestionRow]] = {
        split: _scored(split_rows, selection, levels, is_by_rules)
        for split, split_rows in by_split.items()
    }
    return declared_task(
        params,
        "msu",
        modality,
        origin,
        samples,
        # Another version of the suite, and of its baselines, may answer the same prompt in another
        # way.
        solver=reply(
            cache=params.cache
            and CachePolicy(expiry="1W", scopes={"music-evals": version("music-evals")})
        ),
        scorer=scorer,
        config=GenerateConfig(temperature=0.95, top_p=0.7, top_k=50),
        metadata={
            "split": params.split,
            "levels": levels,
            "judged_by_rules": is_by_rules,
            "scores_refused": selection.refused,
            "scores_unlike": [reason[:_MAX_REASON] for reason in selection.unlike],
            "questions_not_held": questions_not_held,
        },
        floors={"": floors_of(origin, "questions", scored)},
        is_like=origin.provenance.source != "published",
    )


def _choose_questions(
    selection: _Selection, rows: Sequence[QuestionRow], modality: Modality, rendering: Rendering
) -> None:
    """Take the questions on the scores; in `score`, those whose answer the rendering holds."""
    selection.questions = {score["score_id"]: [] for score in selection.scores}
    for row in rows:
        questions = selection.questions.get(row["score_id"])
        if questions is None:
            continue
        rendered = selection.shown.get(row["score_id"]) if modality == "score" else None
        # A title alone is asked about anyway.
        if rendered is None or is_answerable(
            rendering, rendered, row["kind"], row["question"], row["answer"]
        ):
            questions.append(row)


def _scored(
    rows: Sequence[QuestionRow], selection: _Selection, levels: Sequence[int], is_by_rules: bool
) -> list[QuestionRow]:
    """The questions that are asked and have a score."""
    asked = [
        row for row in rows if row["level"] in levels and row["score_id"] in selection.questions
    ]
    return list(filter(_is_ruled, asked)) if is_by_rules else asked


# --- parameters


def _check_content(params: MsuParameters) -> None:
    of_scores = sorted({"stimulus", "twin", "pages", "abc"} & condition(params).keys())
    if params.content == "title" and of_scores:
        raise ValueError(
            f"content=title shows no score; leave {', '.join(of_scores)} as by default"
        )


def _levels(values: int | str | list[int] | None) -> list[int]:
    if values is None:
        return list(LEVELS)
    entries = values if isinstance(values, list) else str(values).split(",")
    names = {str(entry).strip() for entry in entries}
    if not names or not names <= {*map(str, LEVELS)}:
        valid = "valid values are 1, 2, 3 and 4, separated by commas"
        raise ValueError(f"levels={values!r} is not valid; {valid}")
    return sorted(map(int, names))


# --- rows


def _load_questions(dataset: str, split: str, spec: DatasetSpec) -> list[QuestionRow]:
    # Imported here and below because the patterns of this module take long to compile.
    from music_evals.scorers.readers.checking import ANSWER_TYPES

    rows: list[QuestionRow] = load_split(dataset, "questions", split, benchmark=spec).to_list()
    for row in rows:
        if row["answer_type"] not in (None, *ANSWER_TYPES):
            raise ValueError(
                f"{dataset}, row {row['id']}: answer_type {row['answer_type']!r:.100} is none of "
                f"{', '.join(ANSWER_TYPES)}"
            )
    return rows


def _type_of(row: QuestionRow) -> str:
    from music_evals.scorers.readers.checking import answer_type_of

    return row["answer_type"] or answer_type_of(row["question"], row["answer"])


def _is_ruled(row: QuestionRow) -> bool:
    """Whether rules alone can score answers to a question: they read its own answer."""
    from music_evals.scorers.readers.checking import check

    return check(row["answer"], row["answer"], _type_of(row)).is_right is not None


# --- stimulus


def _choose_stimulus(
    params: MsuParameters,
    rendering: Rendering,
    columns: Sequence[str],
    splits: Sequence[str],
    spec: DatasetSpec,
) -> _Selection:
    """Load the scores and render them; leave out and name scores whose rendering has other notes.

    `columns` are those that the model sees. MusicXML is rendered; others are shown as they are.
    """
    if params.content == "title":
        return _Selection(_load_scores(params.dataset, (), splits, spec), {})
    scores = _load_scores(params.dataset, columns, splits, spec)
    if "musicxml" in columns:
        texts = [score["musicxml"] or "" for score in scores]
        rendered = render(texts, rendering, partial(_announced, rendering))
    else:
        rendered = []
        for score in scores:
            files = [image["bytes"] for image in score.get("images", ())]
            rendered.append(as_it_stands(text=score.get("abc") or "", files=files))
    selection = _Selection([], {})
    for score, result in zip(scores, rendered, strict=True):
        if result["problem"]:
            reason = f"{score['score_id']}: {result['problem']}"
            selection.unlike.append(reason)
            _log.warning("Left out, as it is not the same as %s: %s", rendering, reason)
        else:
            selection.shown[score["score_id"]] = result
            selection.scores.append(score)
    return selection


def _load_scores(
    dataset: str, columns: Sequence[str], splits: Sequence[str], spec: DatasetSpec
) -> list[ScoreRow]:
    """Load scores with the columns that the model sees; with `pdf`, one PDF is in the place of the
    images.

    The PDF is made of the images if the data has none.
    """
    names = ["score_id", "title", "composer", *columns]
    scores = []
    for split in splits:
        scores += load_split(dataset, "scores", split, benchmark=spec, columns=names).to_list()
    if "pdf" in columns:
        for score in scores:
            pages = [image["bytes"] for image in score["images"]]
            pdf = score["pdf"] or (pages and pages_to_pdf(pages))
            score["images"] = [FileCell(bytes=pdf, path=None)] if pdf else []
    for column in sorted({*columns} - {"pdf"}):
        # Scores without MusicXML have no rendering and are left out one by one.
        is_complete = any if column == "musicxml" else all
        if not is_complete(dict(score)[column] for score in scores):
            problem = f"has scores without {column}; valid for it is content=title"
            raise ValueError(f"{dataset} {problem}")
    return scores


@contextmanager
def _announced(rendering: Rendering, count: int) -> Iterator[Callable[[], None]]:
    with announced(f"{rendering} of {count} scores") as advance:
        yield lambda: advance("rendering", count)


def _limit_length(selection: _Selection, max_tokens: int) -> None:
    """Leave out scores that are too long."""
    selection.refused = [
        name
        for name, rendered in selection.shown.items()
        if notation_tokens(len(rendered["text"])) > max_tokens
    ]
    for name in selection.refused:
        del selection.shown[name]
    selection.scores = [
        score for score in selection.scores if score["score_id"] not in selection.refused
    ]


def _make_twins(selection: _Selection, twin: Twin) -> None:
    """Transpose or rename the scores and change their answers; leave out and name scores that
    cannot be changed.
    """
    order = sorted(selection.scores, key=lambda score: sha256(score["score_id"].encode()).digest())
    after = {
        score["score_id"]: other for score, other in zip(order, [*order[1:], order[0]], strict=True)
    }
    scores = []
    shown = {}
    questions = {}
    for score in selection.scores:
        name = score["score_id"]
        rows = selection.questions[name]
        text = selection.shown[name]["text"]
        try:
            if twin == "transposed":
                text, rows = transposed(text, rows, [_type_of(row) for row in rows])
            else:
                score, text, rows = renamed(score, after[name], text, rows)
        except ValueError as error:
            selection.unlike.append(f"{name}: it cannot be transposed: {error}")
        else:
            scores.append(score)
            shown[name] = as_it_stands(text=text)
            questions[name] = rows
    selection.scores = scores
    selection.shown = shown
    selection.questions = questions


# --- prompts and samples


class Prompt(NamedTuple):
    """What all prompts of a task share."""

    wording: Prompts
    modality: Modality
    rendering: Rendering
    majority: Mapping[str, str] = MappingProxyType({})  # kind of question → the commonest answer
    # Kind of question → answers to guess from.
    vocabulary: Mapping[str, Sequence[str]] = MappingProxyType({})


def _samples(
    selection: _Selection, prompt: Prompt, asking: str, originals: Mapping[str, str] | None
) -> list[Sample]:
    """Make the samples of all scores; `originals` are the answers to the questions of a twin before
    it was changed.
    """
    samples = []
    for score in selection.scores:
        name = score["score_id"]
        rows = selection.questions[name]
        groups = [[row] for row in rows] if asking == "single" else [rows]
        # The level-wise success rate is over all questions on a score, also if they are asked
        # one at a time.
        facts = {"asked": dict(Counter(str(row["level"]) for row in rows))}
        for group in filter(None, groups):
            sample = record_to_sample(score, group, selection.shown.get(name), prompt, originals)
            sample.metadata = {**(sample.metadata or {}), **facts}
            samples.append(sample)
    return samples


def record_to_sample(
    score: ScoreRow,
    questions: Sequence[QuestionRow],
    shown: Rendered | None,
    prompt: Prompt,
    originals: Mapping[str, str] | None = None,
) -> Sample:
    """Map questions on a score to a sample; all samples of a score are the same up to the question.

    Args:
        score: a row of the config `scores`.
        questions: rows of the config `questions`: one, or all that are asked at once.
        shown: the score as the model sees it; None for its title alone.
        prompt: what all prompts of the task share.
        originals: question → the original answer, for a twin.
    """
    metadata: dict[str, Any] = {
        "score_id": score["score_id"],
        "title": score["title"],
        "composer": score["composer"],
        "questions": [{**row, "answer_type": _type_of(row)} for row in questions],
    }
    if originals is not None:
        metadata["twin_target"] = _target([originals[row["id"]] for row in questions])
    if shown and shown["text"]:
        metadata["score_tokens"] = notation_tokens(len(shown["text"]))
    return Sample(
        id=questions[0]["id"] if len(questions) == 1 else score["score_id"],
        input=prompt_messages(score, questions, prompt, shown),
        target=_target([row["answer"] for row in questions]),
        metadata=metadata,
    )


def _target(answers: Sequence[str]) -> str:
    return answers[0] if len(answers) == 1 else _numbered(answers)


def _numbered(texts: Sequence[str]) -> str:
    return "\n".join(f"{number}. {text}" for number, text in enumerate(texts, start=1))


def prompt_messages(
    score: ScoreRow, questions: Sequence[QuestionRow], prompt: Prompt, shown: Rendered | None
) -> list[ChatMessage]:
    """Word a prompt: the instruction, the score, and then the question or questions."""
    stimulus = _score_text(score, prompt.wording["score"], prompt.rendering, shown)
    request = _question_text(questions, prompt.wording["ask"])
    content: str | list[Content] = f"{stimulus}\n\n{request}"
    notation = music = None
    if shown:
        text = shown["text"]
        notation = "abc" if text and prompt.rendering == "pages" else prompt.rendering
        if text:
            start = stimulus.index(text)
            music = [[start, start + len(text)]]
        if shown["files"]:
            pages = (file_content(file, detail="high") for file in shown["files"])
            content = [ContentText(text=stimulus), *pages, ContentText(text=request)]
    metadata = question_metadata(
        "msu",
        prompt.modality,
        answer_type="text",
        form="$answer",
        notation=notation,
        music=music,
        **_question_facts(questions, prompt),
    )
    return [
        ChatMessageSystem(content=prompt.wording["instruction"]),
        ChatMessageUser(content=content, metadata=metadata),
    ]


def _question_facts(questions: Sequence[QuestionRow], prompt: Prompt) -> dict[str, Any]:
    """What the baselines know of questions: text, kind, and answers by majority and by chance."""
    guesses = []
    for row in questions:
        answers = prompt.vocabulary.get(row["kind"] or _type_of(row), ["Unknown"])
        guesses.append(Random(f"chance {row['id']}").choice(answers))
    majorities = [prompt.majority.get(row["kind"] or "", "Unknown") for row in questions]
    if len(questions) > 1:
        entries = [{"text": row["question"], "kind": row["kind"]} for row in questions]
        return {"questions": entries, "majority": majorities, "guess": guesses}
    (row,) = questions
    facts = {"question": row["question"], "kind": row["kind"], "majority": majorities[0]}
    return {**facts, "guess": guesses}


def _score_text(
    score: ScoreRow, wording: Prompts, rendering: Rendering, shown: Rendered | None
) -> str:
    if shown is None:
        name = score["title"] + (f" by {score['composer']}" if score["composer"] else "")
        return Template(wording["title"]).substitute(title=name)
    key = _WORDING_KEYS.get(rendering, rendering)
    if shown["text"] and shown["files"]:
        key = "visual_with_abc"
    return Template(wording[key]).substitute(score=shown["text"])


def _question_text(questions: Sequence[QuestionRow], wording: Prompts) -> str:
    if len(questions) == 1:
        return Template(wording["single"]).substitute(question=questions[0]["question"])
    return Template(wording["batch"]).substitute(
        count=len(questions), questions=_numbered([row["question"] for row in questions])
    )
