"""MSU-Bench's tasks end to end: prompts, order, judges, what is too long, and runs that were cut
off.
"""

import base64
from pathlib import Path

import pytest
from inspect_ai import eval as inspect_eval
from inspect_ai.model import (
    ContentAudio,
    ContentDocument,
    ContentImage,
    ContentText,
    get_model,
)

from music_evals.datasets_builders.dataset_io import load_split
from music_evals.evals import msu
from music_evals.evals.msu import score, textual, visual
from music_evals.evals.shared.parameters import ParameterError
from music_evals.evals.shared.request_counts import requests_of
from music_evals.solvers.stimulus import pages_in
from tests.evals.test_question_sets import openai_server
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


def asked(log):
    return [sample.input[-1].text for sample in samples(log) if not isinstance(sample.input, str)]


def test_a_batch_is_a_prompt_a_score_with_the_score_ahead_of_the_questions(small, tmp_path):
    (log,) = run(textual(dataset=small, cache=False), tmp_path, scripted(right))
    assert sorted(str(sample.id) for sample in samples(log)) == ["gigue", "march", "waltz"]
    march = next(text for text in asked(log) if "T:March" in text)
    assert ABC.format(title="March", metre="4/4").strip() in march
    assert (
        march.index("%2")
        < march.index("1. What is the time signature?")
        < march.index("12. How many parts")
    )
    assert log.eval.task == "msu_like_textual_generated-seed5"
    assert log.eval.model_generate_config.temperature is None
    assert log.plan.config.temperature == 0.95
    assert (log.plan.config.top_p, log.plan.config.top_k) == (0.7, 50)
    found = metrics(log)["judged"]
    # By the rules; the composer is text, which no rule can check.
    assert (found["accuracy"], found["questions"], found["unscored"]) == (1, 33, 3)


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


def test_single_questions_stand_side_by_side_and_begin_alike(small):
    task = textual(dataset=small, asking="single")
    scores = [sample.metadata["score_id"] for sample in task.dataset if sample.metadata]
    assert scores == [name for name in ("march", "waltz", "gigue") for _ in range(12)]
    texts = [sample.input[-1].text for sample in task.dataset if not isinstance(sample.input, str)]
    beginning = texts[0][: texts[0].index("Question:")]
    assert all(text.startswith(beginning) for text in texts[:12])
    assert not texts[12].startswith(beginning)
    assert texts[0].endswith("Question: What is the time signature?")


def test_pages_come_in_order(small, tmp_path):
    (log,) = run(visual(dataset=small, cache=False), tmp_path, scripted(lambda *_: RIGHT))
    sample = next(sample for sample in samples(log) if sample.id == "waltz")
    content = sample.input[1].content  # type: ignore[union-attr]
    assert isinstance(content, list)
    assert [type(part) for part in content] == [
        ContentText,
        ContentImage,
        ContentImage,
        ContentText,
    ]
    pages = [
        base64.b64decode(part.image.partition(",")[2])
        for part in content
        if isinstance(part, ContentImage)
    ]
    assert pages == [png(10), png(11)]
    assert content[0].text == "The pages of the score, in order:"  # type: ignore[union-attr]


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


def test_a_pdf_reaches_a_server_as_it_is_and_the_pages_of_others_as_one(with_pdf, tmp_path):
    requests = []
    with openai_server(requests) as url:
        model = get_model("openai-api/local/m", base_url=url, api_key="x")
        (log,) = run(visual(dataset=with_pdf, pages="pdf", cache=False), tmp_path, model)
    assert (log.eval.metadata or {})["condition"] == {"pages": "pdf", "cache": False}
    contents = [request["messages"][1]["content"] for request in requests]
    assert [[part["type"] for part in content] for content in contents] == [
        ["text", "file", "text"]
    ] * 3
    files = [content[1]["file"] for content in contents]
    assert {file["filename"] for file in files} == {"document.pdf"}
    heads, bodies = zip(*(file["file_data"].split(",") for file in files), strict=True)
    assert set(heads) == {"data:application/pdf;base64"}
    pdfs = [base64.b64decode(body) for body in bodies]
    assert PDF in pdfs
    assert len(set(pdfs)) == 3
    assert sorted(pdf.count(b"/Type /Page\n") for pdf in pdfs) == [0, 2, 2]


def test_a_score_needs_pages_or_a_pdf(tmp_path):
    rows = {"test": [score_row("march", pdf=PDF)]}, {"test": [question("march", 0)]}
    dataset = write_rows(tmp_path / "pdf", *rows)
    assert len(visual(dataset=dataset, pages="pdf").dataset) == 1
    with pytest.raises(ParameterError, match="has scores without images"):
        visual(dataset=dataset)
    rows = {"test": [score_row("march")]}, {"test": [question("march", 0)]}
    with pytest.raises(ParameterError, match="has scores without images"):
        visual(dataset=write_rows(tmp_path / "none", *rows), pages="pdf")


def test_pages_and_abc_are_shown_together(with_pdf):
    plain = {sample.id: sample for sample in textual(dataset=with_pdf).dataset}
    for pages, kind in (("images", ContentImage), ("pdf", ContentDocument)):
        task = visual(dataset=with_pdf, pages=pages, abc=True)
        assert requests_of(task).pictures == (6 if pages == "images" else 7)
        for sample in task.dataset:
            message = sample.input[-1]
            first, *shown, last = message.content  # type: ignore[union-attr]
            assert {type(part) for part in shown} == {kind}
            asks = (message.metadata or {})["asks"]  # type: ignore[union-attr]
            ((start, end),) = asks["music"]
            abc = ABC.format(title=str(sample.metadata["title"]), metre=sample.target)  # type: ignore[index]
            assert message.text[start:end] == first.text[start:end] == abc  # type: ignore[union-attr]
            assert last.text == f"Question: {plain[sample.id].metadata['questions'][0]['question']}"  # type: ignore[index]
    assert (visual(dataset=with_pdf).metadata or {})["condition"] == {}
    assert (task.metadata or {})["condition"] == {"pages": "pdf", "abc": True}
    with pytest.raises(ParameterError, match="content=title shows no score"):
        visual(dataset=with_pdf, content="title", abc=True)


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


def test_pdfs_are_loaded_only_where_they_are_shown(with_pdf, monkeypatch):
    loaded = []

    def load(*arguments, columns=None, **options):
        loaded.extend(columns or ())
        return load_split(*arguments, columns=columns, **options)

    monkeypatch.setattr(msu, "load_split", load)
    visual(dataset=with_pdf, abc=True)
    textual(dataset=with_pdf)
    assert {"abc", "images"} < {*loaded}
    assert "pdf" not in loaded
    visual(dataset=with_pdf, pages="pdf")
    assert "pdf" in loaded


def test_a_dataset_of_an_earlier_version_has_no_pdfs():
    older = str(Path(__file__).parents[1] / "golden" / "data" / "msu")
    assert len(visual(dataset=older).dataset) == 3
    with pytest.raises(
        ParameterError, match=r"lacks the columns pdf \(built by version 1\.0\.0 .* build it again"
    ):
        visual(dataset=older, pages="pdf")


def test_by_title_alone(small):
    for make in (textual, visual):
        (sample, *_) = make(dataset=small, content="title").dataset
        text = sample.input[-1].text  # type: ignore[union-attr]
        assert text.startswith("The piece is: March by Nobody\n")
        assert "C D E F" not in text


def test_levels_and_splits(small):
    (sample,) = textual(dataset=small, levels="1,3", split="test").dataset
    assert sample.id == "gigue"
    assert sample.metadata is not None
    assert [row["level"] for row in sample.metadata["questions"]] == [1, 1, 1, 3, 3, 3]
    assert len(textual(dataset=small, levels=2, asking="single").dataset) == 9


def test_a_level_without_questions_is_named(tmp_path):
    rows = [question("march", number) for number in (3, 4, 6)]
    dataset = write_rows(tmp_path / "two", {"test": [score_row("march")]}, {"test": rows})
    with pytest.raises(ValueError, match="has no question of levels=1; it has levels 2, 3"):
        textual(dataset=dataset, levels=1)


def test_what_is_too_long_is_refused_and_named(small):
    tokens = len(ABC.format(title="March", metre="4/4")) // 2
    whole = textual(dataset=small, max_score_tokens=tokens + 1)
    assert (len(whole.dataset), (whole.metadata or {})["scores_refused"]) == (3, [])
    with pytest.raises(ParameterError, match="every score is longer than max_score_tokens"):
        textual(dataset=small, max_score_tokens=10)


def test_three_judges_decide_and_are_named(small, tmp_path):
    judges = {
        "strict": scripted(lambda *_: "0", "strict"),
        "kind": scripted(lambda *_: "1", "kind"),
        "kinder": scripted(lambda *_: "1", "kinder"),
    }
    task = textual(dataset=small, judges=list(judges), cache=False)
    (log,) = run(task, tmp_path, scripted(lambda *_: RIGHT), model_roles=judges)
    assert [
        one.metadata["judged_by_rules"]
        for one in (log.eval, textual(dataset=small))
        if one.metadata
    ] == [
        False,
        True,
    ]
    found = metrics(log)["judged"]
    assert (found["accuracy"], found["unscored"]) == (1, 0)
    score = (samples(log)[0].scores or {})["judged"]
    assert set((score.metadata or {})["questions"][0]["votes"]) == set(judges)


def test_a_run_cut_off_between_answer_and_judging_goes_on_without_asking_again(small, tmp_path):
    calls = []
    broken = True

    def answer(*_):
        calls.append("asked")
        return RIGHT

    def judge(*_):
        if broken:
            raise KeyboardInterrupt
        return "1"

    models = {
        "model": scripted(answer, "cut-off"),
        "model_roles": {"judge": scripted(judge, "judge")},
    }
    task = textual(dataset=small, judges=["judge"])
    options = {"log_dir": str(tmp_path), "display": "none", "log_realtime": False}
    try:
        (log,) = inspect_eval(task, **models, **options)
    except KeyboardInterrupt:
        log = None
    assert log is None or log.status != "success"
    assert len(calls) == 3
    broken = False
    (log,) = inspect_eval(task, **models, **options)
    assert log.status == "success"
    assert len(calls) == 3
    assert metrics(log)["judged"]["accuracy"] == 1


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
