"""The music that a question is asked with: its own, none, noise, or another item's.

A model that scores as well without the music does not read or hear it. Samples mark their music as spans of the text
(``music`` of the metadata ``asks``), or it is parts with sound or pictures. Worked examples keep their music.

Sources: silence and noise in the place of sound as in RUListening (arXiv 2504.00369) and MusICA-MetaBench (arXiv
2607.06015).
"""

import base64
from collections.abc import Hashable, Iterator, Sequence
from itertools import groupby
from random import Random
from typing import Any, Final, Literal, get_args

from inspect_ai.dataset import Sample
from inspect_ai.model import ChatMessage, ChatMessageUser, Content, ContentAudio, ContentImage, ContentText

from music_evals.notation.noise import noise_audio, noise_pages, noise_text
from music_evals.solvers.media import MEDIA

Stimulus = Literal["given", "none", "noise", "other"]
"""``given`` is the item's own music, ``none`` a note that there is none, ``noise`` random music in the same notation
and as long, ``other`` the music of another item with another answer."""

ARMS: Final[tuple[Stimulus, ...]] = get_args(Stimulus)
NOTE: Final = {
    "en": "(There is no music here. Answer from the question alone.)",
    "zh": "（此处没有乐谱。请仅根据问题作答。）",
}

_Place = str | tuple[Content, ...]  # a text, or parts that stand side by side
_Music = tuple[_Place, ...]


def apply_stimulus(stimulus: Stimulus, samples: Sequence[Sample], language: str = "en") -> list[Sample]:
    """Return the samples of a task with other music, without the samples that have none to change.

    The last message with the metadata ``asks`` shows the music. A text under ``score`` in a sample's metadata, which
    tools read, is changed with it. `language`, ``en`` or ``zh``, is that of the note that there is no music.

    Raises:
        ValueError: no sample shows music, or has other music, or tools would be left without a score.
    """
    if stimulus == "given":
        return list(samples)
    shown = [(sample, music) for sample in samples if (music := _music(question_message(sample)[0]))]
    if not shown:
        raise ValueError(f"stimulus={stimulus} is not valid: no question of this task comes with music; valid is given")
    if stimulus == "none" and any("score" in (sample.metadata or {}) for sample, _ in shown):
        raise ValueError("stimulus=none leaves the tools without a score; valid are given, noise and other")
    if stimulus == "other":
        changed = [_with_music(sample, stimulus, music, owner) for sample, music, owner in _music_of_others(shown)]
        if not changed:
            raise ValueError("stimulus=other is not valid: no question has another answer than the others")
        return changed
    note = NOTE[language] if stimulus == "none" else None
    substitutes: dict[Hashable, _Music] = {}  # many questions may be about the same music
    for sample, music in shown:
        if (key := _key(music)) not in substitutes:
            notation = question_message(sample)[1].get("notation", "")
            substitutes[key] = tuple(_substitute(place, notation, note) for place in music)
    return [_with_music(sample, stimulus, substitutes[_key(music)]) for sample, music in shown]


def question_message(sample: Sample) -> tuple[ChatMessage, dict[str, Any]]:
    """Return the message that asks a sample's question, and its metadata ``asks``."""
    assert not isinstance(sample.input, str)
    message = next(message for message in reversed(sample.input) if "asks" in (message.metadata or {}))
    return message, (message.metadata or {})["asks"]


def _music(message: ChatMessage) -> _Music:
    """The music in a message, in its order."""
    if isinstance(message.content, str):
        return tuple(message.content[start:end] for start, end in (message.metadata or {})["asks"].get("music") or ())
    return tuple(tuple(run) for is_music, run in groupby(message.content, key=_is_music) if is_music)


def _is_music(part: Content) -> bool:
    return part.type in ("audio", "image")


def _key(music: _Music) -> Hashable:
    return tuple(
        place if isinstance(place, str) else tuple(getattr(part, part.type) for part in place) for place in music
    )


def _substitute(place: _Place, notation: str, note: str | None) -> _Place:
    """A note, or noise if there is none."""
    if isinstance(place, str):
        return note or noise_text(place, notation)
    return (ContentText(text=note),) if note else tuple(_noise_parts(place))


def _noise_parts(parts: Sequence[Content]) -> Iterator[Content]:
    pages = [part for part in parts if isinstance(part, ContentImage)]
    for page, image in zip(pages, noise_pages(len(pages)) if pages else (), strict=True):
        yield page.model_copy(update={"image": f"data:image/png;base64,{base64.b64encode(image).decode()}"})
    for part in (part for part in parts if isinstance(part, ContentAudio)):
        sound = base64.b64encode(noise_audio(base64.b64decode(part.audio.partition(",")[2]))).decode()
        yield part.model_copy(update={"audio": f"data:audio/wav;base64,{sound}", "format": "wav"})


def _music_of_others(shown: Sequence[tuple[Sample, _Music]]) -> Iterator[tuple[Sample, _Music, object]]:
    """Samples with music of random items that have another answer, and the ids of these items."""
    owners: dict[Hashable, tuple[_Music, object]] = {}
    answers: dict[Hashable, dict[str, set[str]]] = {}
    for sample, music in shown:
        owners.setdefault(_key(music), (music, sample.id))
        for kind, answer in _answers(sample).items():
            answers.setdefault(_key(music), {}).setdefault(kind, set()).add(answer)
    for sample, music in shown:
        right, order = _answers(sample), [key for key in answers if key != _key(music)]
        Random(f"other {sample.id}").shuffle(order)
        same = {key: sum(answer in answers[key].get(kind, ()) for kind, answer in right.items()) for key in order}
        # Items that were asked the same kind of question, and have another answer to it, come first.
        order.sort(key=lambda key: (same[key], not right.keys() & answers[key].keys()))
        if order and same[order[0]] < len(right):
            yield (sample, *owners[order[0]])


def _answers(sample: Sample) -> dict[str, str]:
    """Kind of question → right answer, an option by its text."""
    questions = (sample.metadata or {}).get("questions")
    if isinstance(questions, list):
        return {row["kind"] or row["question"]: row["answer"] for row in questions}
    target = sample.target if isinstance(sample.target, str) else " ".join(sample.target)
    if sample.choices and len(target) == 1:
        target = sample.choices[int(target) if target.isdigit() else ord(target) - ord("A")]
    return {str(question_message(sample)[1].get("kind", "")): target}


def _with_music(sample: Sample, stimulus: Stimulus, music: _Music, owner: object = None) -> Sample:
    """A sample that shows music, or a note, in the place of its own."""
    message, question_metadata = question_message(sample)
    question_metadata, places = {**question_metadata, "stimulus": stimulus}, iter(music)
    content: Any = []
    if isinstance(message.content, str):
        content, end, spans = "", 0, []
        for start, stop in question_metadata["music"]:
            content += message.content[end:start]
            spans.append([len(content), len(content) + len(place := next(places))])
            content, end = f"{content}{place}", stop
        content += message.content[end:]
        question_metadata["music"] = spans
    else:
        for is_music, run in groupby(message.content, key=_is_music):
            content += next(places) if is_music else run
    if stimulus == "none":
        question_metadata = {key: fact for key, fact in question_metadata.items() if key not in ("music", "notation")}
    changed = ChatMessageUser(content=content, metadata={**(message.metadata or {}), "asks": question_metadata})
    metadata = {key: value for key, value in (sample.metadata or {}).items() if key != MEDIA}
    if "score" in metadata:
        metadata["score"] = "\n".join(map(str, music))
    metadata |= {"stimulus": stimulus, **({} if owner is None else {"stimulus_of": owner})}
    messages = [changed if other is message else other for other in sample.input]
    return sample.model_copy(update={"input": messages, "metadata": metadata})
