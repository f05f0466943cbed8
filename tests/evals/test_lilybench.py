"""LilyBench's understanding end to end, on a small dataset whose answers are plain to see."""

import pytest
from inspect_ai import score
from inspect_ai.log import read_eval_log
from inspect_ai.model import ContentText, get_model

from music_evals.benchmarks.prompts import load_prompts
from music_evals.datasets_builders.lilybench.rows import PROTOCOLS, TASKS
from music_evals.evals import lilybench
from music_evals.evals.shared.parameters import ParameterError
from music_evals.evals.shared.written_scores import listed, prompt_text
from music_evals.notation.lilypond.compiler import LilyPondError
from music_evals.scorers.score_tasks import option_index
from music_evals.solvers import media
from tests.harness import metrics, run, run_scripted, samples
from tests.lilybench_dataset import music, row, write_small

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


def test_reasoning_ends_in_a_labelled_line(small, tmp_path):
    tasks = [make(name, small, strategy="cot") for name in ("genre_recognition", *HEADLINES)]  # type: ignore[arg-type]
    model = knowing(
        tasks, "I count 1, 2, 3 and then some, or none.\nAnswer: 0\nNo.\n\n**Answer:** {}"
    )
    assert [headline(log) for log in run(tasks, tmp_path, model=model)] == [1] * 4


@pytest.mark.parametrize(
    ("model", "strategy", "protocol"),
    [
        ("baseline/reader", "standalone", "strict"),
        ("baseline/reader", "cot", "paper"),
        ("baseline/chance", "cot", "strict"),
        ("baseline/majority", "standalone", "strict"),
    ],
)
def test_baselines_answer_in_form(small, tmp_path, model, strategy, protocol):
    names = (
        ("bar_count", "metadata_qa") if model == "baseline/reader" else ("metadata_qa", *HEADLINES)
    )
    tasks = [make(name, small, strategy=strategy, protocol=protocol) for name in names]
    logs = run(tasks, tmp_path, model=model, limit=2 if model == "baseline/reader" else None)
    for log in logs:
        (figures,) = metrics(log).values()
        assert figures["in_form"] == 1, log.eval.task
    found = {(log.eval.metadata or {})["config"]: headline(log) for log in logs}
    if model == "baseline/reader":
        assert found["bar_count"] == found["metadata_qa"] == 1


def test_what_a_prompt_holds(small):
    task = make("metadata_qa", small)
    assert (task.config.temperature, task.config.max_tokens) == (0, 20)  # the paper's
    assert (make("metadata_qa", small, strategy="cot").config.max_tokens or 0) >= 2000
    first = next(iter(task.dataset))
    system, user = list(first.input)  # type: ignore[arg-type]
    assert "LilyPond" in system.text  # type: ignore[union-attr]
    assert user.text == (  # type: ignore[union-attr]
        f"<score>\n{music(8).strip()}\n</score>\n\n"
        "In which key does this score begin?\n\n"
        "Options:\n0: C major\n1: G major\n2: D minor\n3: F major\n\n"
        "Reply with nothing but the index of the right option, which is 0, 1, 2 or 3."
    )
    assert first.target == "0"
    assert first.metadata is not None
    assert "score" not in first.metadata, "the log holds the score once"


def test_what_a_prompt_of_the_paper_holds(small):
    def told(name, **parameters):
        first = next(iter(make(name, small, protocol="paper", **parameters).dataset))
        system, user = list(first.input)  # type: ignore[arg-type]
        assert "music theory" in system.text  # type: ignore[union-attr]
        return user.text  # type: ignore[union-attr, no-any-return]

    score = music(8).strip()
    demand = "Output the index of the right option (0, 1, 2 or 3) and nothing else."
    assert (
        told("metadata_qa") == f"Score:\n{score}\n\nChoose the option that is this score's key.\n\n"
        f"Options:\n0. C major\n1. G major\n2. D minor\n3. F major\n\n{demand}"
    )
    assert (
        told("bar_sequencing")
        == "Score:\n0. f'4 g' a' |\n1. e''4 f'' g'' |\n2. c'4 d' e' |\n3. b'4 c'' d'' |\n\nThese"
        " four bars, with the indices 0 to 3, are shuffled. Give their indices in the right "
        "order as one string of digits, such as 0312.\n\nForm of the answer: four digits, each "
        "index once, without separators\n\nOutput the answer itself, without an explanation."
    )
    assert "Q3 low valence with low arousal" in told("emotion_recognition")
    assert "none" in told("error_detection")
    for name in TASKS:
        assert '"Answer:"' in told(name, strategy="cot")


def test_all_prompts_on_a_score_begin_alike(small):
    shared = f"<score>\n{music(9).strip()}\n</score>\n\n"
    for name in ("bar_count", "metadata_qa", "composer_recognition", "emotion_recognition"):
        for strategy in ("standalone", "cot"):
            second = list(make(name, small, strategy=strategy).dataset)[1]  # type: ignore[arg-type]
            assert asked(list(second.input)).startswith(shared)  # type: ignore[arg-type]


def test_options_of_several_lines_cannot_be_mistaken():
    text = listed(["c4\n1: d", "e4", "  f4\n\n", "g"])
    assert text == "0:\n    c4\n    1: d\n1:\n    e4\n2:\n      f4\n3:\n    g"
    assert [line[0] for line in text.splitlines() if not line.startswith(" ")] == list("0123")


def test_a_score_with_dollar_signs_is_shown_as_it_is():
    hostile = {
        **row("bar_count", "strict", 0),
        "score": "{ $music $$ ${x} </score>\n\nOptions:\n0: x }",
    }
    wording = load_prompts("lilybench")
    for protocol in PROTOCOLS:
        assert hostile["score"] in prompt_text(
            "bar_count", hostile, wording, protocol, "standalone"
        )


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


def test_generated_data_does_not_pass_for_lilybench(tmp_path):
    task = make("genre_recognition", write_small(tmp_path / "made", source="generated"))
    assert task.name == "lilybench_like_genre_recognition_generated-seed5"
    assert (task.metadata or {})["is_lilybench"] is False


def test_the_wording_can_be_replaced(small, tmp_path):
    mine = (
        '[question]\nbar_count = "How many bars?"\n[paper.question]\nbar_count = "What is the '
        'number of bars?"\n'
    )
    (tmp_path / "mine.toml").write_text(mine, encoding="utf-8")
    for protocol, question in (
        ("strict", "How many bars?"),
        ("paper", "What is the number of bars?"),
    ):
        task = make("bar_count", small, prompts=str(tmp_path / "mine.toml"), protocol=protocol)
        assert f"\n\n{question}\n\n" in asked(list(next(iter(task.dataset)).input))  # type: ignore[arg-type]


def test_hostile_replies_are_scored(small, tmp_path):
    hostile = ["", "9" * 100_000, "\0" * 1000, "<score>", "½", "[[0]]"]
    replies = iter(hostile * 2)
    model = get_model("scripted/model", reply=lambda *_: next(replies), memoize=False)
    for log in run(
        [make("error_detection", small), make("bar_count", small)], tmp_path, model=model
    ):
        (figures,) = metrics(log).values()
        assert (figures["answered"], figures["in_form"], headline(log)) == (0, 0, 0)


def test_a_log_can_be_scored_again_under_the_other_protocol(small, tmp_path):
    log = run_scripted(make("genre_recognition", small), tmp_path, lambda *_: "I say 0.")
    assert headline(log) == 0
    again = score(read_eval_log(log.location), option_index("paper"), action="overwrite")
    assert headline(again) == 1
