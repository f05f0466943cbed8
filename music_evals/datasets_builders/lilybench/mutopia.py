"""The pieces of the Mutopia Project, from a checkout of its source files.

Title: the Mutopia Project, free sheet music typeset with LilyPond
Homepage: https://www.mutopiaproject.org
Source: https://github.com/MutopiaProject/MutopiaProject
Licence: public domain, CC BY or CC BY-SA, as each piece's header says

Expected layout, in the folder or in a folder ``ftp`` in it: ``COMPOSER/OPUS/PIECE/`` with one
``.ly`` file, or with a folder ``PIECE-lys`` if the piece has several files. The opus may be missing
or have another level below it.
"""

import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from music_evals.datasets_builders.dataset_io import DatasetError
from music_evals.datasets_builders.lilybench.facts import licence_of
from music_evals.datasets_builders.lilybench.rows import LeftOut, Piece, not_measured
from music_evals.notation.lilypond.converters import ConversionError, modernise
from music_evals.notation.lilypond.source import SourceError, read_text
from music_evals.notation.lilypond.syntax.header import read_header
from music_evals.notation.subprocesses import LimitError, map_in_subprocess

_FOLDER = "ftp"
_MAIN = ".ly"
_SUFFIXES = (_MAIN, ".ily", ".lyi")
_FULL_SCORE = re.compile("score|partitura|conductor", re.IGNORECASE)
_MUSIC = re.compile(r"\\(?:score|new|context|relative)\b|<<")
"""A piece of more than a bare row of notes contains one of these; a cover page or header contains
none.
"""
_INCLUDE = re.compile(r'\\include\s+"([^"\0]*)"')


def read_pieces(
    source: Path,
    *,
    free_only: bool = False,
    convert: Callable[[str], str] = modernise,
    on_piece: Callable[[str, int], None] = lambda *_: None,
) -> tuple[list[Piece], LeftOut]:
    """Read the main file of every piece of a checkout, in the current syntax.

    The files that it includes are not read, as in the published code: a piece whose music is in
    other files is no piece for the strict tasks.

    Args:
        source: the checkout.
        free_only: leave out pieces whose header states no free licence.
        convert: brings the text of one file to the current syntax. A file that it cannot convert
            stays as it is.
        on_piece: called with "reading" and the number of pieces after each.

    Returns:
        The pieces by id, and id → reason for the pieces that were left out.

    Raises:
        DatasetError: there are no pieces, or the machine stopped a conversion.
    """
    # Here, because it loads pyarrow, and every `inspect` command loads this module.
    from music_evals.datasets_builders.dataset_io.licences import is_free

    root = source.expanduser()
    if not root.is_dir():
        raise DatasetError(
            f"{source} is not a folder; a checkout of the Mutopia Project, or its folder ftp, is "
            "needed"
        )
    if (root / _FOLDER).is_dir():
        root = root / _FOLDER
    folders = find_pieces(root)
    if not folders:
        raise DatasetError(
            f"{source} holds no LilyPond files; a checkout of the Mutopia Project is needed"
        )
    pieces = []
    left_out = {}
    unmeasured = []
    # Each piece is read in a process of its own limits: some texts take very long.
    results = map_in_subprocess(partial(_read, convert), list(folders.items()))
    for name, result in zip(folders, results, strict=True):
        if isinstance(result, LimitError):
            left_out[name] = f"its reading {result}"
        elif result is None:
            unmeasured.append(name)
        elif isinstance(result, str):
            left_out[name] = result
        elif free_only and not is_free(licence_of(result.header)):
            left_out[name] = "its header states no licence that lets it be passed on"
        else:
            pieces.append(result)
        on_piece("reading", len(folders))
    if unmeasured:
        raise not_measured(unmeasured)
    return pieces, left_out


def find_pieces(root: Path) -> dict[str, list[Path]]:
    """Return the folders of pieces below a folder, relative to it → their LilyPond files, in order
    of names.
    """
    folders: dict[str, list[Path]] = {}
    for path in sorted(root.rglob("*")):
        if path.suffix in _SUFFIXES and path.is_file():
            names = path.relative_to(root).parts[:-1]
            depth = next(
                (index for index, name in enumerate(names) if name.endswith("-lys")), len(names)
            )
            folders.setdefault("/".join(names[:depth]), []).append(path)
    return dict(sorted(folders.items()))


def main_file(name: str, files: Sequence[Path]) -> Path | None:
    """Return the main file of a piece, which is its full score if there are parts too; None if
    there is none.

    Candidates are files ``.ly`` with music, or that include others, and that no other file
    includes. Files nearest to the piece's folder come first; then one named like the piece; then
    one whose name says that it is a full score; then the longest; then the first by name.
    """
    if len(scores := [path for path in files if path.suffix == _MAIN]) == 1:
        return scores[0]
    texts = {path: read_text(path) for path in files}
    included = {
        (path.parent / other).resolve() for path in files for other in _INCLUDE.findall(texts[path])
    }
    title = _letters(name.split("/")[-1])

    def rank(path: Path) -> tuple[object, ...]:
        is_named_like_piece = _letters(path.stem) == title
        is_full_score = _FULL_SCORE.search(path.stem) is not None
        return (
            len(path.parts),
            not is_named_like_piece,
            not is_full_score,
            -len(texts[path]),
            path.name,
        )

    mains = (path for path in scores if path.resolve() not in included)
    candidates = [
        path for path in mains if _MUSIC.search(texts[path]) or _INCLUDE.search(texts[path])
    ]
    return min(candidates, key=rank, default=None)


def _read(convert: Callable[[str], str], folder: tuple[str, Sequence[Path]]) -> Piece | str | None:
    """A piece, or the reason why there is none; None if the machine is the reason."""
    name, files = folder
    try:
        main = main_file(name, files)
        if main is None:
            return "no file of it is a score"
        text = read_text(main)
        try:
            text = convert(text)
        except ConversionError as error:
            if not error.is_measured:
                return None
        return Piece(name, text, read_header(text))
    except SourceError as error:
        return str(error)
    except Exception as error:  # no piece ends a build
        return f"{type(error).__name__} while it was read: {error}"


def _letters(name: str) -> str:
    return re.sub(r"[\W_]", "", name).lower()
