"""The worker process: extracts one document after the other, within limits.

    parent → worker   a line of JSON: kind, path or "", number of bytes that follow, characters that a record may have
    worker → parent   messages as JSON, each after its length in 8 bytes; the last one of a document is `end`

A limit of memory or processor time ends at most this process.
"""

from __future__ import annotations

import io
import json
import os
import signal
import struct
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

from searchlab.corpus.extraction.extracted import END, FAILED, NO_TEXT, ExtractionFailed, Message, NoText
from searchlab.corpus.extraction.limits import MAX_CPU_SECONDS, MAX_MEMORY_MB, MEGABYTE
from searchlab.corpus.text_cleaning import on_one_line

LENGTH = struct.Struct(">Q")
OUT_OF_MEMORY = f"takes more than {MAX_MEMORY_MB:,} MB of memory"
NESTED = "nested too deeply"

Extractor = Callable[[BinaryIO, int], Iterator[Message]]


def find_extractor(kind: str) -> Extractor:
    """The extractor of a kind of document; its module is imported only now, and with it the library that it needs."""
    module = f"searchlab.corpus.extraction.extractors.{kind}"
    extractor: Extractor = getattr(__import__(module, fromlist=["*"]), f"extract_{kind}")
    return extractor


def main() -> None:
    """The main function of a worker process."""
    # Ctrl-C reaches every process of the terminal; the parent handles it and kills its workers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    inbox, outbox = sys.stdin.buffer, os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # prints must not get into the answer
    _limit_memory()

    def send(message: Message) -> None:
        data = json.dumps(message, ensure_ascii=False).encode("utf-8", "replace")
        outbox.write(LENGTH.pack(len(data)) + data)
        outbox.flush()
        _limit_time()

    try:
        while line := inbox.readline():
            kind, path, size, max_length = json.loads(line)
            content = None if path else inbox.read(size)
            _limit_time()
            last = _extract(kind, path, content, max_length, send)
            if last is not None:
                send(last)
            send([END])
            if last == [FAILED, OUT_OF_MEMORY]:
                return  # what is left of the document would count for the next one
    except BrokenPipeError:
        return  # the parent is gone


def _extract(
    kind: str, path: str, content: bytes | None, max_length: int, send: Callable[[Message], None]
) -> Message | None:
    """Send the messages of a document; returns the one that says why there are none, or no more of them."""
    try:
        with Path(path).open("rb") if content is None else io.BytesIO(content) as stream:
            for message in find_extractor(kind)(stream, max_length):
                send(message)
    except ExtractionFailed as error:
        return [FAILED, on_one_line(str(error))]
    except NoText as error:
        return [NO_TEXT, on_one_line(str(error))]
    except MemoryError:
        return [FAILED, OUT_OF_MEMORY]
    except RecursionError:
        return [FAILED, NESTED]
    except BrokenPipeError:
        raise
    except OSError as error:
        return [FAILED, error.strerror or str(error)]
    except Exception as error:
        # A library may raise anything for a damaged file.
        return [FAILED, on_one_line(f"damaged {kind.upper()} file ({type(error).__name__}: {error})")[:300]]
    return None


def _limit_memory() -> None:
    import resource

    wanted = MAX_MEMORY_MB * MEGABYTE
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    limit = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    try:
        resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    except (ValueError, OSError):
        return  # macOS has no such limit; that of time remains


def _limit_time() -> None:
    """Let the process have some seconds of processor time from now on; beyond them it ends by SIGXCPU."""
    import resource

    usage = resource.getrusage(resource.RUSAGE_SELF)
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    limit = int(usage.ru_utime + usage.ru_stime) + MAX_CPU_SECONDS + 1
    resource.setrlimit(resource.RLIMIT_CPU, (limit if hard == resource.RLIM_INFINITY else min(limit, hard), hard))
