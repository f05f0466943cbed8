"""Tasks on questions, the common kind of benchmark: text, sound, pictures or notation, and options
to choose from.

`question_set_task` is for any of these, with any number of options. `question_task` is for banks of
four-option questions of text with worked examples.
"""

import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from random import Random
from string import Template, ascii_lowercase, ascii_uppercase
from typing import Any, Final, Literal

from inspect_ai import Task
from inspect_ai.dataset import Sample
from inspect_ai.model import (
    ChatMessageUser,
    Content,
    ContentAudio,
    ContentImage,
    ContentText,
    GenerateConfig,
)

from music_evals import benchmarks
from music_evals.benchmarks.prompts import load_prompts
from music_evals.datasets_builders.dataset_io import (
    GENERATED,
    PUBLISHED,
    DatasetSpec,
    describe_dataset,
    load_split,
)
from music_evals.datasets_builders.questions.media_questions import (
    ABSENT,
    MARK,
    MediaQuestionRow,
    check_complete,
)
from music_evals.datasets_builders.questions.question_rows import QuestionRow
from music_evals.evals.shared.floors import floors_of
from music_evals.evals.shared.tasks import (
    check_positive,
    commonest,
    declared_task,
    question_metadata,
)
from music_evals.notation.audio.clips import Clip, sendable_clip
from music_evals.scorers.choice import final_answer
from music_evals.scorers.items import TAGS
from music_evals.scorers.option_choice import MAIN, Protocol, official_choice, strict_choice
from music_evals.solvers.answer_forms import AnswerForm
from music_evals.solvers.media import data_uri
from music_evals.solvers.option_order import LINES, LIST, options_block, with_shuffled_options
from music_evals.solvers.replies import reply
from music_evals.solvers.stimulus import Stimulus

_log: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionParameters:
    """Parameters of a task on a bank.

    Args:
        dataset: ``generated`` for a look-alike of the published test; ``published`` for that, which
            is fetched once; a folder; or ``hf://datasets/ORG/NAME[@REVISION]``.
        stimulus: ``given`` for the question's own music; ``none`` for no music; ``noise`` for
            random music of the same length; ``other`` for the music of a question with another
            answer.
        twin: ``original``; ``completion`` to show half of the options and ask for the others word
            for word.
        shots: ``zero``, or ``five`` to show five worked examples ahead of the question.
        answer: ``text``, read by rules; ``schema`` for a form that the server guarantees;
            ``likelihood`` for the probabilities of the options, also by models without a chat
            template. See ``docs/answers.md``.
        prompts: a TOML file with other wording than the benchmark's ``prompts.toml``.
    """

    dataset: str = GENERATED
    stimulus: Stimulus = "given"
    twin: Literal["original", "completion"] = "original"
    shots: Literal["zero", "five"] = "zero"
    answer: AnswerForm = "text"
    prompts: str | None = None


def question_task(params: QuestionParameters, name: str, benchmark: DatasetSpec) -> Task:
    """Make the task of a name, which is that of the config in the benchmark's dataset.

    The benchmark's ``prompts.toml`` holds ``instruction`` and ``question``, and ``examples`` and
    ``example`` for worked examples.
    """
    wording = load_prompts(benchmark.name, params.prompts)
    origin = describe_dataset(params.dataset, benchmark=benchmark)
    dev, test = (
        load_split(params.dataset, name, split, benchmark=benchmark).to_list()
        for split in ("dev", "test")
    )
    opening = [wording["instruction"]]
    if params.shots == "five":
        opening += [wording["examples"], *(_worded(wording["example"], row) for row in dev)]
    prompt = "\n\n".join([*(text.replace("$", "$$") for text in opening), wording["question"]])
    majority = commonest(("", row["answer"]) for row in dev)[""]
    return declared_task(
        params,
        benchmark.name,
        name,
        origin,
        [record_to_sample(benchmark.name, name, row, prompt, majority) for row in test],
        solver=reply(),
        scorer=final_answer(),
        config=GenerateConfig(temperature=0.0),
        floors={"": floors_of(origin, name, {"test": test})},
        is_like=origin.provenance.source == GENERATED,
        reasons=True,
    )


def record_to_sample(
    benchmark: str, name: str, row: QuestionRow, prompt: str, majority: str
) -> Sample:
    """Map a row to a sample; the prompt is a template of what comes ahead of all questions, and of
    the question.
    """
    question = row["question"] + ("\n\n<abc 1>" if row["abc"] else "")
    media_row: Any = {**row, "question": question, "abc": [row["abc"]], "theme": row["kind"]}
    style = {
        "prompt": prompt,
        "option": LINES[0],
        "layout": "lines",
        "form": "Final Answer: $answer",
    }
    shown = ShownOptions(row["options"], row["answer"])
    sample = question_to_sample(benchmark, name, media_row, shown, style, 0, majority)
    sample.metadata = {"options": row["options"], "kind": row["kind"]}
    return sample


def _worded(text: str, row: QuestionRow) -> str:
    question = row["question"] + (f"\n\n{row['abc'].strip()}" if row["abc"] else "")
    options: dict[str, Any] = dict(zip("abcd", row["options"], strict=True))
    return Template(text).substitute(question=question, answer=row["answer"], **options)


# --- questions of text, sound, pictures and notation, with any number of options ---

NOTA: Final = "None of the above"
_FIRST_MEDIA: Final = re.compile(r"(?:<(?:audio|image) \d+>\s*)+")
_BETWEEN: Final = {"lines": "\n", "one line": " ", "list": LIST}
"""Layout of a style → what stands between options."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionSetParameters:
    """Parameters of a task on questions of the common kind.

    Args:
        dataset: ``generated`` where the benchmark has such data; ``published`` for the published
            test, which is fetched once; a dataset folder, a folder with the published files, or
            ``hf://datasets/ORG/NAME[@REVISION]``.
        stimulus: ``given``; ``none``, ``noise`` or ``other`` to ask with no music, with noise, or
            with another item's music, of another answer.
        prompt: a style of the benchmark's ``prompts.toml``: ``letter``; ``paper``, in the authors'
            form and order; ``lmms``, as lmms-eval asks, for the sets that it has.
        protocol: which reading of the replies is the main metric: ``strict``, or the authors' own
            (``paper``). The log has both.
        answer: ``text``, read by rules; ``schema`` for a form that the server guarantees;
            ``likelihood`` for the probabilities of the options, also by models without a chat
            template. See ``docs/answers.md``.
        options: ``given``; ``shuffled`` by the seed, in each epoch anew; ``leave_one_out`` to ask
            each question once without each of its wrong options, if it has two.
        nota: put "None of the above" last, in the place of another option. It is right as often as
            any other.
        seed: of the shuffling, and of what "None of the above" replaces.
        seconds: of sound that are sent, from the beginning of a clip.
        allow_partial: ask the questions that are complete if files are missing or damaged.
        prompts: a TOML file with other wording than the benchmark's ``prompts.toml``.
    """

    dataset: str = GENERATED
    stimulus: Stimulus = "given"
    prompt: str = "letter"
    protocol: Protocol = "strict"
    answer: AnswerForm = "text"
    options: Literal["given", "shuffled", "leave_one_out"] = "given"
    nota: bool = False
    seed: int = 0
    seconds: int = 120
    allow_partial: bool = False
    prompts: str | None = None

    def __post_init__(self) -> None:
        """Check what goes together."""
        check_positive(seconds=self.seconds)
        if self.nota and self.options == "leave_one_out":
            raise ValueError(
                "nota=true leaves out options itself; with it options=given and shuffled are valid"
            )


def question_set_task(params: QuestionSetParameters, name: str, dataset: DatasetSpec) -> Task:
    """Make the task of a name, which is that of the config in the benchmark's dataset.

    The benchmark's ``prompts.toml`` has a table per prompt style: ``prompt`` with the question and
    its options, ``option`` for one of them, ``layout`` (lines, one line, or list), and ``form``,
    the form of the answer; ``answer`` is ``text`` if that is the option's text and no letter.
    """
    benchmark = benchmarks.load(dataset.name)
    styles = load_prompts(benchmark.name, params.prompts)
    if params.prompt not in styles:
        raise ValueError(
            f"prompt={params.prompt!r} is not valid; valid values are: {', '.join(styles)}"
        )
    origin = describe_dataset(params.dataset, benchmark=dataset)
    rows: list[MediaQuestionRow] = load_split(
        params.dataset, name, "test", benchmark=dataset
    ).to_list()
    if params.stimulus == "none":  # needs no file, so that none is missing
        origin = replace(origin, provenance=replace(origin.provenance, missing={}))
    else:
        rows = [
            row
            for row in rows
            if all(cell["bytes"] != ABSENT for cell in row["audio"] + row["images"])
        ]
    missing = origin.provenance.missing_for(name)
    if params.dataset == PUBLISHED and missing and rows:  # nobody can complete them
        _log.warning(
            "%s: %d questions lack their files and are not asked", benchmark.title, len(missing)
        )
    elif not (params.allow_partial and rows):
        check_complete(
            missing, params.dataset, "allow_partial=true, or all without files: stimulus=none"
        )
    is_shuffled, is_reduced = (
        params.options == "shuffled",
        params.nota or params.options == "leave_one_out",
    )
    if is_shuffled and any(MARK.search("".join(row["options"])) for row in rows):
        raise ValueError(
            "options=shuffled is not valid where options are pictures; valid are given, "
            "leave_one_out"
        )
    majority = commonest(("", row["answer"]) for row in rows)[""]
    reading = benchmark.table.get("official_reading")
    if not reading and params.protocol == "paper":
        raise ValueError(
            f"protocol=paper is not valid: {benchmark.title} has no reading of its own; valid is "
            "strict"
        )
    return declared_task(
        params,
        benchmark.name,
        name,
        origin,
        [
            question_to_sample(
                benchmark.name, name, row, shown, styles[params.prompt], params.seconds, majority
            )
            for row in rows
            for shown in option_sets(row, params)
        ],
        solver=(
            with_shuffled_options(reply(), params.seed, last_stays=params.nota)
            if is_shuffled
            else reply()
        ),
        scorer=[strict_choice(), *([official_choice(reading)] if reading else [])],
        config=GenerateConfig(temperature=0.0),
        floors={} if is_reduced else {"": floors_of(origin, name, {"test": rows})},
        is_like=origin.provenance.source == GENERATED,
        metric=MAIN[params.protocol],
        own_noise=True,
        reasons=styles[params.prompt]["form"] != "$answer",
    )


@dataclass(frozen=True, slots=True)
class ShownOptions:
    """The options of a row as one sample shows them."""

    options: list[str]
    answer: str  # letter of the right one, or the text of a short answer
    suffix: str = ""  # of the sample's id


def option_sets(row: MediaQuestionRow, params: QuestionSetParameters) -> list[ShownOptions]:
    """Return the options that a row is asked with, once each.

    >>> row = {"id": "1", "options": ["lute", "harp", "bell"], "answer": "B"}
    >>> [shown.options for shown in option_sets(row,
    ...     QuestionSetParameters(options="leave_one_out"))]
    [['harp', 'bell'], ['lute', 'harp']]
    """
    options, place = row["options"], ascii_uppercase.find(row["answer"])
    wrong = [at for at in range(len(options)) if at != place]
    if params.nota and options:
        rng = Random(f"{params.seed} {row['id']} nota")
        left_out = [place if rng.randrange(len(options)) == 0 else rng.choice(wrong)]
    elif params.options == "leave_one_out" and len(wrong) > 1:
        left_out = wrong
    else:
        return [ShownOptions(options, row["answer"])]
    shown = []
    for out in left_out:
        kept = [option for at, option in enumerate(options) if at != out] + [NOTA] * params.nota
        letter = ascii_uppercase[len(kept) - 1 if out == place else place - (out < place)]
        shown.append(
            ShownOptions(kept, letter, "" if params.nota else f"-without-{ascii_uppercase[out]}")
        )
    return shown


def question_to_sample(
    benchmark: str,
    name: str,
    row: MediaQuestionRow,
    shown: ShownOptions,
    style: Mapping[str, str],
    seconds: int,
    majority: str,
) -> Sample:
    """Map a row to a sample: the wording of a style, with the files where the question and its
    options have marks.
    """
    options = shown.options
    form = (style["option"], _BETWEEN.get(style["layout"], " "))
    letters: dict[str, Any] = dict(zip(ascii_lowercase, options, strict=False))
    block = options_block(options, form)
    media, question = split_media(row["question"])
    text = media + Template(style["prompt"]).substitute(question=question, options=block, **letters)
    content, spans = _content(text, row, seconds)
    answers = [*ascii_uppercase[: len(options)]]
    majority = majority if majority in answers or not options else "A"
    if style.get("answer") == "text":
        majority, answers = (
            dict(zip(answers, options, strict=True)).get(majority, majority),
            options,
        )
    metadata = question_metadata(
        benchmark,
        name,
        answer_type="choice" if options else "text",
        answers=answers or None,
        form=style["form"],
        question=MARK.sub("", row["question"]).strip(),
        options=options or None,
        option_form=list(form) if options and form != LINES else None,
        kind=row["theme"],
        majority=majority,
        notation="abc" if spans else None,
        music=spans or None,
    )
    groups = {key: row[key] for key in ("theme", "subtheme", "piece") if row.get(key)} | _checksums(
        row
    )
    if row.get("tags"):
        groups["tags"] = TAGS.join(row["tags"])
    return Sample(
        id=row["id"] + shown.suffix,
        input=[ChatMessageUser(content=content, metadata=metadata)],
        choices=options or None,
        target=shown.answer,
        metadata={
            "options": options,
            **groups,
            **({"question": row["id"]} if shown.suffix else {}),
        },
    )


def _checksums(row: MediaQuestionRow) -> dict[str, str]:
    """What is equal for the same question in two benchmarks, and for two questions on the same
    files.
    """
    cells = [*row.get("audio", ()), *row.get("images", ())]  # a bank of texts has neither
    files = "\0".join(
        sha256(cell["bytes"]).hexdigest() for cell in cells if cell["bytes"] != ABSENT
    )
    place = ascii_uppercase.find(row["answer"])
    right = row["options"][place] if row["options"] and place >= 0 else row["answer"]
    texts = [row["question"], *filter(None, row["abc"]), *sorted(row["options"]), right, files]
    content = sha256("\0".join(texts).encode(errors="surrogatepass")).hexdigest()[:16]
    return {
        "content": content,
        **({"cluster": sha256(files.encode()).hexdigest()[:16]} if files else {}),
    }


def split_media(question: str) -> tuple[str, str]:
    r"""Split a question after the marks at its beginning: sound comes first, also ahead of an
    instruction.

    >>> split_media("<audio 1>\n\nWhich drum?"), split_media("Which drum?")
    (('<audio 1>\n\n', 'Which drum?'), ('', 'Which drum?'))
    """
    match = _FIRST_MEDIA.match(question)
    end = match.end() if match else 0
    return question[:end], question[end:]


def _content(
    text: str, row: MediaQuestionRow, seconds: int
) -> tuple[str | list[Content], list[list[int]]]:
    """Put files and notation where a text has their marks; return also the spans of the notation in
    a plain text.
    """
    parts: list[Content] = []
    spans: list[list[int]] = []
    written, *marked = MARK.split(text)
    for kind, number, following in zip(marked[::3], marked[1::3], marked[2::3], strict=True):
        place = int(number) - 1
        if kind == "abc":
            tune = row["abc"][place].strip()
            spans.append([len(written), len(written) + len(tune)])
            written += tune + following
            continue
        parts += [ContentText(text=written.strip())] if written.strip() else []
        parts.append(
            _media(row["audio" if kind == "audio" else "images"][place]["bytes"], kind, seconds)
        )
        written = following
    if not parts:
        return written, spans
    return [*parts, *([ContentText(text=written.strip())] if written.strip() else [])], []


def _media(data: bytes, kind: str, seconds: int) -> Content:
    if kind == "audio":
        clip = Clip(data, "wav") if data == ABSENT else sendable_clip(data, seconds)
        mime = "mpeg" if clip.format == "mp3" else "wav"
        return ContentAudio(audio=data_uri(clip.data, f"audio/{mime}"), format=clip.format)
    mime = {b"\x89P": "png", b"\xff\xd8": "jpeg"}.get(data[:2], "webp")
    return ContentImage(image=data_uri(data, f"image/{mime}"))
