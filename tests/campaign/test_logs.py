"""Odd logs beside a sound one: the report is made, of what can be read, and says why the rest is
not in it.
"""

import csv
import json
import os
import random
import shutil
import unicodedata
import zipfile
from copy import deepcopy
from math import inf, nan
from pathlib import Path
from unittest.mock import patch
from xml.sax.saxutils import escape

import pytest
from inspect_ai.log import read_eval_log, write_eval_log
from matplotlib.figure import Figure
from matplotlib.text import Text

from music_evals.evals import muse
from music_evals.evals.msu import textual
from tests.campaign.conftest import Counting
from tests.commands.cli import run as command
from tests.harness import run
from tests.msu_dataset import write_small
from tests.reports.conftest import GOLDEN
from tests.reports.logs import write_log

ENTRIES = ("header.json", "summaries.json")
HOSTILE = (
    "\x1b[31mred\x07\x9b1m",
    "a\u202eb\u2066c\ufeff",
    "\ud800",
    "\ufffe\x00\x0b",
    "=1+1",
    "<b>&|`*_",
    "x\n# y\r",
)
VALUES = (
    *(
        None,
        "",
        7,
        -1,
        10**400,
        2**70,
        1e308,
        nan,
        inf,
        -inf,
        True,
        [],
        {},
        [[None]],
        {"a": {"b": [1]}},
    ),
    *(
        "nowhere",
        "9999-99-99T00:00:00",
        "0001-01-01T00:00:00+14:00",
        "x" * 100_000,
        ["a", 1, None],
        *HOSTILE,
    ),
)
PARTS = (
    *[("eval", "metadata")] * 3,
    ("eval", "task_args"),
    ("eval", "model"),
    ("results", "scores"),
)
METADATA = (
    "benchmark",
    "config",
    "dataset_label",
    "condition",
    "main_metric",
    "floors",
    "others",
    "protocol",
    "split",
)


def questions(folder, model):
    """A log of questions of ZIQI-Eval: two right answers of four."""
    params = {"shots": "five", "protocol": "paper", "themes": "female music", "seed": 3}
    return write_log(
        folder, "CCII", model=model, params=params, samples=[{"theme": "female music"}] * 4
    )


@pytest.fixture(scope="module")
def bases(tmp_path_factory, full):
    """Logs that are mutated; the first ones are made, those that a baseline wrote take longer."""
    folder = tmp_path_factory.mktemp("bases")
    made = [questions(folder / "ziqi", "odd/model")]
    made.append(folder / "ziqi.json")
    write_eval_log(read_eval_log(str(made[0])), str(made[-1]))
    made += sorted(GOLDEN.glob("*.eval"))[:: 3 if full else 12]
    if full:
        tasks = [textual(dataset=write_small(folder / "msu")), muse.syncopation(strategy="cot")]
        logs = run(tasks, folder / "run", limit=3)
        made += [Path(log.location.removeprefix("file://")) for log in logs]
    return made


def places(value, at=()):
    """Where there is a value within others."""
    inner = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, one in inner:
        yield (*at, key)
        yield from places(one, (*at, key))


def changed(content, draw):
    """Change a value or several, and say which."""
    said = []
    for _ in range(draw.choice((1, 1, 1, 2, 5))):
        every = [place for place in places(content) if "viewer" not in place]
        # Most of a header is of no interest to a report.
        part = draw.choice((*PARTS, ()))
        *way, last = draw.choice([place for place in every if place[: len(part)] == part] or every)
        where = content
        for key in way:
            where = where[key]
        kind, value = (
            draw.choice(("delete", "value", "value", "value", "wrap", "key")),
            draw.choice(VALUES),
        )
        if isinstance(where[last], str | float) and (
            part[1:] != ("metadata",) or draw.random() < 0.3
        ):
            # Other types are mostly refused by Inspect's own reader.
            kind, value = (
                "value",
                draw.choice([one for one in VALUES if type(one) is type(where[last])]),
            )
        value = deepcopy(value)  # for it may be changed in its turn
        said.append(f"{kind} {'.'.join(map(str, (*way, last)))} {value!r:.30}")
        if kind == "delete":
            del where[last]
        elif kind == "key" and isinstance(where, dict):
            where[draw.choice((*METADATA, draw.choice(HOSTILE)))] = value
        else:
            where[last] = [where[last]] if kind == "wrap" else value
    return "; ".join(said)


def rewritten(old, new, change):
    """Write a log again with its entries changed."""
    if old.suffix == ".json":
        entries = {ENTRIES[0]: old.read_bytes()}
        said = change(entries)
        new.write_bytes(b"".join(entries.values()))
        return said
    with (
        zipfile.ZipFile(old) as source,
        zipfile.ZipFile(new, "w", source.infolist()[0].compress_type) as target,
    ):
        entries = {name: source.read(name) for name in source.namelist()}
        said = change(entries)
        for name, data in entries.items():
            target.writestr(name, data)
    return said


def with_values(old, new, draw):
    """Change values of the header, or of the summaries of samples."""
    name = draw.choice((*ENTRIES[:1] * 4, *ENTRIES))

    def change(entries):
        content = json.loads(entries.get(name, entries[ENTRIES[0]]))
        said = changed(content, draw) if content else ""
        entries[name] = json.dumps(content).encode()
        return f"{name}: {said}"

    return rewritten(old, new, change)


def with_entries(old, new, draw):
    """Damage a whole entry."""

    def change(entries):
        name = draw.choice([*entries])
        data = entries.pop(name)
        kind = draw.choice(("drop", "half", "junk", "spaces", "nested", "list", "bytes"))
        made = {
            "half": data[: len(data) // 2],
            "junk": b"\x00\xff",
            "spaces": data[:1] + b" " * 3_000_000 + data[1:],
        }
        made |= {
            "nested": b"[" * 100_000,
            "list": b"[1, null, {}]",
            "bytes": data.replace(b"e", b"\xff"),
        }
        entries |= {name: made[kind]} if kind in made else {}
        return f"{kind} {name}"

    return rewritten(old, new, change)


def with_bytes(old, new, draw):
    """Damage the file."""
    data = old.read_bytes()
    at = draw.randrange(len(data))
    kind = draw.choice(("cut", "flip", "json", "empty", "twice", "hole"))
    made = {
        "cut": data[:at],
        "flip": data[:at] + bytes([data[at] ^ 255]) + data[at + 1 :],
        "json": b'{"version": 2}',
    }
    made |= {"empty": b"", "twice": data + data[at:], "hole": data[:at] + data[at + 40 :]}
    new.write_bytes(made[kind])
    return f"{kind} at {at}"


def case(number, bases, folder):
    """Write an odd log, by its number."""
    draw = random.Random(number)
    base, how = draw.choice(bases), draw.choice((*[with_values] * 8, with_entries, with_bytes))
    path = (
        folder / f"2026-01-02T10-00-00+00-00_odd{number}{base.suffix}"
    )  # only so does Inspect find a log as JSON
    return path, f"{base.stem[:20]}: {how(base, path, draw)}"


def rows(path):
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def texts_of(figure):
    return escape(" ".join(text.get_text() for text in figure.findobj(Text)))


def report_of(folder, out):
    """What the command shows of a folder of logs; and what it says of each log: why it is not used,
    or that it is.
    """
    code, output = command("report", folder, "--out", out, "--overwrite")
    assert code == 0, output
    texts = {path.name: path.read_bytes().decode() for path in out.iterdir()} | {"output": output}
    for name, text in texts.items():
        found = {
            char
            for char in text
            if unicodedata.category(char) in ("Cc", "Cf", "Cs") and char != "\n"
        }
        assert not found | ({"\ufffe"} & {*text}), f"{name} holds {found}"
    said = {row["Log"]: "used" for row in rows(out / "basis_runs.csv")}
    if (out / "basis_passed_over.csv").exists():
        said |= {row["Log"]: row["Why"] for row in rows(out / "basis_passed_over.csv")}
    return output, said


# Figures are not drawn, which takes most of the time, but their texts are written as they would be.
@patch.object(
    Figure, "savefig", lambda figure, out, **_: out.write(f"<svg>{texts_of(figure)}</svg>")
)
def test_odd_logs_are_used_or_passed_over_with_a_reason(
    counting: Counting, full: bool, bases: list[Path], tmp_path: Path
) -> None:
    every, together = (300, 6) if full else (15, 15)
    with counting("odd logs") as tally:
        for first in range(0, every, together):
            folder = tmp_path / f"logs{first}"
            folder.mkdir()
            sound_log = questions(folder, "sound/model")
            shutil.copy(sound_log, folder / os.fsdecode(b"2026_\xff.eval"))
            odd = dict(case(number, bases, folder) for number in range(first, first + together))
            said: dict[str, str] = {}
            output = "it failed"
            failed: Exception | None = None
            try:
                output, said = report_of(folder, tmp_path / "out")
                sound = [
                    row
                    for row in rows(tmp_path / "out" / "ziqi_table1.csv")
                    if row["Model"] == "sound/model"
                ]
                assert (
                    said["2026_\ufffd.eval"] == "its name is not UTF-8, or holds control characters"
                )
                assert [row["Compr. recall"] for row in sound] == ["50.0"]
            except Exception as error:
                failed = error
            for path, change in odd.items():
                with tally.case(f"{path.name}: {change}"):
                    if failed:
                        raise failed
                    assert said.get(path.name), output
            shutil.rmtree(folder)
