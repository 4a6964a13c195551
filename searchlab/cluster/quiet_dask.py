"""Silence of Dask's client: its errors are raised by searchlab, in one line, and its warnings are not for users."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

# How many clusters are connected, and the levels of Dask's loggers before the first of them was.
_n_quiet = 0
_levels: dict[logging.Logger, int] = {}
# Dask would warn of large arguments, which are tables of features.
_SETTINGS = {"distributed.admin.large-graph-warning-threshold": "1 PiB"}
_settings = ExitStack()
_quiet_lock = threading.Lock()


@contextmanager
def quiet_dask() -> Iterator[None]:
    """Silence the logs and warnings of Dask's client, in all threads.

    Dask gives some loggers below its own a level and a handler.
    """
    global _n_quiet
    with _quiet_lock:
        if not _n_quiet:
            import dask

            _settings.enter_context(dask.config.set(_SETTINGS))
        _n_quiet += 1
        for name in list(logging.root.manager.loggerDict):
            logger = logging.getLogger(name)
            if name.partition(".")[0] == "distributed" and logger.level and logger not in _levels:
                _levels[logger] = logger.level
                logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        with _quiet_lock:
            _n_quiet -= 1
            if not _n_quiet:
                for logger, level in _levels.items():
                    logger.setLevel(level)
                _levels.clear()
                _settings.close()
