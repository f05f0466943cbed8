"""Recognising refusals: a reply will not or cannot answer, does not know, or says that it got no
music.

`patterns/refusals.toml` has the words, in English, Chinese, German, French, Italian, Spanish,
Portuguese, Japanese, Korean and Russian. A reply is read clause by clause: one that gives an answer
besides ("not sure, but I would say C") is none.
"""

import re
import unicodedata

from music_evals.scorers.readers.patterns import pattern

END = 800  # characters at the beginning and at the end of a long reply that are read
_APOSTROPHES = str.maketrans("’ʼ`´‘＇", "''''''")


def unaccented(text: str) -> str:
    """The text without accents and compatibility forms: ``ré`` becomes ``re``, ``⁷`` becomes
    ``7``.
    """
    plain = re.sub("[\u0300-\u036f]", "", unicodedata.normalize("NFKD", text))
    return unicodedata.normalize("NFKC", plain).translate(_APOSTROPHES)


def refuses(text: str) -> bool:
    """Return whether any clause of a reply says that it gives no answer.

    Example:
        >>> refuses("I cannot hear it. A typical song has 120 BPM.")
        True
    """
    plain = " ".join(unaccented(text[-END:]).split())
    clauses = pattern("refusals", "turns").split(plain)
    return any(pattern("refusals", "refuses").search(clause or "") for clause in clauses)


def is_refusal(text: str) -> bool:
    """Return whether a reply says that it gives no answer, and no clause of it gives one.

    Example:
        >>> is_refusal("No image is available."), is_refusal("无法判断"), is_refusal(
        ...     "No accidentals")
        (True, True, False)
        >>> is_refusal("I'm not sure, but I would say C."), is_refusal(
        ...     "I'm sorry, but I cannot say.")
        (False, True)
    """
    ends = text if len(text) <= 2 * END else f"{text[:END]}\n{text[-END:]}"
    plain = " ".join(unaccented(ends).split()).strip("*_\"“”'「」 ")
    refuses = pattern("refusals", "refuses")
    commits = pattern("refusals", "commits")
    clauses = [clause for clause in pattern("refusals", "turns").split(plain) if clause]
    answers = [clause for clause in clauses if not refuses.search(clause)]
    if len(answers) == len(clauses):
        return False
    return not any(commits.search(clause) for clause in answers if not clause.endswith("?"))
