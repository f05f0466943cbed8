"""LilyBench's generation as it is described: reading of replies, metadata blocks, texts to embed, JS and FMD.

Reading of replies and metadata blocks follow a description of the published code (arXiv 2606.08722), draws, JS and FMD
the code itself, in other words: line by line where the suite uses patterns, and by the definitions where it uses other
arithmetic.
"""

import math
from collections.abc import Mapping, Sequence
from random import Random

import numpy as np
from scipy import linalg, stats

LEAST = 40
FENCE = "```"


def final_text(reply: str) -> str:
    """The text that is compiled and embedded: the code in a reply, with the two lines that it lacks ahead of it."""
    code = code_of(reply)
    head = "" if "\\version" in code else '\\version "2.24.4"\n'
    head += "" if "\\language" in code else '\\language "nederlands"\n'
    return (head + code).strip()


def code_of(reply: str) -> str:
    """What stands between the first fence with nothing but a tag behind it and the next line that begins with one."""
    lines = reply.strip().split("\n")
    first = next((place for place, line in enumerate(lines[:-1]) if opens(line)), None)
    if first is None:
        return "\n".join(lines)
    for last in range(first + 2, len(lines)):
        if lines[last].startswith(FENCE):
            return "\n".join(lines[first + 1 : last]).strip()
    # Nothing closes: the first line that is nothing but an opening fence goes, and the blank lines ahead of it.
    first = next((place for place, line in enumerate(lines[:-1]) if opens(line, alone=True)), None)
    if first is None:
        return "\n".join(lines)
    ahead = lines[:first]
    while ahead and not ahead[-1].strip():
        ahead.pop()
    return "\n".join([*ahead, *lines[first + 1 :]]).strip()


def opens(line: str, alone: bool = False) -> bool:
    """Whether a line ends in three backticks and a tag of letters, digits, and some signs; or is nothing else."""
    ahead, ticks, tag = line.partition(FENCE) if alone else line.rpartition(FENCE)
    is_tag = all(sign.isascii() and (sign.isalnum() or sign in "_+-") for sign in tag.rstrip())
    return bool(ticks) and is_tag and not (alone and ahead.strip())


def metadata_block(known: Mapping[str, str | None]) -> str:
    """The comment of a prompt, of fields in their order; those without a value have no line."""
    told = [f"%% {field}: {value}" for field, value in known.items() if value]
    return "\n".join(["%% === METADATA ===", *told, "%% === END METADATA ==="])


def drawn_files(names: Sequence[str], count: int, seed: int = 1234) -> list[str]:
    """The files that prompts are drawn from."""
    random, names = Random(seed), sorted(names)
    return [random.choice(names) for _ in range(count)]


def embedded_texts(texts: Sequence[str]) -> list[str]:
    """The texts that the distance is of."""
    return [text.strip() for text in texts if len(text.strip()) >= LEAST]


def js_similarity(reference: Sequence[Sequence[float]], generated: Sequence[Sequence[float]]) -> float:
    """100·exp(−2·mean JS) over descriptors, columns of values without those that are undefined."""
    return 100 * math.exp(-2 * float(np.mean([divergence(*pair) for pair in zip(reference, generated, strict=True)])))


def divergence(first: Sequence[float], second: Sequence[float], points: int = 2000) -> float:
    """The Jensen–Shannon divergence of two Gaussian fits, as a sum over equal steps."""
    fits = [stats.norm(np.mean(values), np.std(values, ddof=1)) for values in (first, second)]
    low = min(fit.mean() - 5 * fit.std() for fit in fits)
    high = max(fit.mean() + 5 * fit.std() for fit in fits)
    x, step = np.linspace(low, high, points, retstep=True)
    p, q = (fit.pdf(x) for fit in fits)
    total = 0.0
    for density in (p, q):
        there = density > 0
        total += 0.5 * float(np.sum(density[there] * np.log(density[there] / ((p + q) / 2)[there])) * step)
    return total


def frechet(reference: np.ndarray, generated: np.ndarray) -> float:
    """The Fréchet distance by the root of the product of covariances."""
    root = np.real(linalg.sqrtm(np.cov(reference.T) @ np.cov(generated.T)))
    apart = reference.mean(axis=0) - generated.mean(axis=0)
    return float(apart @ apart + np.trace(np.cov(reference.T) + np.cov(generated.T) - 2 * root))
