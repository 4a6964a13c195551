r"""LaTeX markup in bibliographies, as plain text.

Accents (\"o, \'{e}, \c c) and special letters (\ss, \o) become characters, `\&` and the like become the sign itself;
formatting (\emph, braces, `$`) is removed. Any other command is replaced by its name, which may be a word to search for
(\alpha).
"""

from __future__ import annotations

import re
import unicodedata

ACCENTS = {
    "`": "\u0300",
    "'": "\u0301",
    "^": "\u0302",
    "~": "\u0303",
    "=": "\u0304",
    "u": "\u0306",
    ".": "\u0307",
    '"': "\u0308",
    "r": "\u030a",
    "H": "\u030b",
    "v": "\u030c",
    "d": "\u0323",
    "c": "\u0327",
    "k": "\u0328",
    "b": "\u0331",
}
LETTERS = {
    "ss": "ß",
    "o": "ø",
    "O": "Ø",
    "l": "ł",
    "L": "Ł",
    "ae": "æ",
    "AE": "Æ",
    "oe": "œ",
    "OE": "Œ",
    "aa": "å",
    "AA": "Å",
    "i": "ı",
    "j": "ȷ",
    "textbackslash": "\\",
    "textasciitilde": "~",
    "textasciicircum": "^",
    "textunderscore": "_",
    "textendash": "–",
    "textemdash": "—",
}
DROPPED = frozenset(
    {"emph", "textbf", "textit", "textrm", "textsc", "textsf", "textsl", "texttt", "textsuperscript", "textsubscript"}
    | {"bf", "em", "it", "rm", "sc", "sf", "sl", "tt", "mathrm", "mathbf", "mathit", "mathcal", "ensuremath", "text"}
)

_TOKEN = re.compile(
    r"""
      \\(?P<accent>[`'^~=."]) [ ]* \{? \\? (?P<base>[A-Za-z])     # \"o \"{o} \'{\i}
    | \\(?P<letter_accent>[uvHcdbkr]) (?:[ ]*\{[ ]*\\?|[ ]+\\?) (?P<letter_base>[A-Za-z])   # \c{c} \v s
    | \\(?P<command>[A-Za-z]++)(?P<blanks>[ ]*+)
    | \\(?P<sign>.)
    | (?P<other>``|''|---?|[{}$~])
    """,
    re.VERBOSE | re.DOTALL,
)
# Line breaks and blanks of several widths, and points where a word may be broken.
_SIGNS = {**dict.fromkeys("\\,;:! \n", " "), **dict.fromkeys("-/", "")}
_OTHERS = {"``": '"', "''": '"', "---": "—", "--": "–", "~": " "}


def plain_latex(text: str) -> str:
    """`text` as it would be printed, without its markup."""
    return unicodedata.normalize("NFC", _TOKEN.sub(_plain_token, text))


def _plain_token(token: re.Match[str]) -> str:
    if token["accent"]:
        return token["base"] + ACCENTS[token["accent"]]
    if token["letter_accent"]:
        return token["letter_base"] + ACCENTS[token["letter_accent"]]
    if name := token["command"]:
        if name in LETTERS:
            return LETTERS[name]
        # LaTeX drops the blanks after a command, but its name must not merge with the next word.
        return "" if name in DROPPED else name + token["blanks"]
    if sign := token["sign"]:
        return _SIGNS.get(sign, sign)
    return _OTHERS.get(token["other"], "")
