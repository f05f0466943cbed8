"""The attack on questions: it finds planted leaks, and nothing in questions without a leak."""

from dataclasses import replace
from random import Random

import pytest

from music_evals.datasets_builders.dataset_io import DatasetError
from music_evals.datasets_builders.questions.attack import (
    ALL,
    OPTIONS_ALONE,
    Share,
    attack,
    best,
    refuse_guessable,
)
from music_evals.datasets_builders.questions.items import Item, item_of

WORDS = ("do", "re", "mi", "fa", "sol", "la", "si")


def exchangeable(count: int, seed: int, form: str = "plain") -> list[Item]:
    """Questions with four different runs of syllables, of which any may be right."""
    rng = Random(seed)
    items = []
    for number in range(count):
        options: set[str] = set()
        while len(options) < 4:
            options.add(" ".join(rng.choices(WORDS, k=rng.randint(1, 5))))
        drawn = tuple(rng.sample(sorted(options), 4))
        items.append(
            Item(form, "Which?", drawn, rng.choice(drawn), f"{number // 3}", f"{form}{number}")
        )
    return items


def longest(items: list[Item]) -> list[Item]:
    return [replace(item, answer=max(item.options, key=len)) for item in items]


def changed_ones(count: int, seed: int) -> list[Item]:
    """Questions whose wrong options have one word of the right option changed."""
    rng = Random(seed)
    items = []
    for number in range(count):
        right = rng.choices(WORDS, k=5)
        wrong = {
            " ".join([*right[:at], rng.choice("xyz"), *right[at + 1 :]])
            for at in rng.sample(range(5), 3)
        }
        options = tuple(rng.sample([" ".join(right), *sorted(wrong)], 4))
        items.append(Item("changed", "", options, " ".join(right), str(number), str(number)))
    return items


def by_guesser(shares: list[Share], form: str) -> dict[str, float]:
    return {share.guesser: share.value for share in shares if share.form == form}


def test_planted_leaks_are_found_by_form() -> None:
    shares = attack([*longest(exchangeable(300, 1, "long")), *exchangeable(900, 2)])
    assert (
        by_guesser(shares, "long")["longest"] > 0.85
    )  # less than 1, because two options may be equally long
    assert by_guesser(shares, "plain")["longest"] < 0.3
    assert best(shares)["long"].guesser == "longest"
    assert {share.form for share in shares} == {"long", "plain", ALL}
    assert by_guesser(attack(changed_ones(300, 3)), "changed")["most like the others"] == 1
    numbers = Item("numbers", "", ("2", "90", "40.5", "7", "20"), "20", "1", "1")
    others = [
        replace(numbers, answer="7"),
        replace(numbers, options=("2", "90", "many", "7", "20")),
    ]
    assert [
        by_guesser(attack([item]), "numbers")["median number"] for item in (numbers, *others)
    ] == [1, 0, 0.2]


def test_a_bank_with_a_leak_is_refused_and_an_exchangeable_one_is_not() -> None:
    learned, fresh = exchangeable(600, 4), exchangeable(2000, 5)
    refuse_guessable("syllables", learned, fresh)
    # One question in ten has the longest option as its answer: 32% for the guesser that takes the
    # longest.
    spoilt = [
        longest([item])[0] if number % 10 == 0 else item for number, item in enumerate(learned)
    ]
    leaky = [longest([item])[0] if number % 10 == 0 else item for number, item in enumerate(fresh)]
    with pytest.raises(
        DatasetError,
        match=r"syllables can be guessed: of the form 'plain' the guesser .* 25%; accepted",
    ):
        refuse_guessable("syllables", spoilt, leaky)
    # Single forms are too small for the bound: only a glaring leak is refused.
    forms = [replace(item, form=str(number % 8)) for number, item in enumerate([*learned, *fresh])]
    bad = [longest([item])[0] if item.form == "7" else item for item in forms]
    refuse_guessable("syllables", forms[:600], forms[600:])
    with pytest.raises(DatasetError, match="of the form '7' the guesser"):
        refuse_guessable("syllables", bad[:600], bad[600:])


def test_answers_of_one_kind_are_learned_from_other_questions() -> None:
    known = [
        Item("yes or no", "", (), answer, "1", str(n))
        for n, answer in enumerate(["no", "no", "no", "yes"])
    ]
    tried = [
        Item("yes or no", "", (), answer, "2", str(n))
        for n, answer in enumerate(["no", "yes", "no", "no"])
    ]
    share, _ = attack(tried, known)
    assert (share.guesser, share.value, share.n, share.chance) == ("commonest answer", 0.75, 4, 0.5)
    # Two kinds of questions with one form have different wordings.
    known += [Item("yes or no", "Is it a waltz?", (), "yes", "1", f"w{n}") for n in range(2)]
    waltz = Item("yes or no", "Is this a waltz?", (), "yes", "2", "w")
    assert by_guesser(attack([waltz], known), "yes or no") == {
        "commonest answer": 0,
        "question's words": 1,
    }


def test_letters_of_the_opening_are_a_reader_and_no_blind_guesser() -> None:
    item = Item(
        "tune",
        "",
        ("c d e f", "z z z z", "x x x x", "g g g g"),
        "c d e f",
        "1",
        "1",
        "c d e f c d e f ",
    )
    shares = by_guesser(attack([item]), "tune")
    assert shares["letters"] == 1
    assert "letters" not in by_guesser(attack([item], guessers=OPTIONS_ALONE), "tune")


def test_a_question_in_two_languages_counts_once() -> None:
    rows = [
        {
            "id": f"{n}-{language}",
            "options": [*"wxyz"],
            "answer": "A",
            "question": "?",
            "language": language,
        }
        for n in range(50)
        for language in ("zh", "en")
    ]
    shares = attack([item for row in rows if (item := item_of(row, "test"))])
    total = next(
        share for share in shares if (share.form, share.guesser) == (ALL, "commonest place")
    )
    assert (total.value, total.n, total.units) == (1, 100, 50)
    assert total.interval()[0] == pytest.approx(
        50 / (50 + 1.959964**2)
    )  # Wilson's bound if all are right
    assert item_of({"id": "a", "options": [*"wxyz"], "answer": "2031"}, "order") is None
