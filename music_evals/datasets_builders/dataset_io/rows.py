"""Columns of a dataset, which a `TypedDict` declares, and the check of rows when they are written
or loaded.
"""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from types import NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from pydantic import AfterValidator, ConfigDict, Field, TypeAdapter, ValidationError
from typing_extensions import TypedDict  # pydantic takes that of `typing` from Python 3.12 on

from music_evals.datasets_builders import AnyRow
from music_evals.datasets_builders.dataset_io.provenance import (
    DatasetError,
    Printable,
    format_error,
)

if TYPE_CHECKING:
    from datasets import Features, List, Value

ConfigColumns = Mapping[str, Mapping[str, Any]]
"""Config → declared columns."""
_COLUMNS = {str: "string", int: "int64", float: "float64", bool: "bool", bytes: "binary"}


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("It is blank")
    return text


Text = Annotated[str, Field(max_length=2_000_000), AfterValidator(_not_blank)]
"""A text for a prompt or an answer: not blank, and at most two million characters."""
FourOptions = Annotated[list[Text], Field(min_length=4, max_length=4)]
Letter = Annotated[str, Field(pattern="^[ABCD]$")]


class FileCell(TypedDict):
    """An audio or image file as `datasets` stores it: its bytes, and no path."""

    bytes: Annotated[bytes, Field(min_length=1)]
    path: None


FileKind = Literal["audio", "audios", "images", "vector"]
"""A kind of column that the type of its values does not name: a sound, a list of sounds or
pictures, a list of 32-bit numbers.
"""


class Columns(Mapping[str, Any]):
    """Declared columns with the checks of their values; the first column is the row's id.

    `features` is made at first use, because `datasets` takes half a second to load.
    """

    def __init__(
        self, row: type, check: Callable[..., str | None] | None, kinds: Mapping[str, FileKind]
    ) -> None:
        self.row, self.check, self._kinds = row, check, kinds
        self._hints = get_type_hints(row)

    def __getitem__(self, name: str) -> Any:
        """Return a column as `datasets` describes it."""
        return self.features[name]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of the columns."""
        return iter(self._hints)

    def __len__(self) -> int:
        """Return the number of columns."""
        return len(self._hints)

    @cached_property
    def features(self) -> "Features":
        """The columns as `datasets` describes them."""
        from datasets import Audio, Features, Image, List, Value

        of_kind = {
            "audio": Audio(),
            "audios": List(Audio()),
            "images": List(Image()),
            "vector": List(Value("float32")),
        }
        return Features(
            {
                name: of_kind[self._kinds[name]] if name in self._kinds else _column(hint)
                for name, hint in self._hints.items()
            }
        )

    @property
    def arrow_schema(self) -> Any:
        """The columns as Arrow describes them."""
        return self.features.arrow_schema

    @cached_property
    def adapters(self) -> Mapping[str, TypeAdapter[Any]]:
        """Column → the check of a list of its values."""
        config = ConfigDict(allow_inf_nan=False)  # Arrow checks the types
        hints = get_type_hints(self.row, include_extras=True)
        hints[next(iter(hints))] = Annotated[Printable, Field(min_length=1, max_length=300)]
        return {name: TypeAdapter(list[kind], config=config) for name, kind in hints.items()}  # type: ignore[valid-type]

    def problem_of(self, row: AnyRow) -> str | None:
        """Return what is wrong with a row, if it has all columns that are compared."""
        if not self.check:
            return None
        names = list(inspect.signature(self.check).parameters)
        if not {*names} <= row.keys():
            return None
        return self.check(*(row[name] for name in names))


def features_of(
    row: type, check: Callable[..., str | None] | None = None, /, **kinds: FileKind
) -> Columns:
    """Declare the columns of a `TypedDict` of texts, bytes, numbers, lists of these, and any of
    them or None.

    Args:
        row: the `TypedDict`. Values must have its types and meet the constraints of its
            `Annotated`. They are null only where the type allows None.
        check: gets the columns that its parameters name, and returns a description of the problem,
            or None.
        kinds: columns of another kind, such as ``audio="audio"``.

    >>> from typing import TypedDict
    >>> features_of(TypedDict("Row", {"id": str, "pitches": list[int] | None})).features
    {'id': Value('string'), 'pitches': List(Value('int64'))}
    """
    return Columns(row, check, kinds)


def as_files(features: Mapping[str, Any]) -> "Features":
    """Return columns with audio and images as files, which need no decoder.

    >>> from datasets import Features, Image, List, Value
    >>> as_files(Features({"id": Value("string"), "pages": List(Image())}))
    {'id': Value('string'), 'pages': List(Image(mode=None, decode=False))}
    """
    from datasets import Features

    return Features({name: _as_file(kind) for name, kind in features.items()})


def _as_file(kind: Any) -> Any:
    from datasets import Audio, Image, List

    if isinstance(kind, List):
        return List(_as_file(kind.feature))
    return type(kind)(decode=False) if isinstance(kind, Audio | Image) else kind


def _column(kind: Any) -> "Value | List":
    from datasets import List, Value

    if get_origin(kind) in (Union, UnionType):  # `Union` if an arm is `Annotated`
        (kind,) = (arm for arm in get_args(kind) if arm is not NoneType)
    if get_origin(kind) is list:
        return List(_column(get_args(kind)[0]))
    return Value("string" if get_origin(kind) is Literal else _COLUMNS[kind])


class RowCheck:
    """Checks the rows of a split, group by group, against columns of `features_of`; ids must
    differ.
    """

    def __init__(self, columns: Mapping[str, Any], where: str) -> None:
        self._columns, self._where = columns, where
        self._key = next(iter(columns))
        self._ids = set[Any]()

    def __call__(self, rows: Sequence[AnyRow]) -> None:
        """Check rows that all have the same columns, or the same few of them; DatasetError names
        the first bad row.
        """
        if not isinstance(self._columns, Columns) or not rows:
            return
        self._check_values(self._columns, rows)
        for row in rows:
            if row.get(self._key) in self._ids:
                raise DatasetError(f"{self._place(row)}: an earlier row has the same id")
            if self._key in row:
                self._ids.add(row[self._key])
            if problem := self._columns.problem_of(row):
                raise DatasetError(f"{self._place(row)}: {problem}")

    def _check_values(self, columns: Columns, rows: Sequence[AnyRow]) -> None:
        for name, adapter in columns.adapters.items():
            if name not in rows[0]:
                continue
            try:
                adapter.validate_python([row[name] for row in rows])
            except ValidationError as error:
                number = int(error.errors(include_url=False)[0]["loc"][0])
                raise DatasetError(
                    f"{self._place(rows[number])}, {name}{format_error(error, 1)}"
                ) from error

    def _place(self, row: AnyRow) -> str:
        name = str(row.get(self._key, ""))
        return f"{self._where}, row {name if name.isprintable() else ascii(name):.100}"
