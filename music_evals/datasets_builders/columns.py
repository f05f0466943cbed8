"""The declared columns of a dataset, from the type of its rows."""

from types import NoneType, UnionType
from typing import Any, Final, Literal, get_args, get_origin, get_type_hints

from datasets import Features, List, Value

_VALUES: Final = {str: "string", bytes: "binary", bool: "bool", int: "int64", float: "float64"}


def features_of(row: type, **others: Any) -> Features:
    """Declare the columns of a typed row, in the order of its fields.

    Args:
        row: a `TypedDict` of texts, bytes, numbers, lists of these, and any of them or None; a literal is a text.
        others: columns of any other kind, by name.

    Example:
        >>> from typing import TypedDict
        >>> features_of(TypedDict("Row", {"id": str, "pitches": list[int] | None}))
        {'id': Value('string'), 'pitches': List(Value('int64'))}
    """
    return Features({name: others.get(name) or _column(hint) for name, hint in get_type_hints(row).items()})


def _column(hint: Any) -> Value | List:
    if isinstance(hint, UnionType):
        (hint,) = (kind for kind in get_args(hint) if kind is not NoneType)
    if get_origin(hint) is list:
        return List(_column(get_args(hint)[0]))
    return Value("string" if get_origin(hint) is Literal else _VALUES[hint])
