r"""ZIQI-Eval: four-option questions of musical knowledge, and which continuation belongs to a tune.

"The Music Maestro or The Musically Challenged, A Massive Music Evaluation Benchmark for Large
Language Models"
Jiajia Li, Lu Yang, Mingni Tang, Cong Chen, Zuchao Li, Ping Wang, Hai Zhao
https://arxiv.org/abs/2406.15885

inspect eval evals/ziqi.py@comprehension --model baseline/reader
inspect eval evals/ziqi.py --model vllm/Qwen/Qwen2.5-7B-Instruct -T dataset=published -T shots=five
inspect eval evals/ziqi.py@comprehension --model openai/gpt-4o -T themes=female_music -T rotations=4
inspect eval evals/ziqi.py --model openai/gpt-4o -T dataset=published -T subset=human \
  -T protocol=paper
"""

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from inspect_ai import Task
from inspect_ai.dataset import Sample
from inspect_ai.model import ChatMessageUser, GenerateConfig

from music_evals.benchmarks.prompts import load_prompts
from music_evals.datasets_builders.dataset_io import GENERATED, describe_dataset, load_split
from music_evals.datasets_builders.questions.question_rows import (
    LETTERS,
    names_letters,
    rotations,
)
from music_evals.datasets_builders.ziqi.dataset import BENCHMARK, EXAMPLES
from music_evals.datasets_builders.ziqi.rows import ConfigName, Row
from music_evals.evals.shared.declared_tasks import commonest, declared_task, question_metadata
from music_evals.evals.shared.floors import floors_of
from music_evals.evals.shared.levels import Level, at_level
from music_evals.evals.shared.question_banks import fill_question
from music_evals.evals.shared.registration import task
from music_evals.notation.abc.transposed import direction_of, transpose_abc
from music_evals.notation.grouping import group_by
from music_evals.scorers.lettered_choice import Protocol, lettered_choice
from music_evals.solvers.media import MEDIA, SHOWN
from music_evals.solvers.replies import AnswerForm, reply
from music_evals.solvers.stimulus import Stimulus

# new tokens in the authors' script; a model that reasons first needs a larger ``--max-tokens``
MAX_TOKENS = 100
_TUNE = re.compile(r"^X: ?[0-9]", re.MULTILINE)  # where a tune begins

Language = Literal["zh", "en"]
PER_SUBTHEME = 2  # questions of the human subset
FORM = {"zh": "[[答案：$answer]]", "en": "[[answer: $answer]]"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ZiqiParameters:
    """Parameters of both tasks.

    Args:
        dataset: ``generated`` for a look-alike of the published test; ``published`` for that, which
            is fetched once; a folder; or ``hf://datasets/ORG/NAME[@REVISION]``.
        level: 1, or 2 to 5 for chains of theory with more steps, or ``all``; of generated data
            (`comprehension`).
        stimulus: ``given``; ``none``, ``noise`` or ``other`` to ask with no music, with random
            music as long, or with another item's, of another answer.
        twin: ``original``; ``transposed`` for the tune and its options a major second higher or
            lower (`generation`); ``completion`` to show half of the options and ask for the others
            word for word.
        shots: ``zero``, or ``five`` for the five worked examples of the question's theme ahead of
            it.
        themes: only these themes, by their Chinese or English names, separated by commas.
        protocol: how the answer is read: ``paper`` takes the first capital A to D of the reply,
            ``strict`` a letter that is used as an answer (see
            ``music_evals/scorers/readers/choices.py``).
        answer: ``text``, read by rules; ``schema`` for a form that the server guarantees, and
            ``reasoned`` for the same with a field to reason in first; ``likelihood`` for the
            probabilities of the options, also by models without a chat template. See
            ``docs/answers.md``.
        rotations: 1, or 4 to ask each question under all rotations of its options. An option such
            as "all of the above" stays last, which leaves three rotations. Questions with an option
            that names letters are left out.
        subset: ``human`` for two questions per sub-theme, as in the paper's study with people.
        language: language of the instruction, ``zh`` or ``en``, and of the questions if the dataset
            has both.
        seed: seed of the subset.
        prompts: ``second`` or ``third`` wording, or a TOML file with your own, see
            ``music_evals/benchmarks/ziqi/prompts.toml``.
        media: number of samples with a tune, of those that the viewer lists first, for which the
            log shows it engraved and plays it; or ``all``.
    """

    dataset: str = GENERATED
    level: Level = 1
    stimulus: Stimulus = "given"
    twin: Literal["original", "transposed", "completion"] = "original"
    shots: Literal["zero", "five"] = "zero"
    themes: str | list[str] | None = None
    protocol: Protocol = "strict"
    answer: AnswerForm = "text"
    rotations: Literal[1, 4] = 1
    subset: Literal["human"] | None = None
    language: Language = "zh"
    seed: int = 0
    prompts: str | None = None
    media: int | Literal["all"] = SHOWN


@task
def comprehension(params: ZiqiParameters) -> Task:
    """Answer questions of musical knowledge: ten themes, four options (sections 3 and 4)."""
    return _task("comprehension", params)


@task
def generation(params: ZiqiParameters) -> Task:
    """Choose the continuation in ABC that belongs to the opening of a tune: four options (sections
    3 and 4).
    """
    return _task("generation", params)


def _task(config: ConfigName, params: ZiqiParameters) -> Task:
    wording = load_prompts("ziqi", params.prompts)[params.language]
    origin = describe_dataset(params.dataset, benchmark=at_level(BENCHMARK, config, params))
    rows = _selected(_load(params, config, "test"), params)
    left_out = {}
    if params.rotations > 1:
        fixed = [row["id"] for row in rows if names_letters(row["options"])]
        rows = [row for row in rows if row["id"] not in fixed]
        left_out["not_rotated"] = fixed
    if params.twin == "transposed":
        rows, left_out["not_transposed"] = _transposed(rows)
    openings = _openings(config, rows, wording, params)
    has_dev = "dev" in origin.provenance.counts.get(config, {})
    answers = _load(params, config, "dev") if has_dev else rows
    majority = commonest(("", row["answer"]) for row in answers)[""]
    samples = []
    for row in rows:
        opening = openings[row["theme_en"]]
        samples += [
            record_to_sample(config, row, opening, wording, params, number, majority)
            for number in range(len(rotations(row["options"])[: params.rotations]))
        ]
    floors = {"": floors_of(origin, config, {"test": rows})}
    for theme in openings:
        of_theme = [row for row in rows if row["theme_en"] == theme]
        floors[f"by_theme/{theme}/accuracy"] = floors_of(origin, config, {"test": of_theme})
    is_generated = origin.provenance.source == GENERATED
    return declared_task(
        params,
        "ziqi",
        config,
        origin,
        samples,
        solver=reply(),
        scorer=lettered_choice(params.protocol),
        config=GenerateConfig(temperature=0.0, max_tokens=MAX_TOKENS),
        metadata={
            "is_ziqi_eval": not is_generated,
            "question_language": rows[0]["language"],
            "themes": sorted(openings),
            **{name: ids for name, ids in left_out.items() if ids},
        },
        floors=floors,
        is_like=is_generated,
    )


def _selected(rows: list[Row], params: ZiqiParameters) -> list[Row]:
    """The rows that the parameters choose."""
    # The published questions are in Chinese only, whatever the language of the instruction.
    in_language = [row for row in rows if row["language"] == params.language]
    rows = _of_themes(in_language or rows, params.themes)
    return _human_subset(rows, params.seed) if params.subset == "human" else rows


def record_to_sample(
    config: ConfigName,
    row: Row,
    opening: str,
    wording: Mapping[str, str],
    params: ZiqiParameters,
    rotation: int,
    majority: str,
) -> Sample:
    """Map a row to a sample, its options in one of their `rotations`; the opening comes ahead of
    the question.
    """
    order = rotations(row["options"])[rotation]
    options = [row["options"][index] for index in order]
    question = row["question"]
    prompt = opening + fill_question(wording["question"], question, options)
    notation = {}
    metadata = {
        "question": row["id"],
        "theme": row["theme_en"],
        "subtheme": row["subtheme_en"],
        "rotation": rotation,
    }
    if tune := _TUNE.search(question):
        start = prompt.index(question, len(opening))
        notation = {
            "notation": "abc",
            "music": [[start + tune.start(), start + len(question)]],
        }
        metadata[MEDIA] = {"abc": question[tune.start() :]}
    if row["duplicate_of"] is not None:
        metadata["duplicate_of"] = row["duplicate_of"]
    facts = question_metadata(
        "ziqi",
        config,
        answer_type="choice",
        answers=list(LETTERS),
        form=FORM[params.language],
        question=question,
        options=options,
        kind=row["subtheme_en"],
        majority=majority,
        **notation,
    )
    suffix = "" if params.rotations == 1 else f"-rotation{rotation}"
    return Sample(
        id=sample_id(row["id"]) + suffix,
        input=[ChatMessageUser(content=prompt, metadata=facts)],
        choices=options,
        target=LETTERS[order.index(LETTERS.index(row["answer"]))],
        metadata=metadata,
    )


def sample_id(row: str) -> str:
    """Return a sample's id: the row's id with the part first that differs between rows.

    Example:
        >>> sample_id("popular_music-test-0012"), sample_id("theory-scales-notes-f-lydian-en")
        ('0012-popular_music', 'scales-notes-f-lydian-en')
    """
    if published := re.fullmatch(r"(\w+)-test-(\d+)", row):
        return f"{published[2]}-{published[1]}"
    return re.sub("^(?:theory-|(?:continuation-)+)", "", row)


def _load(params: ZiqiParameters, config: ConfigName, split: str) -> list[Row]:
    rows: list[Row] = load_split(
        params.dataset, config, split, benchmark=at_level(BENCHMARK, config, params)
    ).to_list()
    return rows


def _of_themes(rows: list[Row], themes: str | list[str] | None) -> list[Row]:
    if themes is None:
        return rows
    themes_by_name = {}
    for row in rows:
        for name in (row["theme_en"], row["theme_zh"]):
            themes_by_name[name.casefold()] = row["theme_en"]
    names = themes.split(",") if isinstance(themes, str) else list(map(str, themes))
    wanted = {themes_by_name.get(name.strip().replace("_", " ").casefold()) for name in names}
    if None in wanted or not names:
        valid = ", ".join(dict.fromkeys(row["theme_en"] for row in rows))
        raise ValueError(
            f"themes={','.join(names)!r} is not valid; themes of this dataset are: {valid}"
        )
    return [row for row in rows if row["theme_en"] in wanted]


def _human_subset(rows: list[Row], seed: int) -> list[Row]:
    """Draw two questions per sub-theme, without duplicates, in the order of the dataset."""
    own = [row for row in rows if row["duplicate_of"] is None]
    by_subtheme = group_by(own, lambda row: (row["theme_en"], row["subtheme_en"]))
    drawn = set()
    for (theme, subtheme), group in by_subtheme.items():
        rng = random.Random(f"{seed}/{theme}/{subtheme}")
        drawn |= {row["id"] for row in rng.sample(group, min(PER_SUBTHEME, len(group)))}
    return [row for row in rows if row["id"] in drawn]


def _transposed(rows: list[Row]) -> tuple[list[Row], list[str]]:
    """Transpose tune and options of all rows that have a tune; return these rows, and the ids of
    the others.
    """
    moved = []
    left_out = []
    for row in rows:
        question = row["question"]
        tune = _TUNE.search(question)
        try:
            if tune is None:
                raise ValueError("it has no tune")
            head = question[: tune.start()]
            abc = question[tune.start() :]
            direction = direction_of(abc)
            options = [transpose_abc(option, direction) for option in row["options"]]
            question = head + transpose_abc(abc, direction)
        except ValueError:
            left_out.append(row["id"])
        else:
            moved.append(Row({**row, "question": question, "options": options}))
    if not moved:
        raise ValueError(
            "twin=transposed is not valid: no question of this task has a tune in ABC; valid is "
            "original"
        )
    return moved, left_out


def _openings(
    config: ConfigName, rows: Sequence[Row], wording: Mapping[str, str], params: ZiqiParameters
) -> dict[str, str]:
    """The text before the questions of each theme: instruction and examples, which are of the same
    theme in dev.
    """
    openings = dict.fromkeys((row["theme_en"] for row in rows), wording["instruction"] + "\n\n")
    if params.shots == "zero":
        return openings
    language = rows[0]["language"]
    dev = [row for row in _load(params, config, "dev") if row["language"] == language]
    for theme in openings:
        examples = [row for row in dev if row["theme_en"] == theme]
        if len(examples) != EXAMPLES:
            raise ValueError(
                f"{params.dataset} has {len(examples)} rows of {theme} in dev; shots=five needs "
                f"{EXAMPLES}; valid is shots=zero"
            )
        openings[theme] += wording["examples"] + "\n\n"
        for row in examples:
            example = fill_question(
                wording["example"], row["question"], row["options"], row["answer"]
            )
            openings[theme] += example + "\n\n"
    return openings
