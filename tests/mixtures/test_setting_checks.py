from dataclasses import dataclass

from searchlab.mixtures.em import EM
from searchlab.mixtures.mce import MCE
from searchlab.mixtures.setting_checks import change_settings, describe_settings, setting


@dataclass(frozen=True)
class Oven:
    heat: float = setting(180.0, "degrees")
    place: str = setting("middle", "the rack")
    turns: int = setting(2, "how often the tray is turned")


def test_settings_are_described_with_the_defaults_of_their_variants():
    described = describe_settings(Oven(), {"for bread": Oven(heat=230.5), "for cake": Oven(turns=1)})
    assert described == [
        ("heat=180", "degrees; 230.5 for bread"),
        ("place=middle", "the rack"),
        ("turns=2", "how often the tray is turned; 1 for cake"),
    ]


def test_settings_that_carry_a_meaning_are_ordinary_fields():
    assert Oven() == Oven(180.0, "middle", 2)
    assert change_settings(Oven(), {"heat": "90", "turns": "3"}) == Oven(90.0, "middle", 3)


def test_every_setting_of_a_method_has_a_meaning():
    for settings in (MCE(), EM()):
        described = describe_settings(settings)
        assert described
        assert all(meaning.strip() for _, meaning in described)
