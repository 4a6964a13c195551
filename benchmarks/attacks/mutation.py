"""Mutation of inputs: valid content with a few alterations that respect its structure, and some that do not.

Lines, tokens of the format, numbers and JSON values are replaced, repeated, moved and removed as wholes; bytes too.
"""

from __future__ import annotations

import gzip
import json
import random
import re
from collections.abc import Callable, Sequence
from typing import Any

NUMBERS = (
    b"0",
    b"-1",
    b"1e308",
    b"1e-320",
    b"NaN",
    b"inf",
    b"-0.0",
    b"2147483648",
    b"9" * 20,
    b"9" * 5000,
    b"1_0",
    b"0x1",
)
TEXTS = (
    *(
        b"\0",
        b"\xff\xfe",
        b"\xef\xbb\xbf",
        b"\xc3\xa9",
        b"\xed\xa0\x80",
        b"\xf0\x9f\x98\x80",
        b"\xe2\x80\xa8",
        b"\xc2\x85",
    ),
    *(
        b"\r",
        b"\n",
        b"\t",
        b" ",
        b'"',
        b"'",
        b"\\",
        b"%",
        b"{",
        b"}",
        b"[",
        b"]",
        b"(",
        b")",
        b"<",
        b">",
        b"&",
        b";",
        b":",
    ),
    *(
        b"=",
        b",",
        b"#",
        b"@",
        b"*",
        b"?",
        b"~",
        b"^",
        b"..",
        b"/",
        b"$",
        b"\x1b[2J",
        b"\xd9\xa3",
        b"\xe2\x82\x82",
        b"\xcc\x81",
    ),
)
JSON_VALUES: tuple[Any, ...] = (
    *(
        None,
        True,
        False,
        0,
        -1,
        1,
        0.5,
        10**400,
        2**63,
        1e308,
        -1e308,
        float("nan"),
        float("inf"),
        "",
        "a",
        "\ud800",
        "\0",
    ),
    *("1", "nan", [], {}, [[]], [None], {"": None}, [1, "a"], "x" * 3000, [0] * 300, "a\nb", -0.0, 1e-320),
)
# Characters of an input at most, except where a piece is repeated.
MAX_BYTES = 20_000
MAX_REPEATS = 3000
# Shorter inputs get fewer alterations, so that something of them is left.
SHORT_BYTES = 60
_NUMBER = re.compile(rb"-?[0-9]+(?:\.[0-9]+)?")

Alteration = Callable[[bytes, random.Random, Sequence[bytes]], bytes]


def mutate(seeds: Sequence[bytes], tokens: Sequence[bytes], draw: random.Random) -> bytes:
    """One of the seeds, altered a few times; or random bytes."""
    if draw.random() < 0.04:
        return draw.randbytes(draw.randrange(200))
    content = draw.choice(seeds)
    is_json = content[:1] == b"{"
    for _ in range(draw.choice((1, 1, 1, 2, 2, 3, 4, 6, 10)[: 9 if len(content) > SHORT_BYTES else 4])):
        alteration = _alter_json if is_json and draw.random() < 0.5 else draw.choice(ALTERATIONS)
        content = alteration(content, draw, tokens or seeds)[:MAX_BYTES]
    return _compress(content, draw) if draw.random() < 0.01 else content


def _span(content: bytes, draw: random.Random) -> tuple[int, int]:
    start = draw.randrange(len(content) + 1)
    return start, min(len(content), start + draw.choice((0, 1, 1, 2, 4, 8, 30, 200)))


def _replace_bytes(content: bytes, draw: random.Random, tokens: Sequence[bytes]) -> bytes:
    start, end = _span(content, draw)
    return content[:start] + draw.randbytes(draw.randrange(5)) + content[end:]


def _flip_bit(content: bytes, draw: random.Random, tokens: Sequence[bytes]) -> bytes:
    altered = bytearray(content or b" ")
    altered[draw.randrange(len(altered))] ^= 1 << draw.randrange(8)
    return bytes(altered)


def _insert_text(content: bytes, draw: random.Random, tokens: Sequence[bytes]) -> bytes:
    start, end = _span(content, draw)
    return content[:start] + draw.choice(TEXTS) + content[draw.choice((start, end)) :]


def _insert_token(content: bytes, draw: random.Random, tokens: Sequence[bytes]) -> bytes:
    start, end = _span(content, draw)
    return content[:start] + draw.choice(tokens) + content[draw.choice((start, end)) :]


def _repeat(content: bytes, draw: random.Random, tokens: Sequence[bytes]) -> bytes:
    start, end = _span(content, draw)
    piece = draw.choice((content[start:end], draw.choice(tokens), draw.choice(TEXTS)))
    times = draw.choice((2, 3, 10, 100)) if draw.random() < 0.9 else draw.randrange(MAX_REPEATS)
    return content[:start] + piece * times + content[start:]


def _move(content: bytes, draw: random.Random, tokens: Sequence[bytes]) -> bytes:
    start, end = _span(content, draw)
    rest = content[:start] + content[end:]
    to = draw.randrange(len(rest) + 1)
    return rest[:to] + content[start:end] + rest[to:]


def _alter_lines(content: bytes, draw: random.Random, tokens: Sequence[bytes]) -> bytes:
    lines = content.split(b"\n")
    one, other = draw.randrange(len(lines)), draw.randrange(len(lines))
    match draw.randrange(4):
        case 0:
            del lines[one]
        case 1:
            lines.insert(other, lines[one])
        case 2:
            lines[one], lines[other] = lines[other], lines[one]
        case _:
            lines[one] = b" ".join(draw.sample(columns := lines[one].split(), len(columns)))
    return b"\n".join(lines)


def _alter_number(content: bytes, draw: random.Random, tokens: Sequence[bytes]) -> bytes:
    numbers = list(_NUMBER.finditer(content))
    if not numbers:
        return content + draw.choice(NUMBERS)
    chosen = draw.choice(numbers)
    return content[: chosen.start()] + draw.choice(NUMBERS) + content[chosen.end() :]


def _cut(content: bytes, draw: random.Random, tokens: Sequence[bytes]) -> bytes:
    start, _ = _span(content, draw)
    return draw.choice((content[:start], content[start:]))


def _alter_json(content: bytes, draw: random.Random, tokens: Sequence[bytes]) -> bytes:
    """Replace, remove or rename one value of a JSON file, or of one of its lines."""
    lines = content.split(b"\n")
    whole = draw.randrange(len(lines)) if content.count(b"}\n{") else None
    try:
        record = json.loads(content if whole is None else lines[whole])
    except (ValueError, RecursionError):
        return _insert_token(content, draw, tokens)
    places: list[tuple[Any, Any]] = []
    _collect(record, places)
    if places:
        parent, key = draw.choice(places)
        _alter_value(parent, key, draw, places)
    text = json.dumps(record).encode()
    if whole is None:
        return text
    lines[whole] = text
    return b"\n".join(lines)


def _collect(value: Any, places: list[tuple[Any, Any]]) -> None:
    """All places of a JSON value: containers with a key or a position."""
    for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        places.append((value, key))
        _collect(value[key], places)


def _alter_value(parent: Any, key: Any, draw: random.Random, places: list[tuple[Any, Any]]) -> None:
    match draw.randrange(6):
        case 0:
            del parent[key]
        case 1:
            other, other_key = draw.choice(places)
            parent[key] = json.loads(json.dumps(other[other_key]))
        case 2 if isinstance(parent, dict):
            parent[draw.choice(("", "name", "x", "weights"))] = parent.pop(key)
        case 3 if isinstance(parent, list):
            parent.append(parent[key])
        case _:
            parent[key] = json.loads(json.dumps(draw.choice(JSON_VALUES)))


def _compress(content: bytes, draw: random.Random) -> bytes:
    """Gzip, sometimes damaged."""
    packed = gzip.compress(content, mtime=0)
    return packed if draw.random() < 0.5 else _flip_bit(packed, draw, ())


ALTERATIONS: tuple[Alteration, ...] = (
    *(_replace_bytes, _flip_bit, _insert_text, _insert_token, _insert_token, _repeat, _move),
    *(_alter_lines, _alter_number, _cut),
)
