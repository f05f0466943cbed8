"""`music-evals listen` as a person uses it, in Chromium and by requests; what is clicked is what
the log scores.
"""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from threading import Thread

import anyio
import httpx
import pytest
from inspect_ai.log import list_eval_logs, read_eval_log
from inspect_ai.model import get_model
from selenium.common.exceptions import WebDriverException
from selenium.webdriver import ActionChains, Chrome, ChromeOptions, ChromeService, Keys
from selenium.webdriver.common.by import By
from selenium.webdriver.support.expected_conditions import staleness_of
from selenium.webdriver.support.wait import WebDriverWait

from music_evals import task
from music_evals.listening.session import open_session
from music_evals.reports.records import read_records
from music_evals.scorers.explanations import WHY
from tests.commands.cli import run
from tests.commands.test_run import RUN

TOKEN = "token"


@pytest.fixture(autouse=True)
def token(monkeypatch):
    monkeypatch.setattr("music_evals.commands.listen.token_urlsafe", lambda _: TOKEN)


@pytest.fixture(scope="module")
def chromium():
    browser, driver = (
        shutil.which("chromium") or shutil.which("google-chrome"),
        shutil.which("chromedriver"),
    )
    if not browser or not driver:
        pytest.skip("needs Chromium and its driver: apt install chromium chromium-driver")
    options = ChromeOptions()
    options.binary_location = browser
    for flag in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--mute-audio"):
        options.add_argument(flag)
    chrome = Chrome(options, ChromeService(driver))
    yield chrome
    chrome.quit()


@pytest.fixture
def port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def wait_for(port):
    """The address of the page, once it is served."""
    for _ in range(12000):
        with suppress(OSError), socket.create_connection(("127.0.0.1", port)):
            return f"http://127.0.0.1:{port}/{TOKEN}"
        time.sleep(0.05)
    raise TimeoutError(f"port {port}")


def listen(port, folder, user, *words):
    """Run the command while a user does something."""
    errors = []

    def guarded():
        try:
            user()
        except Exception as error:  # else the command would wait for ever
            errors.append(error)
            os.kill(os.getpid(), signal.SIGINT)

    (thread := Thread(target=guarded)).start()
    code, output = run(
        "listen", *words, "--name", "ANNA", "--port", port, "--no-open", "--log-dir", folder
    )
    thread.join()
    assert (code, [str(error) for error in errors]) == (0, []), output
    return read_eval_log(list_eval_logs(str(folder))[0]), output


def answer_in_browser(chrome, address, count):
    """Answer so many questions, by keys and by the mouse in turn; id → the answer chosen, which
    differ in turn.
    """
    chosen = {}
    chrome.get(address)
    WebDriverWait(chrome, 20).until(lambda page: page.find_elements(By.NAME, "id"))
    for number in range(count):
        radios = chrome.find_elements(By.CSS_SELECTOR, "input[type=radio]")
        sample = chrome.find_element(By.NAME, "id").get_attribute("value")
        place = (number + len(sample)) % len(radios)
        chosen[sample] = radios[place].get_attribute("value")
        if number % 2:
            radios[place].find_element(By.XPATH, "..").click()
            chrome.find_element(By.CSS_SELECTOR, "main form button").click()
        else:
            if chrome.find_elements(By.CSS_SELECTOR, "section audio"):
                ActionChains(chrome).send_keys(" ").perform()
                WebDriverWait(chrome, 10).until(
                    lambda page: page.execute_script(
                        "return !document.querySelector('audio').paused"
                    )
                )
            ActionChains(chrome).send_keys("ABCDE"[place] if number else str(place + 1)).send_keys(
                Keys.ENTER
            ).perform()
        # Between two pages, the driver may have neither.
        waiting = WebDriverWait(chrome, 20, ignored_exceptions=[WebDriverException])
        waiting.until(staleness_of(radios[0]))
        chosen[f"page {sample}"] = waiting.until(lambda page: page.page_source)
    return chosen


FORMS = {
    "muse_oddball": "$",
    "muse_chord_quality": "Final Answer: $",
    "ziqi_generation": "[[答案：$]]",
}


@pytest.mark.parametrize("name", FORMS)
def test_a_task_is_answered_to_its_end(name, chromium, port, tmp_path):
    chosen = {}
    if name == "muse_oddball":  # with a kill after two answers
        words = [
            name,
            "--name",
            "ANNA",
            "--limit",
            "4",
            "--port",
            str(port),
            "--no-open",
            "--log-dir",
            str(tmp_path),
        ]
        with subprocess.Popen(
            [
                sys.executable,
                "-c",
                f"import secrets\nsecrets.token_urlsafe = lambda *_: {TOKEN!r}\n{RUN}",
                "listen",
                *words,
            ]
        ) as process:
            chosen |= answer_in_browser(chromium, wait_for(port), 2)
            process.kill()
        assert "3 of 4" in chromium.page_source

    def user():
        chosen.update(answer_in_browser(chromium, wait_for(port), 2 if chosen else 4))

    log, output = listen(port, tmp_path, user, name, "--limit", "4")
    assert (log.status, log.eval.model, log.eval.config.limit) == (
        "success",
        "human/ANNA",
        4,
    ), output
    right = []
    for sample in log.samples or []:
        answer = chosen[str(sample.id)]
        right.append(answer == sample.target)
        assert sample.output.completion == FORMS[name].replace("$", answer)
        assert [score.value for score in (sample.scores or {}).values()] == [
            "C" if right[-1] else "I"
        ]
        assert WHY not in sample.metadata or sample.metadata[WHY] not in "".join(chosen.values())
    records = read_records(tmp_path)
    (row,) = records.runs.to_dict("records")
    assert (row["model"], row["n"], "in part" in row["condition"]) == ("human/ANNA", 4, True)
    assert (len(right), records.scores.at[0, "value"]) == (4, sum(right) / 4)
    assert "human/ANNA" in run("report", tmp_path)[1]


def test_a_person_may_stop_and_nobody_else_may_answer(port, tmp_path):
    statuses = []

    def user():
        address = wait_for(port)
        own = {"origin": address.removesuffix(f"/{TOKEN}")}
        client = httpx.Client(timeout=None)  # a busy machine answers late
        statuses.append(client.get(own["origin"]).status_code)  # without the cookie
        cookie = client.get(address).headers["set-cookie"]
        assert {"HttpOnly", "SameSite=strict"} <= set(cookie.split("; "))
        statuses.append(httpx.get(address, timeout=None).status_code)  # the token is spent
        address = own["origin"]
        sample = client.get(address).text.partition('name="id" value="')[2].partition('"')[0]
        for headers, data in (
            (
                {"host": f"evil.example:{port}", "origin": f"http://evil.example:{port}"},
                {"id": sample, "answer": "A"},
            ),
            ({"origin": "https://evil.example"}, {"id": sample, "answer": "A"}),
            ({}, {"id": sample, "answer": "A"}),
            (own, {"id": sample, "answer": "x" * 60_000}),
            (own, {"id": sample, "answer": "<script>"}),
            (own, {"id": "nothing", "answer": "A"}),
            (own, {"id": sample, "answer": "B"}),
            (
                own,
                {"id": sample, "answer": "C"},
            ),  # as after the browser's Back: the first answer counts
        ):
            statuses.append(client.post(address, headers=headers, data=data).status_code)
        os.kill(os.getpid(), signal.SIGINT)

    log, output = listen(
        port, tmp_path, user, "ziqi_comprehension", "-T", "language=en", "--limit", "3"
    )
    assert statuses == [403, 403, 400, 403, 403, 413, 422, 422, 303, 303]
    assert "2 questions are not answered" in output
    (sample,) = log.samples or []
    assert (log.eval.config.sample_id, sample.output.completion) == ([sample.id], "[[answer: B]]")
    assert read_records(tmp_path).runs["condition"].tolist() == ["language=en, in part"]


def test_the_browser_s_command_line_has_no_token(tmp_path, port, monkeypatch):
    opened = []

    def open_browser(address):
        door = Path(address.removeprefix("file://"))
        text = door.read_text()
        opened.extend([address, text])
        assert door.stat().st_mode & 0o777 == 0o600
        token = text.partition(f"{port}/")[2].partition(chr(34))[0]
        address = f"http://127.0.0.1:{port}"

        def user():
            client = httpx.Client(timeout=None)
            client.get(f"{address}/{token}")
            opened.append(str(client.get(address).status_code))
            os.kill(os.getpid(), signal.SIGINT)

        Thread(target=user).start()

    monkeypatch.setattr("webbrowser.open", open_browser)
    words = ["oddball", "--name", "A", "--port", port, "--log-dir", tmp_path]
    code, output = run("listen", *words)
    assert (code, "no question was answered" in output) == (1, True), output
    address, text, status = opened
    assert (TOKEN in address, TOKEN in text, status) == (False, True, "200")
    assert not list(tmp_path.glob("*.html"))


def session(folder, name="musictheorybench_knowledge", limit=2, **params):
    return open_session(task(name, **params), get_model("human/ANNA", memoize=False), folder, limit)


def test_a_session_is_one_of_its_parameters_and_data(tmp_path):
    first = session(tmp_path)
    sample = str(first.samples[0].id)
    first.keep(sample, "B")
    with first.path.open("ab") as file:
        file.write(b'{"id": "cut by a ki')
    assert session(tmp_path).replies == {sample: "Final Answer: B"}
    session(tmp_path).keep(str(first.samples[1].id), "C")
    assert not session(tmp_path).unanswered
    assert session(tmp_path, shots="five").replies == {}
    rows = [json.loads(line) for line in first.path.read_text().splitlines()]
    assert [row.get("reply") for row in rows] == [None, "Final Answer: B", "Final Answer: C"]


def test_two_processes_do_not_write_one_session(tmp_path):
    path = session(tmp_path).path
    program = (
        "import sys; from tests.commands.test_listen import Path, session; "
        "session(Path(sys.argv[1]))"
    )
    second = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True
    )
    assert f"another process writes answers to {path}" in second.stderr


@pytest.mark.parametrize(
    "params",
    [
        {"options": "shuffled"},
        {"options": "shuffled", "prompt": "paper"},
        {"stimulus": "none"},
    ],
)
def test_what_is_shown_is_what_a_model_is_asked(params, tmp_path):
    own = session(tmp_path, "mmau_music", 4, **params)
    for sample in own.samples:
        shown = anyio.run(own.shown, sample)
        right = (sample.metadata or {})["options"]["ABCDEFGH".index(str(sample.target))]
        own.keep(
            str(sample.id), next(answer for answer, label in shown["choices"] if label == right)
        )
        assert ("stimulus" in params) != ("audio" in dict(shown["question"]))
        assert right in "".join(content for kind, content in shown["question"] if kind == "text")
    assert [(one.scores or {})["strict_choice"].value for one in own.write_log().samples or []] == [
        "C"
    ] * 4


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["nothing"],
            "nothing is not one task that a person can answer; accepted: ",
        ),
        (["muse"], "accepted: muse_syncopation, muse_transposition, muse_chord_quality"),
        (["lilybench_bar_count"], "is not one task that a person can answer"),
        (["oddball", "--name", "../x"], "the name '../x' is not valid; accepted: at most 40"),
        (["evals/muse_ten.py@oddball", "-T", "tempo=3"], "none of the tasks takes tempo"),
        (
            ["muse_syncopation", "-T", "strategy=logiclm"],
            "muse_syncopation_generated-seed1 wants {'symbols'}",
        ),
        (["oddball", "--log-dir", "s3://logs"], "s3://logs is not a folder of this machine"),
    ],
)
def test_bad_input_is_named(words, message, tmp_path, port):
    code, output = run(
        "listen", "--name", "ANNA", "--log-dir", tmp_path, "--no-open", "--port", port, *words
    )
    assert code in (1, 2)
    assert message in " ".join(output.split())
    assert not list(tmp_path.iterdir())


def test_a_taken_port_is_named(tmp_path, port):
    with socket.create_server(("127.0.0.1", port)):
        code, output = run(
            "listen", "oddball", "--name", "A", "--log-dir", tmp_path, "--port", port
        )
    assert (code, f"port {port} cannot be used: Address already in use" in output) == (
        1,
        True,
    ), output
