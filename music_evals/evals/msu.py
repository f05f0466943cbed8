"""MSU-Bench: open questions on complete scores, read as ABC or seen as pages.

"Musical Score Understanding Benchmark: Evaluating Large Language Models' Comprehension of Complete Musical Scores"
Congren Dai, Yue Yang, Krinos Li, Huichi Zhou, Shijie Liang, Bo Zhang, Enyang Liu, Ge Jin, Hongran An, Haosen Zhang,
Peiyuan Jing, Kinhei Lee, Zhenxuan Zhang, Xiaobing Li, Maosong Sun
https://arxiv.org/abs/2511.20697

inspect eval evals/msu.py@textual --model baseline/reader
inspect eval evals/msu.py@textual --model vllm/Qwen/Qwen2.5-7B-Instruct -T asking=single -T levels=1,2
inspect eval evals/msu.py@visual --model openai/gpt-4o -T judges=openai/gpt-5,openai/o3,openai/gpt-4.1
inspect eval evals/msu.py@textual --model openai/gpt-4o -T dataset=data/msu -T content=title

Parameters of both tasks:

- dataset: ``generated`` (another test of the same form), a dataset folder, or ``hf://datasets/ORG/NAME[@REVISION]``;
- asking: ``batch`` for all questions of a score at once, as in the paper's main tables, or ``single``;
- levels: only these, e.g. ``1,2``;
- content: ``full``, or ``title`` to give nothing but title and composer (does the model know the piece?);
- split: ``all``, ``train``, ``validation`` or ``test``;
- judges: ``rules`` for no model, or an odd number of models (or roles), separated by commas, whose majority decides;
- judge_max_tokens: of a judge's reply; one that reasons needs thousands; ``null`` sets no limit;
- human_labels: a CSV file with the columns id and label, to hold the judges against people;
- max_score_tokens: the longest score, in estimated tokens (textual: `CHARACTERS_PER_TOKEN`; visual: not accepted);
- too_long: what becomes of longer ones: ``refuse`` leaves their questions out, ``truncate`` cuts them after a measure;
- cache: take answers from Inspect's cache when the same was asked within a week; a run that was cut off goes on
  without generating again;
- prompts: a TOML file with other wording, see ``music_evals/benchmarks/msu/prompts.toml``.
"""

import base64
from collections import Counter
from collections.abc import Sequence
from importlib.metadata import version
from string import Template
from typing import Any, Final, Literal

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
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
from inspect_ai.solver import generate
from inspect_ai.viewer import TaskSamplesColumn, TaskSamplesView, ViewerConfig

from music_evals.datasets_builders.msu.dataset import BENCHMARK, LEVELS, SPLITS, QuestionRow, ScoreRow
from music_evals.datasets_builders.folder import GENERATED, describe_dataset, load_split
from music_evals.evals.parameters import check_choice, check_type, user_errors
from music_evals.benchmarks.prompts import Prompts, load_prompts
from music_evals.scorers.judge import judged
from music_evals.scorers.music_answers import answer_type_of

VERSION = "1.0.0"
CHARACTERS_PER_TOKEN: Final = 2.0
"""Of ABC, for estimates: no tokenizer is asked, because none is at hand for every model."""

Asking = Literal["batch", "single"]
ScoreContent = Literal["full", "title"]
WhichSplit = Literal["all", "train", "validation", "test"]
TooLong = Literal["refuse", "truncate"]

SAMPLES_VIEW = TaskSamplesView(
    name="MSU-Bench",
    columns=[
        *[TaskSamplesColumn(id=name) for name in ("sampleStatus", "sampleId", "target", "answer")],
        # All prompts begin with the same instruction, so this column would say the same in every row.
        *[TaskSamplesColumn(id=name, visible=False) for name in ("input", "tokens", "duration")],
    ],
    multiline=False,
    compact_scores=True,
)


@task
def textual(
    dataset: str = "generated",
    asking: Asking = "batch",
    levels: int | str | list[int] | None = None,
    content: ScoreContent = "full",
    split: WhichSplit = "all",
    judges: str | list[str] = "rules",
    judge_max_tokens: int | None = 16,
    human_labels: str | None = None,
    max_score_tokens: int | None = None,
    too_long: TooLong = "refuse",
    cache: bool = True,
    prompts: str | None = None,
) -> Task:
    """Answer questions on scores in ABC notation.

    Parameters as listed at the top of the module. Source: arXiv 2511.20697, sections 3 and 5.
    """
    return _task(
        "textual", dataset, asking, levels, content, split, judges, judge_max_tokens, human_labels, max_score_tokens,
        too_long, cache, prompts,
    )  # fmt: skip


@task
def visual(
    dataset: str = "generated",
    asking: Asking = "batch",
    levels: int | str | list[int] | None = None,
    content: ScoreContent = "full",
    split: WhichSplit = "all",
    judges: str | list[str] = "rules",
    judge_max_tokens: int | None = 16,
    human_labels: str | None = None,
    cache: bool = True,
    prompts: str | None = None,
) -> Task:
    """Answer questions on scores seen as pages.

    Parameters as listed at the top of the module. Source: arXiv 2511.20697, sections 3 and 5.
    """
    return _task(
        "visual",
        dataset,
        asking,
        levels,
        content,
        split,
        judges,
        judge_max_tokens,
        human_labels,
        None,
        "refuse",
        cache,
        prompts,
    )


def _task(
    modality: Literal["textual", "visual"],
    dataset: str,
    asking: Asking,
    levels: int | str | list[int] | None,
    content: ScoreContent,
    split: WhichSplit,
    judges: str | list[str],
    judge_max_tokens: int | None,
    human_labels: str | None,
    max_score_tokens: int | None,
    too_long: TooLong,
    cache: bool,
    prompts: str | None,
) -> Task:
    with user_errors():
        check_choice("asking", asking, Asking)
        check_choice("content", content, ScoreContent)
        check_choice("split", split, WhichSplit)
        check_choice("too_long", too_long, TooLong)
        check_type("cache", cache, bool)
        _check_tokens("max_score_tokens", max_score_tokens)
        asked_levels = _levels(levels)
        named = [name.strip() for name in judges.split(",")] if isinstance(judges, str) else judges
        _check_tokens("judge_max_tokens", judge_max_tokens)
        scorer = judged(
            "rules" if named == ["rules"] else named, human_labels=human_labels, max_tokens=judge_max_tokens
        )
        wording = load_prompts("msu", prompts)
        origin = describe_dataset(dataset, benchmark=BENCHMARK)
        splits = [name for name in SPLITS if name in origin.provenance.counts.get("questions", {})]
        if split != "all":
            splits = [split]
        used = "images" if modality == "visual" else "abc"
        columns = ["score_id", "title", "composer", *([used] if content == "full" else [])]
        scores: list[ScoreRow] = _load(dataset, "scores", splits, columns)
        questions: list[QuestionRow] = _load(dataset, "questions", splits)
        has_all = all(
            score["images"] if modality == "visual" else score["abc"] for score in scores if content == "full"
        )
        if not has_all:
            raise ValueError(
                f"{dataset} has scores without {'pages' if used == 'images' else 'ABC'}; valid for it is content=title"
            )
    shortened: dict[str, int] = {}
    refused: list[str] = []
    if content == "full" and max_score_tokens is not None:
        scores, shortened, refused = _fitted(scores, max_score_tokens, too_long)
    by_score: dict[str, list[QuestionRow]] = {score["score_id"]: [] for score in scores}
    for row in questions:
        if row["level"] in asked_levels and row["score_id"] in by_score:
            by_score[row["score_id"]].append(row)
    samples = [
        record_to_sample(
            score, group, by_score[score["score_id"]], wording, modality, content, shortened.get(score["score_id"])
        )
        for score in scores
        for group in _groups(by_score[score["score_id"]], asking)
    ]
    with user_errors():
        if not samples:
            raise ValueError("no question is left to ask: every score is longer than max_score_tokens")
    # Computed questions are another test, and their log must not pass for one of MSU-Bench.
    is_msu = origin.provenance.source == "published"
    return Task(
        name=f"{'msu' if is_msu else 'msu_like'}_{modality}_{origin.label}",
        dataset=MemoryDataset(samples, name=origin.label),
        # Another version may answer otherwise to the same prompt, the baselines above all.
        solver=generate(
            cache=CachePolicy(expiry="1W", scopes={"music-evals": version("music-evals")}) if cache else False
        ),
        scorer=scorer,
        config=GenerateConfig(temperature=0.95, top_p=0.7, top_k=50),
        version=VERSION,
        metadata={
            "benchmark": "msu",
            "config": modality,
            "is_msu_bench": is_msu,
            "split": split,
            "levels": asked_levels,
            "scores": len({sample.metadata["score_id"] for sample in samples if sample.metadata}),
            "scores_truncated": len(shortened),
            "scores_refused": refused,
            "is_generated": origin.provenance.source == GENERATED,
            **origin.metadata(),
        },
        viewer=ViewerConfig(task_samples_view=SAMPLES_VIEW),
    )


def record_to_sample(
    score: ScoreRow,
    questions: Sequence[QuestionRow],
    of_score: Sequence[QuestionRow],
    wording: Prompts,
    modality: Literal["textual", "visual"],
    content: ScoreContent,
    measures_kept: int | None = None,
) -> Sample:
    """Map questions on a score to a sample.

    Args:
        score: a row of the config `scores`.
        questions: rows of the config `questions`: one, or all that are asked at once.
        of_score: all that are asked of the score, at once or not: the level-wise success rate is over these.
        wording: the prompts.
        modality: whether the score is given as ABC or as pages.
        content: whether it is given at all, or only its title.
        measures_kept: how many lines of the score are left, where it was cut.

    Returns:
        The sample; everything up to the question is the same for all samples of a score.
    """
    target = [f"{number}. {row['answer']}" for number, row in enumerate(questions, start=1)]
    is_single = len(questions) == 1
    metadata: dict[str, Any] = {
        "score_id": score["score_id"],
        "title": score["title"],
        "composer": score["composer"],
        "asked": dict(Counter(str(row["level"]) for row in of_score)),
        "questions": [
            {**row, "answer_type": row["answer_type"] or answer_type_of(row["question"], row["answer"])}
            for row in questions
        ],
    }
    if content == "full" and modality == "textual":
        metadata["score_tokens"] = _tokens(score["abc"] or "")
    if measures_kept is not None:
        metadata["measures_kept"] = measures_kept
    return Sample(
        id=questions[0]["id"] if is_single else score["score_id"],
        input=prompt_messages(score, questions, wording, modality, content),
        target=questions[0]["answer"] if is_single else "\n".join(target),
        metadata=metadata,
    )


def prompt_messages(
    score: ScoreRow,
    questions: Sequence[QuestionRow],
    wording: Prompts,
    modality: Literal["textual", "visual"],
    content: ScoreContent,
) -> list[ChatMessage]:
    """Word a prompt: the instruction, the score, and then the question or questions.

    Args:
        score: a row of the config `scores`.
        questions: rows of the config `questions`.
        wording: the prompts.
        modality: whether the score is given as ABC or as pages.
        content: whether it is given at all, or only its title.

    Returns:
        A system and a user message.
    """
    ask = wording["ask"]
    if len(questions) == 1:
        asked = Template(ask["single"]).substitute(question=questions[0]["question"])
    else:
        lines = [f"{number}. {row['question']}" for number, row in enumerate(questions, start=1)]
        asked = Template(ask["batch"]).substitute(count=len(lines), questions="\n".join(lines))
    shown = wording["score"]
    parts: list[Content] = []
    if content == "title":
        name = score["title"] + (f" by {score['composer']}" if score["composer"] else "")
        given = Template(shown["title"]).substitute(title=name)
    elif modality == "textual":
        given = Template(shown["textual"]).substitute(score=score["abc"])
    else:
        given = Template(shown["visual"]).substitute(pages=len(score["images"]))
        parts = [ContentImage(image=_data_uri(image["bytes"]), detail="high") for image in score["images"]]
    user = (
        ChatMessageUser(content=[ContentText(text=given), *parts, ContentText(text=asked)])
        if parts
        else ChatMessageUser(content=f"{given}\n\n{asked}")
    )
    return [ChatMessageSystem(content=wording["instruction"]), user]


def _load(dataset: str, config: str, splits: Sequence[str], columns: Sequence[str] | None = None) -> list[Any]:
    rows: list[Any] = []
    for split in splits:
        rows += load_split(dataset, config, split, benchmark=BENCHMARK, columns=columns).to_list()
    return rows


def _check_tokens(name: str, value: int | None) -> None:
    if value is not None:
        check_type(name, value, int)
        if value < 1:
            raise ValueError(f"{name}={value} is not valid; a number above 0 is needed")


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


def _groups(questions: list[QuestionRow], asking: Asking) -> list[list[QuestionRow]]:
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
        if _tokens(abc) <= most:
            kept.append(score)
        elif too_long == "refuse":
            refused.append(score["score_id"])
        else:
            # A line holds a whole measure, so that what is left reads as music.
            lines: list[str] = []
            room = int(most * CHARACTERS_PER_TOKEN)
            for line in abc.splitlines():
                room -= len(line) + 1
                if room < 0:
                    break
                lines.append(line)
            shortened[score["score_id"]] = len(lines)
            kept.append({**score, "abc": "\n".join(lines)})
    return kept, shortened, refused


def _tokens(abc: str) -> int:
    return -int(-len(abc) // CHARACTERS_PER_TOKEN)


def _data_uri(image: bytes) -> str:
    kind = "jpeg" if image.startswith(b"\xff\xd8") else "png"
    return f"data:image/{kind};base64,{base64.b64encode(image).decode('ascii')}"
