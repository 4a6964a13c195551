"""Ending processes, and waiting for their end."""

import os
import select
import signal

from searchlab import Cluster


def kill_worker(cluster: Cluster) -> int:
    """Kill a worker, and wait for its end; its nanny starts another."""
    process: int = min(cluster.client.run(os.getpid).values())
    os.kill(process, signal.SIGKILL)
    wait_for_end(process)
    return process


def wait_for_end(process: int) -> None:
    """Wait for the end of a process that is no child of this one."""
    try:
        descriptor = os.pidfd_open(process)
    except ProcessLookupError:
        return
    try:
        assert select.select([descriptor], [], [], 20)[0], f"process {process} did not end"
    finally:
        os.close(descriptor)
