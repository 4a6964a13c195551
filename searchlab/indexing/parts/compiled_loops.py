"""Loading of the compiled loops in a worker process, without what they do not need."""

from __future__ import annotations

import gc
import sys
from contextlib import suppress

from searchlab.extensions import loaded_extensions


def load_compiled_loops() -> None:
    """Load the loops for which a worker's share of the documents is large enough.

    With its first function numba loads scipy.linalg, to see whether matrices can be multiplied: a tenth of a second.
    What is loaded is never looked at again by the search for cycles.
    """
    # A user's own extensions may multiply matrices.
    if not loaded_extensions() and "scipy.linalg" not in sys.modules:
        sys.modules["scipy.linalg"] = None  # type: ignore[assignment]
        with suppress(ImportError):
            import numba.np.arraymath  # noqa: F401
        del sys.modules["scipy.linalg"]
    import searchlab.indexing.inversion.word_kernel  # noqa: F401

    gc.freeze()
