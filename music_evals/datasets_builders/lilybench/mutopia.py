"""The pieces of the Mutopia Project, from a checkout of its source files.

Title: the Mutopia Project, free sheet music typeset with LilyPond
Homepage: https://www.mutopiaproject.org
Source: https://github.com/MutopiaProject/MutopiaProject
Licence: public domain, CC BY or CC BY-SA, as each piece's header says

Expected layout, in the folder or in a folder ``ftp`` in it: ``COMPOSER/OPUS/PIECE/`` with one ``.ly`` file, or with a
folder ``PIECE-lys`` if the piece has several files. The opus may be missing or have another level below it.
"""

import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from music_evals.datasets_builders.dataset_io import DatasetError
from music_evals.datasets_builders.dataset_io.licences import is_free
from music_evals.datasets_builders.lilybench.facts import licence_of
from music_evals.datasets_builders.lilybench.rows import Piece, not_measured
from music_evals.notation.lilypond.converters import ConversionError, modernise
from music_evals.notation.lilypond.source import SourceError, included_names, read_text, resolve_includes
from music_evals.notation.lilypond.syntax.header import read_header
from music_evals.notation.lilypond.syntax.lexer import code_tokens
from music_evals.notation.lilypond.upgrade import upgrade
from music_evals.notation.subprocesses import LimitError, map_in_subprocess

_FOLDER: Final = "ftp"
_MAIN: Final = ".ly"
_SUFFIXES: Final = (_MAIN, ".ily", ".lyi")
_FULL_SCORE: Final = re.compile("score|partitura|conductor", re.IGNORECASE)
_MUSIC: Final = frozenset({"\\score", "\\new", "\\context", "\\relative", "<<"})
"""A piece of more than a bare row of notes contains one of these; a cover page or header contains none."""


def read_pieces(
    source: Path,
    *,
    free_only: bool = False,
    convert: Callable[[str], str] | None = None,
    on_piece: Callable[[str, int], None] = lambda *_: None,
) -> tuple[list[Piece], dict[str, str]]:
    """Read every piece of a checkout as one self-contained text in the current syntax.

    Args:
        source: the checkout.
        free_only: leave out pieces whose header states no free licence.
        convert: brings the text of one file to the current syntax; default is LilyPond's ``convert-ly`` with mends.
        on_piece: called with "reading" and the number of pieces after each.

    Returns:
        The pieces by id, and id → reason for the pieces that were left out.

    Raises:
        DatasetError: there are no pieces, or the machine stopped a conversion.
    """
    root = source.expanduser()
    if not root.is_dir():
        raise DatasetError(f"{source} is not a folder; a checkout of the Mutopia Project, or its folder ftp, is needed")
    if (root / _FOLDER).is_dir():
        root = root / _FOLDER
    folders = find_pieces(root)
    if not folders:
        raise DatasetError(f"{source} holds no LilyPond files; a checkout of the Mutopia Project is needed")
    pieces: list[Piece] = []
    left_out: dict[str, str] = {}
    unmeasured = []
    # Each piece is read in a process of its own limits: some texts take very long.
    results = map_in_subprocess(partial(_read, convert), list(folders.items()), few=8)
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
    """Return the folders of pieces below a folder, relative to it → their LilyPond files, in order of names."""
    folders: dict[str, list[Path]] = {}
    for path in sorted(root.rglob("*")):
        if path.suffix in _SUFFIXES and path.is_file():
            names = path.relative_to(root).parts[:-1]
            depth = next((index for index, name in enumerate(names) if name.endswith("-lys")), len(names))
            folders.setdefault("/".join(names[:depth]), []).append(path)
    return dict(sorted(folders.items()))


def main_file(name: str, files: Sequence[Path]) -> Path | None:
    """Return the main file of a piece, which is its full score if there are parts too; None if there is none.

    Candidates are files ``.ly`` that no other file includes, and that hold music themselves or by what they include.
    Files nearest to the piece's folder come first; then one named like the piece; then one whose name says that it is a
    full score; then the longest with all that it includes; then the first by name.
    """
    if len(scores := [path for path in files if path.suffix == _MAIN]) == 1:
        return scores[0]
    by_path = {path.resolve(): path for path in files}
    texts = {path: read_text(path) for path in files}
    includes = {
        path: [
            by_path[other]
            for included in included_names(text)
            if (other := (path.parent / included).resolve()) in by_path and by_path[other] != path
        ]
        for path, text in texts.items()
    }
    included_files = {path for group in includes.values() for path in group}
    title = _letters(name.split("/")[-1])
    candidates = {}
    for path in files:
        if path in included_files or path.suffix != _MAIN:
            continue
        group = [path]  # the file and all files that it includes, directly or not
        for file in group:
            group += [other for other in dict.fromkeys(includes[file]) if other not in group]
        if any(holds_music(texts[file]) for file in group):
            is_named_like_piece, is_full_score = _letters(path.stem) == title, _FULL_SCORE.search(path.stem) is not None
            length = sum(len(texts[file]) for file in group)
            candidates[path] = (len(path.parts), not is_named_like_piece, not is_full_score, -length, path.name)
    return min(candidates, key=lambda path: candidates[path], default=None)


def holds_music(text: str) -> bool:
    """Whether a text has music of its own, by the commands in it."""
    return any(token.text in _MUSIC for token in code_tokens(text))


def _read(convert: Callable[[str], str] | None, folder: tuple[str, Sequence[Path]]) -> Piece | str | None:
    """A piece, or the reason why there is none; None if the machine is the reason."""
    name, files = folder
    try:
        main = main_file(name, files)
        if main is None:
            return "no file of it is a score"
        raw = read_text(main)
        # The files of a piece include nothing outside of its folder.
        parents = (parent for parent in main.parents if parent.name == name.split("/")[-1])
        root = next(parents, main.parent)
        text = resolve_includes(main, root=root, convert=convert or partial(upgrade, cache=True))
        if not holds_music(text):
            return f"{main.name} holds no music"
        return Piece(name, raw if convert else _modern(raw), text, read_header(text))
    except ConversionError as error:
        return str(error) if error.is_measured else None
    except SourceError as error:
        return str(error)
    except Exception as error:  # no piece ends a build
        return f"{type(error).__name__} while it was read: {error}"


def _modern(text: str) -> str:
    """The text after ``convert-ly`` without mends; the text itself if that fails."""
    try:
        return modernise(text, cache=True)
    except ConversionError as error:
        if not error.is_measured:
            raise
        return text


def _letters(name: str) -> str:
    return re.sub(r"[\W_]", "", name).lower()
