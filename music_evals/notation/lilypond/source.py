"""LilyPond files: their encodings, the files that they include, and one text of all that in the current syntax."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path, PurePosixPath
from typing import Final

from music_evals.notation.lilypond.syntax import (
    Edit,
    Kind,
    Token,
    code_tokens,
    definitions,
    edited,
    literal_value,
    string_value,
    version_of,
)

MAX_BYTES: Final = 4_000_000  # most bytes of a file, and most characters of a text with all that it includes

_MAX_DEPTH: Final = 20  # of files that include files
_MAX_FILES: Final = 500  # inclusions in one text

_OWN_NAMES: Final = (
    "arabic articulate bagpipe base-tkit catalan deutsch english espanol event-listener gregorian hel-arabic "
    "italiano lyrics-tkit makam nederlands norsk persian piano-tkit portugues predefined-fretboards-init "
    "predefined-guitar-fretboards predefined-guitar-ninth-fretboards predefined-mandolin-fretboards "
    "predefined-ukulele-fretboards satb ssaattbb staff-tkit suomi svenska swing text-replacements turkish-makam "
    "vlaams vocal-tkit voice-tkit"
)
OWN_FILES: Final = frozenset(f"{name}.ly" for name in _OWN_NAMES.split())
"""Files that come with LilyPond 2.24.3 for pieces to include; those that it reads itself at its start are left out."""


class SourceError(ValueError):
    """Files that cannot be joined to one text."""


@dataclass(frozen=True, slots=True)
class Resolved:
    """A self-contained text, which includes nothing but files that come with LilyPond; lines end in a line feed."""

    text: str
    files: tuple[str, ...]  # in order of first use, relative to the source root; the main one first
    problems: tuple[str, ...]  # what was odd and could be mended, such as a file that is not in UTF-8


def decode(data: bytes) -> tuple[str, str]:
    """Return the text of a file, with line feeds and without a byte-order mark, and the name of the encoding found."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return _unix(data.decode("utf-16", errors="replace")), "utf-16"
    for encoding, name in (("utf-8-sig", "utf-8"), ("cp1252", "cp1252")):
        with suppress(UnicodeDecodeError):
            return _unix(data.decode(encoding)), name
    return _unix(data.decode("latin-1")), "latin-1"


def read_text(path: Path) -> str:
    """Return the text of a LilyPond file, as `decode` does; SourceError if it cannot be read or is over `MAX_BYTES`."""
    return _read(path, path.name)[0]


def resolve_includes(path: Path, *, root: Path | None = None, convert: Callable[[str], str] | None = None) -> Resolved:
    r"""Join a file and the files that it includes, as LilyPond would read them.

    A file is looked for beside the one that includes it, then beside the main file; one that comes with LilyPond
    (`OWN_FILES`) stays an ``\include``. The text has one ``\version``, at its top: the main file's, or the first there
    is. SourceError if a file is missing, cannot be read, lies outside of `root` (by default the main file's folder),
    includes itself, is named by Scheme, or the text gets too large.

    `convert` brings the text of one file to another syntax, by the ``\version`` that it holds; a file without one is
    given the main file's first. What it raises is passed on.
    """
    joining = _Joining((root or path.parent).resolve(), path.parent.resolve(), convert)
    text = joining.joined(path.resolve(), ())
    top = "" if joining.version is None else f'\\version "{joining.version}"\n'
    return Resolved(top + text.lstrip("\n"), tuple(joining.contents), tuple(joining.problems))


def included_names(text: str) -> list[str]:
    """Return the names that a text includes as strings, in order; those within comments and strings are none."""
    return [name for _, _, named in _inclusions(text) if (name := literal_value(named)) is not None]


@dataclass(slots=True)
class _Joining:
    root: Path
    main_folder: Path
    convert: Callable[[str], str] | None
    version: str | None = None
    main_version: str | None = None  # as the main file states it, before any conversion
    contents: dict[str, str] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    strings: dict[str, str] = field(default_factory=dict)  # variables that hold strings, which may name files
    inclusions: int = 0
    characters: int = 0

    def joined(self, path: Path, above: tuple[Path, ...]) -> str:
        name = self._name(path)
        if path in above:
            way = " > ".join(self._name(file) for file in (*above[above.index(path) :], path))
            raise SourceError(f"{name} includes itself: {way}")
        self.inclusions += 1
        if len(above) >= _MAX_DEPTH or self.inclusions > _MAX_FILES:
            raise SourceError(f"{name} is included too deep or too often; {_MAX_DEPTH} levels, {_MAX_FILES} in all")
        text = self._content(path, name)
        self.characters += len(text)
        if self.characters > MAX_BYTES:
            raise SourceError(f"with {name} the text gets longer than {MAX_BYTES:,} characters")
        edits: list[Edit] = []
        for start, end, named in _inclusions(text):
            included = self._named(named, name)
            file = self._find(included, path, name)
            # A comment in the included file's last line must not swallow what follows.
            content = self.joined(file, (*above, path)).rstrip("\n") + "\n" if file else f'\\include "{included}"'
            edits.append((start, end, content))
        return edited(text, edits)

    def _content(self, path: Path, name: str) -> str:
        """A file's text, converted, without its version."""
        if name in self.contents:
            return self.contents[name]
        text, encoding = _read(path, name)
        if encoding != "utf-8":
            self.problems.append(f"{name} is not in UTF-8 and was read as {encoding}")
        stated = version_of(text)
        if not self.contents:
            self.main_version = stated
        if self.convert is not None:
            if stated is None and self.main_version is not None:
                text = f'\\version "{self.main_version}"\n{text}'
            text = self.convert(text)
        if self.version is None:
            self.version = version_of(text)
        self.contents[name] = content = _without_version(text)
        self.strings |= {
            found.name: string_value(content[found.value : found.end])
            for found in definitions(content)
            if content[found.value] == '"'
        }
        return content

    def _named(self, token: Token, name: str) -> str:
        """The name of an included file, given as a string or as a variable that holds one."""
        if (literal := literal_value(token)) is not None:
            return literal
        if token.kind is Kind.COMMAND and token.text[1:] in self.strings:
            return self.strings[token.text[1:]]
        raise SourceError(f"{name} includes {token.text[:40]!r}; the name of a file is needed, as a string")

    def _find(self, included: str, path: Path, name: str) -> Path | None:
        """The file that is included; None for one that comes with LilyPond."""
        relative = PurePosixPath(included)
        if not included or relative.is_absolute() or "\0" in included:
            raise SourceError(f"{name} includes {included!r}; a path relative to the file is needed")
        for folder in (path.parent, self.main_folder):
            candidate = (folder / relative).resolve()
            if not candidate.is_relative_to(self.root):
                raise SourceError(f"{name} includes {included!r}, which lies outside of the source folder")
            if candidate.is_file():
                return candidate
        if included in OWN_FILES:
            return None
        raise SourceError(f"{name} includes {included!r}, which is missing")

    def _name(self, path: Path) -> str:
        if not path.is_relative_to(self.root):
            raise SourceError(f"{path.name} lies outside of the source folder")
        return path.relative_to(self.root).as_posix()


def _inclusions(text: str) -> list[tuple[int, int, Token]]:
    """Start and end of every inclusion, and what names the file."""
    return [
        (token.start, after.end, after) for token, after in pairwise(code_tokens(text)) if token.text == "\\include"
    ]


def _without_version(text: str) -> str:
    pairs = pairwise(code_tokens(text))
    stated = [pair for pair in pairs if pair[0].text == "\\version" and literal_value(pair[1]) is not None]
    return edited(text, [(token.start, after.end, "") for token, after in stated])


def _read(path: Path, name: str) -> tuple[str, str]:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise SourceError(f"{name} cannot be read: {error.strerror}") from error
    if len(data) > MAX_BYTES:
        raise SourceError(f"{name} is larger than {MAX_BYTES:,} bytes")
    return decode(data)


def _unix(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")
