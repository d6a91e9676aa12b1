"""The catalogue: names, counts, nodes and flavours become machines; what it has not is refused."""

import pytest

from surefit.errors import RecipeError
from surefit.hardware import flavours, gpus, named_hardware
from surefit.units import GIB


def _cards(name: str) -> int:
    return sum(one.kind == "cuda" for one in named_hardware(name).devices)


@pytest.mark.parametrize(
    ("name", "count"),
    [("l40s", 1), ("l40s:4", 4), ("h200:8 x 2", 16), ("h200:8x2", 16), ("L4:4", 4), ("l4x4", 4)],
)
def test_a_name_gives_a_machine_with_its_gpus(name: str, count: int) -> None:
    assert _cards(name) == count


def test_48_gb_are_44_gib() -> None:
    memory = named_hardware("l40s:1").devices[0].total_bytes
    assert 44.3 * GIB < memory < 44.5 * GIB


def test_a_machine_has_the_host_of_the_cheapest_flavour() -> None:
    assert named_hardware("t4:1").ram_total_bytes == 15 * 10**9
    assert named_hardware("t4-medium").ram_total_bytes == 30 * 10**9


@pytest.mark.parametrize("name", ["l40z", "l40s:0", "h200:8 x 0", "x4", "l4x5"])
def test_what_the_catalogue_has_not_is_refused_with_something_near(name: str) -> None:
    with pytest.raises(RecipeError) as caught:
        named_hardware(name)
    assert "hardware" in caught.value.next_step


def test_every_flavour_has_a_known_gpu_a_price_a_date_and_a_source() -> None:
    for one in flavours().values():
        assert one.gpu in gpus()
        assert one.dollars_per_hour > 0
        assert one.date
        assert one.source
