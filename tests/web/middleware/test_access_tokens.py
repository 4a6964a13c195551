"""Access tokens as users write them."""

import pytest

from searchlab.errors import SettingError
from searchlab.web.middleware.access_tokens import AccessToken, parse_tokens
from tests.web.middleware.guarded_app import SECRET


def test_a_token_is_shared_or_belongs_to_a_judge():
    assert parse_tokens([], SECRET) == ()
    assert parse_tokens(["abc"], SECRET) == (AccessToken("abc"),)
    assert parse_tokens(["ann=abc", "Bob Ray=xyz"], SECRET) == (
        AccessToken("abc", "ann"),
        AccessToken("xyz", "Bob Ray"),
    )


def test_auto_is_a_token_of_256_bits_that_only_the_secret_decides():
    (shared,) = parse_tokens(["auto"], SECRET)
    ann, bob = parse_tokens(["ann=auto", "bob=auto"], SECRET)
    (other,) = parse_tokens(["auto"], bytes(32))
    texts = {shared.text, ann.text, bob.text, other.text}
    assert len(texts) == 4
    assert {len(text) for text in texts} == {43}  # 256 bits at 6 a character
    assert (ann.judge, bob.judge) == ("ann", "bob")
    assert parse_tokens(["auto"], SECRET) == (shared,)


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ([""], "the token is empty"),
        (["two words"], "other characters"),
        (["tökén"], "other characters"),
        (["abc=="], "other characters"),
        (["ann="], "the token is empty"),
        (["=abc"], "judge is empty"),
        (["a\u202eb=abc"], "expected one printable line"),
        (["ann=abc", "xyz"], "expected NAME=TOKEN for each"),
        (["abc", "xyz"], "expected NAME=TOKEN for each"),
        (["ann=abc", "ann=xyz"], "two tokens for one judge"),
        (["ann=abc", "bob=abc"], "one token for two judges"),
    ],
)
def test_tokens_that_cannot_be_told_apart_or_sent_are_rejected(texts, message):
    with pytest.raises(SettingError, match=message):
        parse_tokens(texts, SECRET)


def test_a_token_is_not_printed_with_its_object():
    assert "abc" not in repr(AccessToken("abc", "ann"))
