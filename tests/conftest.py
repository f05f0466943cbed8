"""What all tests share."""

import importlib.metadata
import logging
import os
from functools import cache

import pytest
from hypothesis import HealthCheck, settings

pytest_plugins = ["tests.fake_hub"]

# The same examples in every run, and no clock: a slow machine must not change an outcome.
settings.register_profile(
    "suite",
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("suite")

# Before Inspect is imported, which otherwise reads the file lists of all installed packages for
# every task.
importlib.metadata.packages_distributions = cache(importlib.metadata.packages_distributions)


@pytest.fixture(scope="session", autouse=True)
def caches(tmp_path_factory):
    """Inspect's cache of model output, empty at the start, and one cache of default datasets for
    all test processes, in which those that take minutes to make are small.

    Inspect's tables of results, which nobody is shown, are not laid out: with many metrics that
    takes seconds. For the same reason samples are not drawn and played, but where a test is about
    that.
    """
    from music_evals.datasets_builders.dataset_io import loading
    from tests.small_defaults import small_defaults

    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("INSPECT_CACHE_DIR", str(tmp_path_factory.mktemp("inspect-cache")))
        patch.setenv("MUSIC_EVALS_CACHE", str(shared / "cache"))
        patch.setattr(loading, "_generated_folder", small_defaults(loading._generated_folder))
        patch.setattr("rich.live.Live.refresh", lambda _: None)
        patch.setattr("music_evals.solvers.media.render_media", lambda _: [])
        yield


@pytest.fixture(autouse=True)
def root_logger():
    """The level that Python sets: Inspect leaves its own behind in a process that ran a task."""
    logging.getLogger().setLevel(logging.WARNING)


@pytest.fixture(scope="session")
def no_audits():
    """Build questions without the classifiers that builders try on them."""
    from tests.small_defaults import skip_audits

    skip_audits()


@pytest.fixture(scope="session")
def lilypond_runs():
    """Skip a test if LilyPond is not installed, or cannot be confined."""
    from music_evals.notation.lilypond.compiler import LilyPondError, lilypond_version
    from music_evals.notation.lilypond.sandbox import SandboxError, available_confinement

    try:
        lilypond_version()
        available_confinement()
    except (SandboxError, LilyPondError) as error:
        pytest.skip(str(error))


def pytest_terminal_summary(terminalreporter):
    """Show what the campaign tried: see tests/campaign."""
    reports = [one for key in ("passed", "failed") for one in terminalreporter.getreports(key)]
    rows = [row for report in reports for name, row in report.user_properties if name == "campaign"]
    if rows:
        terminalreporter.section("campaign: tried, failures")
    for what, tried, failures in sorted(rows):
        terminalreporter.line(f"{tried:8,} {failures:6,}  {what}")
