"""Replies of every kind to every scorer, and what the scorers make of them."""

import asyncio
import math
import sys
from importlib import import_module

from inspect_ai.model import (
    ChatMessageUser,
    ModelAPI,
    ModelName,
    ModelOutput,
    modelapi,
)
from inspect_ai.scorer import Target
from inspect_ai.solver import TaskState

QUALITIES = ["Major", "Minor", "Dominant", "Diminished"]
SAME = ["Yes, these are the same melody.", "No, these are not the same melody."]
SCALES = ["A大调", "B大调", "B小调", "D大调"]
OPEN = (
    *(("key", "G minor"), ("metre", "4/4"), ("pitch", "F#4"), ("yes_no", "Yes"), ("number", "12")),
    *(
        ("duration", "dotted crotchet"),
        ("pitches", "C4, E4, G4"),
        ("clef", "treble"),
        ("measures", "3, 7"),
    ),
    *(
        ("chord", "G7"),
        ("numeral", "V7"),
        ("cadence", "Perfect authentic cadence"),
        ("pitch", "None"),
    ),
    ("text", "Stepwise motion"),
)
"""Types of answers and references."""
LEVELS = [
    ("key", "G minor", 1),
    ("text", "Stepwise motion", 1),
    ("metre", "4/4", 2),
    ("yes_no", "No", 3),
]
RIGHT = {
    "measure_count": "12",
    "option_index": "2",
    "measure_order": "2031",
    "wrong_measures": "4 7",
}
DECIDED = {
    "no attempt": (),
    "right at once": ((None, "B"),),
    "wrong at once": ((None, "C"),),
    "right after three errors": (
        ("parse", None),
        ("structural", None),
        ("domain", None),
        (None, "B"),
    ),
    "never": (("parse", None), ("parse", None), ("domain", None), ("parse", None)),
    "undecided, then right": ((None, None), (None, "B")),
}
"""Errors and decisions of LogicLM's attempts."""


@modelapi(name="stub")
class StubJudge(ModelAPI):
    """A judge that always says the same, or (`stub/first`) compares the first letters of both
    answers.
    """

    async def generate(
        self,
        input,  # noqa: A002
        tools,
        tool_choice,
        config,
    ):
        said = self.model_name
        if said == "first":
            places = [
                input[-1].text.index(f"<{tag}>\n") + len(tag) + 3
                for tag in ("reference", "student")
            ]
            said = str(int(len({input[-1].text[place] for place in places}) == 1))
        return ModelOutput.from_content(self.model_name, said)


def scorer_named(name, *arguments, **options):
    """Make a scorer, in whatever module it stands."""
    for benchmark in ("muse", "ziqi", "msu", "lilybench", "lilybench_generation"):
        import_module(f"music_evals.evals.{benchmark}")
    ours = [module for place, module in sys.modules.items() if place.startswith("music_evals.")]
    make = next(vars(module)[name] for module in ours if callable(vars(module).get(name)))
    return make(*arguments, **options)


def scores_record(pieces, recorded):
    """Scorer and case → replies of an earlier record, with value, answer and metadata."""
    return {
        name: [[reply, *_scored(scorer, reply, right, state)] for reply, *_ in recorded[name]]
        for name, scorer, right, state in _cases(pieces)
    }


def _cases(pieces):
    """Name, scorer, right answer, and the rest of the sample."""
    letters, sentences = {"metadata": {"options": QUALITIES}}, {"metadata": {"options": SAME}}
    yield "final_answer, letters", scorer_named("final_answer"), "B", letters
    yield "final_answer, sentences", scorer_named("final_answer"), SAME[1], sentences
    for case, attempts in DECIDED.items():
        rounds = [
            {
                "text": "notes",
                "error": error,
                "message": "m",
                "answer": answer,
                "extra_round": False,
            }
            for error, answer in attempts
        ]
        sample = {"metadata": {"options": QUALITIES, "formulation": rounds}}
        yield f"solver_decision, {case}", scorer_named("solver_decision"), "B", sample
    for protocol in ("strict", "paper"):
        yield (
            f"lettered_choice, {protocol}",
            scorer_named("lettered_choice", protocol),
            "C",
            {"choices": SCALES},
        )
        music = scorer_named("written_music", str(pieces), protocol=protocol, pictures=False)
        yield f"written_music, {protocol}", music, "", {"metadata": {}}
        for reasoned in (False, True):
            for name, right in RIGHT.items():
                case = f"{name}, {protocol}{', reasoned' if reasoned else ''}"
                yield case, scorer_named(name, protocol, reasoned), right, {}
        yield (
            f"wrong_measures, {protocol}, none",
            scorer_named("wrong_measures", protocol),
            "none",
            {},
        )
    for kind, right in OPEN:
        yield f"judged, {kind} {right}", scorer_named("judged"), "", _asked([(kind, right, 1)])
    yield "judged, four questions", scorer_named("judged"), "", _asked(LEVELS)
    for judges in (
        ["stub/first"],
        ["stub/first", "stub/1", "stub/0"],
        ["stub/maybe", "stub/1", "stub/0"],
    ):
        yield f"judged by {', '.join(judges)}", scorer_named("judged", judges), "", _asked(LEVELS)


def _asked(questions):
    rows = [
        {
            "id": f"q{number}",
            "level": level,
            "kind": "k",
            "question": "?",
            "answer": answer,
            "answer_type": kind,
        }
        for number, (kind, answer, level) in enumerate(questions, start=1)
    ]
    return {"metadata": {"questions": rows, "score_id": "score"}}


def _scored(scorer, reply, right, sample):
    model = ModelName("stub/model")
    output = ModelOutput.from_content("stub/model", reply)
    user = ChatMessageUser(content="?")
    state = TaskState(
        model, "sample", 1, [user], [user, output.message], Target(right), output=output, **sample
    )
    score = asyncio.run(scorer(state, Target(right)))
    assert score is not None
    left_out = ("dataset", "embedding", "embedded_by", "encoder", "reference")
    metadata = {
        name: value for name, value in (score.metadata or {}).items() if name not in left_out
    }
    value = (
        "unscored" if isinstance(score.value, float) and math.isnan(score.value) else score.value
    )
    return [value, score.answer, {**metadata, **({"reason": score.reason} if score.reason else {})}]
