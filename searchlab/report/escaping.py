"""How do plain words stay plain words, whatever they hold?

Titles and snippets come from documents that anyone may have written. Before they are set they lose control characters,
line ends, and the signs that turn the direction of writing for what follows; then each format's own signs are
made harmless. (HTML is escaped by its template.)
"""

from __future__ import annotations

import re

from searchlab.corpus.text_cleaning import on_one_line

_TURNS = re.compile("[\u200e\u200f\u202a-\u202e\u2066-\u2069\ufffe\uffff]")
_MARKDOWN = re.compile(r"([\\`*_{}\[\]#|~$])|(?<=[A-Za-z])(:)(?=//)|(?<=[wW]{3})(\.)")
_BLOCK_START = re.compile(r"^(\d{0,9})([-+=]|(?<=\d)[.)])(?=\2|\s|$)")
_PLAIN_NUMBER = re.compile(r"[+-]?[\d.,]+%?")

_GREEK = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi o pi rho varsigma sigma tau upsilon "
_GREEK += "phi chi psi omega"
_CAPITALS = {"Γ": "Gamma", "Δ": "Delta", "Θ": "Theta", "Λ": "Lambda", "Ξ": "Xi", "Π": "Pi", "Σ": "Sigma", "Φ": "Phi"}
_CAPITALS |= {"Ψ": "Psi", "Ω": "Omega", "Υ": "Upsilon"}
_MATHS = {
    "−": "-",
    "×": r"\times",
    "±": r"\pm",
    "≤": r"\leq",
    "≥": r"\geq",
    "≠": r"\neq",
    "≈": r"\approx",
    "∞": r"\infty",
}
_MATHS |= {
    "→": r"\to",
    "←": r"\leftarrow",
    "↑": r"\uparrow",
    "↓": r"\downarrow",
    "↔": r"\leftrightarrow",
    "·": r"\cdot",
}
_MATHS |= {"√": r"\surd", "∑": r"\sum", "∏": r"\prod", "∈": r"\in", "▲": r"\blacktriangle", "△": r"\triangle"}
_MATHS |= {"▼": r"\blacktriangledown", "▽": r"\triangledown", "∆": r"\Delta", "µ": r"\mu"}
_MATHS |= {"∘": r"\circ", "•": r"\bullet"}
_MATHS |= {chr(0x3B1 + place): "o" if name == "o" else f"\\{name}" for place, name in enumerate(_GREEK.split())}
_MATHS |= {letter: f"\\{name}" for letter, name in _CAPITALS.items()}
_LATEX = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}"}
_LATEX |= {">": r"\textgreater{}", "|": r"\textbar{}", '"': r"\textquotedbl{}", "`": r"\textasciigrave{}"}
_LATEX |= {"'": "{'}", "-": "{-}", ",": "{,}"}  # no ligatures; see below
_LATEX |= {sign: f"\\{sign}" for sign in "{}$&#%_"}
# After the end of a row of a table, these would be read as its options.
_LATEX |= {sign: f"{{{sign}}}" for sign in "[]*"}
_LATEX |= {"–": "--", "—": "---", "‘": "`", "’": "'", "“": "``", "”": "''", "…": r"\ldots{}", "\u00a0": "~"}
_LATEX |= {"†": r"\dag{}", "‡": r"\ddag{}", "€": r"\texteuro{}", "™": r"\texttrademark{}", "‰": r"\textperthousand{}"}
_LATEX |= {sign: f"${command}$" for sign, command in _MATHS.items()}
# What LaTeX's T1 fonts have beyond ASCII.
_T1 = {chr(code) for code in range(0xA1, 0x100)} | set("ĂăĄąĆćČčĎďĐđĘęĚěĞğĹĺĽľŁłŃńŇňŊŋŐőŔŕŘřŚśŞşŠšŢţŤťŮůŰűŸŹźŻżŽžŒœİı")
_DOUBLED = re.compile(r"--|''|,,")


def printable_line(text: str) -> str:
    """The words on one line, without what no format should be given."""
    return on_one_line(_TURNS.sub("", text))


def escape_markdown(text: str) -> str:
    """For Markdown, at the start of a line too; addresses do not become links."""
    line = printable_line(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    line = _MARKDOWN.sub(lambda sign: f"\\{sign.group()}", line)
    return _BLOCK_START.sub(r"\1\\\2", line)


def escape_latex(text: str) -> str:
    r"""For LaTeX; signs that pdfLaTeX lacks become \unicode{…}, which the heading of a report defines."""
    line = printable_line(text)
    doubled = {place for found in _DOUBLED.finditer(line) for place in range(*found.span())}
    return "".join(_latex_sign(sign, place in doubled) for place, sign in enumerate(line))


def escape_spreadsheet(text: str) -> str:
    """For a cell of CSV: what a spreadsheet would compute has an apostrophe before it."""
    line = printable_line(text)
    return f"'{line}" if line[:1] in tuple("=+-@") and not _PLAIN_NUMBER.fullmatch(line) else line


def _latex_sign(sign: str, doubled: bool) -> str:
    if sign in "-',":
        return _LATEX[sign] if doubled else sign
    if sign in _LATEX:
        return _LATEX[sign]
    return sign if sign.isascii() or sign in _T1 else f"\\unicode{{{ord(sign):04X}}}"
