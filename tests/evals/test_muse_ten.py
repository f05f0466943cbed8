"""The ten tasks of The MUSE Benchmark end to end: prompts, baselines, and scripted replies."""

from collections import Counter
from itertools import pairwise

import pytest
from inspect_ai.model import ChatMessageUser, ModelOutput, get_model

from music_evals.benchmarks import load
from music_evals.evals import muse, muse_ten
from music_evals.evals.shared.request_counts import requests_of
from music_evals.reports.records import read_records
from music_evals.reports.report import section_tables
from music_evals.solvers.symbolic.muse_ten import SOLVERS
from tests import garbled  # noqa: F401 - registers a model
from tests.harness import metrics, run, run_scripted, samples

TASKS = {name: getattr(muse_ten, name) for name in load("muse_ten").tasks}
PAIRS = ("oddball", "rhythm_matching", "progression", "transposition_pairs", "syncopation_pairs")
# As the authors' runners list them, in this order.
OPTIONS = {
    "oddball": [
        "Yes, these are the same exact melody.",
        "No, these are not the same exact melody.",
    ],
    "contour": ["Arch", "Inverted Arch", "Ascending", "Descending"],
    "instrument": ["Piano", "Guitar", "Bass", "Drums"],
    "rhythm_matching": [
        "Yes, these are the same exact drum set patterns.",
        "No, these are not the same exact drum set patterns.",
    ],
    "meter": ["Groups of 3", "Groups of 4", "Groups of 5"],
    "key_modulation": ["Yes, a key modulation occurs.", "No, the key stays the same."],
    "progression": [
        "Yes, these are the same chord progression.",
        "No, these are not the same chord progression.",
    ],
    "transposition_pairs": [
        "Yes, these are the same melody.",
        "No, these are not the same melody.",
    ],
    "major_or_minor": ["Major", "Minor"],
    "syncopation_pairs": [
        "The rhythm in Excerpt 1 is more syncopated.",
        "The rhythm in Excerpt 2 is more syncopated.",
    ],
}


@pytest.mark.parametrize(
    ("condition", "limit"), [({}, 20), ({"strategy": "cot", "shots": "few"}, 3)], ids=str
)
def test_the_reader_answers_from_midi(condition, limit, tmp_path):
    tasks = [task(**condition) for task in TASKS.values()]
    for log in run(tasks, tmp_path, "baseline/reader", limit=limit):
        assert len(samples(log)) == limit
        assert metrics(log)["final_answer"]["accuracy"] >= 0.95


def test_solvers_decide_from_the_readers_transcriptions(tmp_path):
    tasks = [TASKS[name](strategy="logiclm", shots="few") for name in SOLVERS]
    for log in run(tasks, tmp_path, "baseline/reader", limit=5):
        scores = metrics(log)
        assert (len(samples(log)), scores["solver_decision"]["accuracy"]) == (5, 1)
        assert {
            (one.scores or {})["solver_decision"].metadata["right_notes"] for one in samples(log)
        } == {1}
        assert scores["final_answer"]["accuracy"] == 1
    model = get_model("garbled/reader", error_rate=0.5, memoize=False)
    for log in run([TASKS[name](strategy="logiclm") for name in SOLVERS], tmp_path, model, limit=3):
        assert (
            metrics(log)["solver_decision"]["accuracy"]
            + metrics(log)["solver_decision"]["no_decision"]
            == 1
        )


@pytest.mark.parametrize("name", ["instrument", "key_modulation"])
def test_what_no_solver_can_decide_is_refused(name):
    with pytest.raises(
        ValueError,
        match=f"strategy='logiclm' is not valid for {name}; valid values are: standalone,",
    ):
        TASKS[name](strategy="logiclm")


@pytest.mark.parametrize("name", TASKS)
def test_midi_prompts_have_each_clip_and_no_answer(name):
    task = TASKS[name]()
    for sample in task.dataset:
        _, trial = sample.input
        assert isinstance(trial, ChatMessageUser)
        assert trial.text.count("ticks_per_beat=480") == (2 if name in PAIRS else 1)
        assert not any(option in trial.text for option in OPTIONS[name])
        if name == "meter":
            assert "numerator=1 denominator=4" in trial.text


def test_people_are_rows_beside_runs_by_ear(tmp_path):
    logs = {"audio": tmp_path / "audio", "midi": tmp_path / "midi"}
    for modality, folder in logs.items():
        run(TASKS["oddball"](modality=modality), folder, "baseline/chance")
    by_ear, by_midi = (
        section_tables(read_records([str(folder)]), "muse_ten")[0] for folder in logs.values()
    )
    column = by_ear.columns.index("Oddball")
    people = {row[0]: (row[1], row[column].value) for row in by_ear.rows if "N =" in str(row[0])}
    assert people == {
        "Listeners (N = 200)": ("read off a figure", 74),
        "Musicians (N = 6)": ("read off a figure", 90),
    }
    assert len(by_ear.rows) == 11
    assert [row[0] for row in by_midi.rows] == ["baseline/chance"]


@pytest.mark.parametrize("arm", ["none", "noise", "other"])
def test_other_stimuli(arm):
    for name in ("oddball", "meter"):
        for modality in ("midi", "audio"):
            assert len(TASKS[name](stimulus=arm, modality=modality).dataset) == 20


def test_one_chat_asks_all_trials_and_has_an_item_for_each(tmp_path):
    """Replies alternate between the two options; the third is cut. Items are those of separate
    chats.
    """
    asked = []

    def reply(messages, *_):
        asked.append([message.text for message in messages])
        output = ModelOutput.from_content("mock/model", f"Final Answer: {'AB'[len(asked) % 2]}")
        return (
            output
            if len(asked) % 20 != 3
            else ModelOutput.from_content("mock/model", "Hm", stop_reason="max_tokens")
        )

    log = run_scripted(
        TASKS["progression"](chat="continued", seed=4),
        tmp_path / "chat",
        reply,
        epochs=2,
        max_samples=1,
    )
    assert [len(texts) for texts in asked[:20]] == [2 * turn for turn in range(1, 21)]
    assert all(later[: len(earlier)] == earlier for earlier, later in pairwise(asked[:20]))
    assert asked[0][1] != asked[20][1]  # each epoch has its own order
    first, second = samples(log)
    for sample in (first, second):
        rows = (sample.scores or {})["chat_answers"].metadata["questions"]
        assert len({row["id"] for row in rows}) == len(rows) == 20
        assert Counter(row["reading"] for row in rows) == {"answered": 19, "cut": 1}
        replies = [message.text[-1] for message in sample.messages if message.role == "assistant"]
        assert [question["reply"][-1] for question in sample.metadata["chat"]] != replies
    assert metrics(log)["chat_answers"]["questions"] == 20
    run(TASKS["progression"](chat="continued"), tmp_path / "logs", "baseline/reader")
    run(TASKS["progression"](), tmp_path / "logs", "baseline/reader")
    records = read_records([str(tmp_path / "logs")])
    assert sorted(records.runs["n"]) == [20, 20]
    pairs = [{*records.main[number]["pair"]} for number in records.runs.index]
    assert pairs[0] == pairs[1]
    assert any("chat=continued" in condition for condition in records.runs["condition"])


def test_one_chat_counts_its_requests_and_cannot_transcribe():
    separate, chat = (
        requests_of(TASKS["contour"](chat=chat)) for chat in ("separate", "continued")
    )
    assert (separate.requests, chat.requests) == (20, 20)
    assert chat.tokens > 5 * separate.tokens
    assert (separate.is_least, chat.is_least) == (False, True)
    with pytest.raises(
        ValueError, match="chat=continued is valid with strategy=standalone and cot"
    ):
        muse.syncopation(chat="continued", strategy="logiclm")
