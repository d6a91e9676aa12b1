"""Following files that another process writes."""

from pathlib import Path

from surefit.runs import Note, RunFolder
from surefit.runs.tail import EventTail, LogTail
from surefit.supervise.bounded_log import BoundedLog


def note(text: str) -> Note:
    return Note(topic="t", text=text)


def test_events_come_once_and_in_order_with_their_line_numbers(tmp_path: Path) -> None:
    run = RunFolder(tmp_path)
    tail = EventTail(run.events)
    assert tail.poll() == []
    run.append(note("one"))
    run.append(note("two"))
    assert [number for number, _ in tail.poll()] == [1, 2]
    run.append(note("three"))
    [(number, event)] = tail.poll()
    assert (number, event.kind) == (3, "note")
    assert tail.poll() == []


def test_a_line_without_its_end_waits_and_a_foreign_line_keeps_its_number(tmp_path: Path) -> None:
    run = RunFolder(tmp_path)
    tail = EventTail(run.events)
    whole = note("late").model_dump_json()
    run.events.write_text("not an event\n" + whole[:10])
    assert tail.poll() == []
    with run.events.open("a") as handle:
        handle.write(whole[10:] + "\n")
    assert [number for number, _ in tail.poll()] == [2]


def test_a_shortened_log_is_followed_without_a_byte_twice(tmp_path: Path) -> None:
    path = tmp_path / "worker.log"
    log, tail = BoundedLog(path, head=100, tail=200), LogTail(path)
    heard, said = b"", b""
    for number in range(300):
        line = b"line %04d\n" % number
        said += line
        log.write(line)
        if number % 7 == 0:
            heard += tail.poll()
    heard += tail.poll()
    log.close()
    assert heard == said


def test_a_late_reader_of_a_shortened_log_learns_what_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "worker.log"
    log, tail = BoundedLog(path, head=100, tail=200), LogTail(path)
    for number in range(5):
        log.write(b"line %04d\n" % number)
    first = tail.poll()
    for number in range(5, 300):
        log.write(b"line %04d\n" % number)
    rest = tail.poll()
    assert first + rest == path.read_bytes()
    assert rest.count(b"left out") == 1
