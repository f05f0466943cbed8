"""Values in groups."""

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

T = TypeVar("T")
Key = TypeVar("Key", bound=Hashable)


def group_by(items: Iterable[T], key: Callable[[T], Key]) -> dict[Key, list[T]]:
    """Group items with the same key; groups and their items stay in order.

    >>> group_by(["do", "re", "si", "mi"], lambda name: name[1])
    {'o': ['do'], 'e': ['re'], 'i': ['si', 'mi']}
    """
    groups: dict[Key, list[T]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups
