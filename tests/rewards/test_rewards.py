"""Rewards equal scores, on golden and real replies; what degenerate replies earn; batches, and the
server of the docs.
"""

import csv
import json
import threading
from pathlib import Path
from unittest.mock import patch

import pytest
from inspect_ai.log import read_eval_log
from inspect_ai.scorer import value_to_float
from starlette.testclient import TestClient

from music_evals import benchmarks
from music_evals.notation.lilypond.compiler import LilyPondError
from music_evals.rewards import reward_function, score
from tests.golden import record, replies
from tests.rewards import attacks
from tests.scorers.every_scorer import Case
from tests.scorers.readers.test_corpora import MUSE, REPLIES

WRITTEN = {
    "measure_count": "bar_count",
    "option_index": "metadata_qa",
    "measure_order": "bar_sequencing",
}
WRITTEN |= {"wrong_measures": "error_detection"}
CHORD = {"options": ["Major", "Minor"], "target": "B"}
PIECES = record.HERE / "data" / "generation"


def golden_row(case):
    """Task, row and whether the model reasons first, of a case of the golden record; None for what
    is no reward.
    """
    scorer, _, rest = case.partition(", ")
    if scorer in WRITTEN and rest.startswith("strict"):
        right = "none" if "none" in rest else replies.RIGHT[scorer]
        options = ["a", "b", "c", "d"] if scorer == "option_index" else []
        return (
            f"lilybench_{WRITTEN[scorer]}",
            {"answer": right, "options": options},
            "reasoned" in rest,
        )
    if scorer == "judged" and rest != "four questions":
        answer_type, _, right = rest.partition(" ")
        return "msu_textual", {"question": "?", "answer": right, "answer_type": answer_type}, False
    return {
        "final_answer, letters": (
            "muse_chord_quality",
            {"options": replies.QUALITIES, "target": "B"},
            False,
        ),
        "final_answer, sentences": (
            "muse_transposition",
            {"options": replies.SAME, "target": replies.SAME[1]},
            False,
        ),
        "lettered_choice, strict": (
            "ziqi_comprehension",
            {"options": replies.SCALES, "answer": "C"},
            False,
        ),
        "written_music, strict": ("lilybench_generation", {}, False),
    }.get(case)


def number(value):
    return None if value == "unscored" or value != value else value_to_float()(value)


@pytest.mark.usefixtures("lilypond_runs")
def test_rewards_are_the_scores_of_the_golden_replies():
    pieces, compared = attacks.pieces_of(str(PIECES)), 0
    for case, scored in record.recorded("scores").items():
        for reply, value, *_ in scored if (named := golden_row(case)) else ():
            task, row, reasoned = named
            reward = score(task, row, reply, reasoned=reasoned, pieces=pieces)
            is_piece = task == "lilybench_generation"
            assert (reward.parts["compiles"] if is_piece else reward.value) == number(value), (
                case,
                reply,
            )
            compared += 1
    assert compared >= 300


def scorer_of(log):
    facts = benchmarks.load(log.eval.metadata["benchmark"]).tasks[log.eval.metadata["config"]]
    return facts.metric.partition("/")[0]


def has_reward(path):
    """Whether rewards score as a golden log did: not under another protocol, by judges, or of
    written music, whose replies are in the golden scores.
    """
    log = read_eval_log(str(path), header_only=True)
    options = log.eval.task_args
    others = {"protocol": "paper", "strategy": "logiclm", "chat": "continued"}
    is_other = bool(others.items() & options.items() or options.get("judges"))
    return not is_other and scorer_of(log) != "written_music"


@pytest.mark.parametrize(
    "path",
    sorted(filter(has_reward, (record.HERE / "logs").glob("*.eval"))),
    ids=lambda path: path.stem,
)
def test_rewards_are_the_scores_of_golden_logs(path):
    log = read_eval_log(str(path), resolve_attachments=True)
    facts = benchmarks.load(log.eval.metadata["benchmark"]).tasks[log.eval.metadata["config"]]
    scorer, options = scorer_of(log), log.eval.task_args
    for sample in log.samples or []:
        value = (sample.scores or {})[scorer]
        if scorer == "judged":  # a sample may have twelve questions, and a reward is of one
            for question, entry in zip(
                sample.metadata["questions"], value.metadata["questions"], strict=True
            ):
                assert (
                    score(facts.registry_name, question, entry["prediction"] or "").value
                    == entry["verdict"]
                )
            continue
        reasoned = options.get("strategy") == "cot"
        reward = score(
            facts.registry_name, attacks.row_of(sample), sample.output.completion, reasoned=reasoned
        )
        assert reward.value == number(value.value), (sample.id, sample.output.completion)


@pytest.mark.parametrize(
    ("kind", "options", "answer", "reply", "value"),
    [
        ("pitch:name", [], "61", "Final Answer: D♭4", 1.0),
        ("key", [], "C major", "Final Answer: A minor", 0.3),
        ("labels", ["jazz", "rock"], "jazz; rock", "jazz", 2 / 3),
        ("label", ["flute", "oboe"], "B", "Final Answer: oboe", 1.0),
        ("beats", [], "0.5 1", "I cannot hear it.", 0.0),
        ("segments", [], "0 intro; 5 verse; 20 end", "Intro: 0:00-0:10, Verse: 0:10-0:20", 0.75),
    ],
)
def test_an_answer_of_a_kind_earns_its_score(kind, options, answer, reply, value):
    row = {"answer_kind": kind, "options": options, "answer": answer}
    assert score("pitchbench_pitch", row, reply).value == pytest.approx(value)
    with pytest.raises(ValueError, match="not valid"):
        score("pitchbench_pitch", {**row, "answer_kind": "tempo"}, reply)


@pytest.mark.skipif(not REPLIES.is_dir(), reason=f"no copy of the replies in {REPLIES}")
def test_rewards_are_the_scores_of_real_replies():
    from music_evals.scorers.choice import final_answer
    from music_evals.scorers.judge import judged

    lines = (REPLIES / "muse_replies.jsonl").read_text(encoding="utf-8").splitlines()
    for reply in map(json.loads, lines[::5]):
        options = MUSE[reply["task"]]
        (right,) = [
            letter for letter, one in zip("ABCD", options, strict=False) if one in reply["expected"]
        ]
        (scored,) = Case(final_answer, right, {"options": options}).score(reply["reply"])
        assert (
            number(scored.value)
            == score("muse_ten_meter", {"options": options, "target": right}, reply["reply"])[0]
        )
    with (REPLIES / "score_answers.csv").open(encoding="utf-8", newline="") as file:
        for row in list(csv.DictReader(file))[::5]:
            question = {
                "question": "?",
                "answer": row["reference"],
                "answer_type": row["answer_type"],
            }
            asked = {"id": "q", "level": 1, "kind": "k", **question}
            (scored,) = Case(judged, "", {"score_id": "s", "questions": [asked]}).score(
                row["answer"]
            )
            assert number(scored.value) == score("msu_textual", question, row["answer"]).value


# --- reward hacking ---

ATTACKED = {
    **dict.fromkeys(("muse_syncopation", "muse_transposition", "ziqi_comprehension"), "generated"),
    **{f"lilybench_{name}": "lilybench" for name in WRITTEN.values()},
    "msu_textual": "msu",
}
"""A task for each way to read an answer, and its data."""


@pytest.mark.parametrize("task", ATTACKED)
def test_no_degenerate_reply_earns_more_than_the_floor(task):
    data = ATTACKED[task]
    asked = attacks.questions(
        task, 4, dataset=data if data == "generated" else str(record.HERE / "data" / data)
    )
    most = attacks.floor_of(task, asked) + 1e-9
    earned = attacks.earned(task, asked)
    assert len(earned) > 50
    assert {name: value for name, value in earned.items() if value > most} == {}
    assert earned["empty"] == earned["1 MB of one character"] == 0
    assert not any(value for name, value in earned.items() if name.startswith("refusal"))


@pytest.mark.slow
@pytest.mark.usefixtures("lilypond_runs")
def test_trivial_pieces_and_copies_earn_nothing():
    pieces = attacks.pieces_of(str(PIECES))
    written = dict(attacks.written_attacks(str(PIECES)))
    reward = reward_function("lilybench_generation", pieces=pieces)
    assert reward([""] * len(written), list(written.values())) == [0.0] * len(written)


# --- the interface ---


@pytest.mark.parametrize(
    ("task", "row", "message"),
    [
        ("muse", CHORD, "muse is not one task"),
        (
            "muse_chord_quality",
            {"target": "B"},
            "muse_chord_quality: the row has no column 'options'; it has target",
        ),
        (
            "muse_chord_quality",
            {**CHORD, "target": "C"},
            "the right answer 'C' is neither a letter of the 2 options",
        ),
        ("lilybench_generation", {}, "lilybench_generation needs pieces="),
    ],
)
def test_what_cannot_be_scored_is_named(task, row, message):
    with pytest.raises(ValueError, match=message):
        score(task, row, "A")


def test_a_batch_in_the_signature_of_trl():
    extra, metrics = {}, {}
    reward = reward_function("muse_chord_quality")
    chat = [{"role": "assistant", "content": [{"type": "text", "text": "Final Answer: B"}]}]
    columns = {
        "options": [CHORD["options"]] * 3,
        "target": ["B"] * 3,
        "task": ["muse_chord_quality"] * 2 + ["other"],
    }
    found = reward(
        prompts=["?"] * 3, completions=[chat, "A, I think", "?"], completion_ids=[[1]] * 3, **columns,
        trainer_state=None, log_extra=extra.__setitem__, log_metric=metrics.__setitem__,
    )  # fmt: skip
    assert (found, reward.__name__) == ([1.0, 0.0, None], "muse_chord_quality")
    assert extra["muse_chord_quality/format"] == [1.0, 0.0, None]
    assert metrics["muse_chord_quality/format"] == 0.5
    formed = reward_function("muse_chord_quality", part="format")
    assert formed(
        ["?"], ["Final Answer: A"], **{name: [value] for name, value in CHORD.items()}
    ) == [1.0]


def test_a_slow_piece_does_not_block_the_trainer_and_a_missing_lilypond_stops_it():
    pieces = attacks.pieces_of(str(PIECES))
    reward = reward_function("lilybench_generation", pieces=pieces, deadline=0.5)
    slow = "music_evals.scorers.readers.pieces.compile_reply"
    released = threading.Event()
    with patch(slow, side_effect=lambda *_: released.wait()):
        assert reward(["?"] * 9, [f"{{ c{n} }}" for n in range(9)]) == [None] * 9
        released.set()
    reward = reward_function("lilybench_generation", pieces=pieces)
    with patch(slow, side_effect=OSError(28, "No space left on device")):
        assert reward(["?"], ["{ c4 }"]) == [None]
    with patch(slow, side_effect=LilyPondError("not installed")), pytest.raises(LilyPondError):
        reward(["?"], ["{ d4 }"])


def test_the_server_of_the_docs_gives_rewards_and_names_errors():
    page = Path(__file__).parents[2] / "docs" / "rewards.md"
    code = page.read_text(encoding="utf-8").partition("<!-- served -->\n```python\n")[2]
    names = {}
    exec(code.partition("```")[0], names)
    client = TestClient(names["app"])
    entry = {"task": "muse_chord_quality", "row": CHORD, "reply": "Final Answer: B"}
    assert client.post("/", json=entry).json() == score(*entry.values())._asdict()  # type: ignore[arg-type]
    for wrong in ({"reply": "B"}, {**entry, "row": {}}, {**entry, "task": "muse"}):
        answer = client.post("/", json=wrong)
        assert (answer.status_code, [*answer.json()]) == (400, ["error"])
