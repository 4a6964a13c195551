"""Ending processes, and waiting for their end."""

import os
import select
import signal

from searchlab import Cluster


def kill_worker(cluster: Cluster) -> int:
    """Kill a worker, and wait for its end; its nanny starts another. Two must be there first, so that one is left."""
    cluster.client.wait_for_workers(2, timeout=60)
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
