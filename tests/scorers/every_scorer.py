"""Each scorer of the suite with samples that it can score, for tests that try them all."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from inspect_ai.model import ChatMessageAssistant, ChatMessageUser, ModelName, ModelOutput
from inspect_ai.scorer import Score, Scorer, Target
from inspect_ai.solver import TaskState

from music_evals.evals.lilybench_generation import PIECES
from music_evals.scorers.choice import chat_answers, final_answer
from music_evals.scorers.completion import completed
from music_evals.scorers.judge import judged
from music_evals.scorers.lettered_choice import lettered_choice
from music_evals.scorers.logiclm import solver_decision
from music_evals.scorers.option_choice import official_choice, strict_choice
from music_evals.scorers.readers.fields import FORM
from music_evals.scorers.readers.official import READERS
from music_evals.scorers.reference_pieces import ReferencePieces
from music_evals.scorers.score_tasks import (
    measure_count,
    measure_order,
    option_index,
    wrong_measures,
)
from music_evals.scorers.typed_answer import typed_answer
from music_evals.scorers.written_music import music_scorer
from music_evals.solvers.symbolic.music import CHORD_QUALITY
from music_evals.solvers.symbolic.schema import MAX_CHARACTERS, FormulationError

OPTIONS = ["Major", "Minor", "Dominant", "Diminished"]
SENTENCES = ["Yes, these are the same melody.", "No, these are not the same melody."]
REFERENCES = {
    "pitch": "C♯5", "pitches": "C4, E4", "key": "G minor", "metre": "3/4", "clef": "treble clef",
    "number": "12",
    "measures": "3, 4", "duration": "quarter note", "chord": "C major", "numeral": "V-I",
    "cadence": "half cadence",
    "yes_no": "Yes, C♯", "text": "first inversion",
}  # fmt: skip
PIECE = (
    r"\score { \relative c' { c4 d e f | g a b c | c b a g | f e d c | c e g c | e c g e } \midi "
    r"{ } }"
)


@dataclass(frozen=True)
class Case:
    """A scorer with what its samples hold besides a reply."""

    make: Callable[[], Scorer]
    target: str
    metadata: dict[str, Any] = field(default_factory=dict)
    choices: tuple[str, ...] = ()
    attempts: int = 0  # of LogicLM: formulations with the reply's text

    def state(self, reply):
        asked, said = ChatMessageUser(content="?"), ChatMessageAssistant(content=reply)
        state = TaskState(
            ModelName("mock/model"),
            "s1",
            1,
            "?",
            [asked, said],
            choices=list(self.choices),
            output=ModelOutput.from_content("mock/model", reply),
            metadata=dict(self.metadata),
            store={},
        )
        for question in state.metadata.get("chat", ()):
            question["reply"] = reply
        if self.attempts:
            state.metadata["formulation"] = [attempt(reply)] * self.attempts
        return state

    def score(self, *replies):
        """The scores of replies by one scorer."""
        return asyncio.run(self.scores(*replies))

    async def scores(self, *replies):
        scorer, found = self.make(), []
        for reply in replies:
            score = await scorer(self.state(reply), Target(self.target))
            assert isinstance(score, Score)
            found.append(score)
        return found


def attempt(reply):
    """A formulation as `solvers.logiclm` keeps it."""
    text = reply[: MAX_CHARACTERS + 1]
    try:
        decision = CHORD_QUALITY.solve(text, ["Excerpt1"])
    except FormulationError as error:
        return {
            "text": text,
            "error": error.kind,
            "message": error.message,
            "answer": None,
            "extra_round": False,
        }
    told = {"message": decision.result, "answer": decision.answer}
    return {"text": text, "error": None, "extra_round": False, **told}


def question(kind, number=1):
    asked = {"id": f"q{number}", "level": 1, "kind": kind, "question": "What is it?"}
    return {**asked, "answer": REFERENCES[kind], "answer_type": kind}


def load_references(dataset, names):
    return ()


written_music = music_scorer(
    ReferencePieces(lambda *asked: load_references(*asked), lambda dataset: {"a": PIECE})
)
music_scorer(
    PIECES
)  # Inspect finds metrics by name, and the last one of a name counts: the task's own again

BATCH = {"score_id": "s", "questions": [question(kind, n) for n, kind in enumerate(REFERENCES)]}
LETTERED = {"options": OPTIONS}
SAME = {"options": SENTENCES, "target": SENTENCES[0]}
TYPED = {
    "label": "B", "labels": "rock; jazz", "list": "up; down", "number:4%": "120", "pitch:midi": "61",
    "pitch:name": "61", "pitch:hz": "61", "sequence:name": "60 62", "set:midi": "60 64",
    "key": "C minor", "times:0.25": "1.5 3", "all_times:0.25": "1.5", "beats": "0.5 1",
    "notes": "0 1 60", "melody": "0 440; 1 440", "text": "let it be", "text:cer": "你好",
    "name": "Clara Schumann", "caption": "a slow piano tune\nsad piano",
    "stated": '["A4, G#3", "A4"]', "stated:any": '["flute, piano"]', "stated:name": '["Clara Schumann"]',
    "segments": "0 intro; 12.4 pre-chorus; 33.2 end",
    "segments:verse": "0 verse; 12.4 chorus; 33.2 end",
}  # fmt: skip
CASES = {
    **{
        f"typed_answer of {kind}": Case(
            typed_answer,
            right,
            {"answer_kind": kind, "vocabulary": ["rock", "jazz", "up", "down"], **LETTERED},
        )
        for kind, right in TYPED.items()
    },
    "final_answer": Case(final_answer, "B", LETTERED),
    "final_answer of a sentence": Case(final_answer, SENTENCES[0], {"options": SENTENCES}),
    "chat_answers": Case(
        chat_answers, "", {"chat": [{"id": "1", "target": "B", **LETTERED}, {"id": "2", **SAME}]}
    ),
    "lettered_choice": Case(lettered_choice, "B", choices=tuple(OPTIONS)),
    "lettered_choice as in the paper": Case(
        lambda: lettered_choice("paper"), "B", choices=tuple(OPTIONS)
    ),
    "solver_decision": Case(solver_decision, "B", LETTERED, attempts=3),
    "option_index": Case(option_index, "2"),
    "option_index as in the paper": Case(lambda: option_index("paper", True), "2"),
    "measure_count": Case(measure_count, "24"),
    "measure_count as in the paper": Case(lambda: measure_count("paper", True), "24"),
    "measure_order": Case(measure_order, "3102"),
    "measure_order as in the paper": Case(lambda: measure_order("paper"), "3102"),
    "wrong_measures": Case(wrong_measures, "4 7"),
    "wrong_measures as in the paper": Case(lambda: wrong_measures("paper", True), "none"),
    **{
        f"judged on {kind}": Case(judged, "", {"score_id": "s", "questions": [question(kind)]})
        for kind in REFERENCES
    },
    "judged on a batch": Case(judged, "", BATCH),
    "written_music": Case(written_music, ""),
    "strict_choice": Case(strict_choice, "B", LETTERED),
    "strict_choice of a short answer": Case(strict_choice, "twenty-one", {"options": []}),
    **{
        f"official_choice by {name}": Case(partial(official_choice, name), "B", LETTERED)
        for name in READERS
    },
    "final_answer by schema": Case(final_answer, "B", {**LETTERED, FORM: "schema"}),
    "strict_choice by schema": Case(strict_choice, "B", {**LETTERED, FORM: "schema"}),
    "lettered_choice by schema": Case(
        lettered_choice, "B", {FORM: "schema"}, choices=tuple(OPTIONS)
    ),
    "wrong_measures by schema": Case(wrong_measures, "4 7", {FORM: "schema"}),
    "judged by schema": Case(judged, "", {**BATCH, FORM: "schema"}),
    "completed": Case(completed, "B", {"hidden": OPTIONS[:2]}),
}
