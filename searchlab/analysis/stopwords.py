"""Which English words say nothing about a document's subject?

Function words, written down by kind; forms in 's need no place here, since words lose that ending. Words with a
meaning of their own in queries ("use", "new", "patient") are not here, and neither are single letters that name
things ("t" cell, vitamin "c").
"""

from __future__ import annotations

_ARTICLES_AND_POINTERS = "a an the this that these those such same"
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

ENGLISH: frozenset[str] = frozenset(
    word
    for group in (
        _ARTICLES_AND_POINTERS,
        _PRONOUNS,
        _AUXILIARIES,
        _CONTRACTIONS,
        _PREPOSITIONS,
        _CONJUNCTIONS,
        _ADVERBS,
    )
    for word in group.split()
)
