"""A log of bounded size that keeps its first and its last part."""

from pathlib import Path

import pytest

from surefit.supervise.bounded_log import BoundedLog


@pytest.mark.parametrize("line", [b"a line of words\n", b"x" * 37])
def test_first_and_last_part_are_kept_and_the_gap_is_counted(tmp_path: Path, line: bytes) -> None:
    path, said = tmp_path / "log", b""
    log = BoundedLog(path, head=1000, tail=3000)
    for _ in range(2000):
        log.write(line)
        said += line
    log.close()
    text = path.read_bytes()
    assert len(text) <= 1000 + 2 * 3000 + 200
    head, _, rest = text.partition(b"\n[surefit: ")
    count, _, tail = rest.partition(
        b" bytes were left out here, the beginning and the end are kept]\n"
    )
    assert said.startswith(head)
    assert len(head) > 1000 - 2 * len(line)
    assert said.endswith(tail)
    assert len(tail) > 3000 - 2 * len(line)
    assert len(head) + int(count) + len(tail) == len(said)


def test_another_keeper_goes_on_with_the_count(tmp_path: Path) -> None:
    path, said = tmp_path / "log", b""
    for _ in range(10):
        log = BoundedLog(path, head=100, tail=300)
        for number in range(50):
            line = b"%05d words\n" % number
            log.write(line)
            said += line
        log.close()
    text = path.read_bytes()
    assert text.count(b"left out here") == 1
    head, _, rest = text.partition(b"\n[surefit: ")
    assert len(head) + int(rest[:15]) + len(rest.partition(b"]\n")[2]) == len(said)


def test_a_short_log_is_as_it_was_said(tmp_path: Path) -> None:
    log = BoundedLog(tmp_path / "log")
    log.write(b"one\n")
    log.close()
    assert (tmp_path / "log").read_bytes() == b"one\n"
