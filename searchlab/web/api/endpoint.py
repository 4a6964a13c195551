"""What is an entry of the API? A method, a path, the function that answers, and the parameters that it takes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from searchlab.web.api.parameters import Parameter


@dataclass(frozen=True)
class Endpoint:
    """`answer` gets the desk and the parameters by name; the parameters of a POST are the keys of a JSON object.

    What is not JSON is `text`: the answer is then a str. What takes a few milliseconds whatever it is asked for may be
    `brief`; what searches several times is `heavy`, and what may take a minute is `slow`.
    """

    method: str
    path: str
    answer: Callable[..., Any]
    what: str
    parameters: tuple[Parameter, ...] = ()
    text: bool = False
    brief: bool = False
    heavy: bool = False
    slow: bool = False

    @property
    def is_write(self) -> bool:
        """Whether something may be different afterwards."""
        return self.method == "POST"
