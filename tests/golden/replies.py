"""Replies of every kind to every scorer, and what the scorers make of them."""

import asyncio
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from inspect_ai.model import ChatMessage, ChatMessageUser, GenerateConfig, ModelAPI, ModelName, ModelOutput, modelapi
from inspect_ai.scorer import Scorer, Target
from inspect_ai.solver import TaskState
from inspect_ai.tool import ToolChoice, ToolInfo

WITH_TOOLS: Final = ("bar_count", "metadata_qa", "error_detection")
LILYBENCH_TASKS: Final = (
    *("bar_count", "metadata_qa", "bar_sequencing", "next_bar_prediction", "metadata_prediction"),
    *("music_captioning", "composer_recognition", "genre_recognition", "emotion_recognition", "error_detection"),
)

REFUSAL: Final = "I'm sorry, but I cannot help with that."
QUALITIES: Final = ["Major", "Minor", "Dominant", "Diminished"]
SAME: Final = ["Yes, these are the same melody.", "No, these are not the same melody."]
LETTERED: Final = [
    *(
        "Final Answer: B",
        "final answer is: b",
        "**Final Answer: B. Minor**",
        "Final Answer: (B)",
        "B",
        "B. Minor",
        "Minor",
    ),
    *(
        "Final Answer: C",
        "Final Answer: E",
        "Final Answer: Minor",
        "Final Answer: A or B",
        "\\boxed{B}",
        "The answer is B.",
    ),
    *("Final Answer: A\nWait.\nFinal Answer: B", "Final Answer: B\nFinal Answer: none", "Final Answer:\nB", "A B"),
    *("I think B because the third is minor", "Final Answer: $\\boxed{\\text{B}}$", "", " \n", REFUSAL),
    "Final Answer: " + "x" * 500 + " B",
]
SENTENCES: Final = [
    *(SAME[1], SAME[0], SAME[1].upper(), "No", "yes.", "Final Answer: No", f"Final Answer: {SAME[0]}", "Maybe"),
    *(f"They differ.\n{SAME[1]}", f"{SAME[0]}\n{SAME[1]}", f"Final Answer: {SAME[0]}\n{SAME[1]}", "no no no"),
    *(
        "No, these are not.",
        "The answer is No.",
        "**No, these are not the same melody**",
        "",
        REFUSAL,
        "Final Answer: B",
    ),
]
SCALES: Final = ["A大调", "B大调", "B小调", "D大调"]
CHOSEN: Final = [
    *(
        "[[答案：C]]",
        "[[C]]",
        "【【答案：C】】",
        "[[答案：]] C",
        "[[答案：A]][[答案：C]]",
        "答案：C",
        "答案是C。",
        "故选C",
        "C选项正确",
    ),
    *(
        "C",
        "(C)",
        "C. B小调",
        "C、B小调",
        "B小调",
        "这是B小调，所以答案是C",
        "The answer is C",
        "According to theory, C is correct.",
    ),
    *(
        "Option C is correct",
        "the answer is a scale",
        "\\boxed{C}",
        "A或C",
        "A, B and D",
        "C#",
        "c",
        "Ｃ",
        "不选C",
        "D大调",
    ),
    *(
        "[[答案：B]]",
        "[[答案：E]]",
        "Answer: A\nNo, answer: C",
        "",
        "   ",
        "我不知道。",
        REFUSAL,
        "A good question; nobody can say.",
    ),
]
COUNTED: Final = [
    *(
        "12",
        "12.",
        " 12 \n",
        "Answer: 12",
        "**12**",
        "012",
        "11",
        "About 12 measures.",
        "12 13",
        "twelve",
        "-12",
        "1e1",
    ),
    *(
        "First 3, then 9.\nAnswer: 12",
        "<think>5</think>12",
        "Answer: 12\nAnswer: 11",
        "Answer:",
        "9999999",
        "",
        REFUSAL,
    ),
]
INDEXED: Final = [
    *(
        "2",
        "2.",
        "Answer: 2",
        "`2`",
        "2: G major",
        "I say 2",
        "1",
        "4",
        "0",
        "C",
        "two",
        "22",
        "Option 2",
        "2 or 3",
        "-2",
    ),
    *("Not 1.\nAnswer: 2", "<think>1</think>2", "Answer: 1\nFinal answer: 2", "G major", "", REFUSAL),
]
ORDERED: Final = [
    *("2031", "2031.", "Answer: 2031", "2 0 3 1", "2,0,3,1", "2-0-3-1", "2013", "1302", "0123", "2011", "203", "20311"),
    *("The order is 2031.", "4 notes\nAnswer: 2031", "<think>0123</think>2031", "4567", "", REFUSAL),
]
NAMED: Final = [
    *("4 7", "7 4", "4, 7", "4 and 7", "4", "4 7 9", "1 2", "none", "None.", "4 4 7", "Answer: 4 7", "bars 4 and 7"),
    *(
        "No measure is wrong",
        "none, or 4",
        "4 is odd, none else",
        "Two are wrong.\nAnswer: 4 7",
        "all",
        "04 7",
        "",
        REFUSAL,
    ),
]
OPEN: Final[Mapping[tuple[str, str], Sequence[str]]] = {
    ("key", "G minor"): (
        "G minor",
        "g",
        "G major",
        "Gm",
        "sol minor",
        "G-moll",
        "G minor or B flat major",
        "B♭ major",
        "",
    ),
    ("metre", "4/4"): ("4/4", "common time", "C", "4/4 time", "2/2", "four four", "8/8", "3/4 and 4/4", REFUSAL),
    ("pitch", "F#4"): ("F#4", "F sharp 4", "fis'", "F♯4", "Gb4", "F#", "F4", "F#5", "the F# above middle C"),
    ("yes_no", "Yes"): ("Yes", "yes, it does", "No", "Yes and no", "True", "It does", "Not at all", ""),
    ("number", "12"): ("12", "twelve", "12 measures", "11", "about 12", "10 to 12", "12.0", "a dozen"),
    ("duration", "dotted crotchet"): (
        "dotted crotchet",
        "dotted quarter note",
        "3/8",
        "crotchet",
        "quarter.",
        "1.5 beats",
    ),
    ("pitches", "C4, E4, G4"): ("C4, E4, G4", "G4 E4 C4", "C4 and E4", "C4, E4, G4, B4", "c' e' g'", "C E G", "none"),
    ("clef", "treble"): ("treble", "treble clef", "G clef", "bass", "treble and bass", "𝄞"),
    ("measures", "3, 7"): ("3, 7", "measures 3 and 7", "bars 7, 3", "3", "3-7", "none", "m. 3; m. 7"),
    ("chord", "G7"): ("G7", "G dominant seventh", "V7", "G", "G B D F", "Gmaj7"),
    ("numeral", "V7"): ("V7", "V", "dominant seventh", "v7", "V65"),
    ("cadence", "Perfect authentic cadence"): (
        "Perfect authentic cadence",
        "PAC",
        "perfect",
        "plagal",
        "V-I",
        "half cadence",
    ),
    ("pitch", "None"): ("None", "there is none", "C4", "no", ""),
    ("text", "Stepwise motion"): ("Stepwise motion", "stepwise", "leaps", "It moves by step", ""),
}
LEVELS: Final = [
    *[("key", "G minor", 1), ("text", "Stepwise motion", 1), ("metre", "4/4", 2), ("yes_no", "No", 3)],
]
BATCHES: Final = [
    "1. G minor\n2. Stepwise motion\n3. 4/4\n4. No",
    "1) G major\n2) leaps\n3) 3/4\n4) Yes",
    "**1.** G minor\n\n**3.** common time",
    "4. No\n3. 4/4\n2. Stepwise\n1. G minor",
    "G minor\nStepwise motion\n4/4\nNo",
    "1. G minor 2. Stepwise motion 3. 4/4 4. No",
    "Answer 1: G minor\nAnswer 2: Stepwise motion\nAnswer 3: 4/4\nAnswer 4: No",
    "1. G minor\n1. A minor\n2. Stepwise motion\n5. No",
    *("", REFUSAL),
]
DECIDED: Final[Mapping[str, Sequence[tuple[str | None, str | None]]]] = {
    "no attempt": (),
    "right at once": ((None, "B"),),
    "wrong at once": ((None, "C"),),
    "right after three errors": (("parse", None), ("structural", None), ("domain", None), (None, "B")),
    "never": (("parse", None), ("parse", None), ("domain", None), ("parse", None)),
    "undecided, then right": ((None, None), (None, "B")),
}
"""Errors and decisions of LogicLM's attempts."""

TUNE: Final = (
    "\\score { { \\key g \\major \\time 3/4 g'4 b' d'' | c''8 b' a'4 fis' | g'2. | } \\layout { } \\midi { } }"
)
CHORDS: Final = "\\score { { <c' e' g'>2 <f' a' c''>4. b'8 | r4 <d' fis' a'>2. } \\midi { } }"
WRITTEN: Final = [
    f'```lilypond\n\\version "2.24.3"\n{TUNE}\n```',
    f"Here it is:\n```\n{CHORDS}\n```\nEnjoy!",
    "{ c'4 d' e' f' }",
    "\\score { { c'4 \\nonsense } }",
    *("", REFUSAL),
]


@modelapi(name="stub")
class StubJudge(ModelAPI):
    """A judge that always says the same, or (`stub/first`) compares the first letters of both answers."""

    async def generate(
        self,
        input: list[ChatMessage],  # noqa: A002
        tools: list[ToolInfo],
        tool_choice: ToolChoice,
        config: GenerateConfig,
    ) -> ModelOutput:
        said = self.model_name
        if said == "first":
            places = [input[-1].text.index(f"<{tag}>\n") + len(tag) + 3 for tag in ("reference", "student")]
            said = str(int(len({input[-1].text[place] for place in places}) == 1))
        return ModelOutput.from_content(self.model_name, said)


def scorer_named(name: str, *arguments: Any, **options: Any) -> Scorer:
    """Make a scorer, in whatever module it stands."""
    for benchmark in ("muse", "ziqi", "msu", "lilybench"):
        import_module(f"music_evals.evals.{benchmark}")
    ours = [module for place, module in sys.modules.items() if place.startswith("music_evals.")]
    make = next(vars(module)[name] for module in ours if callable(vars(module).get(name)))
    scorer: Scorer = make(*arguments, **options)
    return scorer


def scores_record(pieces: Path) -> dict[str, list[Any]]:
    """Scorer and case → replies with value, answer and metadata; `pieces` is a dataset with references."""
    found: dict[str, list[Any]] = {}
    for name, scorer, right, given, state in _cases(pieces):
        found[name] = [[reply, *_scored(scorer, reply, right, state)] for reply in given]
    return found


def _cases(pieces: Path) -> Iterator[tuple[str, Scorer, str, Sequence[str], dict[str, Any]]]:
    """Name, scorer, right answer, replies, and the rest of the sample."""
    letters, sentences = {"metadata": {"options": QUALITIES}}, {"metadata": {"options": SAME}}
    for scorer in ("final_answer", "answered"):
        yield f"{scorer}, letters", scorer_named(scorer), "B", LETTERED, letters
        yield f"{scorer}, sentences", scorer_named(scorer), SAME[1], SENTENCES, sentences
    for scorer in ("solver_decision", "formulation"):
        for name, attempts in DECIDED.items():
            kept = [{"text": "notes", "error": error, "message": "m", "answer": answer} for error, answer in attempts]
            state = {**letters, "store": {"formulation": kept}}
            yield f"{scorer}, {name}", scorer_named(scorer), "B", ("Final Answer: B", "A", "", REFUSAL), state
    for protocol in ("strict", "paper"):
        yield (
            f"lettered_choice, {protocol}",
            scorer_named("lettered_choice", protocol),
            "C",
            CHOSEN,
            {"choices": SCALES},
        )
        yield f"written_music, {protocol}", *(
            scorer_named("written_music", str(pieces), protocol=protocol, pictures=False), "", WRITTEN, {"metadata": {}}
        )  # fmt: skip
        for reasoned in (False, True):
            for scorer, right, given in (
                ("measure_count", "12", COUNTED),
                ("option_index", "2", INDEXED),
                ("measure_order", "2031", ORDERED),
                ("wrong_measures", "4 7", NAMED),
            ):
                name = f"{scorer}, {protocol}{', reasoned' if reasoned else ''}"
                yield name, scorer_named(scorer, protocol, reasoned), right, given, {}
        yield f"wrong_measures, {protocol}, none", scorer_named("wrong_measures", protocol), "none", NAMED, {}
    for (kind, right), given in OPEN.items():
        yield f"judged, {kind} {right}", scorer_named("judged"), "", given, _asked([(kind, right, 1)])
    yield "judged, four questions", scorer_named("judged"), "", BATCHES, _asked(LEVELS)
    for judges in (["stub/first"], ["stub/first", "stub/1", "stub/0"], ["stub/maybe", "stub/1", "stub/0"]):
        yield f"judged by {', '.join(judges)}", scorer_named("judged", judges), "", BATCHES[:5], _asked(LEVELS)


def _asked(questions: Sequence[tuple[str, str, int]]) -> dict[str, Any]:
    rows = [
        {"id": f"q{number}", "level": level, "kind": "k", "question": "?", "answer": answer, "answer_type": kind}
        for number, (kind, answer, level) in enumerate(questions, start=1)
    ]
    return {"metadata": {"questions": rows, "score_id": "score"}}


def _scored(scorer: Scorer, reply: str, right: str, sample: dict[str, Any]) -> list[Any]:
    model = ModelName("stub/model")
    output = ModelOutput.from_content("stub/model", reply)
    user = ChatMessageUser(content="?")
    state = TaskState(model, "sample", 1, [user], [user, output.message], Target(right), output=output, **sample)
    score = asyncio.run(scorer(state, Target(right)))
    assert score is not None
    left_out = ("dataset", "embedding", "embedded_by", "encoder", "pooling", "reference")
    metadata = {name: value for name, value in (score.metadata or {}).items() if name not in left_out}
    value = "unscored" if isinstance(score.value, float) and math.isnan(score.value) else score.value
    return [value, score.answer, {**metadata, **({"reason": score.reason} if score.reason else {})}]
