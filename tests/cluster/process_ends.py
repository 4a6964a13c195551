"""Waiting for the end of processes."""

import os
import select


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
