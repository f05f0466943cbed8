"""The MUSE tasks end to end: on the generated stimuli with the baselines, and with scripted,
hostile models.
"""

import base64
import io
import re
from itertools import product
from statistics import fmean

import pytest
import soundfile
from inspect_ai import eval as inspect_eval
from inspect_ai.model import (
    ContentAudio,
    ContentImage,
    get_model,
)
from PIL import Image
from scipy.stats import binom

from music_evals.datasets_builders.muse.dataset import Counts, build_generated, write
from music_evals.evals import muse
from music_evals.evals.muse import chord_quality, syncopation, transposition
from music_evals.evals.shared.parameters import ParameterError
from music_evals.reports.records import read_records
from music_evals.reports.report import section_tables
from music_evals.solvers import media
from tests import garbled  # noqa: F401 - registers a model
from tests.harness import metrics, run, run_scripted, samples
from tests.reports.logs import rows

TASKS = {
    "syncopation": syncopation, "transposition": transposition, "chord_quality": chord_quality
}  # fmt: skip
CHANCE = {"syncopation": 0.2, "transposition": 0.5, "chord_quality": 0.25}


def formulation_counts(sample):
    assert sample.scores is not None
    return sample.scores["solver_decision"].metadata or {}


def counts_of(log, name):
    return [formulation_counts(sample)[name] for sample in samples(log)]


def values(sample, scorer):
    assert sample.scores is not None
    return sample.scores[scorer].value


# --- the baselines ---


CONDITIONS = [
    {"strategy": "standalone", "shots": "few"},
    {"strategy": "cot"},
    {"strategy": "logiclm", "shots": "few"},
]


def test_the_reader_is_right_by_every_strategy(tmp_path):
    cells = list(product(TASKS, CONDITIONS))
    tasks = [TASKS[task](**condition) for task, condition in cells]
    assert [len(task.dataset) for task in tasks[:: len(CONDITIONS)]] == [20, 20, 44]
    for (_, condition), log in zip(cells, run(tasks, tmp_path, max_tasks=4, limit=4), strict=True):
        found = metrics(log)
        assert (found["final_answer"]["accuracy"], found["final_answer"].get("answered", 1)) == (
            1,
            1,
        )
        if condition["strategy"] == "logiclm":
            assert found["solver_decision"]["accuracy"] == 1
            assert {*counts_of(log, "valid_first_try")} == {*counts_of(log, "agreement")} == {1}
            assert {*counts_of(log, "refinements")} == {0}
            assert {*counts_of(log, "right_notes")} == {1}
        # Wilson's interval at 4 of 4: 1 / (1 + z^2 / 4).
        assert found["final_answer"]["accuracy_low"] == pytest.approx(
            1 / (1 + 1.959963984540054**2 / 4)
        )
        assert found["final_answer"]["accuracy_high"] == pytest.approx(1)


def test_what_a_model_cannot_do_is_an_error(tmp_path):
    task = syncopation(modality="audio")
    (log,) = inspect_eval(
        task, model="baseline/reader", log_dir=str(tmp_path), display="none", limit=1
    )
    assert log.status == "error"
    assert log.error is not None
    said = "baseline/reader cannot answer muse syncopation from audio; it reads MIDI text"
    assert said in log.error.message


def test_garbled_lines_are_refined_and_the_numbers_add_up(tmp_path):
    model = get_model("garbled/reader", error_rate=0.5, memoize=False)
    for log in run(
        [task(strategy="logiclm") for task in TASKS.values()], tmp_path, model, limit=20
    ):
        whole = samples(log)
        assert 0.2 < sum(counts_of(log, "valid_first_try")) / len(whole) < 0.8
        assert sum(counts_of(log, "refinements")) > 0.2 * len(whole)
        for sample in whole:
            counts = formulation_counts(sample)
            attempts = sample.metadata["formulation"]
            errors = counts["parse_errors"] + counts["structural_errors"] + counts["domain_errors"]
            decided = 1 - counts["no_decision"]
            assert (
                errors + counts["undecided_results"] + decided
                == len(attempts)
                == counts["refinements"] + 1
            )
            assert counts["valid_first_try"] == (attempts[0]["error"] is None)
            solver_calls = [event for event in sample.events if event.event == "tool"]
            assert [event.arguments["transcription"] for event in solver_calls] == [
                each["text"] for each in attempts
            ]
            spans = [
                e.name
                for e in sample.events
                if e.event == "span_begin" and e.name.startswith("refinement")
            ]
            assert len(spans) == counts["refinements"]
            # What the reader garbles can be mended from the line alone, so a decision is always
            # right.
            assert values(sample, "solver_decision") == ("C" if decided else "N")


def test_transcriptions_stand_beside_the_true_ones_in_the_report(tmp_path):
    breaking = get_model("garbled/reader", error_rate=0.9, memoize=False)
    for model in ("baseline/reader", breaking, "baseline/chance"):
        run([task(strategy="logiclm") for task in TASKS.values()], tmp_path, model, limit=6)
    found = {table.name: table for table in section_tables(read_records(tmp_path), "muse")}
    means = {(row["Task"], row["Model"]): row for row in rows(found["muse_logiclm"])}
    for name in TASKS:
        table = [
            row for row in rows(found[f"muse_transcriptions_{name}"]) if row["Source"] != "paper"
        ]
        assert len(table) == 18
        for row in table:
            is_reader = row["Model"] != "baseline/chance"
            # Lines that stay garbled have no transcription, and others are the true one.
            assert row["Model's"] in ("", row["True"]) or not is_reader
            assert (row["Right notes"] is None) == (row["Model's"] == "")
        for model in {row["Model"] for row in table}:
            shares = [
                row["Right notes"].value
                for row in table
                if row["Model"] == model and row["Right notes"]
            ]
            mean = means[name.replace("_", " ").capitalize(), model]["Right notes"]
            assert (
                mean is None
                if not shares
                else (mean.value, mean.n) == (pytest.approx(fmean(shares)), len(shares))
            )
    # C major's, for a chord of six notes that shares none, one or two of them with it.
    chance = [
        row
        for row in rows(found["muse_transcriptions_chord_quality"])
        if row["Model"] == "baseline/chance"
    ]
    for row in chance:
        written, true = ({*re.findall(r"\d+", row[heading])} for heading in ("Model's", "True"))
        assert row["Right notes"].value == pytest.approx(
            200 * len(written & true) / (len(written) + 6)
        )
    (paper,) = [
        row for row in rows(found["muse_transcriptions_transposition"]) if row["Source"] == "paper"
    ]
    assert paper["True"].startswith("[67, 72, 67, 65, 67, 70")


def test_recordings_have_the_models_transcription_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(muse, "_true_lists", lambda *_: None)
    run(transposition(strategy="logiclm", modality="audio"), tmp_path, "baseline/chance", limit=3)
    found = {table.name: table for table in section_tables(read_records(tmp_path), "muse")}
    own = [
        row for row in rows(found["muse_transcriptions_transposition"]) if row["Source"] != "paper"
    ]
    assert [(row["True"], row["Right notes"]) for row in own] == [(None, None)] * 3
    assert all(row["Model's"].startswith("[60, 62, 64] [65, 67, ") for row in own)
    assert "Right notes" not in found["muse_logiclm"].columns


@pytest.mark.parametrize("strategy", ["standalone", "logiclm"])
def test_chance_earns_what_guessing_earns(strategy, tmp_path):
    tasks = [task(strategy=strategy) for task in TASKS.values()]
    logs = run(tasks, tmp_path, "baseline/chance", limit=12)
    for name, log in zip(TASKS, logs, strict=True):
        for scorer in (
            ("final_answer", "solver_decision") if strategy == "logiclm" else ("final_answer",)
        ):
            low, high = binom.interval(0.999, len(samples(log)), CHANCE[name])
            assert low <= round(len(samples(log)) * metrics(log)[scorer]["accuracy"]) <= high
        assert {
            (sample.scores or {})["final_answer"].metadata["reading"] for sample in samples(log)
        } == {"answered"}


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


def test_an_explanation_says_what_was_asked_expected_and_read(tmp_path):
    log = run_scripted(syncopation(), tmp_path, lambda *_: "It is\n**E**")
    (sample,) = samples(log)
    assert sample.scores is not None
    told = (sample.scores["final_answer"].explanation or "").split("\n\n")
    assert (
        told[0] == "**Asked:** `How many kick and snare hits, taken together, land on an off-beat?`"
    )
    assert "- `E` `8 (High Syncopation)` ← read" in told[1]
    options = sample.metadata["options"]
    assert (
        told[2] == f"**Expected:** `{sample.target}` `{options['ABCDE'.index(str(sample.target))]}`"
    )
    even = [slot for drum in ("kick", "snare") for slot in sample.metadata[drum] if slot % 2 == 0]
    assert f"even: {', '.join(map(str, even[:1])) or 'none'}" in told[3]
    assert told[4] == "**Read:** `E` `8 (High Syncopation)`, from the last sentence that commits."
    log = run_scripted(syncopation(), tmp_path, lambda *_: "It is `neither` <b>")
    told = ((samples(log)[0].scores or {})["final_answer"].explanation or "").split("\n\n")
    assert told[4].endswith("no answer that can be read. It ends in `` It is `neither` <b> ``.")


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


def test_few_shot_examples_are_earlier_turns_and_none_is_a_trial():
    for (name, make), examples in zip(TASKS.items(), (2, 2, 4), strict=True):
        zero, few = make(shots="zero"), make(shots="few", strategy="logiclm")
        roles = [message.role for message in few.dataset[0].input]  # type: ignore[union-attr]
        assert roles == [
            "system",
            *["user", "assistant", "user", "assistant"] * examples,
            "user",
        ], name
        trials = {sample.input[-1].text for sample in zero.dataset}  # type: ignore[union-attr]
        assert trials == {sample.input[-1].text for sample in few.dataset}  # type: ignore[union-attr]
        assert not trials & {message.text for message in few.dataset[0].input[:-1]}  # type: ignore[union-attr]


def test_chord_examples_list_every_pitch_that_sounds_once():
    messages = chord_quality(shots="few", strategy="logiclm").dataset[0].input[1:-1]
    for trial, line in zip(messages[::4], messages[1::4], strict=True):
        sounding = {int(pitch) for pitch in re.findall(r"note_on .*note=(\d+)", trial.text)}  # type: ignore[union-attr]
        assert len(sounding) == 6
        assert line.text == f"chord(Excerpt1, {sorted(sounding)})"  # type: ignore[union-attr]


def test_the_log_says_which_data_ran_in_the_order_of_the_seed(tmp_path):
    folder = tmp_path / "muse"
    write(build_generated(seed=5, counts=Counts(8, 1, 4)), folder)
    (log,) = run(syncopation(dataset=str(folder)), tmp_path, limit=1)
    assert log.eval.task == "muse_syncopation_generated-seed5"
    assert log.eval.metadata is not None
    assert (log.eval.metadata["dataset_source"], log.eval.metadata["dataset_seed"]) == (
        "generated",
        5,
    )
    assert log.plan.config.temperature == 0.0
    orders = [
        [str(sample.id) for sample in syncopation(dataset=str(folder), seed=seed).dataset]
        for seed in (0, 0, 1)
    ]
    assert orders[0] == orders[1] != orders[2]
    assert sorted(orders[0]) == sorted(orders[2])


def test_prompts_can_be_replaced_in_part(tmp_path):
    own = tmp_path / "own.toml"
    own.write_text(
        '[syncopation]\nstandalone = "Given $given: how many off-beats?\\nFinal Answer: X"\n'
    )
    system = syncopation(prompts=str(own)).dataset[0].input[0].text  # type: ignore[union-attr]
    assert system.startswith("Given MIDI data")
    assert "$" not in system
    assert (
        chord_quality(prompts=str(own)).dataset[0].input[0].text
        == chord_quality().dataset[0].input[0].text
    )  # type: ignore[union-attr]


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
