"""The scores on which questions are asked by default: works in music21's corpus, on the machine where they are read."""

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # music21 takes a third of a second to import
    from music21.stream import Score


@dataclass(frozen=True, slots=True)
class DefaultWork:
    """A work in music21's corpus.

    Args:
        name: short, unique, stable.
        path: of its file in the corpus.
        composer: full name.
        title: without its key, which may be asked.
    """

    name: str
    path: str
    composer: str
    title: str

    def load(self) -> "Score":
        """Read the work.

        Returns:
            The score, prepared as `music_evals.notation.score_file.prepare_score` does, with composer and title.

        Raises:
            music21.exceptions21.CorpusException: this copy of music21 has no corpus.

        Example:
            >>> score = next(work for work in default_works() if work.name == "bach-66-6").load()
            >>> score.metadata.composer, len(score.parts)
            ('Johann Sebastian Bach', 4)
        """
        from music21 import corpus

        from music_evals.notation.score_file import prepare_score

        score = prepare_score(corpus.parse(self.path))
        score.metadata.composer = self.composer
        score.metadata.title = self.title
        return score


@cache
def default_works() -> tuple[DefaultWork, ...]:
    """The default works, which ``datasets_builders/names/msu_works.toml`` lists with their sources.

    Returns:
        The works by name.

    Example:
        >>> len(default_works()) >= 66
        True
    """
    listed = tomllib.loads((files("music_evals.datasets_builders.names") / "msu_works.toml").read_text("utf-8"))
    return tuple(DefaultWork(name, *entry) for name, entry in sorted(listed.items()))
