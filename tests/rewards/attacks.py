"""Degenerate replies, and what they earn: ``python -m tests.rewards.attacks [TASK …]`` prints the
table of the docs.
"""

import sys
from collections.abc import Mapping, Sequence
from string import ascii_uppercase
from typing import Any, NamedTuple

import music_evals as me
from music_evals import benchmarks
from music_evals.datasets_builders.lilybench_generation.references import (
    load_demonstrations,
    load_references,
)
from music_evals.rewards import Pieces, score

CONSTANTS = (
    "Bright",
    "A",
    "B",
    "D",
    "Yes",
    "No",
    "0",
    "1",
    "4",
    "0123",
    "none",
    "None",
    "C major",
    "4/4",
    "C4",
    "V-I",
)


class Question(NamedTuple):
    """A row as rewards take it, the text of its prompt, and what its options, or answers of its
    kind, are called.
    """

    row: Mapping[str, Any]
    prompt: str
    names: Sequence[str]

    @property
    def right(self):
        return str(self.row["answer"])


def row_of(sample):
    """The columns of a sample's row that rewards need."""
    details = sample.metadata or {}
    if "questions" in details:
        return dict(details["questions"][0])
    return {"options": details.get("options", sample.choices or []), "answer": sample.target}


def questions(task, most, **params):
    """Questions of a task, spread evenly."""
    params |= {"asking": "single"} if task.startswith("msu") else {}
    samples = list(me.task(task, **params).dataset)
    rows = [row_of(sample) for sample in samples]
    kinds = {}
    for row in rows:
        kinds.setdefault(row.get("answer_type", ""), {})[str(row["answer"])] = None
    found = []
    for sample, row in list(zip(samples, rows, strict=True))[:: max(1, len(samples) // most)]:
        prompt = "\n".join(message.text for message in sample.input if not isinstance(message, str))
        options = row.get("options") or []
        letters = ("0123" if row["answer"].isdigit() else ascii_uppercase)[: len(options)]
        names = (
            options
            if len(row["answer"]) > 1 and options
            else letters or kinds[row.get("answer_type", "")]
        )
        found.append(Question(row, prompt, list(names)))
    return found


def attacks(question):
    """Degenerate replies to a question, with their names."""
    names, texts = question.names, list(question.row.get("options") or question.names)
    lines = [f"{name}. {text}" for name, text in zip(names, texts, strict=False)]
    yield from (
        ("empty", ""),
        ("white space", " \n\t\n"),
        ("fences alone", "```\n```"),
        ("think alone", "<think>A"),
    )
    yield from (
        ("prompt copied", question.prompt),
        ("prompt copied twice", f"{question.prompt}\n\n{question.prompt}"),
    )
    yield "all options listed", "\n".join(lines)
    yield "all options in a fence", "```\n" + "\n".join(lines) + "\n```"
    for name, glue in (("or", " or "), ("comma", ", "), ("slash", "/"), ("and", " and ")):
        yield f"all names, {name}", glue.join(names)
        yield f"all texts, {name}", glue.join(texts)
        yield f"all names labelled, {name}", f"Final Answer: {glue.join(names)}"
    yield "all names as JSON", '{"answer": [' + ", ".join(f'"{name}"' for name in names) + "]}"
    yield "all names in boxes", " ".join(f"\\boxed{{{name}}}" for name in names)
    yield "each name in turn", "\n".join(f"Final Answer: {name}" for name in names)
    yield "each name in turn, forms", " ".join(f"[[answer: {name}]]" for name in names)
    yield "each name is the answer", " ".join(f"The answer is {name}." for name in names)
    yield "each name may be", "It may be " + ", or perhaps ".join(names) + "."
    for refusal in (
        "I cannot answer that.",
        "No audio was provided.",
        "I refuse to answer.",
        "我无法回答。",
    ):
        yield f"refusal: {refusal}", refusal
    for dodge in (
        "It depends.",
        "Unknown",
        "Any of them.",
        "All of the above",
        "Yes and no",
        "The right one",
        "X",
    ):
        yield f"dodge: {dodge}", dodge
    keys = [
        f"{step} {mode}"
        for mode in ("major", "minor")
        for step in ("C", "G", "D", "A", "E", "B", "F", "Bb", "Eb")
    ]
    yield "all keys", ", ".join(keys)
    yield "all numbers", " ".join(map(str, range(1, 100)))
    yield (
        "all pitches",
        ", ".join(f"{step}{octave}" for octave in range(2, 7) for step in "CDEFGAB"),
    )
    yield "1 MB of names", f"{' '.join(names)} " * (1_000_000 // len(" ".join(names) + " "))
    yield "1 MB of one character", "A" * 1_000_000
    yield from ((f"constant: {text}", text) for text in CONSTANTS)
    yield from ((f"constant: Final Answer: {text}", f"Final Answer: {text}") for text in "ABCDE")


def floor_of(task, asked):
    """What chance earns on questions, or the best constant answer to those of a type, whichever is
    more.
    """
    best = 0.0
    for kind in {one.row.get("answer_type") for one in asked}:
        alike = [one for one in asked if one.row.get("answer_type") == kind]
        rights = {one.right for one in alike}
        # An index may be named by its option's text.
        rights |= {
            one.row["options"][int(one.right)]
            for one in alike
            if one.row.get("options") and one.right in {*"0123"}
        }
        constants = [form + right for right in rights for form in ("", "Final Answer: ")]
        rewards = [values(task, alike, [constant] * len(alike)) for constant in constants]
        best += max(map(sum, rewards))
    scored = values(task, asked, [one.right for one in asked])
    return max(best / max(len(scored), 1), benchmarks.tasks_named(task)[0].chance or 0.0)


def values(task, asked, replies):
    """The rewards of replies, without the questions that no rule can score."""
    rewards = [score(task, one.row, reply).value for one, reply in zip(asked, replies, strict=True)]
    return [value for value in rewards if value is not None]


def earned(task, asked):
    """Name of an attack → its mean reward."""
    by_name = zip(*(list(attacks(question)) for question in asked), strict=True)
    rewards = {
        column[0][0]: values(task, asked, [reply for _, reply in column]) for column in by_name
    }
    return {name: sum(own) / max(len(own), 1) for name, own in rewards.items()}


def pieces_of(dataset):
    return Pieces(load_references(dataset), load_demonstrations(dataset))


def written_attacks(dataset):
    """Degenerate pieces: nothing, no piece, trivial pieces, and near-copies of all kinds that are
    known.
    """
    yield from (
        ("empty", ""),
        ("refusal", "I cannot write music."),
        ("fences alone", "```lilypond\n```"),
    )
    yield from (
        ("words", "A piece in G major, lively, then calm."),
        ("1 MB of notes", "{ " + "c4 " * 330_000 + "}"),
    )
    bodies = {
        "one note": "c'1", "a rest": "r1", "a thousand equal notes": "c'4 " * 1_000,
        "a bar, repeated": "c'4 d' e' f' " * 99,
        "a scale": "c'4 d' e' f' g' a' b' c''",
        "a bar in \\repeat": "\\repeat unfold 200 { c'8 e' g' e' }",
        "all twelve notes": "c'4 cis' d' dis' e' f' fis' g' gis' a' ais' b' ",
        "a cluster": "<c' d' e' f' g' a' b'>1 " * 50,
    }  # fmt: skip
    for name, body in bodies.items():
        yield name, f"```lilypond\n\\score {{ {{ {body} }} \\layout {{ }} \\midi {{ }} }}\n```"
    for number, (name, text) in enumerate(load_demonstrations(dataset).items()):
        yield f"demonstration {name}", f"```lilypond\n{text}\n```"
        if number == 0:
            junk = " ".join(
                f"{'cdefgab'[(7 * n * n + n // 3) % 7]}{2 ** (n % 5)}" for n in range(3_000)
            )
            yield "demonstration beside music that does not sound", f"junk = {{ {junk} }}\n{text}"
            yield (
                "one note beside music that does not sound",
                f"junk = {{ {junk} }}\n\\score {{ {{ c'1 }} \\layout {{ }} \\midi {{ }} }}",
            )
            yield (
                "demonstration, another octave and title",
                text.replace("'", "").replace("title", "subtitle"),
            )
    for reference in load_references(dataset):
        yield f"piece of {reference.name}", f"```lilypond\n{reference.texts[0]}\n```"


if __name__ == "__main__":
    print(
        "| task | questions | floor | best attack | it earns | attacks that earn nothing "
        "|\n|---|---|---|---|---|---|"
    )
    for name in sys.argv[1:]:
        asked = questions(name, 60)
        means = earned(name, asked)
        best = max(means, key=lambda attack: means[attack])
        nothing = sum(value == 0 for value in means.values())
        print(f"| `{name}` | {len(asked)} | {floor_of(name, asked):.3f} | {best} | {means[best]:.3f} "
              f"| {nothing} of {len(means)} |", flush=True)  # fmt: skip
