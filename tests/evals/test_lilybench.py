"""LilyBench's understanding end to end, on a small dataset whose answers are plain to see."""

import pytest
from inspect_ai.model import ContentText, get_model

from music_evals.datasets_builders.lilybench.rows import TASKS
from music_evals.evals import lilybench
from music_evals.evals.shared.parameters import ParameterError
from music_evals.notation.lilypond.compiler import LilyPondError
from music_evals.solvers import media
from tests.harness import metrics, run, run_scripted, samples
from tests.lilybench_dataset import music, write_small

HEADLINES = {"bar_count": "exact", "bar_sequencing": "tau", "error_detection": "macro_f1"}


needs_lilypond = pytest.mark.usefixtures("lilypond_runs")


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    return write_small(tmp_path_factory.mktemp("small") / "lilybench")


def make(name, small, **parameters):
    return getattr(lilybench, name)(dataset=small, **parameters)


def headline(log):
    (figures,) = metrics(log).values()
    assert log.eval.metadata is not None
    return figures[HEADLINES.get(log.eval.metadata["config"], "accuracy")]


def asked(messages):
    return next(message.text for message in reversed(messages) if message.role == "user")


def knowing(tasks, form="{}"):
    """A model that knows all answers."""
    answers = {
        asked(list(sample.input)): str(sample.target) for task in tasks for sample in task.dataset
    }  # type: ignore[arg-type]
    reply = lambda messages, _: form.format(answers[asked(messages)])  # noqa: E731
    return get_model("scripted/model", reply=reply, memoize=False)


def test_who_knows_the_answers_scores_in_full(small, tmp_path):
    strict = [make(name, small) for name in TASKS]
    paper = [make(name, small, protocol="paper") for name in ("metadata_prediction", *HEADLINES)]  # type: ignore[arg-type]
    logs = run([*strict, *paper], tmp_path, model=knowing([*strict, *paper]))
    assert [log.eval.task for log in logs[:10]] == [f"lilybench_{name}_mutopia" for name in TASKS]
    assert [(log.eval.metadata or {})["protocol"] for log in logs] == ["strict"] * 10 + [
        "paper"
    ] * 4
    for log in logs:
        assert headline(log) == 1, log.eval.task
        (figures,) = metrics(log).values()
        assert figures["in_form"] == 1


DRAWN = media.render_media  # other tests do without


def test_without_lilypond_the_log_says_that_there_is_no_picture(small, tmp_path, monkeypatch):
    def missing(*_, **__):
        raise LilyPondError("LilyPond is not installed")

    monkeypatch.setattr(media, "render_media", DRAWN)
    monkeypatch.setattr(media, "opening", missing)
    (sample,) = samples(run_scripted(make("bar_count", small), tmp_path, lambda *_: "12"))
    assert sample.messages[-1].text.endswith(
        "No picture: `LilyPondError: LilyPond is not installed`"
    )


def test_a_long_score_in_abc_is_not_drawn():
    abc = "X:1\nL:1/4\nM:4/4\nK:C\n" + "C D E F |\n" * 1000
    (content,) = DRAWN({"abc": abc})
    assert isinstance(content, ContentText)
    assert content.text.startswith("No picture, no sound: the score has 10,020 characters")


def test_long_scores_are_left_out_whole(small):
    lengths = [len(music(8 + number)) for number in range(4)]
    task = make("bar_count", small, max_score_tokens=-(-lengths[1] // 2))
    assert len(task.dataset) == 2
    assert (task.metadata or {})["rows_left_out"] == 2
    assert all(
        music(8 + number).strip() in asked(list(sample.input))
        for number, sample in enumerate(task.dataset)
    )  # type: ignore[arg-type]
    assert (make("bar_count", small).metadata or {})["rows_left_out"] == 0
    with pytest.raises(ParameterError, match="max_score_tokens=1 leaves no row of bar_count"):
        make("bar_count", small, max_score_tokens=1)
    with pytest.raises(ParameterError, match="leaves no row of bar_sequencing"):
        make("bar_sequencing", small, max_score_tokens=5)


def test_hostile_replies_are_scored(small, tmp_path):
    hostile = ["", "9" * 100_000, "\0" * 1000, "<score>", "½", "[[0]]"]
    replies = iter(hostile * 2)
    model = get_model("scripted/model", reply=lambda *_: next(replies), memoize=False)
    for log in run(
        [make("error_detection", small), make("bar_count", small)], tmp_path, model=model
    ):
        (figures,) = metrics(log).values()
        assert (figures["answered"], figures["in_form"], headline(log)) == (0, 0, 0)
