"""Continuations: what follows really follows, and nothing but the music tells it apart."""

import re

import pytest

from music_evals.datasets_builders.dataset_io import DatasetError
from music_evals.datasets_builders.ziqi import continuation
from music_evals.datasets_builders.ziqi.continuation import (
    COLLECTIONS,
    compose_continuations,
)


@pytest.fixture(scope="module")
def questions():
    return compose_continuations(300, 1)


def parts(question):
    """Header, measures of the opening with its pickup, and measures of the options, the right one
    first.
    """
    lines = question.text["en"].split("\n")
    assert lines[1] == ""
    assert lines[2] == "X:1"
    options = [
        text.removesuffix(" |").split(" | ")
        for text in (question.right["en"], *question.wrong["en"])
    ]
    return (
        dict(line.split(":", 1) for line in lines[2:6]),
        lines[6].removesuffix(" |").split(" | "),
        options,
    )


def test_right_option_follows_in_the_file(questions):
    """music21's tokens of the file, which share no code with our reader, begin with the opening and
    the right option.

    Tunes with first and second endings are passed over: there the file's order is not that of
    playing.
    """
    from music21 import abcFormat, corpus

    paths = [
        path
        for path in corpus.getCorePaths(fileExtensions=("abc",))
        if path.parent.name in COLLECTIONS
    ]
    stems = [re.sub("[^a-z0-9]+", "-", path.stem.lower()).strip("-") for path in paths]
    files = {
        f"{COLLECTIONS[path.parent.name]}-{stem}": path
        for path, stem in zip(paths, stems, strict=True)
    }
    checked = 0
    for question in questions[:200]:
        stem = question.name.removeprefix("continuation-").rpartition("-")[0]
        number = None
        if stem not in files:
            stem, _, number = stem.rpartition("-")
        text = files[stem].read_text(encoding="latin-1")
        if number is not None:
            text = re.split(r"(?m)^(?=X:)", text)[int(number)]
        if re.search(r"[|\[][1-9]", text):
            continue
        handler = abcFormat.ABCHandler()
        # It loses the note after a fermata that is written as H, and takes an E before a colon for
        # a field.
        handler.process(
            re.sub(r"H(?=[A-Ga-g])|(?<=\w)(?=:[:|])", " ", re.split(r"\n\s*\n", text)[0])
        )
        graced = 0
        written = ""
        for token in handler.tokens:
            if isinstance(token, abcFormat.ABCGraceStart):
                graced += 1
            elif isinstance(token, abcFormat.ABCGraceStop):
                graced -= 1
            elif isinstance(token, abcFormat.ABCNote) and not graced:
                written += "".join(
                    re.findall(r"[A-Ga-g][,']*", re.sub(r'"[^"]*"|![^!]*!', "", token.src))[:1]
                )
        _, opening, options = parts(question)
        asked = "".join(re.findall(r"[A-Ga-g][,']*", "".join([*opening, *options[0]])))
        assert written.startswith(asked), question.name
        checked += 1
    assert checked > 120


def test_neither_repeats_nor_lengths_tell(questions):
    score = {max: 0.0, min: 0.0}
    for question in questions:
        _, opening, options = parts(question)
        for option in options:
            assert not set(option) & set(opening[-int(question.name.rpartition("-")[2]) :])
            assert " | ".join(option) not in question.text["en"]
        lengths = [len(text) for text in (question.right["en"], *question.wrong["en"])]
        for extreme in score:
            if lengths[0] == extreme(lengths):
                score[extreme] += 1 / lengths.count(lengths[0])
    # 75 of 300 on average; 99.9% of binomial draws lie within 3.3 standard deviations of 7.5.
    assert all(abs(points - 75) < 25 for points in score.values())


@pytest.mark.slow
def test_only_continuations_whose_distractors_are_shorter_are_refused(
    monkeypatch,
):
    continuation.refuse_guessable_continuations.__wrapped__()
    drawn, cuts = continuation._distractors, continuation._cuts()[::3]
    monkeypatch.setattr(continuation, "_cuts", lambda: cuts)

    def shorter(cut, pool, rng):
        longest = len("".join(cut.continuation)) - 1
        return drawn(cut, [one for one in pool if len("".join(one.continuation)) <= longest], rng)

    monkeypatch.setattr(continuation, "_distractors", shorter)
    with pytest.raises(DatasetError, match="continuations can be guessed"):
        continuation.refuse_guessable_continuations.__wrapped__()


@pytest.mark.parametrize(
    ("count", "message"), [(-1, "0 or more"), (301, "the tunes yield [0-9]+ questions")]
)
def test_counts_out_of_range(count, message, monkeypatch):
    cuts = continuation._cuts()[:300]
    monkeypatch.setattr(continuation, "_cuts", lambda: cuts)
    with pytest.raises(ValueError, match=message):
        compose_continuations(count, 1)
