"""ZIQI-Eval: four-option questions of musical knowledge, and which continuation belongs to a tune.

"The Music Maestro or The Musically Challenged, A Massive Music Evaluation Benchmark for Large Language Models"
Jiajia Li, Lu Yang, Mingni Tang, Cong Chen, Zuchao Li, Ping Wang, Hai Zhao
https://arxiv.org/abs/2406.15885

inspect eval evals/ziqi.py --model baseline/reader
inspect eval evals/ziqi.py --model vllm/Qwen/Qwen2.5-7B-Instruct -T dataset=data/ziqi -T shots=five
inspect eval evals/ziqi.py@comprehension --model openai/gpt-4o -T themes=female_music -T rotations=4
inspect eval evals/ziqi.py --model openai/gpt-4o -T dataset=data/ziqi -T subset=human -T protocol=paper

Parameters of both tasks:

- dataset: ``generated`` (another test of the same form), a dataset folder, or ``hf://datasets/ORG/NAME[@REVISION]``;
- shots: ``zero``, or ``five`` for the five worked examples of the question's theme ahead of it;
- themes: only these themes, by their Chinese or English names, separated by commas;
- protocol: how the answer is read from the reply: ``paper`` takes its first capital A to D, ``strict`` a letter that
  stands as an answer (``music_evals/scorers/letters.py`` says what does);
- rotations: 1, or 4 to ask each question under all four rotations of its options;
- deduplicate: leave out questions that come earlier in the dataset already;
- subset: ``human`` for two questions a sub-theme, as in the paper's study with people;
- language: of the instruction, ``zh`` or ``en``; the questions come in it too where the dataset has them in both;
- seed: of the subset, and of nothing else;
- prompts: a TOML file with other wording, see ``music_evals/benchmarks/ziqi/prompts.toml``.
"""

import random
from collections.abc import Mapping, Sequence
from string import Template
from typing import Any, Literal

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import GenerateConfig
from inspect_ai.solver import generate
from inspect_ai.viewer import TaskSamplesColumn, TaskSamplesView, ViewerConfig

from music_evals.datasets_builders.folder import GENERATED, describe_dataset, load_split
from music_evals.datasets_builders.ziqi.dataset import BENCHMARK, EXAMPLES, LETTERS, ConfigName, Row
from music_evals.evals.parameters import check_choice, check_type, user_errors
from music_evals.benchmarks.prompts import load_prompts
from music_evals.scorers.lettered_choice import Protocol, lettered_choice

VERSION = "1.0.0"
MAX_TOKENS = 100
"""New tokens in the authors' script; a model that reasons first needs a larger ``--max-tokens``."""

Shots = Literal["zero", "five"]
Language = Literal["zh", "en"]
Subset = Literal["human"]
PER_SUBTHEME = 2  # questions of the human subset

SAMPLES_VIEW = TaskSamplesView(
    name="ZIQI-Eval",
    columns=[
        *[TaskSamplesColumn(id=name) for name in ("sampleStatus", "sampleId", "target", "answer")],
        # All prompts begin with the same instruction, so this column would say the same in every row.
        *[TaskSamplesColumn(id=name, visible=False) for name in ("input", "tokens", "duration")],
    ],
    multiline=False,
    compact_scores=True,
)


@task
def comprehension(
    dataset: str = "generated",
    shots: Shots = "zero",
    themes: str | list[str] | None = None,
    protocol: Protocol = "strict",
    rotations: int = 1,
    deduplicate: bool = False,
    subset: Subset | None = None,
    language: Language = "zh",
    seed: int = 0,
    prompts: str | None = None,
) -> Task:
    """Answer questions of musical knowledge: ten themes, four options.

    Parameters as listed at the top of the module. Source: arXiv 2406.15885, sections 3 and 4.
    """
    return _task(
        "comprehension", dataset, shots, themes, protocol, rotations, deduplicate, subset, language, seed, prompts
    )


@task
def generation(
    dataset: str = "generated",
    shots: Shots = "zero",
    themes: str | list[str] | None = None,
    protocol: Protocol = "strict",
    rotations: int = 1,
    deduplicate: bool = False,
    subset: Subset | None = None,
    language: Language = "zh",
    seed: int = 0,
    prompts: str | None = None,
) -> Task:
    """Choose the continuation in ABC that belongs to the opening of a tune: four options.

    Parameters as listed at the top of the module. Source: arXiv 2406.15885, sections 3 and 4.
    """
    return _task(
        "generation", dataset, shots, themes, protocol, rotations, deduplicate, subset, language, seed, prompts
    )


def _task(
    config: ConfigName,
    dataset: str,
    shots: Shots,
    themes: str | list[str] | None,
    protocol: Protocol,
    rotations: int,
    deduplicate: bool,
    subset: Subset | None,
    language: Language,
    seed: int,
    prompts: str | None,
) -> Task:
    with user_errors():
        check_choice("shots", shots, Shots)
        check_choice("protocol", protocol, Protocol)
        check_choice("language", language, Language)
        check_type("deduplicate", deduplicate, bool)
        check_type("seed", seed, int)
        if subset is not None:
            check_choice("subset", subset, Subset)
        if type(rotations) is not int or rotations not in (1, len(LETTERS)):
            raise ValueError(f"rotations={rotations!r} is not valid; valid values are: 1, {len(LETTERS)}")
        wording = load_prompts("ziqi", prompts)[language]
        origin = describe_dataset(dataset, benchmark=BENCHMARK)
        rows = _in_language(_load(dataset, config, "test"), language)
        rows = _of_themes(rows, themes)
        if deduplicate:
            rows = [row for row in rows if row["duplicate_of"] is None]
        if subset == "human":
            rows = _human_subset(rows, seed)
        openings = _openings(dataset, config, rows, wording, shots)
    samples = [
        record_to_sample(row, openings[row["theme_en"]], wording, rotation, rotations)
        for row in rows
        for rotation in range(rotations)
    ]
    # A composed bank is another test, and its log must not pass for one of ZIQI-Eval.
    name = "ziqi_like" if origin.provenance.source == GENERATED else "ziqi"
    return Task(
        name=f"{name}_{config}_{origin.label}",
        dataset=MemoryDataset(samples, name=origin.label),
        solver=generate(),
        scorer=lettered_choice(protocol),
        config=GenerateConfig(temperature=0.0, max_tokens=MAX_TOKENS),
        version=VERSION,
        metadata={
            "benchmark": "ziqi",
            "config": config,
            "is_ziqi_eval": origin.provenance.source != GENERATED,
            "question_language": rows[0]["language"],
            "themes": sorted(openings),
            "prompt_characters": sum(len(str(sample.input)) for sample in samples),
            **origin.metadata(),
        },
        viewer=ViewerConfig(task_samples_view=SAMPLES_VIEW),
    )


def record_to_sample(row: Row, opening: str, wording: Mapping[str, str], rotation: int, rotations: int) -> Sample:
    """Map a row to a sample under one rotation of its options.

    Args:
        row: a row of the dataset.
        opening: what comes ahead of the question: the instruction, and the examples where there are any.
        wording: the prompts of one language.
        rotation: by how many places the options are moved on, 0 to 3; 0 leaves them as published.
        rotations: how many rotations the question is asked under; the sample's id names its own where there are
            several.

    Returns:
        The sample, with its options as choices.
    """
    place = (LETTERS.index(row["answer"]) + rotation) % len(LETTERS)
    options = row["options"][-rotation:] + row["options"][:-rotation] if rotation else row["options"]
    prompt = opening + _filled(wording["question"], row["question"], options)
    return Sample(
        id=row["id"] if rotations == 1 else f"{row['id']}-rotation{rotation}",
        input=prompt,
        choices=list(options),
        target=LETTERS[place],
        metadata={
            "question": row["id"],
            "theme": row["theme_en"],
            "subtheme": row["subtheme_en"],
            "rotation": rotation,
            "prompt_characters": len(prompt),
            **({} if row["duplicate_of"] is None else {"duplicate_of": row["duplicate_of"]}),
        },
    )


def _load(dataset: str, config: ConfigName, split: str) -> list[Row]:
    rows: list[Row] = load_split(dataset, config, split, benchmark=BENCHMARK).to_list()
    return rows


def _in_language(rows: list[Row], language: Language) -> list[Row]:
    """The rows in a language; all where the dataset has none in it, as the published one has none in English."""
    return [row for row in rows if row["language"] == language] or rows


def _of_themes(rows: list[Row], themes: str | list[str] | None) -> list[Row]:
    if themes is None:
        return rows
    known = {name.casefold(): row["theme_en"] for row in rows for name in (row["theme_en"], row["theme_zh"])}
    asked = [str(name) for name in (themes.split(",") if isinstance(themes, str) else themes)]
    wanted = {known.get(name.strip().replace("_", " ").casefold()) for name in asked}
    if None in wanted or not asked:
        names = ", ".join(dict.fromkeys(row["theme_en"] for row in rows))
        raise ValueError(f"themes={','.join(asked)!r} is not valid; themes of this dataset are: {names}")
    return [row for row in rows if row["theme_en"] in wanted]


def _human_subset(rows: list[Row], seed: int) -> list[Row]:
    """Draw two questions a sub-theme, no duplicates; in the order of the dataset."""
    by_subtheme: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        if row["duplicate_of"] is None:
            by_subtheme.setdefault((row["theme_en"], row["subtheme_en"]), []).append(row)
    drawn: set[str] = set()
    for (theme, subtheme), some in by_subtheme.items():
        rng = random.Random(f"{seed}/{theme}/{subtheme}")
        drawn |= {row["id"] for row in rng.sample(some, min(PER_SUBTHEME, len(some)))}
    return [row for row in rows if row["id"] in drawn]


def _openings(
    dataset: str, config: ConfigName, rows: Sequence[Row], wording: Mapping[str, str], shots: Shots
) -> dict[str, str]:
    """What comes ahead of a question, by theme: the examples are always of the question's own theme, from dev."""
    themes = dict.fromkeys(row["theme_en"] for row in rows)
    instruction = wording["instruction"] + "\n\n"
    if shots == "zero":
        return dict.fromkeys(themes, instruction)
    dev = [row for row in _load(dataset, config, "dev") if row["language"] == rows[0]["language"]]
    openings = {}
    for theme in themes:
        mine = [row for row in dev if row["theme_en"] == theme]
        if len(mine) != EXAMPLES:
            raise ValueError(
                f"{dataset} has {len(mine)} rows of {theme} in dev; shots=five needs {EXAMPLES}; valid is shots=zero"
            )
        shown = [_filled(wording["example"], row["question"], row["options"], row["answer"]) for row in mine]
        openings[theme] = "\n\n".join([wording["instruction"], wording["examples"], *shown]) + "\n\n"
    return openings


def _filled(text: str, question: str, options: Sequence[str], answer: str = "") -> str:
    a, b, c, d = options
    fields: dict[str, Any] = {"question": question, "a": a, "b": b, "c": c, "d": d, "answer": answer}
    return Template(text).substitute(fields)
