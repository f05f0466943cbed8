"""MSU-Bench: open questions on complete scores, read as ABC, seen as pages, or in other notations and as sound.

"Musical Score Understanding Benchmark: Evaluating Large Language Models' Comprehension of Complete Musical Scores"
Congren Dai, Yue Yang, Krinos Li, Huichi Zhou, Shijie Liang, Bo Zhang, Enyang Liu, Ge Jin, Hongran An, Haosen Zhang,
Peiyuan Jing, Kinhei Lee, Zhenxuan Zhang, Xiaobing Li, Maosong Sun
https://arxiv.org/abs/2511.20697

inspect eval evals/msu.py@textual --model baseline/reader
inspect eval evals/msu.py@textual --model vllm/Qwen/Qwen2.5-7B-Instruct -T asking=single -T levels=1,2
inspect eval evals/msu.py@visual --model openai/gpt-4o -T judges=openai/gpt-5,openai/o3,openai/gpt-4.1
inspect eval evals/msu.py@textual --model openai/gpt-4o -T dataset=data/msu -T content=title
inspect eval evals/msu.py@score --model vllm/Qwen/Qwen2.5-7B-Instruct -T rendering=kern
"""

import base64
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from importlib.metadata import version
from itertools import accumulate
from logging import getLogger
from statistics import mean
from string import Template
from types import MappingProxyType
from typing import Any, Final, Literal

from inspect_ai import Task
from inspect_ai.dataset import Sample
from inspect_ai.model import (
    CachePolicy,
    ChatMessage,
    ChatMessageSystem,
    ChatMessageUser,
    Content,
    ContentAudio,
    ContentImage,
    ContentText,
    GenerateConfig,
)

from music_evals.benchmarks.prompts import Prompts, load_prompts
from music_evals.datasets_builders.dataset_io import GENERATED, describe_dataset, load_split
from music_evals.datasets_builders.msu.dataset import BENCHMARK, LEVELS, SPLITS, QuestionRow, ScoreRow
from music_evals.datasets_builders.msu.questions.answerability import is_answerable
from music_evals.datasets_builders.msu.twins import renamed, transposed
from music_evals.datasets_builders.progress import announced
from music_evals.evals.floors import Floors, floors_of
from music_evals.evals.tasks import asks, check_positive, commonest, declared_task, estimated_tokens, samples_view, task
from music_evals.notation.scores.renderings import Rendered, Rendering, as_it_stands, render
from music_evals.scorers.judge import DEADLINE, RULES, judged
from music_evals.solvers.replies import reply
from music_evals.solvers.stimulus import Stimulus

Modality = Literal["textual", "visual", "score"]
ScoreContent = Literal["full", "title"]
TooLong = Literal["refuse", "truncate"]
Twin = Literal["original", "transposed", "renamed"]


_COLUMNS: Final[Mapping[Modality, str]] = {"textual": "abc", "visual": "images", "score": "musicxml"}
"""Task → the column of its scores."""
_CALLED: Final = {"abc": "ABC", "images": "pages", "musicxml": "MusicXML"}
_WORDED: Final[Mapping[str, str]] = {"abc": "textual", "pages": "visual"}  # otherwise than by its own name
_KINDS: Final = {b"\x89PNG": "image/png", b"\xff\xd8": "image/jpeg"}  # by their first bytes; else MP3
_SHOWN: Final = 300  # characters of a reason
_log = getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class VisualParameters:
    """Parameters of `visual`.

    Args:
        dataset: ``generated`` (another test of the same form), a dataset folder, or
            ``hf://datasets/ORG/NAME[@REVISION]``.
        stimulus: ``given``; ``none``, ``noise`` or ``other`` to ask with no music, with random music as long, or with
            another item's, of another answer.
        asking: ``batch`` for all questions of a score at once, as in the paper's main tables, or ``single``.
        levels: only these, e.g. ``1,2``.
        content: ``full``, or ``title`` to give nothing but title and composer (does the model know the piece?).
        split: ``all``, ``train``, ``validation`` or ``test``.
        judges: ``rules`` for no model, or an odd number of models (or roles), separated by commas, whose majority
            decides.
        judge_max_tokens: of a judge's reply; one that reasons needs thousands; ``null`` sets no limit.
        judge_deadline: seconds that a judge has for a reply before it abstains.
        human_labels: a CSV file with the columns id and label, to hold the judges against people.
        cache: take answers from Inspect's cache when the same was asked within a week; a run that was cut off goes on
            without generating again.
        prompts: a TOML file with other wording, see ``music_evals/benchmarks/msu/prompts.toml``.
    """

    dataset: str = GENERATED
    stimulus: Stimulus = "given"
    asking: Literal["batch", "single"] = "batch"
    levels: int | str | list[int] | None = None
    content: ScoreContent = "full"
    split: Literal["all", "train", "validation", "test"] = "all"
    judges: str | list[str] = "rules"
    judge_max_tokens: int | None = 16
    judge_deadline: int = DEADLINE
    human_labels: str | None = None
    cache: bool = True
    prompts: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TextualParameters(VisualParameters):
    """Parameters of `textual`: those of `visual`, and two more.

    Args:
        twin: ``original``; ``transposed`` for scores a major second higher or lower, and answers moved along; or
            ``renamed`` for scores under title and composer of another.
        max_score_tokens: the longest score, in tokens, estimated as half its characters.
        too_long: what becomes of longer ones: ``refuse`` leaves their questions out, ``truncate`` cuts them after a
            measure.
    """

    twin: Twin = "original"
    max_score_tokens: int | None = None
    too_long: TooLong = "refuse"


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreParameters(VisualParameters):
    """Parameters of `score`: those of `visual`, and two more.

    Args:
        rendering: ``abc``, ``musicxml``, ``midi`` (as text), ``lilypond``, ``kern``, ``pages`` or ``audio``.
        max_score_tokens: the longest score, in tokens, estimated as half its characters; longer ones are left out.
    """

    asking: Literal["batch", "single"] = "single"
    rendering: Rendering = "abc"
    max_score_tokens: int | None = None


@task
def textual(asked: TextualParameters) -> Task:
    """Answer questions on scores in ABC notation (sections 3 and 5)."""
    return _task("textual", asked, "abc", asked.max_score_tokens, asked.too_long, asked.twin)


@task
def visual(asked: VisualParameters) -> Task:
    """Answer questions on scores seen as pages (sections 3 and 5)."""
    return _task("visual", asked, "pages")


@task
def score(asked: ScoreParameters) -> Task:
    """Answer the same questions on the same scores in any rendering, as far as it holds the answers."""
    return _task("score", asked, asked.rendering, asked.max_score_tokens)


def _task(
    modality: Modality,
    asked: VisualParameters,
    rendering: Rendering,
    max_score_tokens: int | None = None,
    too_long: TooLong = "refuse",
    twin: Twin = "original",
) -> Task:
    check_positive(
        max_score_tokens=max_score_tokens,
        judge_max_tokens=asked.judge_max_tokens,
        judge_deadline=asked.judge_deadline,
    )
    if asked.content == "title" and asked.stimulus != "given":
        raise ValueError(f"content=title gives no music that stimulus={asked.stimulus} could be in the place of")
    asked_levels = _levels(asked.levels)
    named = [name.strip() for name in asked.judges.split(",")] if isinstance(asked.judges, str) else asked.judges
    scorer = judged(
        "rules" if named == ["rules"] else named,
        human_labels=asked.human_labels,
        max_tokens=asked.judge_max_tokens,
        deadline=asked.judge_deadline,
    )
    wording = load_prompts("msu", asked.prompts)
    origin = describe_dataset(asked.dataset, benchmark=BENCHMARK)
    known_splits = [name for name in SPLITS if name in origin.provenance.counts.get("questions", {})]
    splits = known_splits if asked.split == "all" else [asked.split]
    used = _COLUMNS[modality]
    columns = ["score_id", "title", "composer", *([used] if asked.content == "full" else [])]
    scores: list[ScoreRow] = _load(asked.dataset, "scores", splits, columns)
    by_split: dict[str, list[QuestionRow]] = {split: _load(asked.dataset, "questions", [split]) for split in splits}
    questions = [row for rows in by_split.values() for row in rows]
    has = [bool(dict(score).get(used)) for score in scores]
    # Scores of which a rendering cannot be made are left out and named.
    if asked.content == "full" and not (any(has) if modality == "score" else all(has)):
        raise ValueError(f"{asked.dataset} has scores without {_CALLED[used]}; valid for it is content=title")
    given: dict[str, Rendered] = {}
    if asked.content == "full":
        given = _given(scores, modality, rendering)
    unlike = [f"{name}: {one['problem']}" for name, one in given.items() if one["problem"]]
    for why in unlike:
        _log.warning("Left out, as it is not the same as %s: %s", rendering, why)
    given = {name: one for name, one in given.items() if not one["problem"]}
    shortened: dict[str, int] = {}
    refused: list[str] = []
    if given and max_score_tokens is not None:
        given, shortened, refused = _fitted(given, max_score_tokens, too_long)
    if asked.content == "full":
        scores = [score for score in scores if score["score_id"] in given]
    from music_evals.scorers.readers.checking import ANSWER_TYPES

    for row in questions:
        if row["answer_type"] not in (None, *ANSWER_TYPES):
            raise ValueError(
                f"{asked.dataset}, row {row['id']}: answer_type {row['answer_type']!r:.100} is none of "
                f"{', '.join(ANSWER_TYPES)}"
            )
    by_score: dict[str, list[QuestionRow]] = {score["score_id"]: [] for score in scores}
    for row in questions:
        if row["level"] in asked_levels and row["score_id"] in by_score and _is_asked(row, modality, rendering, given):
            by_score[row["score_id"]].append(row)
    right = {row["id"]: row["answer"] for row in questions}
    if twin != "original":
        if asked.content == "title":
            raise ValueError(f"content=title shows no score; valid with it is twin=original, not {twin}")
        scores, given, by_score, unmoved = _twins(twin, scores, given, by_score)
        unlike += unmoved
    not_held = sum(row["level"] in asked_levels and row["score_id"] in by_score for row in questions)
    not_held -= sum(map(len, by_score.values()))

    def floors(*levels: int) -> Floors:
        some = {name: [row for row in rows if row["level"] in levels] for name, rows in by_split.items()}
        scored = {
            name: [row for row in rows if row["score_id"] in by_score and (named != [RULES] or _is_ruled(row))]
            for name, rows in some.items()
        }
        return floors_of(origin, "questions", scored)

    learnt = _load(asked.dataset, "questions", ["train"]) if "train" in known_splits else questions
    majority = commonest((row["kind"] or "", row["answer"]) for row in learnt)
    samples = [
        record_to_sample(
            score,
            group,
            by_score[score["score_id"]],
            wording,
            rendering,
            given.get(score["score_id"]),
            majority,
            shortened.get(score["score_id"]),
            modality,
            right if twin != "original" else None,
        )
        for score in scores
        for group in _groups(by_score[score["score_id"]], asked.asking)
    ]
    if not samples:
        why = unlike[0] if unlike else f"{rendering} holds no answer"
        raise ValueError(
            f"no question is left to ask: {'every score is longer than max_score_tokens' if refused else why}"
        )
    is_msu = origin.provenance.source == "published"
    # Another version may answer otherwise to the same prompt, the baselines above all.
    policy = CachePolicy(expiry="1W", scopes={"music-evals": version("music-evals")}) if asked.cache else False
    return declared_task(
        asked,
        "msu",
        modality,
        origin,
        samples,
        solver=reply(cache=policy),
        scorer=scorer,
        config=GenerateConfig(temperature=0.95, top_p=0.7, top_k=50),
        viewer=samples_view("MSU-Bench"),
        metadata={
            "is_msu_bench": is_msu,
            "split": asked.split,
            "levels": asked_levels,
            "scores": len({sample.metadata["score_id"] for sample in samples if sample.metadata}),
            "scores_truncated": len(shortened),
            "scores_refused": refused,
            "scores_unlike": [why[:_SHOWN] for why in unlike],
            "questions_not_held": not_held,
            "score_tokens": _mean_tokens(given),
            "is_generated": origin.provenance.source == GENERATED,
        },
        floors={
            "": floors(*asked_levels),
            **{f"judged_by_level/level_{level}/accuracy": floors(level) for level in asked_levels},
        },
        is_like=not is_msu,
    )


def _type_of(row: QuestionRow) -> str:
    # Here, because its patterns take long to compile.
    from music_evals.scorers.readers.checking import answer_type_of

    return row["answer_type"] or answer_type_of(row["question"], row["answer"])


def _is_ruled(row: QuestionRow) -> bool:
    """Whether rules alone can score answers to a question: they read its own answer."""
    from music_evals.scorers.readers.checking import check

    return check(row["answer"], row["answer"], _type_of(row)).is_right is not None


def record_to_sample(
    score: ScoreRow,
    questions: Sequence[QuestionRow],
    of_score: Sequence[QuestionRow],
    wording: Prompts,
    rendering: Rendering,
    given: Rendered | None,
    majority: Mapping[str, str],
    measures_kept: int | None,
    modality: Modality,
    right: Mapping[str, str] | None = None,
) -> Sample:
    """Map questions on a score to a sample; everything up to the question is the same for all samples of a score.

    Args:
        score: a row of the config `scores`.
        questions: rows of the config `questions`: one, or all that are asked at once.
        of_score: all that are asked of the score, at once or not: the level-wise success rate is over these.
        wording: the prompts.
        rendering: in which form the score is given.
        given: the score in that form; None for its title alone.
        majority: kind of question → the commonest answer.
        measures_kept: how many lines of the score are left, where it was cut.
        modality: the task.
        right: of a twin, question → the original answer.
    """
    is_single = len(questions) == 1
    target = _target([row["answer"] for row in questions])
    metadata: dict[str, Any] = {
        "score_id": score["score_id"],
        "title": score["title"],
        "composer": score["composer"],
        "asked": dict(Counter(str(row["level"]) for row in of_score)),
        "questions": [{**row, "answer_type": _type_of(row)} for row in questions],
    }
    if right is not None:
        metadata["twin_target"] = _target([right[row["id"]] for row in questions])
    if given and given["text"]:
        metadata["score_tokens"] = estimated_tokens(len(given["text"]))
    if measures_kept is not None:
        metadata["measures_kept"] = measures_kept
    return Sample(
        id=questions[0]["id"] if is_single else score["score_id"],
        input=prompt_messages(score, questions, wording, rendering, given, majority, modality),
        target=target,
        metadata=metadata,
    )


def prompt_messages(
    score: ScoreRow,
    questions: Sequence[QuestionRow],
    wording: Prompts,
    rendering: Rendering,
    given: Rendered | None,
    majority: Mapping[str, str] = MappingProxyType({}),
    modality: Modality = "textual",
) -> list[ChatMessage]:
    """Word a prompt: the instruction, the score, and then the question or questions."""
    ask, shown = wording["ask"], wording["score"]
    is_single = len(questions) == 1
    if is_single:
        asked = Template(ask["single"]).substitute(question=questions[0]["question"])
    else:
        lines = [f"{number}. {row['question']}" for number, row in enumerate(questions, start=1)]
        asked = Template(ask["batch"]).substitute(count=len(lines), questions="\n".join(lines))
    parts: list[Content] = []
    music: list[list[int]] | None = None
    if given is None:
        name = score["title"] + (f" by {score['composer']}" if score["composer"] else "")
        told = Template(shown["title"]).substitute(title=name)
    else:
        told = Template(shown[_WORDED.get(rendering, rendering)]).substitute(score=given["text"])
        if given["text"]:
            start = told.index(given["text"])
            music = [[start, start + len(given["text"])]]
        parts = [_part(file) for file in given["files"]]
    commonest_answers = [majority.get(row["kind"] or "", "Unknown") for row in questions]
    metadata = asks(
        "msu",
        modality,
        answer_type="text",
        form="$answer",
        notation=rendering if given else None,
        music=music,
        question=questions[0]["question"] if is_single else None,
        kind=questions[0]["kind"] if is_single else None,
        questions=None if is_single else [{"text": row["question"], "kind": row["kind"]} for row in questions],
        majority=commonest_answers[0] if is_single else commonest_answers,
    )
    shown_parts: str | list[Content] = f"{told}\n\n{asked}"
    if parts:
        shown_parts = [ContentText(text=told), *parts, ContentText(text=asked)]
    return [ChatMessageSystem(content=wording["instruction"]), ChatMessageUser(content=shown_parts, metadata=metadata)]


def _load(dataset: str, config: str, splits: Sequence[str], columns: Sequence[str] | None = None) -> list[Any]:
    rows: list[Any] = []
    for split in splits:
        rows += load_split(dataset, config, split, benchmark=BENCHMARK, columns=columns).to_list()
    return rows


def _levels(levels: int | str | list[int] | None) -> list[int]:
    if levels is None:
        return list(LEVELS)
    given = str(levels).split(",") if isinstance(levels, int | str) else [str(level) for level in levels]
    found = {level for level in LEVELS if str(level) in [one.strip() for one in given]}
    if len(found) != len({one.strip() for one in given}) or not found:
        raise ValueError(
            f"levels={','.join(given)!r} is not valid; valid values are 1, 2, 3 and 4, separated by commas"
        )
    return sorted(found)


def _groups(questions: list[QuestionRow], asking: str) -> list[list[QuestionRow]]:
    if asking == "single":
        return [[row] for row in questions]
    return [questions] if questions else []


def _given(scores: Sequence[ScoreRow], modality: Modality, rendering: Rendering) -> dict[str, Rendered]:
    """Score → what the model is given of it."""
    if modality == "score":
        texts = [score["musicxml"] or "" for score in scores]
        found = render(texts, rendering, partial(_announced, rendering))
    elif modality == "textual":
        found = [as_it_stands(text=score["abc"] or "") for score in scores]
    else:
        found = [as_it_stands(files=[image["bytes"] for image in score["images"]]) for score in scores]
    return dict(zip((score["score_id"] for score in scores), found, strict=True))


def _target(answers: Sequence[str]) -> str:
    if len(answers) == 1:
        return answers[0]
    return "\n".join(f"{number}. {answer}" for number, answer in enumerate(answers, start=1))


def _twins(
    twin: Twin, scores: Sequence[ScoreRow], given: Mapping[str, Rendered], questions: Mapping[str, list[QuestionRow]]
) -> tuple[list[ScoreRow], dict[str, Rendered], dict[str, list[QuestionRow]], list[str]]:
    """Scores, what is given of them and their questions, changed; and which scores cannot be, with the reason."""
    kept: list[ScoreRow] = []
    changed: dict[str, Rendered] = {}
    asked: dict[str, list[QuestionRow]] = {}
    left_out: list[str] = []
    order = sorted(scores, key=lambda score: sha256(score["score_id"].encode()).digest())
    after = {score["score_id"]: other for score, other in zip(order, [*order[1:], order[0]], strict=True)}
    for score in scores:
        name = score["score_id"]
        rows, text = questions[name], given[name]["text"]
        try:
            if twin == "transposed":
                text, rows = transposed(text, rows, [_type_of(row) for row in rows])
            else:
                score, text, rows = renamed(score, after[name], text, rows)
        except ValueError as error:
            left_out.append(f"{name}: it cannot be transposed: {error}")
        else:
            kept.append(score)
            changed[name], asked[name] = as_it_stands(text=text), rows
    return kept, changed, asked, left_out


@contextmanager
def _announced(rendering: Rendering, count: int) -> Iterator[Callable[[], None]]:
    with announced(f"{rendering} of {count} scores") as advance:
        yield lambda: advance("rendering", count)


def _is_asked(row: QuestionRow, modality: Modality, rendering: Rendering, given: Mapping[str, Rendered]) -> bool:
    """Whether what is given holds the answer; what the paper's tasks give holds all."""
    if modality != "score" or row["score_id"] not in given:
        return True
    return is_answerable(rendering, given[row["score_id"]], row["kind"], row["question"], row["answer"])


def _mean_tokens(given: Mapping[str, Rendered]) -> int | None:
    tokens = [estimated_tokens(len(one["text"])) for one in given.values() if one["text"]]
    return round(mean(tokens)) if tokens else None


def _fitted(
    given: Mapping[str, Rendered], most: int, too_long: TooLong
) -> tuple[dict[str, Rendered], dict[str, int], list[str]]:
    """Cut or leave out the scores that are too long; which were cut to how many lines, and which are left out."""
    kept: dict[str, Rendered] = {}
    shortened: dict[str, int] = {}
    refused: list[str] = []
    for name, one in given.items():
        if estimated_tokens(len(one["text"])) <= most:
            kept[name] = one
        elif too_long == "refuse":
            refused.append(name)
        else:
            # A line of ABC holds a whole measure, so that what is left reads as music.
            lines = one["text"].splitlines()
            fitting = sum(estimated_tokens(end) <= most for end in accumulate(len(line) + 1 for line in lines))
            shortened[name] = fitting
            kept[name] = as_it_stands(text="\n".join(lines[:fitting]))
    return kept, shortened, refused


def _part(file: bytes) -> Content:
    """A page, or sound."""
    kind = next((kind for start, kind in _KINDS.items() if file.startswith(start)), "audio/mpeg")
    uri = f"data:{kind};base64,{base64.b64encode(file).decode('ascii')}"
    return ContentAudio(audio=uri, format="mp3") if kind == "audio/mpeg" else ContentImage(image=uri, detail="high")
