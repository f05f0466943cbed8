"""The scorers for tasks with a closed set of options: the model's final answer, or the answers of a
whole chat.

They take no arguments, so that `inspect score` can make them again from a log. The sample's
metadata hold the options. The target is the letter of an option, or an option that is a sentence.
"""

from functools import partial
from statistics import fmean

from inspect_ai.scorer import Score, Scorer, Target
from inspect_ai.solver import TaskState

from music_evals.scorers.chosen_option import choice_details, option_judge, score_choice
from music_evals.scorers.explanations import code
from music_evals.scorers.readers import ERROR
from music_evals.scorers.readers.verdicts import judge_option
from music_evals.scorers.scores import (
    ANSWER_METRICS,
    ENDINGS,
    main_metric,
    read_reply,
    required_metadata,
    scorer,
)


@scorer(metrics=[main_metric(), *ANSWER_METRICS, choice_details()])
def final_answer() -> Scorer:
    """Score the final answer of the last reply: correct, incorrect, or no answer, which counts as
    incorrect.

    Source: arXiv 2510.22455, section 2.3.
    """

    async def score(state: TaskState, target: Target) -> Score:
        right = target.text
        judge = option_judge(state, right, plain=str)
        return await score_choice(state, right, state.metadata["options"], judge, key=right)

    return score


_QUESTION_FACTS = ("id", "target", "variant")


@scorer(metrics=[main_metric(), *ANSWER_METRICS])
def chat_answers() -> Scorer:
    """Score the replies to all questions of a chat, each as `final_answer` does; each question is
    an item.
    """

    async def score(state: TaskState, target: Target) -> Score:
        rows = []
        lines = []
        for question in required_metadata(state, "chat"):
            reply = question.get("reply", "")
            options = question["options"]
            judge = partial(judge_option, is_cut=question.get("stop_reason") in ENDINGS)
            reading, *_ = await read_reply(judge, reply, options, question["target"])
            row = {name: question[name] for name in _QUESTION_FACTS if name in question}
            row |= {
                "cluster": f"chat {state.epoch}",  # an early mistake may go on
                "verdict": float(reading.answer == question["target"]),
                "reading": reading.status,
                "prediction": reading.answer,
                "key": question["target"],
                "stop_reason": question.get("stop_reason"),
            }
            if reading.error:
                row[ERROR] = reading.error
            rows.append(row)
            lines.append(
                f"- {question['id']}: read {code(reading.answer)}, expected "
                f"{code(question['target'])}"
            )
        return Score(
            value=fmean(row["verdict"] for row in rows),
            explanation="\n".join(lines),
            metadata={"questions": rows},
        )

    return score
