"""Runs in shards: their log is that of the complete run, whatever is killed; and logs that are not
merged.
"""

import json
import multiprocessing
import os
import re
import signal
from pathlib import Path
from zipfile import ZipFile

import pytest
from inspect_ai import eval as inspect_eval
from inspect_ai.log import list_eval_logs, read_eval_log, write_eval_log

from music_evals.shards.processes import run_processes
from music_evals.shards.running import Asked, run_shard
from music_evals.shards.sharded_run import Settings, run_in_shards
from tests.commands.cli import run
from tests.golden.record import replies  # noqa: F401 - registers the model that is asked

# Times and ids, and what says how many requests are under way and where a log lies.
VARYING = re.compile(
    r"(.*_)?(id|uuid|at|time|timestamp|started|completed|created|pending|working_start|span_id|call)|location|events_data"
    r"|max_tasks|log_realtime|log_buffer|score_display|log_format|eval_set_id|connection_limit_history|revision|etag|stats"
)


def in_this_process(shards, report):
    for shard in shards:
        run_shard(shard, report)
    return []


def sharded(
    tasks,
    folder,
    *,
    shards=3,
    model="baseline/chance",
    engine=in_this_process,
    **settings,
):
    pairs = [(asked, asked.make()) for asked in tasks]
    run_settings = Settings(model, {}, settings.pop("limit", None), settings)
    assert (
        run_in_shards(pairs, run_settings, str(folder), shards, engine, lambda _: lambda _: None)
        == []
    )
    return [read_eval_log(info) for info in list_eval_logs(str(folder))]


def plain(value):
    """A part of a log without times and ids."""
    if isinstance(value, dict):
        if VARYING.fullmatch(
            str(value.get("path", "")).rpartition("/")[2]
        ):  # a change that an event tells of
            return {"path": value["path"]}
        return {key: plain(one) for key, one in value.items() if not VARYING.fullmatch(key)}
    return [plain(one) for one in value] if isinstance(value, list) else value


def same(one, other, part):
    first, second = (plain(json.loads(log.model_dump_json(include={part}))) for log in (one, other))
    return bool(first == second)


def test_killed_processes_lose_and_double_nothing(tmp_path):
    # So many that no process ends before this one, on a busy machine, has read of its first ones.
    asked = [Asked("ziqi", "comprehension", {"rotations": 4})]
    questions = {sample.id for sample in asked[0].make().dataset}
    killed = []
    seen = []

    def engine(shards, report):
        finished = 0

        def count(samples):
            nonlocal finished
            finished += samples
            report(samples)
            # In the order in which they came: the system's numbers begin anew at their end.
            alive = [
                child.pid or 0 for child in multiprocessing.active_children() if child.is_alive()
            ]
            seen.extend(pid for pid in alive if pid not in seen)
            if finished > 40 and not killed:
                oldest = next(pid for pid in seen if pid in alive)
                killed.append(oldest)  # it has begun to ask
                os.kill(killed[-1], signal.SIGKILL)

        return run_processes(shards, count)

    logs = sharded(asked, tmp_path, shards=2, engine=engine)
    assert len(killed) == 1
    (log,) = logs
    ids = log.eval.dataset.sample_ids or []
    assert (log.status, set(ids)) == ("success", questions)
    assert sorted(sample.id for sample in log.samples or []) == sorted(ids)
    assert not (tmp_path / "shards").exists()

    def nothing_left(shards, report):
        assert not shards
        return []

    again = sharded(asked, tmp_path, shards=2, engine=nothing_left)
    assert [log.eval.run_id for log in again] == [log.eval.run_id for log in logs]


def test_parts_of_a_run_are_merged_and_others_are_refused(tmp_path):
    asked = Asked("ziqi", "generation", {})

    def part(limit, **options):
        (log,) = inspect_eval(
            asked.make(),
            log_dir=str(tmp_path / "parts"),
            display="none",
            **{"model": "baseline/chance", "limit": limit, **options},
        )
        return log.location

    first, second, third = part(2), part((2, 4)), part((3, 5))
    (tmp_path / ".both.eval.partial").mkdir()
    (tmp_path / ".both.eval.partial" / "merged.eval").write_text("of a killed process")
    code, output = run("merge", first, second, "--out", tmp_path / "both.eval")
    assert {path.name for path in tmp_path.iterdir()} == {"parts", "both.eval"}
    assert (code, "4 of 60 samples, from 2 logs" in output) == (0, True), output
    log, whole = read_eval_log(str(tmp_path / "both.eval")), read_eval_log(part(4))
    assert log.eval.dataset.sample_ids == whole.eval.dataset.sample_ids
    assert {sample.id for sample in log.samples or []} == set(log.eval.dataset.sample_ids or [])
    assert same(log, whole, "results")
    for logs, message in (
        ((second, third), "_epoch_1 is in both"),
        (
            (first, part((2, 4), model="baseline/majority")),
            "model is baseline/chance in the first, baseline/majority",
        ),
        (
            (first, part((2, 4), max_tokens=9)),
            "model_generate_config.max_tokens is None in the first, 9 in the second",
        ),
        ((first, part((2, 4), epochs=2)), "config.epochs is 1 in the first, 2 in the second"),
        ((tmp_path / "empty",), "no log of Inspect (.eval) is at"),
    ):
        code, output = run("merge", *logs, "--out", tmp_path / "no.eval", columns=400)
        assert (code, message in " ".join(output.split())) == (1, True), output
    assert not (tmp_path / "no.eval").exists()
    code, output = run("merge", first, second, "--out", tmp_path / "both.eval", columns=400)
    assert (code, "both.eval exists; give another name" in output) == (1, True), output


def test_a_log_that_lacks_samples_is_refused(tmp_path):
    location = tmp_path / "cut.eval"
    (log,) = inspect_eval(
        Asked("ziqi", "generation", {}).make(),
        model="baseline/chance",
        limit=3,
        log_dir=str(tmp_path),
        display="none",
    )
    whole = read_eval_log(log.location)
    assert whole.samples
    whole.samples.pop()
    whole.status = "error"
    write_eval_log(whole, str(location))
    code, output = run("merge", location, "--out", tmp_path / "no.eval", columns=400)
    assert (
        code,
        "1 of 3 samples are in none of the logs, such as " in " ".join(output.split()),
    ) == (1, True), output


@pytest.mark.parametrize("damage", ["byte", "entry", "ids"])
def test_a_damaged_log_is_refused(damage, tmp_path):
    (log,) = inspect_eval(
        Asked("ziqi", "generation", {}).make(),
        model="baseline/chance",
        limit=3,
        log_dir=str(tmp_path),
        display="none",
    )
    path = Path(log.location)
    with ZipFile(path) as archive:
        last = [entry for entry in archive.infolist() if entry.filename.startswith("samples/")][-1]
    if damage == "byte":
        content = bytearray(path.read_bytes())
        content[last.header_offset + 30 + len(last.filename) + last.compress_size // 2] ^= 0xFF
        path.write_bytes(content)
    elif damage == "entry":
        with ZipFile(path, "a") as archive:
            archive.filelist.remove(
                next(e for e in archive.filelist if e.filename == last.filename)
            )
            archive.writestr("another", "")
    else:
        header = read_eval_log(log.location, header_only=True)
        header.eval.dataset.sample_ids = None
        write_eval_log(header, log.location, header_only=True)
    code, output = run("merge", path, "--out", tmp_path / "no.eval", columns=1000)
    reason = "does not list the ids" if damage == "ids" else "is damaged"
    assert (code, path.name in output, reason in output) == (1, True, True), output
    assert len(output.strip().splitlines()) == 1
    assert not (tmp_path / "no.eval").exists()


def test_a_folder_of_another_run_is_refused(tmp_path):
    asked = [
        "run",
        "ziqi_generation",
        "--limit",
        "2",
        "--shards",
        "1",
        "--display",
        "none",
        "--log-dir",
        tmp_path,
    ]
    code, output = run(*asked, "--model", "baseline/chance")
    assert (code, "questions per task: 2" in output) == (0, True), output
    code, output = run(*asked, "--model", "baseline/majority", columns=400)
    assert (
        code,
        "holds a run with model 'baseline/chance', not 'baseline/majority'" in output,
    ) == (1, True), output


def test_damaged_files_do_not_block_a_run(tmp_path):
    (tmp_path / "run.json").touch()
    (tmp_path / "foreign.eval").write_bytes(b"PK")
    asked = Asked("ziqi", "generation", {})

    def cut(shards, report):
        in_this_process(shards, report)
        (log,) = list_eval_logs(shards[0].folder)
        path = Path(log.name.removeprefix("file://"))
        path.write_bytes(path.read_bytes()[:1000])
        return ["shard 1: killed"]

    settings = Settings("baseline/chance", {}, 4, {})
    tasks = [(asked, asked.make())]
    errors = run_in_shards(tasks, settings, str(tmp_path), 2, cut, lambda _: lambda _: None)
    assert errors == ["shard 1: killed"]
    errors = run_in_shards(
        tasks, settings, str(tmp_path), 2, in_this_process, lambda _: lambda _: None
    )
    assert errors == []
    (merged,) = [
        path for path in tmp_path.iterdir() if path.name not in ("foreign.eval", "run.json")
    ]
    assert len(read_eval_log(merged).samples or []) == 4


def check_that_errors_are_returned(engine, folder):
    settings = Settings("baseline/chance", {"error_rate": "much"}, 4, {})
    asked = Asked("ziqi", "generation", {})
    (error,) = run_in_shards(
        [(asked, asked.make())], settings, str(folder), 1, engine, lambda _: lambda _: None
    )
    assert error.startswith("shard 1: ")
    assert "error_rate" in error


def test_the_error_of_a_shard_is_returned(tmp_path):
    check_that_errors_are_returned(run_processes, tmp_path)
