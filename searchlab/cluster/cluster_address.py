"""Addresses of clusters, as users write them: a scheduler, a scheduler file, or processes on this machine.

tcp://host:8786, tls://host:8786     a Dask scheduler
/shared/scheduler.json               the file that `dask scheduler --scheduler-file` writes
local, local:4                       worker processes on this machine, one a core or this many
"""

from __future__ import annotations

import ipaddress
import json
import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from searchlab.errors import SettingError
from searchlab.processors import count_processors

# The environment variable with the cluster that commands use.
ENVIRONMENT = "SEARCHLAB_CLUSTER"
EXPECTED = "expected tcp://HOST:PORT, tls://HOST:PORT, a scheduler file, or local[:N]"
MAX_LOCAL_WORKERS = 1024

_LOCAL = re.compile(r"local(?::(?P<n>[0-9]{1,9}))?")


@dataclass(frozen=True)
class ClusterAddress:
    """Where a cluster is: `scheduler` is an address, `scheduler_file` a file, `n_workers` a number of local processes.

    Exactly one of them is given.
    """

    text: str
    scheduler: str | None = None
    scheduler_file: Path | None = None
    n_workers: int | None = None

    @classmethod
    def parse(cls, text: str | Path) -> ClusterAddress:
        """The address that a text stands for; raises SettingError for anything else."""
        written = str(text).strip()
        if local := _LOCAL.fullmatch(written):
            n_workers = int(local["n"]) if local["n"] else count_processors()
            if not 1 <= n_workers <= MAX_LOCAL_WORKERS:
                raise SettingError(f"cluster is {written}, expected 1 to {MAX_LOCAL_WORKERS} local workers")
            return cls(written, n_workers=n_workers)
        if "://" in written:
            _check_scheduler(written)
            return cls(written, scheduler=written)
        path = Path(written)
        if not written or not path.is_file():
            raise SettingError(f"cluster is {written!r}, which is no file; {EXPECTED}")
        _check_scheduler(_address_in(path))
        return cls(written, scheduler_file=path.absolute())

    @property
    def scheduler_address(self) -> str:
        """The address of the scheduler, which a scheduler file has now; empty for local processes."""
        return self.scheduler or (_address_in(self.scheduler_file) if self.scheduler_file else "")

    @property
    def is_exposed(self) -> bool:
        """Whether the scheduler can be reached from other machines, and talks without TLS."""
        if not self.scheduler_address.startswith("tcp://"):
            return False
        host = urlsplit(self.scheduler_address).hostname or ""
        try:
            return not ipaddress.ip_address(host).is_loopback
        except ValueError:
            return host != "localhost"


def _check_scheduler(address: str) -> None:
    """Refuse an address that is not that of a scheduler."""
    try:
        parts = urlsplit(address)
        is_complete = parts.scheme in ("tcp", "tls") and bool(parts.hostname) and parts.port is not None
    except ValueError:
        is_complete = False
    if not is_complete:
        raise SettingError(f"cluster is {address!r}; {EXPECTED}")


def _address_in(path: Path) -> str:
    """The address of the scheduler that wrote a scheduler file."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        address = record["address"]
    except (OSError, ValueError, KeyError, TypeError):
        address = None
    if not isinstance(address, str):
        raise SettingError(f"{path}: not a scheduler file, as `dask scheduler --scheduler-file {path.name}` writes it")
    return address
