"""Attacks out of LilyPond's sandbox, with a canary to be read or changed and keys of APIs in the environment."""

import uuid
from random import Random

import pytest

from music_evals.notation.lilypond.compiler import compile_texts
from music_evals.notation.lilypond.sandbox import Confinement, Limits, runner
from tests.notation.lilypond.sandbox.test_hostile import GOOD

KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "HF_TOKEN", "AWS_SECRET_ACCESS_KEY")
SHOW = r"""\version "2.24.3"
#(use-modules (ice-9 rdelim) (ice-9 popen) (ice-9 ftw) (ice-9 textual-ports) (system foreign))
#(define out (open-file "found.txt" "wl"))
#(define (try action) (catch #t (lambda () (format out "~s\n" (action))) (lambda why (format out "failed ~a\n" why))))
"""
READING = (
    '#(try (lambda () (call-with-input-file "{0}" get-string-all)))',
    '#(try (lambda () (ly:gulp-file "{0}")))',
    '#(try (lambda () (load "{0}")))',
    '#(try (lambda () (primitive-load "{0}")))',
    '\\include "{0}"',
    '\\markup \\verbatim-file "{0}"',
    '\\markup \\epsfile #X #10 "{0}"',
    '#(begin (symlink "{0}" "link.txt") (try (lambda () (call-with-input-file "link.txt" get-string-all))))',
    '#(begin (link "{0}" "hard.txt") (try (lambda () (call-with-input-file "hard.txt" get-string-all))))',
    '#(symlink "{0}" "link.midi")',
    '#(try (lambda () (rename-file "{0}" "moved.txt")))',
    '#(try (lambda () (copy-file "{0}" "copy.txt")))',
    '#(try (lambda () (let ((pipe (open-input-pipe "cat {0}"))) (get-string-all pipe))))',
    '#(try (lambda () (mmap-file "{0}")))',
    """#(try (lambda () (let* (
        (c (lambda (name . kinds) (pointer->procedure int (dynamic-func name (dynamic-link)) kinds)))
        (number ((c "open" '* int) (string->pointer "{0}") 0)) (buffer (make-bytevector 4000 0)))
        ((c "read" int '* size_t) number (bytevector->pointer buffer) 4000) (utf8->string buffer))))""",
)
CHANGING = (
    '#(try (lambda () (call-with-output-file "{0}" newline)))',
    '#(try (lambda () (let ((port (open-file "{0}" "a"))) (display "more" port) (close port))))',
    '#(try (lambda () (delete-file "{0}")))',
    '#(try (lambda () (truncate-file "{0}" 0)))',
    '#(try (lambda () (chmod "{0}" 0)))',
    '#(try (lambda () (rename-file "{0}" "{0}.gone")))',
    '#(try (lambda () (utime "{0}" 0 0)))',
    '#(try (lambda () (system "echo more >> {0}")))',
    '#(try (lambda () (execl "/bin/sh" "sh" "-c" "echo more >> {0}")))',
    '\\book {{ \\bookOutputName "{0}" \\score {{ {{ c4 }} \\midi {{ }} \\layout {{ }} }} }}',
    '#(ly:set-option \'log-file "{0}")',
    '#(try (lambda () (mkdir "{0}.folder")))',
)
WITHOUT_PLACE = (
    "#(try environ)",
    *(f'#(try (lambda () (getenv "{key}")))' for key in KEYS),
    '#(try (lambda () (scandir "/proc")))',
    '#(try (lambda () (call-with-input-file "/proc/self/environ" get-string-all)))',
    '#(try (lambda () (call-with-input-file "/proc/1/environ" get-string-all)))',
    "#(try (lambda () (kill 1 SIGKILL)))",
    "#(try (lambda () (kill -1 SIGKILL)))",
    "#(try (lambda () (kill (getppid) SIGKILL)))",
    "#(try (lambda () (ptrace 0)))",
    '#(try (lambda () (chroot "/")))',
    '#(try (lambda () (chdir "..") (chdir "..") (scandir ".")))',
    "#(try (lambda () (primitive-fork)))",
    "#(try (lambda () (setrlimit 'cpu 100000 100000)))",
    "#(for-each (lambda (number) (catch #t (lambda () (close-fdes number)) noop)) (iota 100))",
    """#(for-each (lambda (number) (try (lambda () (read-string (fdes->inport number))))) (iota 20 3))""",
)
PLACES = ("{folder}/canary.txt", "{folder}/../canary.txt", "/proc/self/root{folder}/canary.txt")


def attacks(folder):
    places = [
        place.format(folder=folder) for place in (*PLACES, "../" * 12 + "{folder}/canary.txt")
    ]
    found = [SHOW + attack.format(place) for attack in (*READING, *CHANGING) for place in places]
    return [*found, *(SHOW + attack for attack in WITHOUT_PLACE)]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a canary, whose text is that of the keys as well."""
    secret = f"canary-{uuid.uuid4().hex}"
    for key in KEYS:
        monkeypatch.setenv(key, secret)
    inner = tmp_path / "inner"
    inner.mkdir()
    for path in (tmp_path / "canary.txt", inner / "canary.txt"):
        path.write_text(secret)
    return inner


def snapshot(folder):
    return {
        str(path): (
            path.lstat().st_mode,
            path.lstat().st_mtime_ns,
            path.read_bytes() if path.is_file() else b"",
        )
        for path in folder.parent.rglob("*")
    }


def leaks(compiled, secret):
    everything = [compiled.messages.encode(), *compiled.midi, *compiled.files.values()]
    return any(secret.encode() in content for content in everything)


@pytest.mark.parametrize("confinement", Confinement)
def test_attacks(
    confinement,
    folder,
    counting,
    full,
    monkeypatch,
):
    if why := runner.why_unavailable(confinement):
        pytest.skip(why)
    monkeypatch.setattr(runner, "available_confinement", lambda: confinement)
    secret, before = (folder / "canary.txt").read_text(), snapshot(folder)
    texts = attacks(folder)
    if not full:
        texts = Random(7).sample(texts, 4)
    limits = Limits(seconds=10)
    ends = compile_texts(texts, collect=["*"], limits=limits)
    with counting(f"attacks out of the sandbox ({confinement})") as tally:
        for text, end in zip(texts, ends, strict=True):
            with tally.case(text.removeprefix(SHOW)):
                assert not leaks(end, secret)
                assert snapshot(folder) == before
    (good,) = compile_texts([GOOD])
    assert good.succeeded
