"""Verification of all checksums of what is served, in the background: damage is reported before a request meets it.

Requests are faster afterwards: they no longer look up which blocks have been verified.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import Protocol

from searchlab.errors import SearchlabError

# Seconds after each megabyte that is verified: a third of a core at most.
VERIFY_PAUSE_SECONDS = 0.002

log = logging.getLogger(__name__)


class Verifiable(Protocol):
    """What has checksums: an index, or a model with a semantic space."""

    def verify(self, pause: Callable[[], object]) -> None:
        """Verify all checksums; `pause` is called after each megabyte. Raises IndexCorrupt for damage."""


def verify_in_background(opened: Verifiable) -> threading.Thread:
    """Verify all checksums of what was opened, slowly; damage is logged."""
    thread = threading.Thread(target=_verify, args=(opened,), name="verify", daemon=True)
    thread.start()
    return thread


def _verify(opened: Verifiable) -> None:
    try:
        opened.verify(lambda: time.sleep(VERIFY_PAUSE_SECONDS))
    except SearchlabError as error:
        log.warning("%s", error)
