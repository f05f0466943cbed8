"""MSU-Bench: open questions on complete scores, read as ABC or seen as pages.

"Musical Score Understanding Benchmark: Evaluating Large Language Models' Comprehension of Complete Musical Scores"
Congren Dai, Yue Yang, Krinos Li, Huichi Zhou, Shijie Liang, Bo Zhang, Enyang Liu, Ge Jin, Hongran An, Haosen Zhang,
Peiyuan Jing, Kinhei Lee, Zhenxuan Zhang, Xiaobing Li, Maosong Sun
https://arxiv.org/abs/2511.20697

inspect eval evals/msu.py@textual --model baseline/reader
inspect eval evals/msu.py@textual --model vllm/Qwen/Qwen2.5-7B-Instruct -T asking=single -T levels=1,2
inspect eval evals/msu.py@visual --model openai/gpt-4o -T judges=openai/gpt-5,openai/o3,openai/gpt-4.1
inspect eval evals/msu.py@textual --model openai/gpt-4o -T dataset=data/msu -T content=title
"""

import base64
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from itertools import accumulate
from string import Template
from types import MappingProxyType
from typing import Any, Literal

from inspect_ai import Task
from inspect_ai.dataset import Sample
from inspect_ai.model import (
    CachePolicy,
    ChatMessage,
    ChatMessageSystem,
    ChatMessageUser,
    Content,
    ContentImage,
    ContentText,
    GenerateConfig,
)

from music_evals.benchmarks.prompts import Prompts, load_prompts
from music_evals.datasets_builders.folder import GENERATED, describe_dataset, load_split
from music_evals.datasets_builders.msu.dataset import BENCHMARK, LEVELS, SPLITS, QuestionRow, ScoreRow
from music_evals.evals.floors import Floors, floors_of
from music_evals.evals.tasks import asks, check_positive, commonest, declared_task, estimated_tokens, samples_view, task
from music_evals.scorers.judge import DEADLINE, RULES, judged
from music_evals.scorers.readers.checking import ANSWER_TYPES, answer_type_of, check
from music_evals.solvers.replies import reply
from music_evals.solvers.stimulus import Stimulus

Modality = Literal["textual", "visual"]
ScoreContent = Literal["full", "title"]
TooLong = Literal["refuse", "truncate"]


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
        max_score_tokens: the longest score, in tokens, estimated as half its characters.
        too_long: what becomes of longer ones: ``refuse`` leaves their questions out, ``truncate`` cuts them after a
            measure.
    """

    max_score_tokens: int | None = None
    too_long: TooLong = "refuse"


@task
def textual(asked: TextualParameters) -> Task:
    """Answer questions on scores in ABC notation (sections 3 and 5)."""
    return _task("textual", asked, asked.max_score_tokens, asked.too_long)


@task
def visual(asked: VisualParameters) -> Task:
    """Answer questions on scores seen as pages (sections 3 and 5)."""
    return _task("visual", asked)


def _task(
    modality: Modality, asked: VisualParameters, max_score_tokens: int | None = None, too_long: TooLong = "refuse"
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
    used = "images" if modality == "visual" else "abc"
    columns = ["score_id", "title", "composer", *([used] if asked.content == "full" else [])]
    scores: list[ScoreRow] = _load(asked.dataset, "scores", splits, columns)
    by_split: dict[str, list[QuestionRow]] = {split: _load(asked.dataset, "questions", [split]) for split in splits}
    questions = [row for rows in by_split.values() for row in rows]
    if asked.content == "full" and not all(dict(score)[used] for score in scores):
        raise ValueError(
            f"{asked.dataset} has scores without {'pages' if used == 'images' else 'ABC'}; valid for it is "
            "content=title"
        )
    shortened: dict[str, int] = {}
    refused: list[str] = []
    if asked.content == "full" and max_score_tokens is not None:
        scores, shortened, refused = _fitted(scores, max_score_tokens, too_long)
    for row in questions:
        if row["answer_type"] not in (None, *ANSWER_TYPES):
            raise ValueError(
                f"{asked.dataset}, row {row['id']}: answer_type {row['answer_type']!r:.100} is none of "
                f"{', '.join(ANSWER_TYPES)}"
            )
    by_score: dict[str, list[QuestionRow]] = {score["score_id"]: [] for score in scores}
    for row in questions:
        if row["level"] in asked_levels and row["score_id"] in by_score:
            by_score[row["score_id"]].append(row)

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
            modality,
            asked.content,
            majority,
            shortened.get(score["score_id"]),
        )
        for score in scores
        for group in _groups(by_score[score["score_id"]], asked.asking)
    ]
    if not samples:
        raise ValueError("no question is left to ask: every score is longer than max_score_tokens")
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
            "is_generated": origin.provenance.source == GENERATED,
        },
        floors={
            "": floors(*asked_levels),
            **{f"judged_by_level/level_{level}/accuracy": floors(level) for level in asked_levels},
        },
        is_like=not is_msu,
    )


def _type_of(row: QuestionRow) -> str:
    return row["answer_type"] or answer_type_of(row["question"], row["answer"])


def _is_ruled(row: QuestionRow) -> bool:
    """Whether rules alone can score answers to a question: they read its own answer."""
    return check(row["answer"], row["answer"], _type_of(row)).is_right is not None


def record_to_sample(
    score: ScoreRow,
    questions: Sequence[QuestionRow],
    of_score: Sequence[QuestionRow],
    wording: Prompts,
    modality: Modality,
    content: ScoreContent,
    majority: Mapping[str, str],
    measures_kept: int | None,
) -> Sample:
    """Map questions on a score to a sample; everything up to the question is the same for all samples of a score.

    Args:
        score: a row of the config `scores`.
        questions: rows of the config `questions`: one, or all that are asked at once.
        of_score: all that are asked of the score, at once or not: the level-wise success rate is over these.
        wording: the prompts.
        modality: whether the score is given as ABC or as pages.
        content: whether it is given at all, or only its title.
        majority: kind of question → the commonest answer.
        measures_kept: how many lines of the score are left, where it was cut.
    """
    is_single = len(questions) == 1
    target = "\n".join(f"{number}. {row['answer']}" for number, row in enumerate(questions, start=1))
    metadata: dict[str, Any] = {
        "score_id": score["score_id"],
        "title": score["title"],
        "composer": score["composer"],
        "asked": dict(Counter(str(row["level"]) for row in of_score)),
        "questions": [{**row, "answer_type": _type_of(row)} for row in questions],
    }
    if content == "full" and modality == "textual":
        metadata["score_tokens"] = estimated_tokens(len(score["abc"] or ""))
    if measures_kept is not None:
        metadata["measures_kept"] = measures_kept
    return Sample(
        id=questions[0]["id"] if is_single else score["score_id"],
        input=prompt_messages(score, questions, wording, modality, content, majority),
        target=questions[0]["answer"] if is_single else target,
        metadata=metadata,
    )


def prompt_messages(
    score: ScoreRow,
    questions: Sequence[QuestionRow],
    wording: Prompts,
    modality: Modality,
    content: ScoreContent,
    majority: Mapping[str, str] = MappingProxyType({}),
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
    if content == "title":
        name = score["title"] + (f" by {score['composer']}" if score["composer"] else "")
        given = Template(shown["title"]).substitute(title=name)
    elif modality == "textual":
        given = Template(shown["textual"]).substitute(score=score["abc"])
        start = given.index(score["abc"] or "")
        music = [[start, start + len(score["abc"] or "")]]
    else:
        given = Template(shown["visual"]).substitute(pages=len(score["images"]))
        parts = [ContentImage(image=_data_uri(image["bytes"]), detail="high") for image in score["images"]]
    commonest_answers = [majority.get(row["kind"] or "", "Unknown") for row in questions]
    metadata = asks(
        "msu",
        modality,
        answer_type="text",
        form="$answer",
        notation=None if content == "title" else "pages" if modality == "visual" else "abc",
        music=music,
        question=questions[0]["question"] if is_single else None,
        kind=questions[0]["kind"] if is_single else None,
        questions=None if is_single else [{"text": row["question"], "kind": row["kind"]} for row in questions],
        majority=commonest_answers[0] if is_single else commonest_answers,
    )
    shown_parts: str | list[Content] = f"{given}\n\n{asked}"
    if parts:
        shown_parts = [ContentText(text=given), *parts, ContentText(text=asked)]
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


def _fitted(
    scores: Sequence[ScoreRow], most: int, too_long: TooLong
) -> tuple[list[ScoreRow], dict[str, int], list[str]]:
    """Cut or leave out the scores that are too long; which were cut to how many lines, and which are left out."""
    kept: list[ScoreRow] = []
    shortened: dict[str, int] = {}
    refused: list[str] = []
    for score in scores:
        abc = score["abc"] or ""
        if estimated_tokens(len(abc)) <= most:
            kept.append(score)
        elif too_long == "refuse":
            refused.append(score["score_id"])
        else:
            # A line holds a whole measure, so that what is left reads as music.
            lines = abc.splitlines()
            fitting = sum(estimated_tokens(end) <= most for end in accumulate(len(line) + 1 for line in lines))
            shortened[score["score_id"]] = fitting
            kept.append({**score, "abc": "\n".join(lines[:fitting])})
    return kept, shortened, refused


def _data_uri(image: bytes) -> str:
    kind = "jpeg" if image.startswith(b"\xff\xd8") else "png"
    return f"data:image/{kind};base64,{base64.b64encode(image).decode('ascii')}"
