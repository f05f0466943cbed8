"""LogicLM with a scripted model, on trials without a dataset: scores, thoughts, limits."""

import re

import pytest
from inspect_ai import Task
from inspect_ai.dataset import Sample
from inspect_ai.model import (
    ChatMessageAssistant,
    ContentReasoning,
    ContentText,
    ModelOutput,
)

from music_evals.benchmarks.prompts import load_prompts
from music_evals.scorers.logiclm import solver_decision
from music_evals.solvers.logiclm import logiclm
from music_evals.solvers.symbolic.music import SAME, TRANSPOSITION
from tests.harness import run_scripted, samples

IDENTIFIERS = ["Excerpt1", "Excerpt2"]
LINES = "melody(Excerpt1, [60, 62])\nmelody(Excerpt2, [65, 67])"
PROMPTS = {**load_prompts("muse")["logiclm"], "final": "$finding And now?"}


def asked(
    answer,
    cases,
    tmp_path,
    **parameters,
):
    """Run a trial for each case, in which a model replies by the case and by the number of attempts
    before.

    Returns the samples, and the settings of refinements.
    """
    configs = []
    attempts = dict.fromkeys(cases, -1)

    def reply(messages, config):
        if "And now?" in messages[-1].text:
            return f"Final Answer: {SAME}"
        case = (
            messages[0].text if messages[0].text in attempts else cases[0]
        )  # text is refined in a chat apart
        attempts[case] += 1
        configs.extend([config] * (attempts[case] > 0))
        return answer(case, attempts[case])

    trials = [
        Sample(
            id=case,
            input=case,
            target=SAME,
            metadata={"identifiers": IDENTIFIERS, "options": [SAME, "No."]},
        )
        for case in cases
    ]
    solver = logiclm(TRANSPOSITION, PROMPTS, **parameters)
    task = Task(dataset=trials, solver=solver, scorer=solver_decision())
    log = run_scripted(task, tmp_path, reply, limit=None)
    return {str(sample.id): sample for sample in samples(log)}, configs


def test_the_score_compares_the_last_valid_lines_with_the_true_ones(tmp_path):
    # Of the first melody 60 and 62 are right in order, of three and three notes; of the second
    # none.
    truth = {"true_transcription": "[60, 61, 62] [1, 2]", "in_order": True}
    replies = {
        "in order": ("melody(Excerpt1, [60, 62, 61])\nmelody(Excerpt2, [65])", 1 / 3),
        "in octaves": ("melody(Excerpt1, [48, 49, 50])\nmelody(Excerpt2, [13, 14])", 0),
        "empty": ("melody(Excerpt1, [])\nmelody(Excerpt2, [1, 2])", 0.5),
        "never valid": ("I hear C, D", None),
    }
    trials = [
        Sample(
            id=case,
            input=case,
            target=SAME,
            metadata={"identifiers": IDENTIFIERS, "options": [SAME], **truth},
        )
        for case in replies
    ]
    task = Task(dataset=trials, solver=logiclm(TRANSPOSITION, PROMPTS), scorer=solver_decision())

    def reply(messages, config):
        return replies.get(messages[0].text, ("cannot be mended", 0))[0]

    for sample in samples(run_scripted(task, tmp_path, reply, limit=None)):
        lines, share = replies[str(sample.id)]
        found = (sample.scores or {})["solver_decision"].metadata or {}
        assert found.get("right_notes") == (None if share is None else pytest.approx(share))
        assert found["transcription"] == " ".join(re.findall(r"\[.*?\]", lines))


def test_thoughts_are_no_part_of_lines(tmp_path):
    thoughts = {
        "block": f"<think>\n{LINES}? No, rhythm(x).\n</think>\n\n{LINES}",
        "no opening tag": f"the opening tag is the template's </think>{LINES}",
        "two blocks": f"<think>a</think><think>b</think>{LINES}",
        "content": [ContentReasoning(reasoning="melody(Excerpt1, [1])"), ContentText(text=LINES)],
    }
    replies = {
        case: ModelOutput.from_message(ChatMessageAssistant(content=text))
        for case, text in thoughts.items()
    }
    trials, configs = asked(lambda case, _: replies[case], list(thoughts), tmp_path)
    for trial in trials.values():
        (attempt,) = trial.metadata["formulation"]
        assert (attempt["text"], attempt["answer"]) == (LINES, SAME)
    assert configs == []
    script = ["<think>too long to come to an", replies["block"]]
    trials, configs = asked(lambda _, number: script[number], ["x"], tmp_path, refinement_tokens=9)
    assert [attempt["error"] for attempt in trials["x"].metadata["formulation"]] == ["parse", None]
    assert [config.max_tokens for config in configs] == [9]
