"""Strict reading of JSON records that may come from a stranger: manifests, models, weights.

Python's reader takes NaN, infinity and repeated names, and gives up on deep nesting with an error of its own. Here all
of them are a ValueError of one line. The other functions take a value of a record by its name, and raise ValueError if
it is not of the expected kind: what was found, and what was expected.
"""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath
from typing import Any

# The largest number of an array's 64 bits.
MAX_INTEGER = 2**63 - 1
MAX_CHECKSUM = 2**32 - 1
MAX_SEED = 2**128 - 1
# Longer values are cut in messages.
MAX_SHOWN_CHARACTERS = 60


def parse_json(content: str | bytes) -> Any:
    """The value of a JSON text; raises ValueError for anything that is not JSON, and for repeated names."""
    try:
        return json.loads(
            content, parse_constant=_refuse_constant, parse_float=_finite_number, object_pairs_hook=_distinct_names
        )
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _refuse_constant(name: str) -> None:
    raise ValueError(f"found {name}, expected a number")


def _finite_number(written: str) -> float:
    number = float(written)
    if math.isinf(number):
        raise ValueError(f"found {_shown(written)}, expected a number up to 1.8e308")
    return number


def _distinct_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) < len(pairs):
        names = [name for name, _ in pairs]
        repeated = next(name for number, name in enumerate(names) if name in names[:number])
        raise ValueError(f"found {_shown(repeated)} twice")
    return record


def parse_record(content: str | bytes) -> dict[str, Any]:
    """A JSON object; raises ValueError for anything else."""
    record = parse_json(content)
    if not isinstance(record, dict):
        raise ValueError(f"found {_shown(record)}, expected names with values")
    return record


def json_checksum(record: dict[str, Any]) -> int:
    """The CRC-32 of a JSON object, independent of the order of its keys."""
    return zlib.crc32(json.dumps(record, sort_keys=True).encode())


def without_checksum(record: dict[str, Any]) -> dict[str, Any]:
    """A record without its checksum; raises ValueError if that is not the checksum of the others."""
    if not has_checksum(record):
        raise ValueError("its checksum does not match")
    return {name: value for name, value in record.items() if name != "checksum"}


def has_checksum(record: Mapping[str, Any]) -> bool:
    """Whether the checksum of a record is that of all else in it."""
    rest = {name: value for name, value in record.items() if name != "checksum"}
    return bool(record.get("checksum") == json_checksum(rest))


def whole_number(record: Mapping[str, Any], name: str, least: int = 0, most: int = MAX_INTEGER) -> int:
    """A whole number from `least` to `most`."""
    value = _value(record, name)
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise ValueError(f"{name} is {_shown(value)}, expected a whole number from {least} to {most}")
    return value


def finite_number(record: Mapping[str, Any], name: str, least: float, most: float) -> float:
    """A number from `least` to `most`."""
    value = _value(record, name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
        raise ValueError(f"{name} is {_shown(value)}, expected a number from {least:g} to {most:g}")
    return float(value)


def text(record: Mapping[str, Any], name: str) -> str:
    """Any text."""
    value = _value(record, name)
    if not isinstance(value, str):
        raise ValueError(f"{name} is {_shown(value)}, expected a text")
    return value


def one_line(record: Mapping[str, Any], name: str) -> str:
    """A text that can be shown in one line."""
    value = text(record, name)
    if not value.isprintable():
        raise ValueError(f"{name} is {_shown(value)}, expected a line of text")
    return value


def texts(record: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """A list of texts."""
    value = _value(record, name)
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ValueError(f"{name} is {_shown(value)}, expected a list of texts")
    return tuple(value)


def table(record: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Names with values."""
    value = _value(record, name)
    if not isinstance(value, dict):
        raise ValueError(f"{name} is {_shown(value)}, expected names with values")
    return value


def file_table(record: Mapping[str, Any], name: str) -> dict[str, tuple[int, int]]:
    """Files with their sizes and CRC-32; a stranger's record may name any file of the disk, so names are checked."""
    files = {}
    for path, entry in table(record, name).items():
        if not isinstance(entry, list) or len(entry) != 2:
            raise ValueError(f"{name} has {_shown(entry)}, expected a size and a checksum")
        size = whole_number({"size": entry[0]}, "size")
        files[inner_path(path)] = size, whole_number({"checksum": entry[1]}, "checksum", 0, MAX_CHECKSUM)
    return files


def inner_path(name: str) -> str:
    """A path that stays within its folder: relative, without `..`, printable."""
    path = PurePosixPath(name)
    if not path.parts or path.is_absolute() or ".." in path.parts or str(path) != name or not name.isprintable():
        raise ValueError(f"found {_shown(name)}, expected the name of a file within the folder")
    return name


def check_names(found: Iterable[str], expected: Iterable[str]) -> None:
    """Refuse a record with other names than expected."""
    differing = sorted({*found} ^ {*expected})
    if differing:
        raise ValueError(f"lacks or has {', '.join(map(_shown, differing[:3]))}")


def _value(record: Mapping[str, Any], name: str) -> Any:
    if name not in record:
        raise ValueError(f"lacks {name}")
    return record[name]


def _shown(value: Any) -> str:
    # The text of a huge number takes long, and Python refuses it.
    shown = "a huge number" if isinstance(value, int) and value.bit_length() > 256 else ascii(value)
    return shown if len(shown) <= MAX_SHOWN_CHARACTERS else shown[:MAX_SHOWN_CHARACTERS] + "…"
