import random

from searchlab.indexing.deduplication.key_table import FIRST_CAPACITY, KeyTable, hash_key


def test_a_table_has_what_a_dict_has():
    # Few different low bits, so that places collide and probing goes around the end.
    rng = random.Random(3)
    keys = [rng.randrange(1, 40) + FIRST_CAPACITY * rng.randrange(60) for _ in range(5000)]
    keys += [FIRST_CAPACITY * number - 1 for number in range(1, 1500)]
    expected: dict[int, int] = {}
    table = KeyTable()
    for value, key in enumerate(keys):
        assert table.get(key) == expected.get(key)
        expected.setdefault(key, value)
        table.set_default(key, value)
    assert len(table) == len(expected) > 2 * FIRST_CAPACITY
    assert {key: table.get(key) for key in keys} == expected
    assert table.get(2**64 - 1) is None


def test_keys_are_the_same_in_every_process_and_tell_parts_apart():
    # By another program: printf 'ab' | b2sum -l 64
    assert hash_key("ab") == 0x0E52B5F187DE1088
    assert hash_key("a", "b") != hash_key("ab") != hash_key("b", "a")
