"""Replaces the music of a question: by none, by noise, or by the music of another item.

A model that scores as high without the music does not use it. The music of a sample is marked as
spans of the text (``music`` of the metadata ``asks``), or it is the parts with sound, pictures or a
PDF; or both, the spans then being of the first part. Worked examples keep their music.

Sources: RUListening (arXiv 2504.00369) and MusICA-MetaBench (arXiv 2607.06015) replace sound by
silence and noise.
"""

import base64
from collections.abc import Hashable, Iterator, Mapping, Sequence
from itertools import groupby
from random import Random
from typing import Any, Literal, get_args

from inspect_ai.dataset import Sample
from inspect_ai.model import (
    ChatMessage,
    ChatMessageUser,
    Content,
    ContentAudio,
    ContentDocument,
    ContentImage,
    ContentText,
)

from music_evals.notation.noise import noise_audio, noise_pages, noise_text
from music_evals.notation.scores.pdf import count_pages, pages_to_pdf
from music_evals.solvers.media import MEDIA, data_uri

Stimulus = Literal["given", "none", "noise", "other"]
"""``given``: the item's own music. ``none``: a note that there is no music, in its place.
``noise``: random music in the same notation; its length is the median of the task's items, so it
says nothing about the answer. ``other``: the music of another item with another answer.
"""

ARMS: tuple[Stimulus, ...] = get_args(Stimulus)
NOTE = {
    "en": "(There is no music here. Give the likeliest answer from the question alone.)",
    "zh": "（此处没有乐谱。请仅根据问题，给出最可能的答案。）",
}
"""The note in the place of the music."""

_Place = str | tuple[Content, ...]  # a text, or adjacent parts
_Music = tuple[_Place, ...]
_Shown = Sequence[tuple[Sample, _Music]]


def apply_stimulus(
    stimulus: Stimulus, samples: Sequence[Sample], language: str = "en", *, own_noise: bool = False
) -> list[Sample]:
    """Return the samples of a task with other music; samples without music are left out.

    The music is in the last message with the metadata ``asks``. `language`, ``en`` or ``zh``, is
    the language of the note that there is no music. With `own_noise` noise is as long and loud as
    the very clip that it replaces.

    Raises:
        ValueError: no sample has music, none has another answer, or there would be nothing to
            transcribe.
    """
    if stimulus == "given":
        return list(samples)
    shown = [
        (sample, music) for sample in samples if (music := _music(question_message(sample)[0]))
    ]
    if not shown:
        raise ValueError(
            f"stimulus={stimulus} is not valid: no question of this task comes with music; valid is"
            " given"
        )
    if stimulus == "none":
        return _without_music(shown, NOTE[language])
    if stimulus == "noise":
        return _with_noise(shown, own_noise)
    changed = [
        _with_music(sample, stimulus, music, owner)
        for sample, music, owner in _music_of_others(shown)
    ]
    if not changed:
        raise ValueError(
            "stimulus=other is not valid: no question has another answer than the others"
        )
    return changed


def _without_music(shown: _Shown, note: str) -> list[Sample]:
    for sample, _ in shown:
        if question_message(sample)[1].get("answer_type") == "symbols":
            raise ValueError(
                "stimulus=none leaves nothing to transcribe; it is valid with strategy=standalone "
                "and cot"
            )
    return [_with_music(sample, "none", [note] * len(music)) for sample, music in shown]


def _with_noise(shown: _Shown, own_noise: bool) -> list[Sample]:
    models = []  # for each place of music in a question, the music of median length
    for at in range(max(len(music) for _, music in shown)):
        places = sorted((music[at] for _, music in shown if at < len(music)), key=_size)
        models.append(places[len(places) // 2])
    substitutes = {}  # shared by the questions about the same music
    changed = []
    for sample, music in shown:
        key = _key(music)
        if key not in substitutes:
            notation = question_message(sample)[1].get("notation", "")
            substitutes[key] = tuple(
                _noise(place, model, notation, own_noise)
                for place, model in zip(music, models, strict=False)
            )
        changed.append(_with_music(sample, "noise", substitutes[key]))
    return changed


def question_place(messages: Sequence[ChatMessage]) -> int:
    """Return the place of the last message with the metadata ``asks``."""
    return max(at for at, message in enumerate(messages) if "asks" in (message.metadata or {}))


def question_message(sample: Sample) -> tuple[ChatMessage, dict[str, Any]]:
    """Return the message that asks a sample's question, and its metadata ``asks``."""
    assert not isinstance(sample.input, str)
    message = sample.input[question_place(sample.input)]
    return message, (message.metadata or {})["asks"]


def music_texts(message: ChatMessage, facts: Mapping[str, Any]) -> list[str]:
    """Return the music in the text of a message, whose facts have its places."""
    return [message.text[start:end] for start, end in facts.get("music") or ()]


def messages_of(sample: Sample) -> list[ChatMessage]:
    """Return the messages that a sample begins with."""
    return [message for message in sample.input if not isinstance(message, str)]


def parts_of(message: ChatMessage) -> list[Content]:
    """Return the parts of a message; a text is one part."""
    content = message.content
    return [ContentText(text=content)] if isinstance(content, str) else list(content)


def pages_in(part: Content) -> int:
    """Return the number of pages that a part shows: 1 for a picture, those of a PDF, 0 for another
    part.
    """
    if isinstance(part, ContentDocument):
        return count_pages(_data(part.document))
    return int(isinstance(part, ContentImage))


def _music(message: ChatMessage) -> _Music:
    """The music in a message: as text, then in other parts, in their order."""
    texts = music_texts(message, (message.metadata or {})["asks"])
    if isinstance(message.content, str):
        return tuple(texts)
    runs = groupby(message.content, key=_is_music)
    return (*texts, *(tuple(run) for is_music, run in runs if is_music))


def _is_music(part: Content) -> bool:
    return part.type in ("audio", "image", "document")


def _data(uri: str) -> bytes:
    return base64.b64decode(uri.partition(",")[2])


def _key(music: _Music) -> Hashable:
    return tuple(
        place if isinstance(place, str) else tuple(getattr(part, part.type) for part in place)
        for place in music
    )


def _size(place: _Place) -> tuple[int, int]:
    if isinstance(place, str):
        return len(place), 0
    count = sum(max(1, pages_in(part)) for part in place)
    return count, sum(len(sound.audio) for sound in _sounds(place))


def _noise(place: _Place, model: _Place, notation: str, own_noise: bool) -> _Place:
    """Noise for a place, as long as the model; with `own_noise` only text is."""
    if isinstance(place, str) or isinstance(model, str):
        return noise_text(str(place), notation, str(model))
    return tuple(_noise_parts(place, place if own_noise else model))


def _noise_parts(place: Sequence[Content], model: Sequence[Content]) -> Iterator[Content]:
    pages = [part for part in model if isinstance(part, ContentImage)]
    if pages:
        for page, image in zip(pages, noise_pages(len(pages)), strict=True):
            yield page.model_copy(update={"image": data_uri(image, "image/png")})
    for part in model:
        if isinstance(part, ContentDocument):
            pdf = pages_to_pdf(noise_pages(pages_in(part)))
            yield part.model_copy(update={"document": data_uri(pdf, "application/pdf")})
    for own, other in zip(_sounds(place), _sounds(model), strict=False):
        sound = noise_audio(_data(own.audio), _data(other.audio))
        yield own.model_copy(update={"audio": data_uri(sound, "audio/wav"), "format": "wav"})


def _sounds(parts: Sequence[Content]) -> list[ContentAudio]:
    return [part for part in parts if isinstance(part, ContentAudio)]


def _music_of_others(shown: _Shown) -> Iterator[tuple[Sample, _Music, object]]:
    """Samples, each with the music and the id of a random item that has another answer."""
    owners: dict[Hashable, tuple[_Music, object]] = {}
    answers: dict[Hashable, dict[str, set[str]]] = {}
    for sample, music in shown:
        owners.setdefault(_key(music), (music, sample.id))
        for kind, answer in _answers(sample).items():
            answers.setdefault(_key(music), {}).setdefault(kind, set()).add(answer)
    for sample, music in shown:
        right = _answers(sample)
        order = [key for key in answers if key != _key(music)]
        Random(f"other {sample.id}").shuffle(order)
        same = {
            key: sum(answer in answers[key].get(kind, ()) for kind, answer in right.items())
            for key in order
        }
        # First come items with another answer to the same kind of question.
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


def _with_music(
    sample: Sample, stimulus: Stimulus, music: Sequence[_Place], owner: object = None
) -> Sample:
    """A sample with other music, or with a note instead of its music."""
    message, facts = question_message(sample)
    spans = facts.get("music") or ()
    content: Any = message.content
    if not isinstance(content, str):
        others = iter(music[len(spans) :])
        runs = groupby(content, key=_is_music)
        content = []
        for is_music, run in runs:
            content += _parts(next(others)) if is_music else run
    if spans:
        is_text = isinstance(content, str)
        text, moved = _replace_spans(content if is_text else content[0].text, spans, music)
        content = text if is_text else [ContentText(text=text), *content[1:]]
        facts = {**facts, "music": moved}
    if stimulus == "none" and not isinstance(content, str):
        content = "\n".join(part.text for part in content)
    metadata: dict[str, Any] = {} if owner is None else {"stimulus_of": owner}
    return _changed(sample, content, facts, stimulus, **metadata)


def _replace_spans(
    text: str, spans: Sequence[Sequence[int]], music: Sequence[_Place]
) -> tuple[str, list[list[int]]]:
    """A text with other music in its spans, and the places of that music."""
    replaced = ""
    end = 0
    moved = []
    for (start, stop), place in zip(spans, map(str, music), strict=False):
        replaced += text[end:start]
        moved.append([len(replaced), len(replaced) + len(place)])
        replaced = replaced + place
        end = stop
    return replaced + text[end:], moved


def _parts(place: _Place) -> Sequence[Content]:
    return (ContentText(text=place),) if isinstance(place, str) else place


def _changed(
    sample: Sample, content: Any, facts: Mapping[str, Any], stimulus: Stimulus, **metadata: Any
) -> Sample:
    """A sample whose question has other content, facts and metadata."""
    message, _ = question_message(sample)
    if stimulus == "none":
        facts = {key: fact for key, fact in facts.items() if key not in ("music", "notation")}
    asks = {"asks": {**facts, "stimulus": stimulus}}
    changed = ChatMessageUser(content=content, metadata={**(message.metadata or {}), **asks})
    kept = {key: value for key, value in (sample.metadata or {}).items() if key != MEDIA}
    messages = [changed if other is message else other for other in sample.input]
    return sample.model_copy(
        update={"input": messages, "metadata": {**kept, "stimulus": stimulus, **metadata}}
    )
