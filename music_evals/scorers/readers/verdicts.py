"""Verdicts: what a reply answers, and what the answer is worth. Inspect's scorers and the rewards
call these functions.

A value is 1 for the right answer and 0 for any other reply, except for orders and sets of measures,
which may be right in part.
"""

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from string import ascii_uppercase, digits
from typing import Any, NamedTuple

from music_evals.scorers.metrics.measures import measure_f1, penalised_tau, published_tau
from music_evals.scorers.readers import ERROR, Reading, try_read
from music_evals.scorers.readers.batches import split_answers
from music_evals.scorers.readers.choices import read_choice
from music_evals.scorers.readers.cleaning import clean_reply
from music_evals.scorers.readers.official import READERS
from music_evals.scorers.readers.patterns import pattern
from music_evals.scorers.readers.written import (
    Kind,
    Protocol,
    measures_of,
    read_all_measures,
    read_answer,
    read_option,
)

_MAX_SHORT = 20_000  # characters of a reply's end in which a short answer is looked for


class Verdict(NamedTuple):
    """How a reply was read, and what it is worth."""

    reading: Reading  # its answer is named as in the dataset: a letter, an index, or a text
    right: str  # the right answer; if several are right, the one that was given
    part: float | None = None  # the value, if an answer can be right in part
    in_form: bool | None = None  # of answers on written scores
    sound: float | None = None  # the value under `strict`, if that of `paper` is flawed

    @property
    def value(self) -> float:
        """The value, from 0 to 1."""
        return float(self.reading.answer == self.right) if self.part is None else self.part


def judge_option(
    reply: str,
    options: Sequence[str],
    right: str,
    *,
    order: Sequence[int] | None = None,
    official: str | None = None,
    plain: Callable[[str], str] = str,
    is_cut: bool = False,
) -> Verdict:
    """Judge the option that a reply chooses by letter or text; each option with the right one's
    text is right.

    Args:
        reply: what a model wrote.
        options: in the order of the dataset.
        right: the right option's letter, index, or text of more than a character.
        order: the places of the options as they were shown.
        official: a reader of the benchmark's authors, by its name in `official.READERS`, instead of
            `read_choice`.
        plain: what two texts are compared by.
        is_cut: whether the reply was cut at the limit of tokens, so that only a label shows an
            answer.

    Example:
        >>> judge_option("C", ["Lute", "Harp", "Lute"], "A").value, judge_option("lute", ["Lute",
        ...     "Harp"], "A").value
        (1.0, 1.0)
    """
    order = order or list(range(len(options)))
    place = names_of(options, right).index(right)
    if official:
        reading = READERS[official](reply, [options[at] for at in order], order.index(place))
    else:
        reading = read_choice(reply, [options[at] for at in order], is_cut=is_cut)
        copies = [at for at, text in enumerate(options) if text == options[place] and at != place]
        if copies and reading.answer is None:
            # A text that stands twice names no letter; without its copies it is that of the right
            # option.
            unique = ["" if at in copies else options[at] for at in order]
            reading = read_choice(reply, unique, is_cut=is_cut)
    if reading.answer is None:
        return Verdict(reading, right)
    return judge_taken(reading, order[ascii_uppercase.index(reading.answer)], options, right, plain)


def names_of(options: Sequence[str], right: str) -> Sequence[str]:
    """Return what options are called where the right one is called so: letters, indices or their
    texts.
    """
    if len(right) > 1:
        return options
    return digits if right.isdigit() else ascii_uppercase


def judge_taken(
    reading: Reading, taken: int, options: Sequence[str], right: str, plain: Callable[[str], str]
) -> Verdict:
    """Judge the option at a place; each option with the right one's text is right."""
    names = names_of(options, right)
    is_right = plain(options[taken]) == plain(options[names.index(right)])
    name = names[taken]
    return Verdict(reading._replace(answer=name), name if is_right else right)


def judge_short(reply: str, right: str) -> Verdict:
    """Judge a short answer: what follows the last "Answer:", or a reply of one line; case does not
    count.

    Example:
        >>> judge_short("I hear three beats.\\nFinal Answer: 3/4",
        ...     "3/4").value, judge_short("waltz", "Waltz").value
        (1.0, 1.0)
    """
    reply = clean_reply(reply)[-_MAX_SHORT:].strip()
    labelled = re.findall(r"(?i)answer\W{0,3}:\W{0,3}(.{1,300})", reply)
    answers = labelled or re.findall(r"\A.{1,300}\Z", reply)
    if not answers:
        return Verdict(Reading("unreadable" if reply else "empty"), right)
    answer = answers[-1].strip(" .*`")
    rule = "what follows the last label" if labelled else "the whole reply"
    is_right = plain_text(answer) == plain_text(right)
    return Verdict(Reading("answered", answer, rule), answer if is_right else right)


def plain_text(text: str) -> str:
    """Return a text without case, width of characters and runs of spaces."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def judge_written(
    kind: Kind,
    reply: str,
    right: str,
    protocol: Protocol = "strict",
    *,
    reasoned: bool = False,
    joined: bool = False,
    options: Sequence[str] = (),
    is_cut: bool = False,
) -> Verdict:
    """Judge an answer about a written score: a number or index is right or wrong, an order or
    measures also in part.

    An order is worth Kendall's penalised τ; measures are worth their F1, and 0 without an answer,
    except that ``paper`` takes no answer for "none". `joined` measures are read digit by digit, see
    `read_answer`. With the texts of the `options`, an index is compared with them. A reply that
    was cut at the limit of tokens answers only by a label, with all of its value: its last line
    counts only for an index. ``paper`` reads it as any other.

    Example:
        >>> judge_written("order", "2031", "2013").value, judge_written("measures", "4 7",
        ...     "4").value
        (0.8333333333333333, 0.6666666666666666)
    """
    if is_cut and protocol == "strict":
        reply = reply if kind == "index" else reply.rpartition("\n")[0]
        has_label = any(map(pattern("written", "label").match, reply.splitlines()))
        reply = reply if has_label else ""
    answer = read_answer(kind, reply, protocol, reasoned=reasoned, joined=joined)
    if kind == "index" and protocol == "strict":
        answer = read_option(reply, options, answer)
    status, text, in_form, rule = answer
    verdict = Verdict(Reading(status, text, rule), right, in_form=in_form)
    is_paper = protocol == "paper"
    if kind == "order":
        part = penalised_tau(text, right)
        sound, part = (part, published_tau(text, right)) if is_paper else (None, part)
        return verdict._replace(part=part, sound=sound)
    if kind != "measures":
        return verdict
    rights = measures_of(right)
    named = measures_of(text or "none")
    if not is_paper:
        return verdict._replace(part=measure_f1(named if text else None, rights))
    every = read_all_measures(reply, reasoned=reasoned, joined=joined)
    return verdict._replace(part=measure_f1(named, rights), sound=measure_f1(every, rights))


def judge_open(reply: str, questions: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Judge the answers in a reply to questions with ``answer`` and ``answer_type``, by rule.

    Returns:
        An entry per question: its ``prediction``, ``reading``, what the ``rule`` says of it (None
            if no rule decides),
        and whether a rule reads the reference (``readable``). Only then an answer counts; what no
        rule reads is wrong.
    """
    # Imported here because its patterns take long to compile.
    from music_evals.scorers.readers.checking import check

    entries = []
    predictions, split_error = try_read(split_answers, reply, len(questions))
    for question, prediction in zip(questions, predictions, strict=True):
        answer = question["answer"]
        answer_type = question["answer_type"]
        checked, error = try_read(check, prediction or "", answer, answer_type)
        is_readable = check(answer, answer, answer_type).is_right is not None
        entry = {
            "prediction": prediction,
            "reading": checked.status,
            "rule": checked.is_right,
            "readable": is_readable,
            "verdict": int(checked.is_right is True) if is_readable else None,
        }
        if error := split_error or error:
            entry |= {"reading": "unreadable", ERROR: error}
        entries.append(entry)
    return entries
