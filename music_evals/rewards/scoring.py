"""The reward of one reply, by the readings of protocol ``strict``."""

import re
from base64 import b64decode
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from string import ascii_uppercase
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from music_evals import benchmarks
from music_evals.notation.lilypond.compiler import LilyPondError
from music_evals.notation.lilypond.copies import LEAST_RUNS, NEAR_COPY, RUN, CopyIndex
from music_evals.notation.lilypond.sandbox import SandboxError
from music_evals.notation.midi.note_arrays import MidiError, read_note_arrays
from music_evals.notation.reference_pieces import ReferenceSet
from music_evals.scorers.metrics.descriptor_similarity import fit_of
from music_evals.scorers.metrics.written import piece_likeness
from music_evals.scorers.readers import format_error, try_read
from music_evals.scorers.readers.cleaning import clean_reply
from music_evals.scorers.readers.refusals import is_refusal
from music_evals.scorers.readers.verdicts import (
    Verdict,
    judge_open,
    judge_option,
    judge_short,
    judge_written,
    plain_text,
)
from music_evals.scorers.readers.written import Kind

if TYPE_CHECKING:
    from music_evals.scorers.readers.pieces import Piece

Row = Mapping[str, Any]


class Reward(NamedTuple):
    """What a reply earns, from 0 to 1, and of which parts; None where nothing can be said, with the
    reason. A reply that makes a reader fail earns nothing, and the reason is the reader's error.
    """

    value: float | None
    parts: Mapping[str, float | None]
    reason: str = ""


class Pieces:
    """What written music is compared with: reference sets, the in-domain one first, and pieces not
    to be copied.

    `known` maps names to LilyPond: demonstrations, and the pieces of your training set.
    """

    def __init__(self, references: Sequence[ReferenceSet], known: Mapping[str, str]) -> None:
        self.fit = fit_of(references[0].descriptors("strict"))
        texts: dict[str, str] = {}
        for pieces in references:
            names = [f"{pieces.name}/{key}" for key in pieces.ids]
            texts |= dict(zip(names, pieces.texts, strict=True))
        self.index = CopyIndex({**texts, **known})


def score(
    task: str,
    row: Row,
    reply: str,
    *,
    is_cut: bool = False,
    reasoned: bool = False,
    pieces: Pieces | None = None,
) -> Reward:
    """Score a reply to a row, as the task does by its main metric under ``protocol=strict``.

    The value is the task's score, except for written music: its score is the part ``compiles``, and
    the value also asks for notes, for descriptors like those of real music, and that the piece is
    no near-copy. MSU-Bench is judged by rules, without a model; a question whose reference no rule
    reads has no value.

    Args:
        task: its name, as `music-evals list` shows it, such as ``muse_syncopation``.
        row: a row of the task's dataset, or these columns of it: ``options`` and ``target`` (MUSE
            and The MUSE Benchmark), ``options`` and ``answer`` (other questions), ``answer``
            (`lilybench`), ``options``, ``answer`` and ``answer_kind`` (answers that are no option),
            ``question``, ``answer`` and ``answer_type`` (a row of the config
            ``questions`` of `msu`). Written music needs no column.
        reply: what a model wrote.
        is_cut: whether the reply was cut at the limit of tokens. Then only a label shows an answer
            to a question with options or of a kind of answers, as in the evaluation.
        reasoned: (`lilybench`) whether the model was to reason first and end in a line ``Answer:
            …``.
        pieces: (`lilybench_generation`) what the piece is compared with.

    Returns:
        Parts are ``answer``, ``format`` (the reply has the demanded form) and ``refusal``; of
        written music ``compiles``, ``notes``, ``descriptors``, ``near_copy`` (the largest share of
        the piece that a known piece has, or of a known piece that it has; None for a piece that is
        too short or uniform), ``format`` and ``refusal``.

    Raises:
        ValueError: there is no such task, the row lacks a column, or `pieces` are missing.
        LilyPondError: LilyPond is not installed; SandboxError if it cannot be confined.

    Example:
        >>> score("muse_chord_quality", {"options": ["Major", "Minor"], "target": "B"},
        ...     "Final Answer: B").parts
        {'answer': 1.0, 'format': 1.0, 'refusal': 0.0}
    """
    judge = judge_of(task, reasoned=reasoned, pieces=pieces)
    if not isinstance(reply, str):
        raise ValueError(f"{task}: the reply is {type(reply).__name__}; a text is needed")
    columns = _Columns(row)
    try:
        if pieces:
            return judge(columns, reply, is_cut)
        reward, why = try_read(lambda text: judge(columns, text, is_cut), reply)
    except _RowError as error:
        raise ValueError(f"{task}: {error}") from None
    except (LilyPondError, SandboxError):
        raise
    except Exception as error:  # as Inspect's scorers: no reply ends a run
        return Reward(None, {}, f"not measured: {format_error(error)}")
    return reward._replace(reason=f"the reader failed: {why}") if why else reward


class _RowError(ValueError):
    """A row that no dataset of the task holds."""


class _Columns(dict[str, Any]):
    """A row that names a column which it lacks."""

    def __missing__(self, name: str) -> Any:
        raise _RowError(
            f"the row has no column {name!r}; it has {', '.join(map(str, self)) or 'none'}"
        )


def judge_of(
    task: str, *, reasoned: bool = False, pieces: Pieces | None = None
) -> Callable[[Row, str, bool], Reward]:
    """Return the function that judges replies to a task; ValueError if there is none, or it lacks
    its pieces.
    """
    facts = [named for named in benchmarks.tasks_named(task) if named.registry_name == task]
    if not facts:
        raise ValueError(f"{task} is not one task; see `music-evals list`")
    scorer = facts[0].metric.partition("/")[0]
    if scorer == "written_music":
        if pieces is None:
            raise ValueError(
                f"{task} needs pieces=, a `Pieces` with the reference sets of its dataset"
            )
        return partial(_written_music, pieces)
    if scorer in _KINDS:
        return partial(_score_question, _KINDS[scorer], reasoned)
    if scorer == "typed_answer":
        return partial(_typed, facts[0].aliases)
    return _JUDGES[scorer]


def _choice(row: Row, reply: str, is_cut: bool) -> Reward:
    options = row["options"]
    right = row["target"] if "target" in row else row["answer"]
    _check_right(right, options)
    return _reward(
        judge_option(reply, options, right, is_cut=is_cut), _ends_in_form(reply, options, right)
    )


def _option(row: Row, reply: str, is_cut: bool) -> Reward:
    options = row["options"]
    right = row["answer"]
    _check_right(right, options)
    verdict = (
        judge_option(reply, options, right, plain=plain_text, is_cut=is_cut)
        if options
        else judge_short(reply, right)
    )
    return _reward(verdict, _ends_in_form(reply, options, right))


def _typed(aliases: Mapping[str, Sequence[str]], row: Row, reply: str, is_cut: bool) -> Reward:
    from music_evals.scorers.answer_kinds import LABEL, judge_typed, kind_of
    from music_evals.scorers.answer_kinds.statements import answer_in_line

    name = row["answer_kind"]
    if name == LABEL:
        return _option(row, answer_in_line(reply, row["options"]), is_cut)
    try:
        kind = kind_of(name, row["options"], aliases)
    except ValueError as error:
        raise _RowError(str(error)) from None
    return _reward(
        judge_typed(reply, row["answer"], kind, is_cut=is_cut),
        _ends_in_form(reply, (), row["answer"]),
    )


def _lettered(row: Row, reply: str, is_cut: bool) -> Reward:
    _check_right(row["answer"], row["options"])
    in_form = re.match(r"\s*\[\[(?:答案：|answer: )[A-D]\]\]", clean_reply(reply))
    return _reward(judge_option(reply, row["options"], row["answer"], is_cut=is_cut), bool(in_form))


def _score_question(kind: Kind, reasoned: bool, row: Row, reply: str, is_cut: bool) -> Reward:
    verdict = judge_written(
        kind, reply, row["answer"], reasoned=reasoned, options=row.get("options", ()), is_cut=is_cut
    )
    return _reward(verdict, bool(verdict.in_form))


def _open(row: Row, reply: str, is_cut: bool) -> Reward:
    from music_evals.scorers.readers.checking import answer_type_of

    answer_type = row["answer_type"] or answer_type_of(row["question"], row["answer"])
    (entry,) = judge_open(reply, [{"answer": row["answer"], "answer_type": answer_type}])
    value = None if entry["verdict"] is None else float(entry["verdict"])
    in_form = entry["reading"] == "answered" and "\n" not in clean_reply(reply).strip()
    parts = {
        "answer": value,
        "format": float(in_form),
        "refusal": float(entry["reading"] == "refused"),
    }
    reason = f"no rule reads the reference {row['answer']!r:.60}: only a judge model can score it"
    return Reward(value, parts, reason if value is None else "")


def _written_music(pieces: Pieces, row: Row, reply: str, is_cut: bool) -> Reward:
    from music_evals.scorers.readers.pieces import examine

    piece = examine(reply, "", "strict", pictures=False)
    if not piece["is_measured"]:
        return Reward(None, {}, f"not measured: {piece['problem']}")
    compiles = piece["problem"] is None
    has_notes = piece["has_notes"]
    likeness = 0.0
    if compiles:
        likeness = piece_likeness(piece["descriptors"].get("strict", {}), pieces.fit)
    copied = _near_copy(pieces.index, piece)
    is_new = copied is not None and copied < NEAR_COPY
    text = clean_reply(reply).strip()
    is_fenced = piece["code"].strip() and re.fullmatch(r"(?s)```\w*\n(?:(?!```).)*\n```", text)
    parts = {
        "compiles": float(compiles),
        "notes": float(has_notes),
        "descriptors": likeness,
        "near_copy": copied,
        "format": float(bool(is_fenced)),
        "refusal": float(not compiles and is_refusal(text[:400])),
    }
    return Reward(likeness if compiles and has_notes and is_new else 0.0, parts)


def _near_copy(index: CopyIndex, piece: "Piece") -> float | None:
    """The largest share of a piece that a known piece has, or the reverse; None if it is too short
    or uniform to compare.
    """
    if not piece["midi"] or not _is_varied(b64decode(piece["midi"])):
        return None
    nearest = index.nearest(piece["code"])
    if nearest is None:
        return None
    # A copy stays one if other music is put beside it, which may not even sound.
    contained = index.most_contained(piece["code"])
    return max(nearest.share, contained.share if contained else 0.0)


def _is_varied(midi: bytes) -> bool:
    """Whether a piece sounds long and varied enough to be compared: it has as many runs as `copies`
    asks of a text.
    """
    try:
        notes = read_note_arrays(midi)
    except MidiError:
        return False
    order = np.lexsort((notes.pitch, notes.onset))
    steps = np.diff(notes.onset[order], prepend=0).tolist()
    events = list(zip(steps, notes.pitch[order].tolist(), strict=True))
    runs = {tuple(events[start : start + RUN]) for start in range(len(events) - RUN + 1)}
    return len(runs) >= LEAST_RUNS


_KINDS: Mapping[str, Kind] = {
    "measure_count": "number",
    "option_index": "index",
    "measure_order": "order",
    "wrong_measures": "measures",
}
_JUDGES = {
    "final_answer": _choice,
    "strict_choice": _option,
    "lettered_choice": _lettered,
    "judged": _open,
}
"""Scorer of a task's main metric → how a reply to it is judged."""


def _check_right(right: str, options: Sequence[str]) -> None:
    letters = ascii_uppercase[: len(options)]
    if options and right not in options and (len(right) != 1 or right not in letters):
        raise _RowError(
            f"the right answer {right!r:.60} is neither a letter of the {len(options)} options "
            "nor one"
        )


def _ends_in_form(reply: str, options: Sequence[str], right: str) -> bool:
    """Whether the last line is ``Final Answer: X``, or the reply is a sentence where that was asked
    for.
    """
    text = clean_reply(reply).strip()
    if len(right) > 1 and text in options:
        return True
    answers = list(ascii_uppercase[: len(options)]) if len(right) == 1 else options
    label, answer = text[-2_000:].rpartition("\n")[2].partition("Final Answer: ")[1:]
    if not label:
        return False
    return answer in answers if options else bool(answer)


def _reward(verdict: Verdict, in_form: bool) -> Reward:
    parts = {
        "answer": verdict.value,
        "format": float(in_form),
        "refusal": float(verdict.reading.status == "refused"),
    }
    return Reward(verdict.value, parts)
