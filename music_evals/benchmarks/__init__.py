"""What each benchmark is, as data: a folder a benchmark, read here into typed values.

``NAME/benchmark.toml`` holds title, paper, authors, tasks with their main metric and floors,
datasets with their sources and licences; ``prompts.toml`` the wording; ``card.md`` and
``card-SOURCE.md`` the dataset's card; ``published/TABLE.csv`` results as printed, each with its
source in its first line. All other rooms read these facts here. A benchmark is found by its folder;
nothing lists them. A folder whose facts have a table ``mirdata`` takes what it lacks from that of
`MIRDATA`.
"""

import csv
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from importlib.resources import files
from importlib.resources.abc import Traversable
from itertools import chain
from typing import Any

_FOLDER = files(__name__)
MIRDATA = "mir"
"""The benchmark of any mirdata dataset: its prompts and cards are those of all folders with a table
``mirdata``.
"""


@dataclass(frozen=True, slots=True)
class TaskFacts:
    """A task of a benchmark."""

    benchmark: str
    name: str
    summary: str  # what is asked, in a line
    metric: str  # the main metric as logs name it, SCORER/METRIC
    chance: float | None = (
        None  # what guessing earns on it, from 0 to 1; None where that depends on the rows
    )
    samples: int | None = None  # how many are asked by default, of the generated data
    options: int | None = None  # how many a question has; None where it has none
    continues: bool = False  # whether the options go on with the music that is given
    # Modality → the share of generated questions that a classifier answers without what is asked,
    # if it is more than chance. 1 is a look-up: the answer is written in the stimulus. See
    # `tests/leaks_audit.py`.
    gives_away: Mapping[str, float] = field(default_factory=dict, hash=False)
    # Views of stimuli that have what is asked, so that guessers do not see them.
    asked_views: Sequence[str] = field(default=(), hash=False)
    # Parameters under which it is published as prompts; None (``false`` in the file) where it is
    # not.
    prompted: Mapping[str, Any] | None = field(default=None, hash=False)
    by_name: bool = False  # whether it runs only where it is named, and not with its benchmark
    any_of: str = ""  # column that is equal for answers of which the best counts
    strata: str = ""  # column of groups over whose means the score is a mean
    templates: bool = False  # whether themes are templates, whose commonest answers are a floor

    @property
    def registry_name(self) -> str:
        """How Inspect finds it by name, behind ``music_evals/``."""
        return f"{self.benchmark.removesuffix(f'_{self.name}')}_{self.name}"

    @property
    def aliases(self) -> Mapping[str, Sequence[str]]:
        """Further names of the benchmark's tags."""
        aliases: Mapping[str, Sequence[str]] = load(self.benchmark).table.get("aliases", {})
        return aliases

    @property
    def section_title(self) -> str:
        """The section of a report that the task belongs to."""
        return load(self.benchmark).title


@dataclass(frozen=True, slots=True)
class Remote:
    """Where a part of published data is fetched from: one of `hub`, `archive`, `file`, `doi` and
    `mirdata`.
    """

    hub: str = ""  # repository on the Hugging Face Hub, ORG/NAME
    mirror: str = ""  # another one with the same files, for when the first cannot be had
    archive: str = ""  # address of a tar.gz or zip, in which {commit} is replaced
    file: str = ""  # address of a file, likewise
    doi: str = ""  # of a record on Zenodo
    mirdata: str = ""  # name of a dataset of mirdata; `commit` is its version, `files` its remotes
    commit: str = ""  # of the repository on the Hub, or of the one in git; empty if none is known
    files: Sequence[str] = ("*",)  # patterns of the paths that are taken
    # Of a file: SHA-256, or MD5 after "md5:". Of an archive of a git commit:
    # `remotes.contents_checksum` of the files that are taken, because GitHub may pack the same
    # files into other bytes.
    checksum: str = ""
    bytes: int | None = None  # that are fetched; None if that is not known
    licence: str = "not stated"
    non_commercial: bool = False
    folder: str = ""  # where its files go in the folder of published files

    @property
    def address(self) -> str:
        """The address of the archive or file."""
        return (self.archive or self.file).replace("{commit}", self.commit)

    @property
    def place(self) -> str:
        """Where it is, as people write it."""
        if self.hub:
            return f"hf.co/datasets/{self.hub}"
        if self.doi:
            return f"doi.org/{self.doi}"
        if self.mirdata:
            return f"mirdata's {self.mirdata}"
        return "/".join(self.address.split("/")[2:5])

    @property
    def revision(self) -> str:
        """Its commit, DOI or checksum; empty for a repository on the Hub of which no commit is
        known.
        """
        return self.commit or self.doi or self.checksum.removeprefix("md5:")

    @property
    def size(self) -> str:
        """How many bytes are fetched, in words."""
        return "size not known" if self.bytes is None else format_bytes(self.bytes)

    @property
    def terms(self) -> str:
        """The licence in words."""
        return self.licence + (", non-commercial use only" if self.non_commercial else "")


def format_bytes(count: float) -> str:
    """Write a number of bytes in the largest unit of which it has one.

    >>> format_bytes(2_983_578_514), format_bytes(590_823)
    ('3.0 GB', '591 kB')
    """
    for unit, factor in (("GB", 1e9), ("MB", 1e6)):
        if count >= factor:
            return f"{count / factor:.1f} {unit}"
    return f"{count / 1e3:.0f} kB"


@dataclass(frozen=True, slots=True)
class Source:
    """A source that a dataset can be built from, and what may be published of it."""

    title: str  # what the card calls data of this source
    licence: str | None = None  # as the Hub spells it; None where nothing may be published
    reason: str = ""  # why nothing may be published
    statement: str = ""  # what the published card says of the licence
    stated: str = ""  # where that is stated
    licence_name: str | None = None  # of a licence that the Hub calls `other`
    link: str | None = None  # likewise
    files: Sequence[str] = ()  # what must travel with the data
    # Config -> column with each row's licence, a free one.
    per_row: Mapping[str, str] = field(default_factory=dict)
    # Config, or config/split -> why it is not published.
    withheld: Mapping[str, str] = field(default_factory=dict)
    language: Sequence[str] = ("en",)  # of the rows' texts, as the Hub spells them
    revision: str = ""  # of the published files: where they are, and the commit
    sha256: str = ""  # of these files, by which a copy is known
    remotes: Sequence[Remote] = ()  # where they are fetched from; the first holds the questions
    by_hand: str = ""  # why they cannot be fetched, and where a copy is to be had
    is_benchmark: bool = (
        False  # whether they are the benchmark's own questions; scores stand beside published ones
    )
    # Task -> the least number that the published test has.
    questions: Mapping[str, int] = field(default_factory=dict)
    # Task -> `fingerprint` of its ids, if it is known.
    fingerprints: Mapping[str, str] = field(default_factory=dict)

    @property
    def licence_label(self) -> str:
        """What to call its licence in a line."""
        return f"{self.licence} ({self.licence_name})" if self.licence_name else str(self.licence)


@dataclass(frozen=True, slots=True)
class DatasetFacts:
    """A dataset of a benchmark, which has the benchmark's name."""

    benchmark: str
    name: str
    sources: Mapping[str, Source]

    @property
    def published(self) -> tuple[str, Source]:
        """The name and facts of the source of the benchmark's own questions."""
        return next(entry for entry in self.sources.items() if entry[1].is_benchmark)

    def card(self, source: str | None = None) -> str:
        """Return the text of its card, or what the card says of a source."""
        return facts_text(self.benchmark, f"card-{source}.md" if source else "card.md")


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A benchmark, by the name of its folder."""

    name: str
    title: str  # its name as people write it
    paper: str  # its title
    authors: Sequence[str]
    url: str  # of the paper
    homepage: str  # of the project or its repository
    tasks: Mapping[str, TaskFacts]
    datasets: Mapping[str, DatasetFacts]
    # All of benchmark.toml, for what only one room reads.
    table: Mapping[str, Any] = field(repr=False)

    @property
    def year(self) -> int:
        """The year of the paper, as stated; arXiv's numbers begin with it."""
        return int(self.table.get("year") or 2000 + int(self.url.rpartition("/")[2][:2]))

    @property
    def venue(self) -> str:
        """Where the paper was published."""
        return str(self.table.get("venue", "arXiv preprint"))

    @property
    def citation(self) -> str:
        """The paper as BibTeX."""
        number = f" arXiv:{self.url.rpartition('/')[2]}" if "venue" not in self.table else ""
        authors = " and ".join(author.removeprefix("and ") for author in self.authors)
        return f"""\
@article{{{self.authors[0].split()[-1].lower()}{self.year}{self.name},
  title = {{{{{self.paper}}}}},
  author = {{{authors}}},
  journal = {{{self.venue}{number}}},
  year = {{{self.year}}},
}}"""


def fingerprint(ids: Iterable[str]) -> str:
    """Return what tells a set of questions from another one, from the ids of its rows.

    >>> fingerprint(["b", "a"]) == fingerprint(["a", "b", "a"])
    True
    """
    return sha256("\n".join(sorted(set(ids))).encode(errors="surrogatepass")).hexdigest()[:16]


@cache
def names() -> tuple[str, ...]:
    """Return the names of all benchmarks, in order of the alphabet."""
    folders = [folder for folder in _FOLDER.iterdir() if (folder / "benchmark.toml").is_file()]
    return tuple(sorted(folder.name for folder in folders))


def tasks_named(name: str) -> list[TaskFacts]:
    """Return the tasks that a benchmark of this name runs by default, or the task of this name;
    none without either.

    >>> [len(tasks_named(name)) for name in ("msu", "msu_score", "no_such")]
    [2, 1, 0]
    """
    if name in names():
        return [task for task in load(name).tasks.values() if not task.by_name]
    return [task for task in all_tasks() if task.registry_name == name]


def all_tasks() -> list[TaskFacts]:
    """Return the tasks of all benchmarks."""
    return [*chain.from_iterable(load(name).tasks.values() for name in names())]


@cache
def load(name: str) -> Benchmark:
    """Read a benchmark; ValueError if there is none, or its ``benchmark.toml`` lacks a fact or has
    an unknown one.

    >>> load("muse").tasks["syncopation"].chance
    0.2
    """
    if name not in names():
        raise ValueError(f"there is no benchmark {name!r}; there are: {', '.join(names())}")
    table = tomllib.loads(_text(_FOLDER / name / "benchmark.toml"))
    try:
        tables = table["tasks"]
        if isinstance(tables, str):  # the name of a benchmark with the same tasks
            tables = load(tables).table["tasks"]
        tasks = {task: _task(name, task, facts) for task, facts in tables.items()}
        datasets = {}
        for dataset, entry in table["datasets"].items():
            sources = {source: _source(facts) for source, facts in entry["sources"].items()}
            datasets[dataset] = DatasetFacts(name, dataset, sources)
        about = {key: table[key] for key in ("title", "paper", "authors", "url", "homepage")}
    except (KeyError, TypeError) as error:
        raise ValueError(f"benchmark.toml of {name}: {error}") from error
    return Benchmark(name=name, **about, tasks=tasks, datasets=datasets, table=table)


def facts_text(benchmark: str, file: str) -> str:
    """Return the text of a file of a benchmark's folder, or the shared one of `MIRDATA`."""
    path = _FOLDER / benchmark / file
    return _text(path if path.is_file() else _FOLDER / MIRDATA / file)


def dataset_facts(name: str) -> DatasetFacts:
    """Return the facts of a dataset by its name; ValueError if there is none."""
    if name not in names() or name not in load(name).datasets:
        raise ValueError(f"{name} is no dataset; accepted: {', '.join(dataset_names())}")
    return load(name).datasets[name]


def dataset_names() -> list[str]:
    """Return the names of the datasets of all benchmarks."""
    return [dataset for name in names() for dataset in load(name).datasets]


# --- published results ---


@dataclass(frozen=True, slots=True)
class PublishedRow:
    """A row of a published table: its columns of text, and those of numbers; what the source leaves
    empty is absent.
    """

    labels: Mapping[str, str]
    figures: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Published:
    """A published table: where it was published, and its rows in order, with the numbers as
    printed.
    """

    source: str
    rows: Sequence[PublishedRow]


def published_names(benchmark: str) -> list[str]:
    """Return the names of the published tables of a benchmark, in order of the alphabet."""
    folder = _FOLDER / benchmark / "published"
    if not folder.is_dir():
        return []
    return sorted(file.name.removesuffix(".csv") for file in folder.iterdir())


@cache
def published(benchmark: str, table: str) -> Published:
    """Read a published table; a column that holds anything but numbers is one of text.

    >>> made = published("ziqi", "table1")
    >>> made.source, made.rows[0].labels["model"], made.rows[0].figures["comprehension f1"]
    ('arXiv 2406.15885, Table 1', 'GPT-4', 63.04)
    """
    first, *lines = _text(_FOLDER / benchmark / "published" / f"{table}.csv").splitlines()
    entries = list(csv.DictReader(lines))
    labels = [
        column for column in entries[0] if not all(_is_number(entry[column]) for entry in entries)
    ]
    rows = []
    for entry in entries:
        texts = {column: entry.pop(column) for column in labels}
        figures = {column: float(text) for column, text in entry.items() if text}
        rows.append(PublishedRow(texts, figures))
    return Published(first.removeprefix("# "), rows)


def _is_number(text: str) -> bool:
    return not text or text.replace(".", "", 1).replace("-", "", 1).isdigit()


def _task(benchmark: str, name: str, facts: Mapping[str, Any]) -> TaskFacts:
    own = dict(facts)
    if "options" in facts:
        own.setdefault("chance", 1 / facts["options"])
    prompted = facts.get("prompted", {})
    own["prompted"] = None if prompted is False else prompted
    return TaskFacts(benchmark, name, **own)


def _source(facts: Mapping[str, Any]) -> Source:
    texts = {key: " ".join(facts[key].split()) for key in ("reason", "stated") if key in facts}
    withheld = {what: " ".join(why.split()) for what, why in facts.get("withheld", {}).items()}
    remotes = [Remote(**remote) for remote in facts.get("remotes", ())]
    statement = facts.get("statement", "").strip()
    return Source(
        **{**facts, **texts, "withheld": withheld, "statement": statement, "remotes": remotes}
    )


def _text(path: Traversable) -> str:
    return path.read_text(encoding="utf-8")
