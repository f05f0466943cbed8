"""The pages for users: links lead somewhere, commands name what exists, the small benchmark runs,
the site builds.
"""

import inspect
import json
import re
import runpy
import shlex
import subprocess
import sys
from collections import Counter
from itertools import pairwise, takewhile
from pathlib import Path

import pytest
import typer
from inspect_ai._cli.main import inspect as inspect_command
from inspect_ai.log import read_eval_log

from music_evals import benchmarks, scorers
from music_evals.commands.main import app
from music_evals.evals import registry
from music_evals.scorers import readers

ROOT = Path(__file__).parents[1]
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "logs" / "README.md",
    ROOT / "perf" / "README.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]
SCORERS = {
    name
    for module in Path(scorers.__path__[0]).glob("*.py")
    for name in re.findall(r"@scorer\((?:.|\n)*?\)\s+def (\w+)", module.read_text(encoding="utf-8"))
}
COMMANDS = {"inspect": inspect_command, "music-evals": typer.main.get_command(app)}
# A fence of N marks ends at N marks, so that a page can show a page.
FENCE = re.compile(
    r"^(?P<marks>`{3,})(?P<language>[\w{}-]*)\n(?P<body>.*?)^(?P=marks)$", re.MULTILINE | re.DOTALL
)
PATH = re.compile(
    r"(?:baselines|commands|datasets_builders|docs|encoders|evals|logs|notation|perf|reports|scorers|solvers"
    r"|tests)/[\w./-]*"
)


def name_of(path):
    return str(path.relative_to(ROOT))


def prose(path):
    return FENCE.sub("", path.read_text(encoding="utf-8"))


def anchors(path):
    """The anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", prose(path), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def commands(path):
    """The commands of a page, in shell blocks and in code within a line, as words."""
    text = path.read_text(encoding="utf-8")
    shell = [match["body"] for match in FENCE.finditer(text) if match["language"] == "bash"]
    lines = "\n".join(shell).replace("\\\n", " ").splitlines()
    lines += [code for code in re.findall(r"`([^`\n]+)`", prose(path)) if " " in code]
    for line in lines:
        words = shlex.split(line, comments=True)
        for start, word in enumerate(words):
            if word.rpartition("/")[2] in COMMANDS:
                rest = takewhile(
                    lambda other: other not in ("&&", "||", "|", ">", "&"), words[start + 1 :]
                )
                yield [word.rpartition("/")[2], *rest]
                break


def parameters(target):
    """The parameters that all of a target's tasks have between them, None where it is no target of
    ours.
    """
    if target.startswith("music_evals/"):
        benchmark, _, name = target.removeprefix("music_evals/").partition("_")
        if benchmark not in registry.MODULES:  # a scorer
            return None
        only = [name]
    elif match := re.fullmatch(r"evals/(\w+)\.py(?:@(\w+))?", target):
        benchmark, only = (
            match[1],
            [match[2]] if match[2] else list(benchmarks.load(match[1]).tasks),
        )
    else:
        return None
    tasks = [getattr(registry.MODULES[benchmark], name) for name in only]
    return {name for each in tasks for name in inspect.signature(each).parameters}


def is_many(word):
    """Whether a word of a command is a number of rows that take a while."""
    return word.isdigit() and int(word) >= 100


def without_key(words):
    """A command as it runs without a key and a network: the baselines on two samples, other models
    by a dry run.

    None where it needs data that a reader brings, or a log.
    """
    verb, *rest = words[1:]
    if (
        "rendering=lilypond" in rest
    ):  # tests' scores have no MusicXML; tests/evals/test_msu.py asks so
        return None
    if "NAME" in rest or any(word.startswith(("dataset=", "folder=", "./")) for word in rest):
        return None
    if "--config" in rest:
        return None
    if "--published" in rest and verb != "list":  # it would be fetched
        return None
    if verb == "list":
        return words
    if verb == "build" and "--seed" in rest and "--source" not in rest:
        is_small = "muse" in rest or any(map(is_many, rest))
        return ["20" if is_many(word) else word for word in words] if is_small else None
    if "--model" not in rest or verb not in ("eval", "run"):
        return None
    if verb == "eval" and rest[rest.index("--model") + 1].startswith("baseline/"):
        return [*words, "--limit", "2", "--display", "none"]
    targets = [
        re.fullmatch(r"(?:evals/(\w+)\.py(?:@(\w+))?|music_evals/(\w+))", word) for word in rest
    ]
    if verb == "eval" and not any(targets):  # of another package
        return None
    names = ["_".join(filter(None, target.groups())) if target else "" for target in targets]
    rest = [name or word for name, word in zip(names, rest, strict=True) if word != "--dry-run"]
    return ["music-evals", "run", *rest, "--dry-run"]


def kind_of(words):
    """What tells a command from those that take the same way: not the model, but its provider."""
    models = {before: after for before, after in pairwise(words) if before == "--model"}
    model = models.get("--model", "")
    provider = "MODEL" if "--grid" in words else model.partition("/")[0]
    return tuple(provider if word == model else word for word in words)


SHOWN = {
    tuple(runnable)
    for page in PAGES
    for words in commands(page)
    if len(words) > 1 and (runnable := without_key(words))
}
RUN = [
    pytest.param(words, marks=[pytest.mark.slow] * ({"--grid", "muse_ten"} <= {*words}))
    for words in sorted({kind_of(words): words for words in sorted(SHOWN)}.values())
]


def test_pages_and_their_commands_are_found():
    assert len(PAGES) >= 10
    assert all(page.is_file() for page in PAGES)
    readme = [" ".join(words) for words in commands(ROOT / "README.md")]
    assert "music-evals build muse --out data/muse --seed 7" in readme
    assert (
        "inspect eval evals/muse.py --model baseline/reader" in readme
    )  # from the middle of a line
    own = {
        "evals/msu.py@textual": {"max_score_tokens", "twin"},
        "evals/msu.py@visual": {"abc", "pages"},
    }
    textual, visual = (parameters(name) - names for name, names in own.items())
    assert textual == visual


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere_and_files_that_are_named_exist(page):
    for link in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
        if not link.startswith(("https://", "http://", "mailto:")):
            target, _, anchor = link.partition("#")
            file = (page.parent / target).resolve() if target else page
            assert file.exists(), f"{link} leads nowhere"
            assert not anchor or anchor in anchors(file), f"{link}: there is no such heading"
    for code in re.findall(r"`([^`\n]+)`", prose(page)):
        if PATH.fullmatch(code) and "NAME" not in code:
            assert any((base / code).exists() for base in (ROOT, ROOT / "music_evals")), (
                f"{code} does not exist"
            )


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_commands_name_what_exists(page):
    for program, *words in commands(page):
        command = COMMANDS[program]
        said = " ".join([program, *words])
        while verbs := getattr(command, "commands", {}):
            verb = next((word for word in words if word in verbs), None)
            if verb is None:
                assert command is not COMMANDS[program] or words[0].startswith("-"), (
                    f"{said}: no such command"
                )
                break
            command, words = verbs[verb], words[words.index(verb) + 1 :]
        options = {
            option for each in command.params for option in (*each.opts, *each.secondary_opts)
        }
        if command.context_settings.get("ignore_unknown_options"):  # they go on to Inspect
            passed_on = inspect_command.commands["eval"].params
            options |= {option for each in passed_on for option in each.opts}
        for word in words:
            if word.startswith("--"):
                assert word.partition("=")[0] in {*options, "--help"}, f"{said}: no option {word}"
        targets = [names for word in words if (names := parameters(word)) is not None]
        for flag, value in pairwise(words):
            if flag == "-T" and targets:
                assert value.partition("=")[0] in set().union(*targets), (
                    f"{said}: no parameter {value}"
                )
            elif flag == "--scorer" and value.startswith("music_evals/"):
                assert value.removeprefix("music_evals/") in SCORERS, f"{said}: no scorer {value}"


@pytest.mark.usefixtures("no_audits")
@pytest.mark.parametrize("words", RUN, ids=" ".join)
def test_commands_run(words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "evals").symlink_to(ROOT / "evals")
    assert not COMMANDS[words[0]].main([*words[1:]], standalone_mode=False)
    logs = [*tmp_path.glob("logs/**/*.eval")]
    assert {read_eval_log(str(log), header_only=True).status for log in logs} == (
        {"success"} if logs else set()
    )
    assert bool(logs) == (words[1] == "eval")


def test_the_tables_that_the_code_decides_are_up_to_date(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "docs")
    made = runpy.run_path(str(ROOT / "docs" / "generated.py"))
    for name in ("docs/parameters.md", "CITATION.cff"):
        text = (ROOT / name).read_text(encoding="utf-8")
        assert text == made["updated"](name), "python docs/generated.py"
    models = (ROOT / "docs" / "models.md").read_text(encoding="utf-8")
    # The default data of other benchmarks takes minutes to make: only the command asks for it.
    monkeypatch.setattr(benchmarks, "names", lambda: ["muse", "musictheorybench", "ziqi"])
    heading, *tasks = made["costs"]().splitlines()
    assert heading in models
    assert [task for task in tasks if task not in models] == [], "python docs/generated.py"
    monkeypatch.undo()
    costs = re.findall(r"^\| `(.*)` \| (\d+) \| (\d[\d,]*\d)(.*?) \|", models, re.MULTILINE)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for benchmark in map(benchmarks.load, benchmarks.names()):
        names = {task.registry_name for task in benchmark.tasks.values()}
        rows = [row[1:] for row in costs if row[0] in names]
        requests, tokens = (
            sum(int(row[column].replace(",", "")) for row in rows) for column in (0, 1)
        )
        media = Counter()
        for row in rows:
            media.update({kind: int(number) for number, kind in re.findall(r"(\d+) (\w+)", row[2])})
        shown = "".join(f", {number} {kind}" for kind, number in media.items())
        run = f"{requests} requests, {round(tokens, -3):,} tokens{shown}"
        assert not rows or run in readme


def test_figures_of_baselines_are_those_of_their_logs(monkeypatch):
    """A figure that is changed by hand breaks the seal, and so does another version of the data."""
    monkeypatch.syspath_prepend(ROOT / "docs")
    made = runpy.run_path(str(ROOT / "docs" / "generated.py"))
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    part = re.search(r"<!-- begin \w+ -->\n+(.*?)\n<!-- end (\w+) -->", text, re.DOTALL)
    assert part
    assert made["seal"](part[1]) == part[2], "python docs/generated.py README.md"
    assert made["seal"](part[1].replace("0", "1")) != part[2]
    monkeypatch.setattr(readers, "VERSION", "0")
    assert made["seal"](part[1]) != part[2]


def test_the_image_runs_the_main_command():
    image = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    set_up = re.search(r"^RUN (.*)$", image, re.MULTILINE)
    run = re.search(r"^CMD (.*)$", image, re.MULTILINE)
    assert set_up
    assert run
    assert f"\n{set_up[1]} && {' '.join(json.loads(run[1]))} && " in (ROOT / "README.md").read_text(
        encoding="utf-8"
    )


def test_the_readme_is_short_and_its_commands_for_machines_are_where_they_are_looked_for():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 150
    for mark, part in (
        ("main job", "inspect eval evals/muse.py --model baseline/reader"),
        ("test command", "pytest"),
    ):
        assert re.search(rf"<!-- {mark} -->\n```bash\n.*{part}.*\n```\n", text)


def test_the_citation_file_has_the_paper_of_each_benchmark():
    yaml = pytest.importorskip("yaml")
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))["references"]
    papers = {each.paper: each for each in map(benchmarks.load, benchmarks.names())}
    assert {paper["title"]: paper["url"] for paper in cited} == {
        title: each.url for title, each in papers.items()
    }
    for paper in cited:
        names = [
            each.get("name") or f"{each['given-names']} {each['family-names']}"
            for each in paper["authors"]
        ]
        assert names == list(papers[paper["title"]].authors)


def test_pictures_for_the_pages_are_small():
    pictures = list((ROOT / "docs" / "pictures").glob("*.png"))
    assert pictures
    assert all(picture.stat().st_size <= 200_000 for picture in pictures)


@pytest.mark.slow
def test_the_site_builds_without_a_warning_and_needs_no_network(tmp_path):
    pytest.importorskip("sphinx", reason="the extra docs is not installed")
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-c", "docs",
         "-D", "extensions=myst_parser,sphinx.ext.autodoc,sphinx.ext.napoleon", "-d", str(tmp_path / "trees"), ".",
         str(tmp_path / "site")],
        cwd=ROOT, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    front = (tmp_path / "site" / "docs" / "index.html").read_text(encoding="utf-8")
    assert all(benchmarks.load(name).title in front for name in benchmarks.names())
    api = (tmp_path / "site" / "docs" / "api" / "readers.html").read_text(encoding="utf-8")
    assert 'id="music_evals.scorers.readers.choices.read_choice"' in api
    for page in PAGES:
        html = (
            (tmp_path / "site" / page.relative_to(ROOT))
            .with_suffix(".html")
            .read_text(encoding="utf-8")
        )
        fetched = re.findall(
            r"<(?:script|img|iframe|link)\b[^>]*?(?:src|href)=\"(https?:[^\"]+)", html
        )
        assert fetched == [], f"{page} fetches {fetched}"
