"""An endpoint of the API: a method, a path, the function that answers, and its parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from searchlab.web.api.parameters import Parameter


@dataclass(frozen=True)
class Attachment:
    """A file that a browser saves: its name and its type."""

    filename: str
    media_type: str


@dataclass(frozen=True)
class Endpoint:
    """`handler` gets the state of the request, and all parameters but `index` by name.

    The parameters of a POST are the keys of a JSON object, all others are those of the URL. With `is_text`, the answer
    is plain text instead of JSON; with `attachment`, which gets the values of the parameters, it is a file of one
    of the `media_types`. With `takes_file` the body is a file, whose path the handler gets as `content`; the
    parameters are those of the URL.
    `personal` answers belong to a judge: a login that is bound to one reads only theirs.
    `brief` marks work of a few milliseconds for any parameters, `heavy` several searches, `slow` up to a minute.
    """

    method: str
    path: str
    handler: Callable[..., Any]
    summary: str
    parameters: tuple[Parameter, ...] = ()
    is_text: bool = False
    attachment: Callable[[Mapping[str, Any]], Attachment] | None = None
    media_types: tuple[str, ...] = ("text/plain",)
    takes_file: bool = False
    personal: bool = False
    brief: bool = False
    heavy: bool = False
    slow: bool = False

    @property
    def is_write(self) -> bool:
        """Whether a request may change something."""
        return self.method in ("POST", "DELETE")
