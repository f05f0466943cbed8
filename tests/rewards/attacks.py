"""Degenerate replies, and what they earn: ``python -m tests.rewards.attacks [TASK …]`` prints the table of the docs."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from string import ascii_uppercase
from typing import Any, NamedTuple

import music_evals as me
from music_evals import benchmarks
from music_evals.rewards import score

KEYS = [f"{step} {mode}" for mode in ("major", "minor") for step in ("C", "G", "D", "A", "E", "B", "F", "Bb", "Eb")]
CONSTANTS = ("Bright", "A", "B", "D", "Yes", "No", "0", "1", "4", "0123", "none", "None", "C major", "4/4", "C4", "V-I")


class Question(NamedTuple):
    """A row as rewards take it, and the text of its prompt."""

    row: Mapping[str, Any]
    prompt: str

    @property
    def right(self) -> str:
        return str(self.row.get("target", self.row.get("answer")))

    @property
    def names(self) -> list[str]:
        """What the question calls its options."""
        options = self.row.get("options") or []
        if self.right in options:
            return list(options)
        if options:
            return list(("0123" if self.right.isdigit() else ascii_uppercase)[: len(options)])
        return KEYS if self.row.get("answer_type") else [str(number) for number in range(1, 9)]


def questions(task: str, most: int, **params: Any) -> list[Question]:
    """Questions of a task, spread evenly."""
    benchmark = benchmarks.tasks_named(task)[0].benchmark
    params |= {"asking": "single"} if benchmark == "msu" else {}
    samples = list(me.task(task, media=0, **params).dataset if benchmark.startswith(("muse", "lily")) else
                   me.task(task, **params).dataset)  # fmt: skip
    found = []
    for sample in samples[:: max(1, len(samples) // most)]:
        details = sample.metadata or {}
        prompt = "\n".join(message.text for message in sample.input if not isinstance(message, str))
        row = {"options": details.get("options", sample.choices or []), "answer": sample.target}
        found.append(Question(details["questions"][0] if benchmark == "msu" else row, prompt))
    return found


def attacks(question: Question) -> Iterator[tuple[str, str]]:
    """Degenerate replies to a question, with their names."""
    names, texts = question.names, list(question.row.get("options") or KEYS)
    lines = [f"{name}. {text}" for name, text in zip(names, texts, strict=False)]
    yield from (("empty", ""), ("white space", " \n\t\n"), ("fences alone", "```\n```"), ("think alone", "<think>A"))
    yield from (("prompt copied", question.prompt), ("prompt copied twice", f"{question.prompt}\n\n{question.prompt}"))
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
    for refusal in ("I cannot answer that.", "No audio was provided.", "I refuse to answer.", "我无法回答。"):
        yield f"refusal: {refusal}", refusal
    for dodge in ("It depends.", "Unknown", "Any of them.", "All of the above", "Yes and no", "The right one", "X"):
        yield f"dodge: {dodge}", dodge
    yield "all keys", ", ".join(KEYS)
    yield "all numbers", " ".join(map(str, range(1, 100)))
    yield "all pitches", ", ".join(f"{step}{octave}" for octave in range(2, 7) for step in "CDEFGAB")
    yield "1 MB of names", f"{' '.join(names)} " * (1_000_000 // len(" ".join(names) + " "))
    yield "1 MB of one character", "A" * 1_000_000
    yield from ((f"constant: {text}", text) for text in CONSTANTS)
    yield from ((f"constant: Final Answer: {text}", f"Final Answer: {text}") for text in "ABCDE")


def floor_of(task: str, asked: Sequence[Question]) -> float:
    """What chance and the best constant answer earn on questions."""
    constants = {question.right for question in asked}
    best = max(mean_value(task, asked, [right] * len(asked)) for right in constants)
    return max(best, benchmarks.tasks_named(task)[0].chance or 0.0)


def mean_value(task: str, asked: Sequence[Question], replies: Sequence[str]) -> float:
    rewards = [score(task, one.row, reply).value for one, reply in zip(asked, replies, strict=True)]
    return fmean([value for value in rewards if value is not None] or [0.0])


def earned(task: str, asked: Sequence[Question]) -> dict[str, float]:
    """Name of an attack → its mean reward."""
    by_name = zip(*(list(attacks(question)) for question in asked), strict=True)
    return {column[0][0]: mean_value(task, asked, [reply for _, reply in column]) for column in by_name}


if __name__ == "__main__":
    print(
        "| task | questions | floor | best attack | it earns | attacks that earn nothing |\n|---|---|---|---|---|---|"
    )
    for name in sys.argv[1:]:
        asked = questions(name, 100)
        means = earned(name, asked)
        best = max(means, key=lambda attack: means[attack])
        nothing = sum(value == 0 for value in means.values())
        print(f"| `{name}` | {len(asked)} | {floor_of(name, asked):.3f} | {best} | {means[best]:.3f} "
              f"| {nothing} of {len(means)} |", flush=True)  # fmt: skip
