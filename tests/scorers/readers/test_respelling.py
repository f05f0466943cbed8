"""Every option of a benchmark, in every spelling and form: none is read as another, and none breaks a reader."""

import random
from itertools import chain
from pathlib import Path
from string import ascii_uppercase

import pandas as pd
import pytest

from music_evals.datasets_builders.questions.theory.compose import compose_theory
from music_evals.scorers.answer_kinds import judge_typed, kind_of
from music_evals.scorers.readers import STATUSES
from music_evals.scorers.readers.choices import read_choice
from music_evals.scorers.readers.verdicts import judge_open, judge_written
from music_evals.scorers.readers.votes import read_vote
from tests.scorers.readers.respellings import crossed, meaning, respelled
from tests.scorers.readers.test_corpora import MUSE

ZIQI = Path(__file__).parents[4] / "shared" / "data" / "ziqi"
TUNES = (
    "DGG AGA | BGG G2d |",
    "bag fge | d3- d2d |",
    "G3/2F/2G A3/2B/2c | BAF G2B |",
    "G3/2A/2B BA3/2G/2 | G3- G2G |",
)
ALIKE = (("D", "F", "A flat", "D flat"), ("D", "B", "C sharp", "D flat"), ("C, E", "G, B", "D, F", "A, C"),
         ("A", "B", "C", "D"), ("D", "C", "B", "A"), ("C, E, G", "A, C, E, G", "E, G", "G"), ("c minor", "C sharp minor", "C major", "C"))  # fmt: skip
Options = tuple[str, ...]


def of_theory(count, language):
    """The options of questions that the default data of MusicTheoryBench and ZIQI-Eval are made of."""
    questions = compose_theory(count, 1)
    return [(question.right[language], *question.wrong[language]) for question in questions]


def published(count):
    """The options of ZIQI-Eval's published questions, if they are at hand."""
    rows = [
        pd.read_csv(path, dtype=str, keep_default_na=False) for path in sorted(ZIQI.glob("*/*.csv"))
    ]
    if not rows:
        return []
    options = {*pd.concat(rows)[[*"ABCD"]].itertuples(index=False, name=None)}
    # Tunes of several lines in ABC are read by their letters alone, and so are equal texts.
    distinct = sorted(
        option
        for option in options
        if "\n" not in "".join(option) and len({*map(meaning, option)}) == 4
    )
    return random.Random(1).sample(distinct, count)


def misread(options):
    """Replies that are read as an option that they do not mean."""
    meanings = dict(zip(ascii_uppercase, map(meaning, options), strict=False))
    wrong = []
    for reply, letter, is_bare in respelled(options):
        answer = read_choice(reply, options).answer
        if answer in (None, letter) or meanings[answer] == meanings[letter]:
            continue
        # By the rule, a text that is the letter of an option means that option.
        if not is_bare or meanings[letter].upper() not in meanings:
            wrong.append((reply, letter, answer))
    return wrong


SETS = {
    "theory": lambda: [*of_theory(60, "en"), *of_theory(60, "zh")],
    "muse": lambda: list(map(tuple, MUSE.values())),
    "alike": lambda: [*ALIKE, TUNES],
    "published": lambda: published(60),
}


@pytest.mark.slow
def test_every_respelled_option_is_read_as_itself():
    sets = [
        *of_theory(1_000, "en"),
        *of_theory(1_000, "zh"),
        *published(1_000 if ZIQI.is_dir() else 0),
    ]
    assert list(chain.from_iterable(map(misread, sets))) == []


@pytest.mark.parametrize("name", SETS)
def test_a_letter_with_the_text_of_another_option_is_no_answer(name):
    read = [
        (reply, options, answer)
        for options in SETS[name]()
        for reply in crossed(options)
        if (answer := read_choice(reply, options).answer)
    ]
    assert read == []


JUNK = (
    "\ud834",
    "𝄫",
    "C# ",
    "A. ",
    "D\n",
    "Final Answer: ",
    "♭",
    "重升",
    "0, ",
    "\x00",
    "[[",
    "-",
    "A sharp, ",
)


def read_all(text):
    for options in (*ALIKE, *map(tuple, MUSE.values())):
        assert read_choice(text, options).status in STATUSES
    for kind, right in {"index": "0", "number": "4", "order": "0123", "measures": "4 7"}.items():
        judge_written(kind, text, right, options=ALIKE[0])  # type: ignore[arg-type]
    judge_typed(text, "60", kind_of("pitch:name"))
    judge_open(text, [{"answer": "C5", "answer_type": "pitch"}] * 2)
    assert read_vote(text) in (0, 1, None)


@pytest.mark.parametrize("piece", JUNK)
def test_long_junk_is_read_in_bounded_time(piece):
    # Quadratic time would be minutes.
    read_all(piece * (100_000 // len(piece)))
