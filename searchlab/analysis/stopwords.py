"""Stop words: English function words by kind, and stop lists from files.

Forms in 's are not listed, since words lose that ending. Words with a meaning of their own in queries ("use", "new",
"patient") are not listed either, nor are single letters that name things ("t" cell, vitamin "c").
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from searchlab.analysis.tokenizer import split_words
from searchlab.corpus.text_files import read_text_file
from searchlab.errors import SettingError, SourceError

_ARTICLES_AND_DEMONSTRATIVES = "a an the this that these those such same"
_PRONOUNS = """
    i me my mine myself we us our ours ourselves you your yours yourself yourselves
    he him his himself she her hers herself it its itself they them their theirs themselves
    who whom whose which what
"""
_AUXILIARIES = """
    am is are was were be been being have has had having do does did doing
    can cannot could may might must shall should will would ought
"""
_CONTRACTIONS = """
    i'm you're we're they're i've you've we've they've i'd you'd he'd she'd we'd they'd
    i'll you'll he'll she'll it'll we'll they'll isn't aren't wasn't weren't hasn't haven't hadn't
    doesn't don't didn't won't wouldn't shan't shouldn't can't couldn't mustn't
"""
_PREPOSITIONS = """
    about above after against at before below between by down during for from in into of off on out over
    through to under until up upon with without within
"""
_CONJUNCTIONS = "and but or nor if because as while than so whether although though"
_ADVERBS = """
    again also further then once here there when where why how all any both each few more most other
    some no not only own too very just however therefore thus
"""

ENGLISH_STOP_WORDS: frozenset[str] = frozenset(
    word
    for group in (
        _ARTICLES_AND_DEMONSTRATIVES,
        _PRONOUNS,
        _AUXILIARIES,
        _CONTRACTIONS,
        _PREPOSITIONS,
        _CONJUNCTIONS,
        _ADVERBS,
    )
    for word in group.split()
)


def read_stop_words(path: str, split: Callable[[str], list[str]] = split_words) -> frozenset[str]:
    """The words of a stop list file, in any layout, as `split` finds them in texts; `#` starts a comment."""
    if not Path(path).exists():
        raise SettingError(f"unknown stop list {path!r}; expected none, default or a file of words")
    try:
        text = read_text_file(path)
    except (SourceError, UnicodeDecodeError) as error:
        raise SourceError(path, f"cannot be read as a stop list ({error})") from None
    lines = (line.partition("#")[0] for line in text.splitlines())
    return frozenset(word for line in lines for word in split(line))
