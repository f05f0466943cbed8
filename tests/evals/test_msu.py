"""MSU-Bench's tasks end to end: prompts, order, judges, what is too long, and runs that were cut
off.
"""

import pytest
from inspect_ai.model import (
    ContentAudio,
    ContentImage,
    ContentText,
    get_model,
)

from music_evals.evals.msu import score, textual, visual
from music_evals.evals.shared.parameters import ParameterError
from music_evals.solvers.stimulus import pages_in
from tests.harness import metrics, run, samples
from tests.msu_dataset import ABC, QUESTIONS, png, question, write_rows, write_small
from tests.msu_dataset import score as score_row
from tests.notation.scores.test_renderings import STUDY

RIGHT = "\n".join(
    f"{number}. {answer}" for number, (*_, answer, _type) in enumerate(QUESTIONS, start=1)
)


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    return write_small(tmp_path_factory.mktemp("msu") / "small")


def scripted(reply, name="model"):
    return get_model(f"scripted/{name}", reply=reply, memoize=False)


def right(messages, _config):
    metre = next(line for line in messages[1].text.splitlines() if line.startswith("M:"))[2:]
    return RIGHT.format(metre=metre)


def test_who_dodges_earns_what_is_known_and_no_more(small, tmp_path):
    """The questions whose reference a rule reads count, whatever the answers are."""

    def dodging(messages, config):
        first, *rest = right(messages, config).splitlines()
        return "\n".join([first, *(f"{line.partition('.')[0]}. as engraved" for line in rest)])

    (log,) = run(textual(dataset=small, cache=False), tmp_path, scripted(dodging))
    found = metrics(log)["judged"]
    assert (found["accuracy"], found["questions"], found["unscored"]) == (
        pytest.approx(3 / 33),
        33,
        3,
    )


# --- PDFs, and pages with ABC ---

PDF = b"%PDF-1.4 << /Type /Page >> << /Type /Page >> << /Type /Page >> of a waltz"


@pytest.fixture(scope="module")
def with_pdf(tmp_path_factory):
    """Three scores of two pages, one of which has a PDF of three pages."""
    names = ("march", "waltz", "gigue")
    pages = [
        [{"bytes": png(shade), "path": None} for shade in (10 * at, 10 * at + 5)] for at in range(3)
    ]
    scores = [score_row(name, images=images) for name, images in zip(names, pages, strict=True)]
    for row, metre in zip(scores, ("4/4", "3/4", "6/8"), strict=True):
        row["abc"] = ABC.format(title=row["title"], metre=metre)
    scores[1]["pdf"] = PDF
    questions = [
        question(name, 0, answer=metre)
        for name, metre in zip(names, ("4/4", "3/4", "6/8"), strict=True)
    ]
    return write_rows(
        tmp_path_factory.mktemp("msu") / "pdf", {"test": scores}, {"test": questions}, seed=5
    )


@pytest.mark.parametrize("pages", ["images", "pdf"])
@pytest.mark.parametrize("arm", ["none", "noise", "other"])
def test_an_arm_replaces_pages_and_abc(arm, pages, with_pdf):
    options = {"dataset": with_pdf, "pages": pages, "abc": True}
    given = {sample.id: music_of(sample) for sample in visual(**options).dataset}
    changed = list(visual(**options, stimulus=arm).dataset)
    assert len(changed) == 3
    for sample in changed:
        abc, files = music_of(sample)
        if arm == "none":
            assert (abc, files) == ("", [])
            assert "C D E F" not in sample.input[-1].text  # type: ignore[union-attr]
        elif arm == "other":
            owner = given[(sample.metadata or {})["stimulus_of"]]
            assert owner == (abc, files)
            assert owner != given[sample.id]
        else:
            assert abc.startswith("X:1\nM:")
            assert abc not in [other for other, _ in given.values()]
            parts = [part for part in sample.input[-1].content if pages_in(part)]  # type: ignore[union-attr]
            # Two pages are the median.
            assert [pages_in(part) for part in parts] == ([1, 1] if pages == "images" else [2])
            assert not {*files} & {file for _, others in given.values() for file in others}


def music_of(sample):
    message = sample.input[-1]
    spans = message.metadata["asks"].get("music", [])
    parts = [] if isinstance(message.content, str) else message.content
    files = [getattr(part, part.type) for part in parts if part.type != "text"]
    return "".join(message.text[start:end] for start, end in spans), files


def test_the_reader_reads_the_abc_beside_the_pages(with_pdf, tmp_path):
    reader = get_model("baseline/reader")
    (log,) = run(visual(dataset=with_pdf, pages="pdf", abc=True, cache=False), tmp_path, reader)
    assert metrics(log)["judged"]["accuracy"] == 1
    (log,) = run(
        visual(dataset=with_pdf, abc=True, stimulus="other", cache=False), tmp_path, reader
    )
    assert metrics(log)["judged"]["accuracy"] == 0
    assert visual(dataset=with_pdf, abc=True, stimulus="noise").dataset


def test_what_is_too_long_is_refused_and_named(small):
    tokens = len(ABC.format(title="March", metre="4/4")) // 2
    whole = textual(dataset=small, max_score_tokens=tokens + 1)
    assert (len(whole.dataset), (whole.metadata or {})["scores_refused"]) == (3, [])
    with pytest.raises(ParameterError, match="every score is longer than max_score_tokens"):
        textual(dataset=small, max_score_tokens=10)


@pytest.fixture(scope="module")
def rendered(tmp_path_factory):
    """Two scores with MusicXML, one of them damaged, and one without any."""
    scores = [
        score_row("study", musicxml=STUDY),
        score_row("broken", musicxml="<score-partwise/>"),
        score_row("none", musicxml=None),
    ]
    kinds = ("clef", "initial key", "chord quality", "bass note")
    questions = [
        question(row["score_id"], number, kind=kind)
        for row in scores
        for number, kind in enumerate(kinds)
    ]
    return write_rows(
        tmp_path_factory.mktemp("msu") / "rendered", {"test": scores}, {"test": questions}
    )


@pytest.mark.parametrize(
    ("rendering", "shown", "asked_of"),
    [
        ("musicxml", "<score-partwise", 4),
        ("midi", "note_on channel=", 2),
        ("audio", "", 1),
        ("pages", "", 4),
    ],
)
def test_a_score_is_asked_in_every_rendering_what_that_holds(rendering, shown, asked_of, rendered):
    task = score(dataset=rendered, rendering=rendering)
    assert len(task.dataset) == asked_of
    (first, *_) = task.dataset
    message = first.input[-1]
    assert shown in message.text  # type: ignore[union-attr]
    if not shown:
        parts = [part for part in message.content if not isinstance(part, ContentText)]  # type: ignore[union-attr]
        assert {type(part) for part in parts} == {
            ContentAudio if rendering == "audio" else ContentImage
        }
    about = task.metadata or {}
    assert about["condition"] == {"rendering": rendering}
    assert [why.split(":")[0] for why in about["scores_unlike"]] == ["broken", "none"]
    assert about["questions_not_held"] == 4 - asked_of
    assert ("score_tokens" in (first.metadata or {})) == bool(shown)


def test_a_dataset_of_which_nothing_can_be_rendered_is_an_error(tmp_path):
    rows = {"test": [score_row("none", musicxml=None)]}, {"test": [question("none", 0)]}
    with pytest.raises(ParameterError, match="has scores without musicxml"):
        score(dataset=write_rows(tmp_path / "none", *rows), rendering="musicxml")
    rows = {"test": [score_row("broken", musicxml="<no/>")]}, {"test": [question("broken", 0)]}
    with pytest.raises(ParameterError, match="no question is left to ask: broken: "):
        score(dataset=write_rows(tmp_path / "broken", *rows), rendering="musicxml")


def test_twins_move_answers_and_names_and_are_paired_with_their_questions(small, tmp_path):
    plain = {sample.id: sample for sample in textual(dataset=small, asking="single").dataset}
    (log,) = run(textual(dataset=small, asking="single", twin="transposed", cache=False), tmp_path)
    found = {sample.id: sample for sample in samples(log)}
    assert found.keys() == plain.keys()
    pitch = found["march-level2-1"]
    assert (pitch.target, pitch.metadata["twin_target"]) == ("G4", "F4")
    assert "K:D" in pitch.input[-1].text  # type: ignore[union-attr]
    assert found["march-level3-2"].target == "D major"
    assert found["march-level1-1"].target == plain["march-level1-1"].target
    named = {
        sample.id: sample
        for sample in textual(dataset=small, asking="single", twin="renamed").dataset
    }
    text = named["march-level1-1"].input[-1].text  # type: ignore[union-attr]
    assert "T:March" not in text
    assert "T:Waltz" in text or "T:Gigue" in text
    with pytest.raises(ParameterError, match="content=title"):
        textual(dataset=small, content="title", twin="renamed")
