"""Tasks on questions, the common kind of benchmark: text, sound, pictures or notation, and options
to choose from.
"""

import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from string import Template, ascii_lowercase, ascii_uppercase
from types import MappingProxyType
from typing import Any, Literal

from inspect_ai import Task
from inspect_ai.dataset import Sample
from inspect_ai.model import (
    ChatMessageUser,
    Content,
    ContentText,
    GenerateConfig,
)

from music_evals import benchmarks
from music_evals.benchmarks import TaskFacts
from music_evals.benchmarks.prompts import load_prompts
from music_evals.datasets_builders.dataset_io import (
    GENERATED,
    PUBLISHED,
    DatasetSpec,
    Origin,
    describe_dataset,
    load_split,
)
from music_evals.datasets_builders.questions.media_questions import (
    ABSENT,
    MARK,
    MediaQuestionRow,
    check_complete,
)
from music_evals.evals.shared.answer_prompts import MAX_LONG_ANSWER
from music_evals.evals.shared.declared_tasks import commonest, declared_task, question_metadata
from music_evals.evals.shared.floors import floors_of
from music_evals.evals.shared.parameters import check_positive
from music_evals.evals.shared.typed_answers import (
    Guessing,
    answer_form,
    guess_key,
    guessing_of,
    is_typed,
    row_kind,
    scoring_facts,
    typed_floors,
)
from music_evals.notation.audio.clips import sendable_clip
from music_evals.notation.scores.pdf import pdf_to_pages
from music_evals.scorers.items import TAGS
from music_evals.scorers.option_choice import MAIN, Protocol, official_choice, strict_choice
from music_evals.scorers.typed_answer import typed_answer
from music_evals.solvers.media import file_content
from music_evals.solvers.option_order import LINES, LIST, options_block, with_shuffled_options
from music_evals.solvers.replies import AnswerForm, reply
from music_evals.solvers.stimulus import Stimulus

_log = logging.getLogger(__name__)


_FIRST_MEDIA = re.compile(r"(?:<(?:audio|image) \d+>\s*)+")
_BETWEEN = {"lines": "\n", "one line": " ", "list": LIST}
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
        answer: ``text``, read by rules; ``schema`` for a form that the server guarantees, and
            ``reasoned`` for the same with a field to reason in first; ``likelihood`` for the
            probabilities of the options, also by models without a chat template. See
            ``docs/answers.md``.
        options: ``given``; ``shuffled`` by the seed, in each epoch anew; ``leave_one_out`` to ask
            each question once without each of its wrong options, if it has two.
        seed: of the shuffling.
        seconds: of sound that are sent, from the beginning of a clip.
        allow_partial: ask the questions that are complete if files are missing or damaged.
        prompts: ``second`` or ``third`` wording of ``prompt=letter``, or a TOML file with your own,
            as the benchmark's ``prompts.toml``.
    """

    dataset: str = GENERATED
    stimulus: Stimulus = "given"
    prompt: str = "letter"
    protocol: Protocol = "strict"
    answer: AnswerForm = "text"
    options: Literal["given", "shuffled", "leave_one_out"] = "given"
    seed: int = 0
    seconds: int = 120
    allow_partial: bool = False
    prompts: str | None = None

    def __post_init__(self) -> None:
        """Check what goes together."""
        check_positive(seconds=self.seconds)


@dataclass(frozen=True, slots=True, kw_only=True)
class CompleteParameters(QuestionSetParameters):
    """Parameters of a task whose recordings are sent complete, up to an hour."""

    seconds: int = 3600


def question_set_task(params: QuestionSetParameters, name: str, dataset: DatasetSpec) -> Task:
    """Make the task of a name, which is that of the config in the benchmark's dataset.

    The benchmark's ``prompts.toml`` has a table per prompt style: ``prompt`` with the question and
    its options, ``option`` for one of them, ``layout`` (lines, one line, or list), and ``form``,
    the form of the answer; ``answer`` is ``text`` if that is the option's text and no letter.
    ``$answer_form`` says what an answer of the question's kind looks like.
    """
    benchmark = benchmarks.load(dataset.name)
    styles = load_prompts(benchmark.name, params.prompts, params.prompt)
    if params.prompt not in styles:
        raise ValueError(
            f"prompt={params.prompt!r} is not valid; valid values are: {', '.join(styles)}"
        )
    style = styles[params.prompt]
    origin, rows = _load_complete(params, name, dataset)
    if any(map(row_kind, rows)) and params.options != "given":
        raise ValueError(
            f"options={params.options} is not valid where answers are no options; valid is given"
        )
    solver = reply()
    if params.options == "shuffled":
        if any(MARK.search("".join(row["options"])) for row in rows):
            raise ValueError(
                "options=shuffled is not valid where options are pictures; valid are given, "
                "leave_one_out"
            )
        solver = with_shuffled_options(solver, params.seed)
    facts = benchmark.tasks[name]
    has_types = any(map(is_typed, rows))
    judge = getattr(params, "judge", "")
    scorers = [typed_answer(judge)] if has_types else [strict_choice()]
    if reading := benchmark.table.get("official_reading"):
        scorers.append(official_choice(reading))
    elif params.protocol == "paper":
        raise ValueError(
            f"protocol=paper is not valid: {benchmark.title} has no reading of its own; valid is "
            "strict"
        )
    kinds = list(filter(None, map(row_kind, rows)))
    # A clip of two minutes has some 250 beats, which are more than 1,024 tokens.
    is_long = any(kind.is_long or kind.name.startswith(("beats", "times")) for kind in kinds)
    majority = commonest(("", row["answer"]) for row in rows if not row_kind(row))
    guessing = guessing_of(rows, facts) if any(map(row_kind, rows)) else {}
    samples = []
    for row in rows:
        samples += [
            question_to_sample(facts, row, shown, style, params, majority.get("", "A"), guessing)
            for shown in option_sets(row, params)
        ]
    floors = {}
    if params.options != "leave_one_out":
        floors = {"": floors_of(origin, name, {"test": rows})}
    if guessing:
        # Those of a judge's ratings are the scores of baselines with the same judge.
        floors = {} if judge else {"": typed_floors(guessing, facts)}
    if facts.templates and floors:
        best = typed_floors(guessing_of(rows, facts), facts)["majority"]
        floors = {"": {**floors[""], "template": best}}
    return declared_task(
        params,
        benchmark.name,
        name,
        origin,
        samples,
        solver=solver,
        scorer=scorers,
        config=GenerateConfig(temperature=0.0, max_tokens=MAX_LONG_ANSWER if is_long else None),
        floors=floors,
        is_like=origin.provenance.source == GENERATED,
        metric=None if has_types else MAIN[params.protocol],
        own_noise=True,
    )


def _load_complete(
    params: QuestionSetParameters, name: str, dataset: DatasetSpec
) -> tuple[Origin, list[MediaQuestionRow]]:
    """Load the questions whose files are there; ValueError if others may not be left out."""
    origin = describe_dataset(params.dataset, benchmark=dataset)
    rows = load_split(params.dataset, name, "test", benchmark=dataset).to_list()
    if params.stimulus == "none":  # needs no file, so that none is missing
        return replace(origin, provenance=replace(origin.provenance, missing={})), rows
    rows = [row for row in rows if not _lacks_files(row)]
    missing = origin.provenance.missing_for(name)
    if params.dataset == PUBLISHED and missing and rows:  # nobody can complete them
        _log.warning(
            "%s: %d questions lack their files and are not asked",
            benchmarks.load(dataset.name).title,
            len(missing),
        )
    elif not params.allow_partial or not rows:
        check_complete(
            missing, params.dataset, "allow_partial=true, or all without files: stimulus=none"
        )
    return origin, rows


def _lacks_files(row: MediaQuestionRow) -> bool:
    return any(cell["bytes"] == ABSENT for cell in row["audio"] + row["images"])


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
    options = row["options"]
    right = ascii_uppercase.find(row["answer"])
    if not options or right < 0 or row_kind(row):  # a short answer, or one that is not public
        return [ShownOptions(options, row["answer"])]
    wrong = [place for place in range(len(options)) if place != right]
    if params.options != "leave_one_out" or len(wrong) < 2:
        return [ShownOptions(options, row["answer"])]
    shown = []
    for place in wrong:
        remaining = [*options[:place], *options[place + 1 :]]
        letter = ascii_uppercase[right - (place < right)]
        shown.append(ShownOptions(remaining, letter, f"-without-{ascii_uppercase[place]}"))
    return shown


def question_to_sample(
    facts: TaskFacts,
    row: MediaQuestionRow,
    shown: ShownOptions,
    style: Mapping[str, str],
    params: QuestionSetParameters,
    majority: str,
    guessing: Mapping[str, Guessing] = MappingProxyType({}),
) -> Sample:
    """Map a row to a sample: the wording of a style, with the files where the question and its
    options have marks.

    Args:
        facts: of the task.
        row: the question.
        shown: its options.
        style: a table of the benchmark's prompts.
        params: of the task: how much of its sound is sent, and whether PDF.
        majority: letter of the commonest answer.
        guessing: of kinds of answers without options, as `guessing_of` returns it.
    """
    options = shown.options
    form = (style["option"], _BETWEEN.get(style["layout"], " "))
    listed = options_block(options, form)
    if is_typed(row):  # labels and tags, which may be more than there are letters
        form = ("$text", ", ")
        listed = ", ".join(options)
    media, question = split_media(row["question"])
    text = media + Template(style["prompt"]).safe_substitute(
        dict(zip(ascii_lowercase, options, strict=False)),
        question=question,
        options=listed,
        answer_form=answer_form(row),
    )
    content, spans = _content(text, row, params)
    music = {"notation": "abc", "music": spans} if spans else {}
    metadata = question_metadata(
        facts.benchmark,
        facts.name,
        form=style["form"],
        question=MARK.sub("", row["question"]).strip(),
        kind=row["theme"],
        **_answer_facts(row, options, form, style, majority, guessing),
        **music,
    )
    groups = {key: row[key] for key in ("theme", "subtheme", "piece") if row.get(key)}
    groups |= _checksums(row)
    if row.get("tags"):
        groups["tags"] = TAGS.join(row["tags"])
    if shown.suffix:
        groups["question"] = row["id"]
    if is_typed(row):
        groups |= scoring_facts(row, facts)
    has_options = bool(options) and row_kind(row) is None
    return Sample(
        id=row["id"] + shown.suffix,
        input=[ChatMessageUser(content=content, metadata=metadata)],
        choices=options if has_options else None,
        target=shown.answer,
        metadata={"options": options if has_options else [], **groups},
    )


def _answer_facts(
    row: MediaQuestionRow,
    options: Sequence[str],
    form: tuple[str, str],
    style: Mapping[str, str],
    majority: str,
    guessing: Mapping[str, Guessing],
) -> dict[str, Any]:
    """What the metadata of a message say of the answer."""
    if row_kind(row):
        best, *drawn = guessing[guess_key(row)].replies
        return {"answer_type": row["answer_kind"], "majority": best, "guess": drawn}
    answers = list(ascii_uppercase[: len(options)])
    if options and majority not in answers:
        majority = "A"
    if style.get("answer") == "text":
        texts = dict(zip(answers, options, strict=True))
        majority = texts.get(majority, majority)
        answers = list(options)
    has_own_form = bool(options) and form != LINES
    return {
        "answer_type": "choice" if options else "text",
        "answers": answers or None,
        "options": list(options) or None,
        "option_form": list(form) if has_own_form else None,
        "majority": majority,
    }


def _checksums(row: MediaQuestionRow) -> dict[str, str]:
    """What is equal for the same question in two benchmarks, and for two questions on the same
    files.
    """
    cells = [*row.get("audio", ()), *row.get("images", ())]  # a bank of texts has neither
    checksums = [sha256(cell["bytes"]).hexdigest() for cell in cells if cell["bytes"] != ABSENT]
    files = "\0".join(checksums)
    place = ascii_uppercase.find(row["answer"])
    right = row["options"][place] if row["options"] and place >= 0 else row["answer"]
    texts = [row["question"], *filter(None, row["abc"]), *sorted(row["options"]), right, files]
    content = {"content": _short_checksum("\0".join(texts))}
    return {**content, "cluster": _short_checksum(files)} if files else content


def _short_checksum(text: str) -> str:
    return sha256(text.encode(errors="surrogatepass")).hexdigest()[:16]


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
    text: str, row: MediaQuestionRow, params: QuestionSetParameters
) -> tuple[str | list[Content], list[list[int]]]:
    """Put files and notation where a text has their marks; return also the spans of the notation in
    a plain text.
    """
    parts = []
    spans = []
    written, *marked = MARK.split(text)
    for kind, number, following in zip(marked[::3], marked[1::3], marked[2::3], strict=True):
        place = int(number) - 1
        if kind == "abc":
            tune = row["abc"][place].strip()
            spans.append([len(written), len(written) + len(tune)])
            written += tune + following
            continue
        cell = row["audio" if kind == "audio" else "images"][place]
        parts += [*_text_part(written), *_media(cell["bytes"], kind, params)]
        written = following
    if not parts:
        return written, spans
    return [*parts, *_text_part(written)], []


def _text_part(text: str) -> list[Content]:
    """A text as a part of a message; blank text is none."""
    return [ContentText(text=text.strip())] if text.strip() else []


def _media(data: bytes, kind: str, params: QuestionSetParameters) -> list[Content]:
    files = [data]
    if kind == "audio" and data != ABSENT:
        files = [sendable_clip(data, params.seconds).data]
    elif data.startswith(b"%PDF") and getattr(params, "pages", "pdf") == "images":
        files = pdf_to_pages(data)
    return list(map(file_content, files))
