"""The rules that check answers: spellings, what is another answer, what is not told, and the published answers."""

from collections import Counter
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from music_evals.datasets_builders.msu.questions import kind as score_question
from music_evals.scorers.readers.checking import AnswerType, answer_type_of, check

PUBLISHED = Path(__file__).parents[4] / "shared" / "data" / "msu" / "msu-bench.xlsx"

# By type and reference: what is right, wrong and not told; separated by bars.
CASES = [
    ("pitch", "C♯5",
     "C#5|C sharp 5|c-sharp 5|C♯ 5|**C#5**|It is C♯5 (beat 2).|C♯5 is above A4 and E4|A4; the highest is C#5",
     "D♭5|C#|C#4|C#5, D5|C#5 or D5|Unknown|None|It cannot be determined.", "not C#5|"),
    ("pitch", "C4", "middle C|C4 (middle C)|C♮4", "B#3|C5|C", "an interesting note"),
    ("pitch", "G♭", "Gb|G flat|G♭4", "F#|G", "high"),
    ("pitches", "B♯3; F𝄪4", "F##4, B#3|B♯3 and Fx4|the notes B#3 and F double sharp 4", "B#3|B#3, G4", "some notes"),
    ("key", "C minor", "c minor|C min|Cm|c-moll|It is in C minor.|C minor, the relative of E♭ major",
     "C major|A minor|c sharp minor|CM|C", "a minor key|E-flat major (relative of C minor)"),
    ("key", "E♭ major", "Es-Dur|Eb major|E-flat major|E flat Major|Eb maj", "D# major|E major|Eb minor", "a key"),
    ("metre", "4/4 time", "common time|C|4/4|\\frac{4}{4}|four-four time|4/4 (common time)", "2/2|cut time|3/4|2/4",
     "duple"),
    ("metre", "2/2", "alla breve|Cut time|¢|cut common time", "4/4|2/4", "duple"),
    ("clef", "Treble clef; Bass clef", "treble and bass clefs|Right hand: treble clef; left hand: bass clef|G2, F4"
     "|G clef and F clef|Bass, treble", "Treble clef|alto", "Grand staff"),
    ("clef", "Treble clef", "The bass part has a treble clef|G clef|treble",
     "bass clef|tenor clef|treble 8vb clef", "C|G4"),
    ("number", "80 BPM", "80|eighty|♩ = 80|quarter note = 80 BPM|In measure 1 the tempo is 80",
     "about 90|80-90", "fast"),
    ("number", "0", "zero|none|0", "1", "few"),
    ("measures", "Measures 1–3", "measures 1-3|mm. 1–3|bars 1, 2 and 3|1-3|from measure 1 to measure 3"
     "|between measures 1 and 3", "measures 1-4|measure 1|bar 7", "starting at measure 1|the beginning"),
    ("measures", "Measures 3, 4", "bars 3–4|3 and 4|Measure 3, measure 4", "3|3, 5", "m"),
    ("measures", "Starting at measure 194", "measure 194|measures 194-230|Begins at measure 194",
     "measure 190", "late"),
    ("measures", "Measure 1", "the first measure|bar 1|1st measure|In measure 1",
     "measures 1-2|second measure", "start"),
    ("duration", "Eighth rest", "eighth|quaver rest|quaver|1/8|8th rest", "dotted eighth rest|quarter rest|crotchet",
     "eighth note|short"),
    ("duration", "Dotted minim", "dotted half note|dotted half", "half note|minim|double-dotted half", "long"),
    ("duration", "Thirty-second note", "32nd note|demisemiquaver|1/32", "sixteenth|semiquaver", "short"),
    ("chord", "A minor", "Am|A min|A minor chord|Amin", "A|A7|A major|C minor", "Am/C|a sad chord"),
    ("chord", "G7", "G dominant seventh|G7 chord", "G major seventh|G|Gm7", "G7/B"),
    ("numeral", "V7", "V 7|V⁷|I think it is V7|V7 chord|the dominant seventh", "V|IV7", "v7"),
    ("numeral", "I–V34", "I-V43|I – V4/3", "I–V7|V43|tonic to dominant", "a progression"),
    ("numeral", "i–V–i", "i-V-i|i → V → i|i, V, i", "i-iv-i|V-i", "I-V-I"),
    ("cadence", "Perfect cadence", "authentic|V-I|V7–I|perfect authentic cadence",
     "half cadence|IV–I|imperfect cadence|ends on V|deceptive cadence|no cadence", "imperfect authentic cadence|final"),
    ("cadence", "plagal cadence", "IV-I|iv–i|amen cadence", "perfect|V-I", "final"),
    ("cadence", "half cadence", "imperfect|I-V|ends on V|ii–V7", "V-I|plagal", "final"),
    ("cadence", "deceptive", "V–vi|interrupted cadence", "V-I|half", "final"),
    ("yes_no", "Yes", "Yes, B♯3; F𝄪4|yes.|**Yes**|The answer is yes|There is a repeat sign",
     "No|there are no repeat signs|Not sure|Yes\nNo|Yes and no",
     "It depends"),
    ("yes_no", "No", "no|No, it is not.|There is no cadence", "Yes|Yes, there is no doubt", "Notably so"),
    ("yes_no", "Yes, C♯", "Yes, C#|Yes: C sharp", "No", "Yes|Yes, D#"),
    ("yes_no", "None", "No|None|There is none|No repeat sign", "Yes", "It depends"),
    ("number", "None", "none|There is no metronome marking.|not indicated", "120 BPM|Unknown", "fast"),
    ("text", "None", "None|No expression marking|there is none", "", "dolce"),
    ("text", "Dolce", "", "", "dolce|Dolce|None"),
]  # fmt: skip


@pytest.mark.parametrize(("answer_type", "reference", "right", "wrong", "untold"), CASES)
def test_answers(answer_type: str, reference: str, right: str, wrong: str, untold: str) -> None:
    for predictions, expected in ((right, True), (wrong, False), (untold, None)):
        for prediction in filter(None, predictions.split("|")):
            assert check(prediction, reference, answer_type).is_right is expected, (prediction, reference)


def test_the_types_are_those_of_the_questions() -> None:
    assert get_args(AnswerType) == get_args(score_question.AnswerType)
    with pytest.raises(ValueError, match="answer_type='tempo' is not valid"):
        check("fast", "fast", "tempo")


def test_a_reference_that_no_rule_reads_is_not_told() -> None:
    assert check("3 flats", "E♭;A♭;D♭", "key").is_right is None
    assert check("Treble clef", "the usual ones", "clef").is_right is None


@pytest.mark.parametrize("answer_type", get_args(AnswerType))
@pytest.mark.parametrize(
    "piece", ["I-", "1-", "1, ", "A", "no ", "C# ", "bars 1-", "-", " ", "V7 – ", "\n", "treble, ", "∯"]
)
def test_hostile_predictions_end(answer_type: str, piece: str) -> None:
    for reference in ("None", "C4", "I–V", "Measures 1–99999"):
        assert check(piece * 100_000, reference, answer_type).is_right in (True, False, None)


@given(st.text(max_size=80), st.text(max_size=30), st.sampled_from(get_args(AnswerType)))
def test_any_texts_are_checked(prediction: str, reference: str, answer_type: str) -> None:
    assert check(prediction, reference, answer_type).is_right in (True, False, None)


@pytest.mark.parametrize("letter", "CDEFGAB")
@pytest.mark.parametrize(("sign", "words"), [("", ""), ("♯", " sharp"), ("♭", " flat"), ("𝄪", " double sharp")])
def test_spellings_of_a_pitch_are_one_and_enharmonics_are_two(letter: str, sign: str, words: str) -> None:
    reference = f"{letter}{sign}4"
    assert check(f"{letter}{words} 4", reference, "pitch").is_right is True
    assert check(f"{letter.lower()}{words} 4", reference, "pitch").is_right is True
    assert check(f"{letter}{sign}5", reference, "pitch").is_right is False
    enharmonic = {"C♯": "D♭", "D♯": "E♭", "F♯": "G♭", "G♯": "A♭", "A♯": "B♭"}.get(letter + sign)
    assert enharmonic is None or check(f"{enharmonic}4", reference, "pitch").is_right is False


@pytest.mark.skipif(not PUBLISHED.is_file(), reason="the published questions are not here")
def test_published_answers_are_never_wrong_of_themselves() -> None:
    openpyxl = pytest.importorskip("openpyxl")
    sheet = openpyxl.load_workbook(PUBLISHED, read_only=True).active
    rows = list(sheet.iter_rows(min_row=2, values_only=True))
    assert len(rows) == 1800
    told: Counter[bool | None] = Counter()
    for _, _, question, answer in rows:
        answer_type = answer_type_of(question, answer)
        found = check(answer, answer, answer_type).is_right
        assert found or (found is None and answer_type == "text"), (question, answer)
        told[found] += 1
    assert told[True] > 950


@pytest.mark.parametrize(
    ("question", "answer", "answer_type"),
    [
        ("In measure 3, what is the highest pitch?", "E♭5", "pitch"),
        ("In measure 3, what is the highest pitch?", "E♭5; G5", "pitches"),
        ("What is the initial clef?", "Treble clef; Bass clef", "clef"),
        ("What is the initial clef?", "Tenor c", "text"),
        ("In measure 9, what is the new key signature?", "1 flat", "text"),
        ("What is the metronome marking?", "None", "number"),
        ("In measure 2, is there a repeat sign?", "None", "yes_no"),
        ("In measures 5–9, is there a repeat sign?", "None", "yes_no"),
        ("Between measures 1–8, are there repeat signs?", "Present", "text"),
        ("What is the initial expression marking?", "None", "text"),
        ("Who is the composer?", "J.S. Bach", "text"),
    ],
)
def test_types_of_published_questions(question: str, answer: str, answer_type: str) -> None:
    assert answer_type_of(question, answer) == answer_type
