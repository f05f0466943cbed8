"""Strict rows: right by an independent reader, without words that give the answer away, and
deterministic.
"""

import re
from collections import Counter
from fractions import Fraction
from itertools import pairwise, permutations
from random import Random

import pytest

from music_evals.datasets_builders.lilybench.rows import (
    TASKS,
    TaskName,
    TaskRow,
    task_row,
)
from music_evals.datasets_builders.lilybench.strict.passages import continuations
from music_evals.datasets_builders.lilybench.strict.survey import Usable
from music_evals.datasets_builders.lilybench.strict.tasks import MASK, make_rows
from music_evals.datasets_builders.questions import audit
from music_evals.notation.lilypond.canonical import read_measures, write_score
from music_evals.notation.lilypond.structure import read_structure

OPEN = ["bar_count", "bar_sequencing", "error_detection"]
CHOICES = [
    task for task in TASKS if task not in (*OPEN, "next_bar_prediction", "emotion_recognition")
]
Rows = dict[TaskName, list[TaskRow]]


@pytest.fixture(scope="module")
def rows(usable_tunes):
    return {task: make_rows(task, usable_tunes, 7, 11) for task in (*CHOICES, *OPEN)}


def right(row):
    return row["options"][int(row["answer"])]


def test_no_score_says_whose_it_is(rows, usable_tunes):
    words = {
        tune.header[field].split()[-1].lower()
        for tune in usable_tunes
        for field in ("composer", "style")
    }
    words |= {"minuet", "march", "prelude", "song", "piano", "melody"}
    for row in (row for made in rows.values() for row in made):
        names = set(re.findall(r"[^\W\d_]+", row["score"].lower()))
        assert not any(word in name for name in names for word in words)


def written(score):
    """The values in the commands of a tune."""
    key, metre = re.search(r"\\key (\w)(\w*) \\(\w+)", score), re.search(r"\\time (\S+)", score)
    assert key
    assert metre
    tonic = key[1].upper() + {"": "", "is": "-sharp", "es": "-flat"}[key[2]]
    return {
        "key": f"{tonic} {key[3]}",
        "metre": metre[1],
        "note_length": metre[1].partition("/")[2],
    }


def test_masked_scores_say_nothing_of_what_is_masked(rows, usable_tunes):
    scores = {tune.id: tune.score for tune in usable_tunes}
    for row in rows["metadata_prediction"]:
        command = "\\key" if row["kind"] == "key" else "\\time"
        assert row["score"].count(command) == row["score"].count(f"{command} {MASK}") > 0
        assert written(scores[row["piece"]])[row["kind"]] == right(row)


def test_passages_in_the_order_of_the_answer_are_in_the_piece_and_no_other_order_fills_measures(
    rows, usable_tunes
):
    scores = {tune.id: " ".join(tune.score.split()) for tune in usable_tunes}
    for row in rows["bar_sequencing"]:
        assert row["answer"] != "0123"
        assert (
            " ".join(" ".join(row["options"][int(digit)] for digit in row["answer"]).split())
            in scores[row["piece"]]
        )
        lengths = [
            [measure.length for measure in read_measures(option)] for option in row["options"]
        ]
        (full,) = {length for _, length, _ in lengths}
        filling = [
            order
            for order in permutations(range(4))
            if all(lengths[one][2] + lengths[other][0] == full for one, other in pairwise(order))
        ]
        assert filling == [tuple(map(int, row["answer"]))]


REPEAT = (
    "c''4 d''4 e''4 f''4 | g'4 a'4 b'4 c''4 | e''2 c''2 | d''2 g'2 | c''4 d''4 e''4 f''4 | g'4 a'4 "
    "b'4 c''4 | "
)
SCALE = "c'1 | d'1 | e'1 | f'1 | b'1 |"


@pytest.mark.parametrize(
    ("music", "expected"),
    [
        (f"{REPEAT} e''2 c''2 | d''2 b'2 | g'1 |", {("repeat", "e''2 c''2", 7)}),
        ("c''1 | d''1 | e''1 | a'2 f''2~ | f''2 d''2 | a'1", {("tie", "f''2 d''2", 5)}),
        (f"{SCALE} c'1", {("final", "c'1", 6)}),
        (f"{SCALE} e'1", set()),  # no tonic
        (f"{SCALE} d'2 c'2", set()),  # the cadence is within the measure
        ("c'1 | d'1 | e'1 | f'1 | c'1", set()),  # no leading note
    ],
)
def test_the_next_measure_is_asked_where_a_rule_decides(music, expected):
    structure = read_structure(f"{{ \\key c \\major \\time 4/4 {music} }}")
    piece = Usable("a", {}, write_score(structure), structure)
    questions = list(continuations(piece, Random(1)))
    assert {(kind, right, number) for kind, _, right, _, number in questions} == expected
    for _, _, right, wrong, _ in questions:
        assert len({right, *wrong}) == 4
        assert (
            len({re.sub("[a-g][',]*", "x", option) for option in (right, *wrong)}) == 1
        )  # the same rhythm


def test_masked_metres_have_options_of_different_lengths(rows):
    assert {row["kind"] for row in rows["metadata_prediction"]} == {"key", "metre"}
    metres = [row["options"] for row in rows["metadata_prediction"] if row["kind"] == "metre"]
    assert all(len(set(map(Fraction, options))) == 4 for options in metres)


def test_options_by_themselves_tell_nothing(rows):
    # Four rows have the same options, each of which is right once; only the last four may be cut
    # short. There are not enough pieces for this in styles.
    for task in ("composer_recognition", "music_captioning"):
        answers = {}
        for row in rows[task]:
            answers.setdefault(
                frozenset(row["options"]), Counter(dict.fromkeys(row["options"], 0))
            )[right(row)] += 1
        ranges = [max(counts.values()) - min(counts.values()) for counts in answers.values()]
        assert sum(ranges) <= 1
        places = Counter(row["answer"] for row in rows[task])
        assert max(places.values()) - min(places.values()) <= 1


@pytest.fixture(scope="module")
def many(usable_tunes):
    """Six times the tunes, under other names and titles."""
    words = ("Anchor", "Badger", "Candle", "Dagger", "Ember", "Falcon")
    colours = [
        "Red",
        "Blue",
        "Green",
        "Grey",
        "Black",
        "White",
        "Pink",
        "Gold",
        "Brown",
        "Yellow",
        "Purple",
        "Silver",
    ]
    return [
        tune._replace(
            id=f"{tune.id}-{word}", header={**tune.header, "mutopiatitle": f"{colour} {word}"}
        )
        for tune, colour in zip(usable_tunes, colours, strict=True)
        for word in words
    ]


def test_two_pieces_of_an_opus_at_most_and_no_title_with_a_key(many):
    opus = [
        piece._replace(id=f"DoeJ/op{number // 6}/{number}") for number, piece in enumerate(many)
    ]
    rows = make_rows("bar_count", opus, 7, 24)
    assert set(Counter(row["piece"].rpartition("/")[0] for row in rows).values()) == {2}
    titled = [
        piece._replace(
            header={
                **piece.header,
                "mutopiatitle": piece.header["mutopiatitle"] + " in D" * (number % 2),
            }
        )
        for number, piece in enumerate(many)
    ]
    for row in make_rows("music_captioning", titled, 7, 6):
        assert not any(option.endswith(" in D") for option in row["options"])


def test_looks_that_give_answers_away_are_refused():
    row = task_row(
        "genre_recognition",
        "strict",
        "",
        "0",
        score="",
        options=["Jazz", "Hymn", "March", "Technique"],
    )
    marked = [
        row
        | {
            "id": str(n),
            "piece": f"folder{n % 6}/{n}",
            "answer": str(n % 4),
            "score": f"{{ \\look{'abcd'[n % 4]} c'4 }}",
        }
        for n in range(48)
    ]
    with pytest.raises(ValueError, match=r"'looks' gets 100.0% of 48 right, .* floor is 25.0%"):
        audit.refuse_leaks("lilybench", "genre_recognition", "text", marked)
    # What is right in one folder alone cannot be learned from others.
    alone = [row | {"piece": "abcd"[n % 4]} for n, row in enumerate(marked)]
    audit.refuse_leaks("lilybench", "genre_recognition", "text", alone)


@pytest.mark.parametrize("task", ["metadata_qa"])
def test_scores_whose_looks_give_answers_away_are_refused(task, many):
    """A piece of every tune is in each of four folders, and the tunes of one value look alike
    there.
    """
    looks = (
        "\\stemUp",
        "\\stemDown",
        "\\stemNeutral",
        "\\voiceOne",
        "\\voiceTwo",
        "\\oneVoice",
        "\\slurUp",
        "\\slurDown",
    )
    values = [
        (written(piece.score)["key"], piece.header["composer"], piece.header["style"])
        for piece in many
    ]
    place = ("metadata_qa", "composer_recognition", "genre_recognition").index(task)
    names = sorted({value[place] for value in values})
    typeset = [
        piece._replace(
            id=f"f{n % 6}/{n}", score=f"{piece.score}{looks[names.index(value[place]) % 8]}\n"
        )
        for n, (piece, value) in enumerate(zip(many, values, strict=True))
    ]
    with pytest.raises(ValueError, match="the guesser 'looks' gets"):
        make_rows(task, typeset, 7, 48)
