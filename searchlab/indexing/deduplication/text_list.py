"""A list of short texts in little memory: their bytes, and one more each; a list of Python's strings takes 60 more."""

from __future__ import annotations

from array import array

# Ends each text; no text has this byte, since UTF-8 has not.
END = b"\xff"
# Texts that are found by one number, and are then looked through.
GROUP = 16


class TextList:
    """Texts by their numbers, which count from 0 in the order in which they are appended."""

    def __init__(self) -> None:
        self._bytes = bytearray()
        self._group_starts = array("Q")
        self._n_texts = 0

    def __len__(self) -> int:
        return self._n_texts

    def append(self, text: str) -> None:
        """Add a text."""
        if not self._n_texts % GROUP:
            self._group_starts.append(len(self._bytes))
        self._bytes += text.encode("utf-8", "surrogatepass") + END
        self._n_texts += 1

    def __getitem__(self, number: int) -> str:
        if not 0 <= number < self._n_texts:
            raise IndexError(f"text {number} of {self._n_texts}")
        group, place = divmod(number, GROUP)
        start = self._group_starts[group]
        stop = self._group_starts[group + 1] if group + 1 < len(self._group_starts) else len(self._bytes)
        return bytes(self._bytes[start:stop]).split(END)[place].decode("utf-8", "surrogatepass")
