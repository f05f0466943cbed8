"""The pieces of the Mutopia Project, from a checkout of its source files.

Title: the Mutopia Project, free sheet music typeset with LilyPond
Homepage: https://www.mutopiaproject.org
Source: https://github.com/MutopiaProject/MutopiaProject
Licence: public domain, CC BY or CC BY-SA, as each piece's header says

Expected layout, in the folder or in a folder ``ftp`` in it: ``COMPOSER/OPUS/PIECE/`` with one ``.ly`` file, or with a
folder ``PIECE-lys`` of the files of a piece that has several. The opus may be missing or have a further level.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Final

from music_evals.datasets_builders.dataset_io import DatasetError
from music_evals.datasets_builders.dataset_io.licences import is_free
from music_evals.datasets_builders.lilybench.facts import licence_of
from music_evals.datasets_builders.lilybench.rows import Piece, not_measured
from music_evals.notation.lilypond.compiler import ConversionError, modernise
from music_evals.notation.lilypond.source import SourceError, included_names, read_text, resolve_includes
from music_evals.notation.lilypond.syntax import code_tokens, read_header
from music_evals.notation.lilypond.upgrade import prepare_upgrades, upgrade
from music_evals.notation.subprocesses import LimitError, map_in_subprocess

_FOLDER: Final = "ftp"
_SEVERAL: Final = "-lys"
_MAIN: Final = ".ly"
_SUFFIXES: Final = (_MAIN, ".ily", ".lyi")
_UPGRADE: Final = partial(upgrade, cache=True)
_TOGETHER: Final = 8  # pieces whose files are brought to the current syntax together
_FULL_SCORE: Final = re.compile("score|partitura|conductor", re.IGNORECASE)


def read_pieces(
    source: Path,
    *,
    free_only: bool = False,
    convert: Callable[[str], str] | None = None,
    on_piece: Callable[[str, int], None] = lambda *_: None,
) -> tuple[list[Piece], dict[str, str]]:
    """Read every piece of a checkout as one self-contained text in the current syntax, by id; and those left out → why.

    `free_only` leaves out pieces whose header states no licence that lets them be passed on to anybody. `convert`
    brings the text of one file to the current syntax; the default is LilyPond's ``convert-ly`` with mends. `on_piece`
    is told "reading" and the number of pieces after each.
    DatasetError where the machine let a conversion come to no end.
    """
    root = source.expanduser()
    if not root.is_dir():
        raise DatasetError(f"{source} is not a folder; a checkout of the Mutopia Project, or its folder ftp, is needed")
    if (root / _FOLDER).is_dir():
        root = root / _FOLDER
    found = find_pieces(root)
    if not found:
        raise DatasetError(f"{source} holds no LilyPond files; a checkout of the Mutopia Project is needed")
    pieces: list[Piece] = []
    left_out: dict[str, str] = {}
    unmeasured = []
    for name, piece in _read_all(found, convert):
        if free_only and isinstance(piece, Piece) and not is_free(licence_of(piece.header)):
            left_out[name] = "its header states no licence that lets it be passed on"
        elif isinstance(piece, Piece):
            pieces.append(piece)
        elif piece is None:
            unmeasured.append(name)
        else:
            left_out[name] = piece
        on_piece("reading", len(found))
    if unmeasured:
        raise not_measured(unmeasured)
    return pieces, left_out


def find_pieces(root: Path) -> dict[str, list[Path]]:
    """The folders of pieces below a folder, relative to it → their files of LilyPond source, in order of names."""
    found: dict[str, list[Path]] = {}
    for path in sorted(root.rglob("*")):
        if path.suffix not in _SUFFIXES or not path.is_file():
            continue
        parts = path.relative_to(root).parts[:-1]
        depth = next((index for index, part in enumerate(parts) if part.endswith(_SEVERAL)), len(parts))
        found.setdefault("/".join(parts[:depth]), []).append(path)
    return dict(sorted(found.items()))


def main_file(name: str, files: Sequence[Path]) -> Path | None:
    """The file of a piece that stands for it: its full score, where there are parts too. None where no file can be it.

    Only files ``.ly`` that no other one includes, and that hold music themselves or by what they include, can be it.
    Of these, the files nearest to the piece's folder; of these, one named like the piece; then one whose name tells a
    full score; of these, the one that with all it includes is longest; then the first by name.
    """
    if len(own := [path for path in files if path.suffix == _MAIN]) == 1:
        return own[0]
    known = {path.resolve(): path for path in files}
    texts = {path: read_text(path) for path in files}
    includes = {
        path: [
            known[other]
            for name in included_names(text)
            if (other := (path.parent / name).resolve()) in known and known[other] != path
        ]
        for path, text in texts.items()
    }
    inside = {path for reached in includes.values() for path in reached}
    candidates = []
    for path in files:
        if path in inside or path.suffix != _MAIN:
            continue
        closure = _closure(path, includes)
        if any(holds_music(texts[file]) for file in closure):
            candidates.append((path, sum(len(texts[file]) for file in closure)))
    wanted = _letters(name.split("/")[-1])
    return min(
        candidates,
        key=lambda item: (
            len(item[0].parts),
            _letters(item[0].stem) != wanted,
            _FULL_SCORE.search(item[0].stem) is None,
            -item[1],
            item[0].name,
        ),
        default=(None, 0),
    )[0]


def _read_all(
    found: Mapping[str, Sequence[Path]], convert: Callable[[str], str] | None
) -> Iterator[tuple[str, Piece | str | None]]:
    """Each piece, or why there is none; None where the machine is why."""
    if convert is not None:
        yield from ((name, _read(name, files, convert)) for name, files in found.items())
        return
    left = iter(found.items())
    groups = list(iter(lambda: list(islice(left, _TOGETHER)), []))
    for group, pieces in zip(groups, map_in_subprocess(_read_group, groups, few=1), strict=True):
        if isinstance(pieces, LimitError):  # one of them takes too much
            pieces = [
                f"its reading {one}" if isinstance(one, LimitError) else one[0]
                for one in map_in_subprocess(_read_group, [[piece] for piece in group])
            ]
        yield from zip((name for name, _ in group), pieces, strict=True)


def _read_group(group: Sequence[tuple[str, Sequence[Path]]]) -> list[Piece | str | None]:
    old: list[str] = []

    def note(text: str) -> str:
        old.append(text)
        return text

    for name, files in group:
        _read(name, files, note)
    prepare_upgrades(old)
    return [_read(name, files, _UPGRADE) for name, files in group]


def _read(name: str, files: Sequence[Path], convert: Callable[[str], str]) -> Piece | str | None:
    """A piece, or why there is none; None where the machine is why."""
    try:
        main = main_file(name, files)
        if main is None:
            return "no file of it is a score"
        raw = read_text(main)
        # Files of a piece do not reach out of its folder.
        last = name.split("/")[-1]
        root = next((folder for folder in main.parents if folder.name == last), main.parent)
        text = resolve_includes(main, root=root, convert=convert).text
        if not holds_music(text):
            return f"{main.name} holds no music"
        return Piece(name, _modern(raw) if convert is _UPGRADE else raw, text, read_header(text))
    except ConversionError as error:
        return str(error) if error.is_measured else None
    except SourceError as error:
        return str(error)
    except Exception as error:  # no piece ends a build
        return f"{type(error).__name__} while it was read: {error}"


def _modern(text: str) -> str:
    """The text after ``convert-ly`` and nothing else; as it is where that fails."""
    try:
        return modernise(text, cache=True)
    except ConversionError as error:
        if not error.is_measured:
            raise
        return text


def _closure(path: Path, includes: Mapping[Path, Sequence[Path]]) -> set[Path]:
    """A file and all that it includes, directly or not."""
    reached, waiting = {path}, [path]
    while waiting:
        new = [file for file in includes[waiting.pop()] if file not in reached]
        reached.update(new)
        waiting.extend(new)
    return reached


def holds_music(text: str) -> bool:
    """Whether a text has music of its own, by the commands in it."""
    return any(token.text in _MUSIC for token in code_tokens(text))


_MUSIC: Final = frozenset({"\\score", "\\new", "\\context", "\\relative", "<<"})
"""Some of these is in any piece of more than a bare row of notes, and none in a cover page or a header."""


def _letters(name: str) -> str:
    return re.sub(r"[\W_]", "", name).lower()
