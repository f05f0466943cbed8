"""LilyPond files: their encodings, the files that they include, and one text of all in the current syntax."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path, PurePosixPath
from typing import Final

from music_evals.notation.lilypond.syntax.header import definitions, version_of
from music_evals.notation.lilypond.syntax.lexer import (
    Edit,
    Kind,
    Token,
    apply_edits,
    code_tokens,
    literal_value,
    string_value,
)

MAX_BYTES: Final = 4_000_000  # most bytes of a file, and most characters of a text with all that it includes

_MAX_DEPTH: Final = 20  # levels of files that include files
_MAX_FILES: Final = 500  # inclusions in one text

_OWN_NAMES: Final = (
    "arabic articulate bagpipe base-tkit catalan deutsch english espanol event-listener gregorian hel-arabic "
    "italiano lyrics-tkit makam nederlands norsk persian piano-tkit portugues predefined-fretboards-init "
    "predefined-guitar-fretboards predefined-guitar-ninth-fretboards predefined-mandolin-fretboards "
    "predefined-ukulele-fretboards satb ssaattbb staff-tkit suomi svenska swing text-replacements turkish-makam "
    "vlaams vocal-tkit voice-tkit"
)
OWN_FILES: Final = frozenset(f"{name}.ly" for name in _OWN_NAMES.split())
"""Files of LilyPond 2.24.3 that pieces may include; files that LilyPond reads itself at its start are left out."""


class SourceError(ValueError):
    """Files cannot be joined to one text."""


def decode(data: bytes) -> str:
    """Return the text of a file in UTF-8, UTF-16, Windows-1252 or Latin-1, with line feeds and no byte-order mark."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        text = data.decode("utf-16", errors="replace")
    else:
        for encoding in ("utf-8-sig", "cp1252", "latin-1"):  # the last one decodes any bytes
            with suppress(UnicodeDecodeError):
                text = data.decode(encoding)
                break
    return text.replace("\r\n", "\n").replace("\r", "\n")


def read_text(path: Path, name: str = "") -> str:
    """Return the text of a LilyPond file, decoded.

    SourceError if the file cannot be read or is larger than `MAX_BYTES`; the message calls it `name`, by default as it
    is called.
    """
    name = name or path.name
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise SourceError(f"{name} cannot be read: {error.strerror}") from error
    if len(data) > MAX_BYTES:
        raise SourceError(f"{name} is larger than {MAX_BYTES:,} bytes")
    return decode(data)


def resolve_includes(path: Path, *, root: Path | None = None, convert: Callable[[str], str] | None = None) -> str:
    r"""Join a file and the files that it includes to one text, as LilyPond would read them.

    An included file is looked for beside the file that includes it, then beside the main file. Files that come with
    LilyPond (`OWN_FILES`) stay an ``\include``. The text has one ``\version``, at its top: the main file's, or else the
    first one found. Lines end in a line feed.

    Args:
        path: the main file.
        root: no file may be outside of this folder; default is the main file's folder.
        convert: brings the text of one file to another syntax, by the ``\version`` in it. Before that, a file without
            version gets the main file's. Its errors are passed on.

    Raises:
        SourceError: a file is missing, cannot be read, is outside of `root` or includes itself; its name is given by
            Scheme; or the text gets too large.
    """
    joiner = _Joiner((root or path.parent).resolve(), path.parent.resolve(), convert)
    text = joiner.joined(path.resolve(), ())
    top = "" if joiner.version is None else f'\\version "{joiner.version}"\n'
    return top + text.lstrip("\n")


def included_names(text: str) -> list[str]:
    """Return the names of files that a text includes by strings, in order, not within comments and strings."""
    return [name for _, _, token in _inclusions(text) if (name := literal_value(token)) is not None]


@dataclass(slots=True)
class _Joiner:
    root: Path
    main_folder: Path
    convert: Callable[[str], str] | None
    version: str | None = None
    main_version: str | None = None  # as the main file states it, before any conversion
    contents: dict[str, str] = field(default_factory=dict)
    strings: dict[str, str] = field(default_factory=dict)  # variables that hold strings, which may name files
    inclusions: int = 0
    characters: int = 0

    def joined(self, path: Path, above: tuple[Path, ...]) -> str:
        name = self.name_of(path)
        if path in above:
            chain = " > ".join(self.name_of(file) for file in (*above[above.index(path) :], path))
            raise SourceError(f"{name} includes itself: {chain}")
        self.inclusions += 1
        if len(above) >= _MAX_DEPTH or self.inclusions > _MAX_FILES:
            raise SourceError(f"{name} is included too deep or too often; {_MAX_DEPTH} levels, {_MAX_FILES} in all")
        text = self.content(path, name)
        self.characters += len(text)
        if self.characters > MAX_BYTES:
            raise SourceError(f"with {name} the text gets longer than {MAX_BYTES:,} characters")
        edits: list[Edit] = []
        for start, end, token in _inclusions(text):
            included = self.included_name(token, name)
            file = self.find(included, path, name)
            # A comment in the included file's last line must not extend to the text after the inclusion.
            content = self.joined(file, (*above, path)).rstrip("\n") + "\n" if file else f'\\include "{included}"'
            edits.append((start, end, content))
        return apply_edits(text, edits)

    def content(self, path: Path, name: str) -> str:
        if name in self.contents:
            return self.contents[name]
        text = read_text(path, name)
        version = version_of(text)
        if not self.contents:
            self.main_version = version
        if self.convert is not None:
            if version is None and self.main_version is not None:
                text = f'\\version "{self.main_version}"\n{text}'
            text = self.convert(text)
        if self.version is None:
            self.version = version_of(text)
        pairs = pairwise(code_tokens(text))
        versions = [pair for pair in pairs if pair[0].text == "\\version" and literal_value(pair[1]) is not None]
        content = apply_edits(text, [(token.start, version.end, "") for token, version in versions])
        self.contents[name] = content
        self.strings |= {
            definition.name: string_value(content[definition.value : definition.end])
            for definition in definitions(content)
            if content[definition.value] == '"'
        }
        return content

    def included_name(self, token: Token, name: str) -> str:
        """The name of an included file, given as a string or as a variable that holds one."""
        if (literal := literal_value(token)) is not None:
            return literal
        if token.kind is Kind.COMMAND and token.text[1:] in self.strings:
            return self.strings[token.text[1:]]
        raise SourceError(f"{name} includes {token.text[:40]!r}; the name of a file is needed, as a string")

    def find(self, included: str, path: Path, name: str) -> Path | None:
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

    def name_of(self, path: Path) -> str:
        if not path.is_relative_to(self.root):
            raise SourceError(f"{path.name} lies outside of the source folder")
        return path.relative_to(self.root).as_posix()


def _inclusions(text: str) -> list[tuple[int, int, Token]]:
    """Start and end of every inclusion, and the token that names the file."""
    pairs = pairwise(code_tokens(text))
    return [(token.start, name.end, name) for token, name in pairs if token.text == "\\include"]
