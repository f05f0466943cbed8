"""The scores that questions are computed on: by default works in music21's corpus."""

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from music_evals.datasets_builders import read_table
from music_evals.notation.scores.preparing import prepare_score
from music_evals.notation.scores.reading import read_corpus, read_score_data
from music_evals.notation.scores.second_reading import check_by_second_reader

if TYPE_CHECKING:
    from music21.stream import Score


class Work(NamedTuple):
    """A score in a file, or in music21's corpus if it has a title."""

    name: str  # short, unique, stable
    path: str  # of its file; for a default work, in the corpus
    composer: str = ""  # full name
    title: str = ""  # without the key, which questions ask for
    tune: int = 0  # place in an ABC file of several tunes, from 1
    difficulty: int = 1  # level of the questions, from 1 to 5

    @property
    def source(self) -> str:
        """Where the score comes from."""
        return self.name if not self.title else f"music21 corpus: {self.path}"

    def load(self) -> "Score":
        """Read the score and prepare it with `prepare_score`; a file is also read by a second
        program.
        """
        if not self.title:
            score, data, kind = read_score_data(Path(self.path), self.tune)
            check_by_second_reader(score, data, kind)
            return prepare_score(score)
        score = prepare_score(read_corpus(self.path))
        score.metadata.composer = self.composer
        score.metadata.title = self.title
        return score


@cache
def default_works(table: str = "msu_works") -> tuple[Work, ...]:
    """The default works by name; ``names/msu_works.toml`` lists them with their sources, and
    ``msu_level2`` to ``msu_level5`` those of the levels of difficulty.
    """
    return tuple(
        Work(name, *entry) for name, entry in sorted(read_table(f"names/{table}.toml").items())
    )


def first_works() -> tuple[Work, ...]:
    """The default works of the first run, see ``names/first_run.toml``."""
    names = read_table("names/first_run.toml")["msu"]
    return tuple(work for work in default_works() if work.name in names)
