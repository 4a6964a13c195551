"""The secret that signs cookies and forms, kept beside the first index: `INDEX.secret`.

It survives a restart of the server, so that open forms and logins go on working. Only its owner may read the file
(0600). A file that others could read or write, that belongs to another user or is a link, is not used: then the secret
is drawn again, for this process alone. Backups do not contain it.
"""

from __future__ import annotations

import logging
import os
import secrets
import stat
from pathlib import Path

SECRET_BYTES = 32

log = logging.getLogger(__name__)


def signing_secret_file(folder: Path) -> Path:
    """The file of the secret beside an index."""
    return folder.with_name(f"{folder.name}.secret")


def load_signing_secret(path: Path) -> bytes:
    """The secret of a file, which is made if it does not exist; one for this process if the file cannot be used."""
    try:
        return _read(path)
    except FileNotFoundError:
        pass
    except (OSError, ValueError) as error:
        log.warning("%s is not used, so that forms and logins end with this server: %s", path.name, error)
        return secrets.token_bytes(SECRET_BYTES)
    try:
        return _create(path)
    except FileExistsError:  # another server made it at the same time
        return load_signing_secret(path)
    except OSError as error:
        log.warning("%s cannot be written, so that forms and logins end with this server: %s", path.name, error)
        return secrets.token_bytes(SECRET_BYTES)


def _read(path: Path) -> bytes:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)  # a pipe would wait for its writer
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid() or status.st_mode & 0o077:
            raise ValueError("expected a file that only its owner, this user, may read")
        secret = file.read(SECRET_BYTES + 1)
    if len(secret) != SECRET_BYTES:
        raise ValueError(f"{len(secret)} bytes, expected {SECRET_BYTES}")
    return secret


def _create(path: Path) -> bytes:
    """Write a new secret under a temporary name, and give it its own only if that is still free."""
    secret = secrets.token_bytes(SECRET_BYTES)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(secret)
            file.flush()
            os.fsync(descriptor)
        os.link(temporary, path)
    finally:
        temporary.unlink()
    return secret
