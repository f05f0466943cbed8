"""The MUSE tasks end to end: on the generated stimuli with the baselines, and with scripted,
hostile models.
"""

import base64
import io

import pytest
import soundfile
from inspect_ai.model import (
    ContentAudio,
    ContentImage,
)
from PIL import Image

from music_evals.evals.muse import chord_quality, syncopation, transposition
from music_evals.evals.shared.parameters import ParameterError
from music_evals.solvers import media
from tests import garbled  # noqa: F401 - registers a model
from tests.harness import run_scripted, samples

TASKS = {
    "syncopation": syncopation, "transposition": transposition, "chord_quality": chord_quality
}  # fmt: skip


def formulation_counts(sample):
    assert sample.scores is not None
    return sample.scores["solver_decision"].metadata or {}


def values(sample, scorer):
    assert sample.scores is not None
    return sample.scores[scorer].value


# --- the baselines ---


# --- what a reader of the log is shown ---

DRAWN = media.render_media  # other tests do without


def test_the_first_trials_are_seen_and_heard_in_the_log_and_nowhere_else(tmp_path, monkeypatch):
    monkeypatch.setattr(media, "render_media", DRAWN)
    sent = []

    def reply(messages, config):
        sent.append(messages)
        return "Final Answer: E"

    logs = [
        run_scripted(syncopation(media=shown), tmp_path / str(shown), reply, limit=2)
        for shown in (1, 0)
    ]
    (first, second), (plain, _) = map(samples, logs)
    assert [len(messages) for messages in sent] == [2] * 4
    # No solver of its own, which Inspect would compare the state around in samples without media
    # too. Inspect leaves the package's name out where it does not find it installed, as in a clone.
    assert [[step.solver.rpartition("/")[2] for step in log.plan.steps] for log in logs] == [
        ["reply"]
    ] * 2
    roles = ["system", "user", "assistant"]
    assert [message.role for message in first.messages] == [*roles, "user"]
    assert (
        [message.role for message in second.messages]
        == [message.role for message in plain.messages]
        == roles
    )
    content = {one.type: one for one in first.messages[-1].content if not isinstance(one, str)}
    assert isinstance(content["image"], ContentImage)
    assert isinstance(content["audio"], ContentAudio)
    picture, sound = (
        io.BytesIO(base64.b64decode(uri.partition(",")[2]))
        for uri in (content["image"].image, content["audio"].audio)
    )
    assert Image.open(picture).width > 200
    assert soundfile.info(sound).duration == pytest.approx(8, abs=0.5)  # four measures at 120
    assert plain.output.completion == first.output.completion
    assert [log.eval.metadata["condition"] for log in logs if log.eval.metadata] == [{}, {}]
    assert first.id == str(first.metadata["row"]).removeprefix("syncopation-")


# --- what is asked ---


@pytest.mark.parametrize(
    ("modality", "shown", "hidden"),
    [("midi", "note_on", "data:audio"), ("audio", "data:audio", "note_on")],
)
def test_a_trial_shows_its_modality_only_and_never_its_answer(modality, shown, hidden):
    for make in TASKS.values():
        task = make(modality=modality, shots="few")
        for sample in list(task.dataset)[:5]:
            text = "".join(
                message.model_dump_json(exclude={"metadata"}) for message in sample.input
            )  # type: ignore[union-attr]
            trial = sample.input[-1].model_dump_json(exclude={"metadata"})  # type: ignore[union-attr]
            assert shown in trial
            assert hidden not in text
            assert str(sample.id) not in text
            assert "Final Answer" not in trial


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[syncopation", "cannot be read as a TOML file"),
        ("syncopation = " + "[" * 20_000, "cannot be read as a TOML file"),
        ("[harmony]\nx = 'y'", "unknown key 'harmony'; known are 'syncopation', 'transposition'"),
        ("[syncopation]\nfinal = 3", "is int; a text is needed"),
        ("syncopation = 'x'", "is str; a table is needed"),
        (
            "[syncopation]\nfinal = 'The result $outcome'",
            "uses $outcome; the placeholders of this text are: $finding",
        ),
        ("[syncopation]\nfinal = 'Costs $ 5'", "'$' that begins no placeholder"),
    ],
)
def test_bad_prompts_are_named(text, message, tmp_path):
    own = tmp_path / "own.toml"
    own.write_text(text)
    with pytest.raises(ParameterError) as caught:
        syncopation(prompts=str(own))
    assert message in str(caught.value.message)


# --- hostile and unlucky models ---

GOOD = "rhythm(Excerpt1, [1, 3, 5, 7])"
HOSTILE = {  # further forms are read in tests/solvers
    "nothing": ("", "parse"),
    "megabytes": ("rhythm(" * 700_000, "parse"),
    "nested brackets": ("[" * 100_000, "parse"),
    "huge integer": (f"rhythm(Excerpt1, [{'9' * 15_000}])", "domain"),
    "two lines": (f"{GOOD}\n{GOOD}", "structural"),
    "template": ("rhythm(Excerpt1, [$output, ${kind}, {0}])", "parse"),
    "markup": ("</output>[/red]<script>alert(1)</script>", "parse"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_output_is_labelled_and_ends_after_two_refinements(case, tmp_path):
    text, kind = HOSTILE[case]
    seen = []

    def reply(messages, config):
        seen.append((messages, config))
        return text

    log = run_scripted(syncopation(strategy="logiclm"), tmp_path, reply)
    (sample,) = samples(log)
    counts = formulation_counts(sample)
    assert counts[f"{kind}_errors"] == 3
    assert (counts["refinements"], counts["no_decision"], counts["valid_first_try"]) == (2, 1, 0)
    assert [values(sample, name) for name in ("solver_decision", "final_answer")] == ["N", "N"]
    assert counts["answered"] == 0
    assert len(seen) == 4  # formulation, two refinements, closing question
    for messages, config in seen[1:3]:
        assert len(messages) == 1
        assert len(messages[0].text) < 6_000
        assert f"{kind} error" in messages[0].text
        assert "rhythm(Excerpt1, [])" in messages[0].text
        assert (config.temperature, config.top_p, config.top_k, config.max_tokens) == (
            0.0,
            1.0,
            1,
            256,
        )


@pytest.mark.parametrize(
    ("lines", "answer", "decision", "expected", "finding"),
    [
        # An undecided result has one further round.
        (
            ["[])", "[1, 2])"],
            "B",
            None,
            {"undecided_results": 2, "no_decision": 1, "valid_first_try": 1},
            "not decide",
        ),
        # A repaired line decides, and the model's answer may disagree.
        (
            ["[1, 2, 4", "[1, 2, 4])"],
            "E",
            "B",
            {"parse_errors": 1, "no_decision": 0, "agreement": 0},
            "2 kick or snare",
        ),
    ],
)
def test_a_second_formulation_is_the_last(
    lines,
    answer,
    decision,
    expected,
    finding,
    tmp_path,
):
    replies = iter([*(f"rhythm(Excerpt1, {line}" for line in lines), f"Final Answer: {answer}"])
    (sample,) = samples(
        run_scripted(syncopation(strategy="logiclm"), tmp_path, lambda *_: next(replies))
    )
    counts = formulation_counts(sample)
    assert {**expected, "refinements": 1}.items() <= counts.items()
    assert sample.scores is not None
    assert [sample.scores[name].answer for name in ("solver_decision", "final_answer")] == [
        decision,
        answer,
    ]
    assert finding in sample.messages[-2].text
