"""An endpoint of the API: a method, a path, the function that answers, and its parameters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from searchlab.web.api.parameters import Parameter


@dataclass(frozen=True)
class Endpoint:
    """`handler` gets the state of the request, and all parameters but `index` by name.

    The parameters of a POST are the keys of a JSON object. With `is_text`, the answer is plain text instead of JSON.
    `brief` marks work of a few milliseconds for any parameters, `heavy` several searches, `slow` up to a minute.
    """

    method: str
    path: str
    handler: Callable[..., Any]
    summary: str
    parameters: tuple[Parameter, ...] = ()
    is_text: bool = False
    brief: bool = False
    heavy: bool = False
    slow: bool = False

    @property
    def is_write(self) -> bool:
        """Whether a request may change something."""
        return self.method == "POST"
