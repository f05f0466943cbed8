"""``paper`` of LilyBench against `lilybench_published`: replies, figures and rows."""

import asyncio
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from inspect_ai.model import ModelName, ModelOutput
from inspect_ai.scorer import SampleScore, Score, Scorer, Target
from inspect_ai.solver import TaskState

from music_evals.datasets_builders.lilybench.emopia import Clip
from music_evals.datasets_builders.lilybench.emopia import make_rows as make_clip_rows
from music_evals.datasets_builders.lilybench.paper import corrupt, make_rows, split_bars
from music_evals.datasets_builders.lilybench.rows import CORRUPTIONS, FIELDS, TASKS, Piece, TaskName, TaskRow
from music_evals.scorers.score_tasks import (
    by_category,
    confusion,
    error_figures,
    index_figures,
    measure_count,
    measure_order,
    number_figures,
    option_index,
    order_figures,
    wrong_measures,
)
from tests.oracles import lilybench_published as oracle

MUTOPIA = Path(__file__).parents[3] / "shared" / "data" / "mutopia" / "ftp"
MAKE: dict[str, Callable[[str], Scorer]] = {
    "bar_count": measure_count,
    "bar_sequencing": measure_order,
    "error_detection": wrong_measures,
}
FIGURES = {
    "bar_count": [number_figures],
    "bar_sequencing": [order_figures],
    "error_detection": [error_figures, by_category],
}

# --- replies ---

PHRASES = (
    *(
        "{0}",
        "{0}.",
        "**{0}**",
        "Answer: {0}",
        " \n{0}\n",
        "0{0}",
        "{0}\n\nQuestion: 3",
        "Option {0}: C major",
        "({0})",
    ),
    *("<think>Is it {1}?</think>{0}", "<think>It may be {1} or {2}", "It has {0} bars.", "{0}-{1}", "{0}, {1} and {2}"),
    *("{0} {1} {2}", "bars {1} to {0}", "In 3/4 it is {0}", "No. {1}: {0}", "{0}/{1}", "1. {0}\n2. {1}", "{0}{1}"),
    *(
        "",
        "  ",
        "none",
        "None.",
        "I cannot tell.",
        "As an AI, I don't hear music.",
        "C major",
        "ten",
        "\\key g \\major",
    ),
    *("٣", "١٢ or {0}", "²", "½", "{0}.5", "-{0}", "[{0}, {1}]", "{0}\0{1}", "```\n{0}\n```", "none, or {0}"),
)
ORDERS = ("0123", "3210", "2031", "1302", "0312", "0 3 1 2", "0,3,1,2", "0011", "1234", "01234", "٠١٢٣", "012", "4031")


def replies(task: TaskName, n: int = 400) -> list[tuple[str, str]]:
    """Replies of every kind and right answers, so that each phrase has right, wrong and near ones."""
    rng = random.Random(f"replies {task}")
    made = []
    for number in range(n):
        if task == "bar_sequencing":
            gold, numbers = rng.choice(ORDERS[:5]), rng.choices(ORDERS, k=3)
        elif task in oracle.CHOICES:
            gold, numbers = rng.choice("0123"), rng.choices(["0", "1", "2", "3", "4", "10"], k=3)
        else:
            right = rng.randint(1, 130)
            gold, numbers = str(right), [str(max(0, right + rng.choice((0, 0, 1, -4, 9, 300)))) for _ in range(3)]
        if rng.random() < 0.4:
            numbers[0] = gold
        made.append((PHRASES[number % len(PHRASES)].format(*numbers), gold))
    return made


def scored(task: TaskName, reply: str, gold: str, number: int, kind: str, options: list[str]) -> SampleScore:
    output = ModelOutput.from_content("mock/model", reply)
    state = TaskState(ModelName("mock/model"), number, 1, "", [], output=output)
    found = asyncio.run(MAKE.get(task, option_index)("paper")(state, Target(gold)))  # type: ignore[arg-type]
    assert isinstance(found, Score)
    return SampleScore(
        score=found, sample_id=number, sample_metadata={"kind": kind, "task": task, "options": options, "piece": number}
    )


@pytest.mark.parametrize("task", TASKS)
def test_replies_are_read_and_scored_as_published(task: TaskName) -> None:
    rng = random.Random(task)
    asked = replies(task)
    kinds = [rng.choice(CORRUPTIONS) if task == "error_detection" else "" for _ in asked]
    options = [rng.sample(oracle.QUADRANTS, 4) for _ in asked]
    scores = [
        scored(task, reply, gold, number, kind, shown)
        for number, ((reply, gold), kind, shown) in enumerate(zip(asked, kinds, options, strict=True))
    ]
    for (reply, gold), found in zip(asked, scores, strict=True):
        value = found.score.value
        assert isinstance(value, str | float)
        got = float(value == "C") if isinstance(value, str) else value
        assert got == pytest.approx(oracle.score(task, reply, gold)), (reply, gold)
        parsed = oracle.parse(task, reply)
        assert found.score.answer in ([parsed] if parsed else [None, "none"]), reply
    records = [(*pair, kind) for pair, kind in zip(asked, kinds, strict=True)]
    ours = {name: value for make in FIGURES.get(task, [index_figures]) for name, value in make()(scores).items()}  # type: ignore[operator]
    published = oracle.figures(task, records)
    assert {name: ours[name] for name in published} == pytest.approx(published)
    assert 0.1 < next(iter(published.values())) < 0.9
    if task == "emotion_recognition":
        triples = [(*pair, shown) for pair, shown in zip(asked, options, strict=True)]
        names = {**{label: str(place) for place, label in enumerate(oracle.QUADRANTS)}, "": "unreadable"}
        counts = {f"{names[right]}_as_{names[taken]}": n for (right, taken), n in oracle.confused(triples).items()}
        assert {name: n for name, n in confusion()(scores).items() if n} == counts


def test_a_reply_without_digits_names_no_bar() -> None:
    for reply in ("none", "all is well", ""):
        assert scored("error_detection", reply, "none", 0, "clean", []).score.value == 1
        assert oracle.score("error_detection", reply, "none") == 1


# --- texts ---

SNIPPETS = (
    *(
        '\\header {{ title = "Tune {0}" }}',
        '\\header{{\n mutopiatitle = "M {0}" composer="C {0}"\n title="T\\"{0} " }}',
    ),
    *(
        '\\header {{ title = \\markup {{ "x" }} }}',
        "\\header {{",
        '\\paper {{ line = "|" }}',
        "\\paper {{ a {{ | }} }}",
    ),
    *(
        '\\bar "|."',
        '\\bar "||',
        '\\mark "|"',
        '"',
        '"a | b"',
        '\\"',
        "% a | comment",
        "{{",
        "}}",
        "|",
        "| |",
        "||",
        "\n",
    ),
    *("\\key g \\major", "\\key bes  \\minor", "\\key\n sol\n\\dorian", "\\key es \\major", "\\key g\\major", "\\key"),
    *("\\key fisis \\x", "\\key d \\major2", "\\key do \\major", "\\time 3/{0}", "\\time {0} / 8", "\\time #'(1) 3/4"),
    *(
        "c4 d | e f |",
        "g'2 a'{0} |",
        "b4\n|",
        'composer = "C\nD"',
        '\\header {{ title = "T{0} \\n" }}',
        '\\header {{ title = "A\\\n" title="{0}" }}',
        'title="unclosed',
        'subtitle = "S" \\title "T"',
        "\\",
    ),
)


def snippets(number: int) -> str:
    rng = random.Random(f"text {number}")
    return " ".join(rng.choice(SNIPPETS).format(rng.randint(1, 9)) for _ in range(rng.randint(1, 40)))


def mutopia() -> list[str]:
    """A few of Mutopia's own files, where they are at hand."""
    paths = sorted(MUTOPIA.rglob("*.ly"))[::40] if MUTOPIA.is_dir() else []
    return [path.read_bytes().decode("utf-8", "replace") for path in paths]


def test_bars_and_corruptions_of_any_text_are_as_published() -> None:
    applied = 0
    for number, text in enumerate([*map(snippets, range(600)), *mutopia()]):
        assert split_bars(text) == oracle.bars(text), text
        for kind in CORRUPTIONS:
            possible = oracle.corruptions(text, kind)
            made = corrupt(text, kind, random.Random(number))
            assert made in possible if made else not possible, (kind, text)
            applied += bool(possible)
    assert applied > 2000


@pytest.mark.parametrize("kind", CORRUPTIONS)
def test_all_published_corruptions_are_made(kind: str) -> None:
    for key in ("c \\major", "g \\major", "f \\major", "d \\major", "a \\minor", "sol \\major"):
        text = f"\\key {key} \\time 3/4 c2. | d2. || e2. |"
        made = {corrupt(text, kind, random.Random(seed)) for seed in range(300)}  # type: ignore[arg-type]
        assert made == oracle.corruptions(text, kind)


# --- rows ---

PIECES = [
    Piece(f"piece{number:03d}", snippets(number), "", {"composer": f"C{number % 9}", "style": f"S{number % 7}"})
    for number in range(600)
]
TEXTS = {piece.id: piece.raw for piece in PIECES}
HEADERS = {piece.id: piece.header for piece in PIECES}
SIZES = dict.fromkeys(TASKS, 150)


def rows_of(task: TaskName) -> list[TaskRow]:
    return make_rows(task, PIECES, 3, SIZES)


def right(row: TaskRow) -> str:
    return row["options"][int(row["answer"])]


def test_rows_on_bars_are_as_published() -> None:
    for row in rows_of("bar_count"):
        assert (row["score"], row["answer"]) == (TEXTS[row["piece"]], str(len(oracle.bars(row["score"]))))
    for row in rows_of("bar_sequencing"):
        assert [row["options"][int(digit)] for digit in row["answer"]] == oracle.bars(TEXTS[row["piece"]])[:4]
    found = rows_of("next_bar_prediction")
    for row in found:
        first = oracle.bars(TEXTS[row["piece"]])
        assert row["score"] == "\n".join(first[:4])
        assert right(row) == first[4]
        assert row["options"].index(first[4]) == int(row["answer"])
        left = first[5:]
        wrong = [*row["options"]]
        wrong.remove(first[4])
        for option in wrong:
            left.remove(option)  # each stands there as often
    assert any(len(set(row["options"])) < 4 for row in found)


@pytest.mark.parametrize("task", ["metadata_qa", "metadata_prediction"])
def test_rows_on_metadata_are_as_published(task: TaskName) -> None:
    found = rows_of(task)
    pools = {kind: {oracle.field(text, kind) for text in TEXTS.values()} for kind in FIELDS}
    for row in found:
        text = TEXTS[row["piece"]]
        assert right(row) == oracle.field(text, row["kind"])
        assert len(set(row["options"])) == 4
        assert set(row["options"]) <= pools[row["kind"]]  # type: ignore[index]
        assert row["score"] == (text if task == "metadata_qa" else oracle.masked(text, row["kind"]))
    assert {row["kind"] for row in found} == set(FIELDS)


def test_rows_on_headers_are_as_published() -> None:
    titles = {oracle.title(text) for text in TEXTS.values()}
    for row in rows_of("music_captioning"):
        assert right(row) == oracle.title(TEXTS[row["piece"]])
        assert set(row["options"]) <= titles
        assert row["score"] == oracle.blanked(TEXTS[row["piece"]], "title")
    for row in rows_of("composer_recognition"):
        assert right(row) == HEADERS[row["piece"]]["composer"]
        assert row["score"] == oracle.blanked(TEXTS[row["piece"]], "composer")
    for row in rows_of("genre_recognition"):
        assert (right(row), row["score"]) == (HEADERS[row["piece"]]["style"], TEXTS[row["piece"]])
    usable = [text for text in TEXTS.values() if oracle.title(text)]
    assert len(make_rows("music_captioning", PIECES, 3, {"music_captioning": 9999})) == len(usable)


def test_rows_with_errors_are_as_published() -> None:
    found = rows_of("error_detection")
    assert [row["kind"] for row in found] == [kind for kind in CORRUPTIONS for _ in range(30)]
    assert len({row["piece"] for row in found}) == len(found)
    for row in found:
        assert len(oracle.bars(TEXTS[row["piece"]])) >= 4
        assert (row["score"], int(row["answer"])) in oracle.corruptions(TEXTS[row["piece"]], row["kind"])


def test_rows_on_clips_are_as_published() -> None:
    clips = [Clip(f"Q{1 + number % 4}_song{number}_0", 1 + number % 4, str(number).encode()) for number in range(80)]
    convert = lambda midi: f'% Lily was here from x.mid\n\\version "2"{" c4 |" * int(midi)} d'  # noqa: E731
    found, _ = make_clip_rows("paper", clips, 1, per_quadrant=15, convert=convert)
    assert len(found) == 60
    for row in found:
        number = int(row["piece"][7:-2])
        whole = convert(str(number).encode()).replace("x.mid", f"{row['piece']}.mid")
        assert row["score"] == oracle.clip(whole)
        assert sorted(row["options"]) == list(oracle.QUADRANTS)
        assert right(row) == row["piece"][:2]
    assert len({tuple(row["options"]) for row in found}) > 10
