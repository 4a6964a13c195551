"""Escaping of text for Markdown and LaTeX.

Titles and snippets come from untrusted documents. Control characters, line ends and characters that change the writing
direction are removed; then the special characters of the format are escaped. (HTML is escaped by its template.)
"""

from __future__ import annotations

import re

from searchlab.corpus.text_cleaning import on_one_line

_DIRECTION_MARKS = re.compile("[\u200e\u200f\u202a-\u202e\u2066-\u2069\ufffe\uffff]")
_MARKDOWN = re.compile(r"([\\`*_{}\[\]#|~$])|(?<=[A-Za-z])(:)(?=//)|(?<=[wW]{3})(\.)")
_BLOCK_START = re.compile(r"^(\d{0,9})([-+=]|(?<=\d)[.)])(?=\2|\s|$)")

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
_MATHS |= {chr(0x3B1 + number): "o" if name == "o" else f"\\{name}" for number, name in enumerate(_GREEK.split())}
_MATHS |= {letter: f"\\{name}" for letter, name in _CAPITALS.items()}
_LATEX = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}"}
_LATEX |= {">": r"\textgreater{}", "|": r"\textbar{}", '"': r"\textquotedbl{}", "`": r"\textasciigrave{}"}
_LATEX |= {"'": "{'}", "-": "{-}", ",": "{,}"}  # prevents ligatures; only where they occur twice in a row
_LATEX |= {sign: f"\\{sign}" for sign in "{}$&#%_"}
# After the end of a table row, LaTeX would read these as options.
_LATEX |= {sign: f"{{{sign}}}" for sign in "[]*"}
_LATEX |= {"–": "--", "—": "---", "‘": "`", "’": "'", "“": "``", "”": "''", "…": r"\ldots{}", "\u00a0": "~"}
_LATEX |= {"†": r"\dag{}", "‡": r"\ddag{}", "€": r"\texteuro{}", "™": r"\texttrademark{}", "‰": r"\textperthousand{}"}
_LATEX |= {sign: f"${command}$" for sign, command in _MATHS.items()}
# The characters beyond ASCII in LaTeX's T1 fonts.
_T1 = {chr(code) for code in range(0xA1, 0x100)} | set("ĂăĄąĆćČčĎďĐđĘęĚěĞğĹĺĽľŁłŃńŇňŊŋŐőŔŕŘřŚśŞşŠšŢţŤťŮůŰűŸŹźŻżŽžŒœİı")
_DOUBLED = re.compile(r"--|''|,,")


def printable_line(text: str) -> str:
    """The text on one line, without control characters and direction marks."""
    return on_one_line(_DIRECTION_MARKS.sub("", text))


def escape_markdown(text: str) -> str:
    """Text for Markdown, even at the start of a line; URLs do not become links."""
    line = printable_line(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    line = _MARKDOWN.sub(lambda special: f"\\{special.group()}", line)
    return _BLOCK_START.sub(r"\1\\\2", line)


def escape_latex(text: str) -> str:
    r"""Text for LaTeX; characters that pdfLaTeX lacks become \unicode{…}, which the preamble of a report defines."""
    line = printable_line(text)
    doubled = {position for match in _DOUBLED.finditer(line) for position in range(*match.span())}
    return "".join(_latex_character(character, position in doubled) for position, character in enumerate(line))


def _latex_character(character: str, doubled: bool) -> str:
    if character in "-',":
        return _LATEX[character] if doubled else character
    if character in _LATEX:
        return _LATEX[character]
    return character if character.isascii() or character in _T1 else f"\\unicode{{{ord(character):04X}}}"
