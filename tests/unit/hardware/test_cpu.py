"""What the processor is good at, from its flags."""

import os
from pathlib import Path

import pytest

from surefit.hardware.cpu import (
    Processor,
    bf16_speed,
    cores_in_use,
    float32_rate,
    read_processor,
    usable_cores,
)


def processor(*flags: str, hertz: float | None = 2e9) -> Processor:
    return Processor("test", frozenset(flags), hertz)


@pytest.mark.parametrize("flag", ["amx_bf16", "avx512_bf16"])
def test_bfloat16_is_fast_only_with_its_own_instructions(flag: str) -> None:
    fast, why = bf16_speed(processor("avx2", flag))
    assert fast
    assert flag in why


@pytest.mark.parametrize("flags", [("avx2", "fma"), ("avx512f", "avx512bw"), ()])
def test_without_them_it_is_slow_and_the_reason_is_in_words(flags: tuple[str, ...]) -> None:
    fast, why = bf16_speed(processor(*flags))
    assert not fast
    assert "float32" in why
    if flags:
        assert "300 times" in why


@pytest.mark.parametrize(
    ("flags", "each"), [(("avx2", "avx"), 32), (("avx512f", "avx2"), 64), (("asimd",), 16)]
)
def test_the_rate_is_width_times_clock_times_cores(flags: tuple[str, ...], each: int) -> None:
    rate, why = float32_rate(processor(*flags), 4)
    assert rate == 4 * each * 2e9
    assert "guess" in why


def test_an_unknown_clock_is_assumed_aloud_and_an_unknown_set_gives_no_rate() -> None:
    rate, why = float32_rate(processor("avx2", hertz=None), 1)
    assert rate is not None
    assert "assumed" in why
    assert float32_rate(processor("sse2"), 1)[0] is None


def test_cpuinfo_is_read(tmp_path: Path) -> None:
    path = tmp_path / "cpuinfo"
    path.write_text(
        "processor\t: 0\nmodel name\t: Some CPU\ncpu MHz\t\t: 2445.432\nflags\t: avx2 fma\n"
        "processor\t: 1\nmodel name\t: Other\n"
    )
    assert read_processor(path) == Processor("Some CPU", frozenset({"avx2", "fma"}), 2445.432e6)
    assert read_processor(tmp_path / "none") == Processor("CPU", frozenset(), None)


@pytest.mark.parametrize(("quota", "expected"), [(None, 8), (3.9, 3), (0.2, 1), (64.0, 8)])
def test_usable_cores_follow_affinity_and_quota(
    quota: float | None, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)))
    assert usable_cores(quota) == expected


@pytest.mark.parametrize(
    ("load", "usable", "expected"), [(0.0, 4, 0.0), (3.0, 8, 3.0), (20.0, 4, 4.0), (60.5, 4, 0.5)]
)
def test_load_counts_first_on_cores_out_of_reach(
    load: float, usable: int, expected: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "getloadavg", lambda: (load, 0.0, 0.0))
    monkeypatch.setattr(os, "cpu_count", lambda: 64 if load == 60.5 else usable)
    assert cores_in_use(usable) == expected
