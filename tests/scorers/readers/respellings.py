"""Replies that name an option as a person would, however it is spelled, for tests of readers."""

import re
from string import ascii_uppercase
from typing import NamedTuple

WITH_LETTER = (
    "{letter}. {text}", "{letter}) {text}", "({letter}) {text}", "{letter}: {text}", "{letter}） {text}",
    "**{letter}. {text}**", "**{letter}.** {text}", "**{letter}**. {text}", '"{letter}. {text}"', "`{letter}`: {text}",
    "{letter}.\n{text}", "{letter}:\n**{text}**", "Option {letter}: {text}", "{letter}. {text}\n\n{letter}. {text}",
    "The answer is {letter}. {text}", "The correct answer is ({letter}) {text}.", "Final Answer: {letter}. {text}",
    "**Final Answer: {letter}) {text}**", "I choose {letter}: {text}", "\\boxed{{{letter}. {text}}}",
    "{letter}. {text}\n\nThe answer is {letter}. {text}", "[[答案：{letter}. {text}]]", "答案是{letter}. {text}",
)  # fmt: skip
LETTERS = (
    "{letter}", "{letter}.", "({letter})", "**{letter}**", "Final Answer: {letter}", "Final Answer: **{letter}**",
    "\\boxed{{{letter}}}", "$\\boxed{{\\text{{{letter}}}}}$", "[[答案：{letter}]]", "[[answer: {letter}]]", "Final Answer: ({letter})",
)  # fmt: skip
WITHOUT_LETTER = (
    "{text}", "**{text}**", '"{text}"', "{text}.", "Final Answer: {text}", "Final Answer: **{text}**", "\\boxed{{{text}}}",
    "Final Answer: \\boxed{{\\text{{{text}}}}}", "The answer is {text}.", "答案：{text}",
)  # fmt: skip
_NOTE = re.compile(
    r"(?<![A-Za-z])(重?[升降])?([A-G])((?: (?:double )?(?:sharp|flat))?)(?![A-Za-z'])"
)
_WORDS = {"": "", "sharp": "升", "flat": "降", "double sharp": "重升", "double flat": "重降"}
_SPELLINGS = (
    {"sharp": "#", "flat": "b", "double sharp": "##", "double flat": "bb"},
    {"sharp": "♯", "flat": "♭", "double sharp": "𝄪", "double flat": "𝄫"},
    {"sharp": "-sharp", "flat": "-flat", "double sharp": "-double-sharp", "double flat": "-double-flat"},
    {"sharp": " Sharp", "flat": " Flat", "double sharp": " Double Sharp", "double flat": " Double Flat"},
    {"sharp": "#", "flat": "♭", "double sharp": "x", "double flat": "♭♭"},
)  # fmt: skip


class Respelled(NamedTuple):
    """A reply and the letter that it means; `is_bare` where it has no letter."""

    reply: str
    letter: str
    is_bare: bool


def notes_of(text):
    """The notes in a text, each as its letter and its accidental in English words."""
    notes = []
    for before, letter, after in _NOTE.findall(text):
        words = after.strip() or {word: name for name, word in _WORDS.items()}[before]
        notes.append(f"{letter} {words}".strip())
    return notes


def is_notes(text):
    """Whether a text is one or more notes, and nothing else."""
    return bool(notes_of(text)) and not re.sub(r"[\s,、]", "", _NOTE.sub("", text))


def spellings(text):
    """A text in its own and other spellings, in the order of its words."""
    yield text
    yield from (text.upper(), text.lower(), text.title())
    notes = notes_of(text)
    if not notes:
        return
    for signs in _SPELLINGS:

        def spelled(match, signs=signs):
            letter, _, words = notes_of(match[0])[0].partition(" ")
            return letter + signs.get(words, "")

        yield _NOTE.sub(spelled, text)
    if is_notes(text) and len(notes) > 1:
        for between in (", ", " ", "-", " – ", "、", "; ", ","):
            yield between.join(notes)
        yield f"{', '.join(notes[:-1])} and {notes[-1]}"
        yield "、".join(_WORDS[note[2:]] + note[0] for note in notes)
    elif is_notes(text):
        yield _WORDS[notes[0][2:]] + notes[0][0]


def reordered(text):
    """A list of notes in other orders."""
    notes = notes_of(text) if is_notes(text) else []
    for turn in range(1, len(notes)):
        yield ", ".join(notes[turn:] + notes[:turn])
    if len(notes) > 1:
        yield ", ".join(reversed(notes))


def respelled(options):
    """All replies that name one of these options."""
    for letter, option in zip(ascii_uppercase, options, strict=False):
        for form in LETTERS:
            yield Respelled(form.format(letter=letter), letter, False)
        for text in dict.fromkeys(spellings(option)):
            for form in WITH_LETTER:
                yield Respelled(form.format(letter=letter, text=text), letter, False)
            for form in WITHOUT_LETTER:
                yield Respelled(form.format(text=text), letter, True)


def crossed(options):
    """Replies with the letter of an option and the text of another one."""
    for number, letter in enumerate(ascii_uppercase[: len(options)]):
        text = options[number - 1]
        if text != options[number]:
            for form in WITH_LETTER:
                yield form.format(letter=letter, text=text)


def meaning(text):
    """What two spellings of an option share: its notes, or its words without case."""
    if is_notes(text):
        return " ".join(notes_of(text))
    return " ".join(re.findall(r"\w+|[#♯+°/]", text.casefold()))
