"""Access tokens: one for all visitors, or one for each judge.

    TOKEN         one token for all: each visitor gives their name once, after login
    NAME=TOKEN    a token of its own for the judge NAME, whose judgments nobody else can make

A token is ASCII without blanks and without `=`. In place of TOKEN, `auto` stands for one that nobody can guess:

    base64(HMAC(secret, "auto:" judge))

The secret is kept beside the index (`signing_secret.py`), so that printed links, logins and open pages survive a
restart. Who wants another token deletes its file.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from searchlab.errors import SettingError
from searchlab.judgments.input_checks import check_judge

AUTO = "auto"

# Characters that a header can carry unquoted, except the one that separates a name from its token.
_TOKEN = re.compile("[!-<>-~]+")


@dataclass(frozen=True)
class AccessToken:
    """A token, and the judge that it belongs to; None if all visitors share it."""

    text: str = field(repr=False)
    judge: str | None = None

    def __post_init__(self) -> None:
        if not _TOKEN.fullmatch(self.text):
            raise SettingError("the token is empty or has other characters than expected: ASCII without blanks and =")
        if self.judge is not None:
            check_judge(self.judge)

    @classmethod
    def parse(cls, text: str, secret: bytes) -> AccessToken:
        """The token that a user writes as TOKEN or NAME=TOKEN; `auto` is derived from the secret."""
        judge, equals, token = text.rpartition("=") if text.count("=") == 1 else ("", "", text)
        return cls(_derive_token(secret, judge) if token == AUTO else token, judge if equals else None)


def parse_tokens(texts: Sequence[str], secret: bytes) -> tuple[AccessToken, ...]:
    """The tokens of a server: none, one that all visitors share, or one for each judge."""
    tokens = tuple(AccessToken.parse(text, secret) for text in texts)
    if len(tokens) > 1 and any(token.judge is None for token in tokens):
        raise SettingError("a token without a name beside other tokens, expected NAME=TOKEN for each")
    if len({token.judge for token in tokens}) < len(tokens):
        raise SettingError("two tokens for one judge, expected one for each")
    if len({token.text for token in tokens}) < len(tokens):
        raise SettingError("one token for two judges, expected a token of its own for each")
    return tokens


def _derive_token(secret: bytes, judge: str) -> str:
    """The token that `auto` stands for: the same one at each start of a server with this secret."""
    digest = hmac.new(secret, f"auto:{judge}".encode(), hashlib.sha256).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
