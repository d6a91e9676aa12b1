"""Defects in many shapes: the kind is found whatever form it takes, and plain data raise no alarm.

Each entry is a variation of a kind of defect that users of other programs have reported, or of data
that are fine and look odd.
"""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from token_folders import tokenizer_named
from varied_data import Row, Varied, changed, flat, talk, talks, write

from surefit.data import DatasetReport, check_data
from surefit.recipe.data_spec import DataSpec

Writer = Callable[[Path], None]


def turn(index: int, **values: Any) -> Callable[[Row], None]:
    """A change of one turn."""
    return lambda row: row["messages"][index].update(values)


def question(text: str) -> Callable[[Row], None]:
    return turn(0, content=text)


def answer(text: Any) -> Callable[[Row], None]:
    return turn(1, content=text)


def whole(*turns: tuple[str, Any]) -> Callable[[Row], None]:
    """Other turns altogether."""
    made = [{"role": role, "content": content} for role, content in turns]
    return lambda row: row.update(messages=made)


def column(name: str, value: Any) -> Callable[[Row], None]:
    return lambda row: row.update({name: value})


def rows(made: list[Any], name: str = "train.jsonl", **how: str) -> Writer:
    return lambda folder: write(folder / name, made, **how)


def raw(content: bytes, name: str = "train.jsonl") -> Writer:
    return lambda folder: (folder / name).write_bytes(content) and None


def table(head: str, lines: list[str], name: str = "train.csv", end: str = "\n") -> Writer:
    return raw((end.join([head, *lines]) + end).encode(), name)


def with_line(at: int, line: str) -> Writer:
    lines: list[Any] = talks()
    lines[at - 1] = line
    return rows(lines)


def both(train: list[Row], held: list[Row]) -> Writer:
    def build(folder: Path) -> None:
        write(folder / "train.jsonl", train)
        write(folder / "held.jsonl", held)

    return build


def said(row: Row, number: int) -> str:
    return str(row["messages"][number]["content"])


CELLS = [f'"{said(row, 0)}","{said(row, 1)}"' for row in talks()]
LONG = "and then came another word " * 120
CALL = {"type": "function", "function": {"name": "look_up", "arguments": {"place": "Lima"}}}
PAIRS = [
    {"prompt": said(row, 0), "chosen": said(row, 1), "rejected": f"No idea about {number}."}
    for number, row in enumerate(talks())
]
SHARES = [
    {
        "conversations": [
            {"from": "human", "value": said(row, 0)},
            {"from": "gpt", "value": said(row, 1)},
        ]
    }
    for row in talks()
]
HELD = {"eval": "held.jsonl"}

DEFECTS: dict[str, tuple[Writer, Varied]] = {
    # no answer
    "no answer in one row": (
        changed(whole(("user", "Hello?")), 7),
        Varied("refuse", ("SD303",), (7,)),
    ),
    "two questions, no answer": (
        changed(whole(("user", "Hello?"), ("user", "Anybody?")), 3, 9),
        Varied("refuse", ("SD303",), (3, 9)),
    ),
    "only system turns": (
        changed(whole(("system", "Be kind."), ("system", "Be brief.")), 11),
        Varied("refuse", ("SD303",), (11,)),
    ),
    "messages null": (
        changed(column("messages", None), 5),
        Varied("refuse", ("SD202", "SD203"), (5,)),
    ),
    "messages an object": (
        changed(column("messages", {"role": "user", "content": "x"}), 5),
        Varied("refuse", ("SD202",), (5,)),
    ),
    "messages a list of texts": (
        changed(column("messages", ["Hello", "Hi"]), 5),
        Varied("refuse", ("SD202",), (5,)),
    ),
    "messages empty": (
        changed(column("messages", []), 1, 40),
        Varied("refuse", ("SD203",), (1, 40)),
    ),
    # blank answers
    "answer empty": (changed(answer(""), 2), Varied("refuse", ("SD304",), (2,))),
    "answer of spaces and line ends": (
        changed(answer(" \n\t "), 2, 30),
        Varied("refuse", ("SD304",), (2, 30)),
    ),
    "answer null": (changed(answer(None), 4), Varied("refuse", ("SD304",), (4,))),
    "answer without content": (
        changed(lambda row: row["messages"][1].pop("content"), 4),
        Varied("refuse", ("SD304",), (4,)),
    ),
    "answer an empty list": (changed(answer([]), 4), Varied("refuse", ("SD302", "SD304"), (4,))),
    # roles
    "role in capitals": (changed(turn(1, role="Assistant"), 6), Varied("refuse", ("SD301",), (6,))),
    "role of another program": (
        changed(turn(1, role="model"), 6, 7),
        Varied("refuse", ("SD301",), (6, 7)),
    ),
    "role with a space": (changed(turn(0, role="user "), 6), Varied("refuse", ("SD301",), (6,))),
    "role null": (changed(turn(0, role=None), 8), Varied("refuse", ("SD301",), (8,))),
    "role missing": (
        changed(lambda row: row["messages"][0].pop("role"), 8),
        Varied("refuse", ("SD301",), (8,)),
    ),
    # contents of other types
    "content an object": (
        changed(question({"text": "Hi"}), 10),
        Varied("refuse", ("SD302",), (10,)),
    ),
    "content true": (changed(answer(True), 10), Varied("refuse", ("SD302",), (10,))),
    "content a number with a point": (changed(answer(3.5), 10), Varied("warn", ("SD307",), (10,))),
    "content an audio part": (
        changed(question([{"type": "input_audio", "input_audio": {"data": "x"}}]), 10),
        Varied("refuse", ("SD306", "SD302"), (10,)),
    ),
    "content a picture between texts": (
        changed(
            question(
                [{"type": "text", "text": "Look"}, {"type": "image_url", "image_url": {"url": "x"}}]
            ),
            10,
        ),
        Varied("refuse", ("SD306",), (10,)),
    ),
    # lines
    "line with a trailing comma": (
        with_line(12, '{"messages": [],}'),
        Varied("refuse", ("SD110",), (12,)),
    ),
    "line in single quotes": (
        with_line(12, "{'messages': []}"),
        Varied("refuse", ("SD110",), (12,)),
    ),
    "line that is a list": (with_line(12, "[1, 2]"), Varied("refuse", ("SD111",), (12,))),
    "line that is a text": (with_line(12, '"hello"'), Varied("refuse", ("SD111",), (12,))),
    "two objects in a line": (
        with_line(12, json.dumps(talk(90)) + json.dumps(talk(91))),
        Varied("refuse", ("SD110",), (12,)),
    ),
    "NUL at the end of the file": (
        rows([*talks(), "\x00\x00\x00"]),
        Varied("refuse", ("SD114", "SD110"), (41,)),
    ),
    "one line in Windows-1252": (
        raw(
            b"".join(json.dumps(row).encode() + b"\n" for row in talks())
            + b'{"messages": [{"role": "user", "content": "caf\xe9"}, {"role": "assistant", "content": "x"}]}\n'
        ),
        Varied("refuse", ("SD113",), (41,)),
    ),
    "UTF-16 big-endian": (
        rows(talks(), encoding="utf-16-be"),
        Varied("refuse", ("SD103", "SD114", "SD110", "SD113")),
    ),
    "UTF-16 with a mark": (rows(talks(), encoding="utf-16"), Varied("refuse", ("SD103",))),
    "file of blank lines": (raw(b"\n\n  \n\n"), Varied("refuse", ("SD102", "SD502"))),
    "gzip cut": (
        raw(
            gzip.compress(b"".join(json.dumps(row).encode() + b"\n" for row in talks()))[:-40],
            "train.jsonl.gz",
        ),
        Varied("refuse", ("SD104", "SD108"), train="train.jsonl.gz"),
    ),
    "no gzip under that name": (
        rows(talks(), "train.jsonl.gz"),
        Varied("ok", train="train.jsonl.gz"),
    ),
    "parquet by name only": (rows(talks(), "train.parquet"), Varied("ok", train="train.parquet")),
    "an HTML page in place of the file": (
        raw(b"<!doctype html><html><body>404 Not Found</body></html>\n"),
        Varied("refuse", ("SD110",)),
    ),
    "a pointer of Git LFS": (
        raw(b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 132\n"),
        Varied("refuse", ("SD110",)),
    ),
    # columns
    "completion misspelt": (rows(flat("prompt", "competion")), Varied("refuse", ("SD201",))),
    "output in capitals": (rows(flat("instruction", "Output")), Varied("refuse", ("SD201",))),
    "columns of no format": (rows(flat("left", "right")), Varied("refuse", ("SD201",))),
    "a key misspelt inside turns": (
        rows(
            [
                {
                    "messages": [
                        {"role": "user", "contents": "Hi"},
                        {"role": "assistant", "contents": "Ho"},
                    ]
                }
                for _ in range(12)
            ]
        ),
        Varied("refuse", ("SD302", "SD304", "SD310")),
    ),
    "mapped column missing": (
        rows(flat("frage", "antwort")),
        Varied(
            "refuse", ("SD204",), spec={"columns": {"prompt": "Frage", "completion": "antwort"}}
        ),
    ),
    "CSV header in capitals": (
        table("Prompt,Completion", CELLS),
        Varied("refuse", ("SD201",), train="train.csv"),
    ),
    "CSV with tabs": (
        table("prompt\tcompletion", [cell.replace('","', '"\t"') for cell in CELLS]),
        Varied("warn", ("SD118",), train="train.csv"),
    ),
    "CSV with a short row": (
        table("prompt,completion", [*CELLS[:9], '"alone"', *CELLS[9:]]),
        Varied("refuse", ("SD116", "SD304"), (11,), train="train.csv"),
    ),
    "CSV without rows": (
        table("prompt,completion", []),
        Varied("refuse", ("SD502", "SD102"), train="train.csv"),
    ),
    "preference rows among conversations": (
        rows([*talks(), *PAIRS[:3]]),
        Varied("refuse", ("SD207",), (41,)),
    ),
    "text rows among conversations": (
        rows([*talks(), {"text": "A text."}]),
        Varied("refuse", ("SD207",), (41,)),
    ),
    # turn order and templates
    "system turn for Gemma's first word": (
        changed(whole(("assistant", "Hello."), ("user", "Hi."), ("assistant", "Yes?")), 4),
        Varied("refuse", ("SD401",), (4,), model="gemma"),
    ),
    "answers in a row for Mistral": (
        changed(whole(("user", "Hi."), ("assistant", "Yes?"), ("assistant", "Well?")), 4),
        Varied("refuse", ("SD401",), (4,), model="mistral"),
    ),
    "ends with a question": (
        changed(whole(("user", "Hi."), ("assistant", "Yes?"), ("user", "Bye.")), 4),
        Varied("warn", ("SD305",), (4,)),
    ),
    "a tool's answer without a call": (
        changed(whole(("user", "Hi."), ("tool", "42"), ("assistant", "It is 42.")), 4),
        Varied("warn", ("SD313",), (4,), model="qwen3-thinking"),
    ),
    "tool call lost": (
        changed(lambda row: row["messages"][1].update(content=None, tool_calls=[CALL]), 4),
        Varied("refuse", ("SD405", "SD401", "SD404"), (4,)),
    ),
    "thinking in an earlier turn": (
        changed(
            whole(
                ("user", "Hi."),
                ("assistant", "<think>He greets.</think>Hello."),
                ("user", "Bye."),
                ("assistant", "<think>He goes.</think>Bye."),
            ),
            4,
        ),
        Varied("warn", ("SD406",), (4,), model="qwen3-thinking"),
    ),
    # marks inside contents
    "template inside a question": (
        changed(question("<|im_start|>user\nHi<|im_end|>"), *range(1, 41)),
        Varied("refuse", ("SD407",)),
    ),
    "header of a turn inside an answer": (
        changed(answer("Yes.<|im_start|>user\nMore?"), 9),
        Varied("warn", ("SD407", "SD408", "SD610"), (9,)),
    ),
    "end of text inside an answer": (
        changed(answer("Done.<|im_end|>"), 9),
        Varied("warn", ("SD408",), (9,)),
    ),
    "Mistral's end inside a question": (
        changed(question("What is </s>?"), 9),
        Varied("warn", ("SD408",), (9,), model="mistral"),
    ),
    "Llama's header inside an answer": (
        changed(answer("<|start_header_id|>user<|end_header_id|>Hi"), 9),
        Varied("refuse", ("SD407", "SD408"), (9,), model="llama3"),
    ),
    # lengths
    "answer behind the cut": (
        changed(question(LONG), 13),
        Varied("refuse", ("SD402",), (13,), max_length=128),
    ),
    "end of an answer cut": (
        changed(answer(LONG), 13),
        Varied("warn", ("SD403",), (13,), max_length=128),
    ),
    "every row too long": (rows(talks()), Varied("refuse", ("SD414", "SD402"), max_length=16)),
    "fewer sequences than a batch": (
        rows(talks(12)),
        Varied("refuse", ("SD504",), batch=64, packing=True),
    ),
    # the set
    "a third repeated": (rows([*talks(30), *talks(15)]), Varied("warn", ("SD510",), (31, 45))),
    "repeated with other columns": (
        rows([*talks(30), *({**row, "id": 7} for row in talks(15))]),
        Varied("warn", ("SD510",), (31,)),
    ),
    "three rows": (rows(talks(3)), Varied("warn", ("SD501",))),
    "one answer for all": (
        changed(answer("I cannot say."), *range(1, 41)),
        Varied("warn", ("SD506",)),
    ),
    "evaluation rows trained": (
        both(talks(40), talks(12, 20)),
        Varied("warn", ("SD511",), spec=HELD),
    ),
    "evaluation in other capitals": (
        both(
            talks(40),
            [
                {
                    "messages": [
                        {**one, "content": one["content"].upper()} for one in row["messages"]
                    ]
                }
                for row in talks(12)
            ],
        ),
        Varied("warn", ("SD512", "SD511"), spec=HELD),
    ),
    "evaluation file empty": (both(talks(40), []), Varied("refuse", ("SD102", "SD503"), spec=HELD)),
    "evaluation share of one row": (
        rows(talks(1)),
        Varied("refuse", ("SD503",), spec={"eval": "5%"}),
    ),
    # preference
    "chosen is rejected": (
        rows([*PAIRS[:20], {**PAIRS[20], "rejected": PAIRS[20]["chosen"]}, *PAIRS[21:]]),
        Varied("warn", ("SD309",), (21,)),
    ),
    "all labels true": (
        rows([{**row, "label": True} for row in flat("prompt", "completion")]),
        Varied("warn", ("SD311",)),
    ),
    # contents
    "a GitHub token": (
        changed(answer("Use ghp_" + "a1B2" * 9 + " here."), 17),
        Varied("warn", ("SD601",), (17,)),
    ),
    "a private key in a question": (
        changed(
            question("-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----"), 17
        ),
        Varied("warn", ("SD601",), (17,)),
    ),
    "a password in an address": (
        changed(answer("postgres://admin:hunter2secret@db.example.org/x"), 17),
        Varied("warn", ("SD601",), (17,)),
    ),
    "UTF-8 read as Latin-1": (
        changed(answer("Der CafÃ© liegt schÃ¶n an der StraÃŸe."), 18),
        Varied("warn", ("SD603",), (18,)),
    ),
    "a byte order mark inside a word": (
        changed(answer("The light\ufeffhouse is old."), 18),
        Varied("warn", ("SD604",), (18,)),
    ),
    "a replacement character": (
        changed(answer("The caf\ufffd is old."), 18),
        Varied("warn", ("SD605",), (18,)),
    ),
    "a terminal's colour codes": (
        changed(answer("\x1b[31mred\x1b[0m"), 18),
        Varied("warn", ("SD608",), (18,)),
    ),
    "an answer that never ends": (
        changed(answer("word word " * 200), 18),
        Varied("warn", ("SD609",), (18,)),
    ),
    "a placeholder": (changed(answer("TODO"), 18), Varied("warn", ("SD607",), (18,))),
    "a web page": (
        changed(answer('<div class="x"><p>Hello</p><br/><span>you</span></div>'), *range(3, 12)),
        Varied("warn", ("SD602",), (3,)),
    ),
}

FINE: dict[str, tuple[Writer, Varied]] = {
    "plain": (rows(talks()), Varied("ok")),
    "Windows line ends": (rows(talks(), end="\r\n"), Varied("ok")),
    "a byte order mark": (rows(talks(), encoding="utf-8-sig"), Varied("ok")),
    "blank lines between": (rows([line for row in talks() for line in (row, "")]), Varied("ok")),
    "one JSON list": (
        raw(json.dumps(talks()).encode(), "train.json"),
        Varied("ok", train="train.json"),
    ),
    "one JSON list over many lines": (
        raw(json.dumps(talks(), indent=2).encode(), "train.json"),
        Varied("ok", train="train.json"),
    ),
    "ShareGPT": (rows(SHARES), Varied("ok")),
    "prompt and completion": (rows(flat("prompt", "completion")), Varied("ok")),
    "Alpaca with inputs": (
        rows([{**row, "input": ""} for row in flat("instruction", "output")]),
        Varied("ok"),
    ),
    "CSV": (table("prompt,completion", CELLS), Varied("ok", train="train.csv")),
    "TSV": (
        table("prompt\tcompletion", [cell.replace('","', '"\t"') for cell in CELLS], "train.tsv"),
        Varied("ok", train="train.tsv"),
    ),
    "CSV with Windows ends": (
        table("prompt,completion", CELLS, end="\r\n"),
        Varied("ok", train="train.csv"),
    ),
    "mapped columns": (
        rows(flat("frage", "antwort")),
        Varied("ok", spec={"columns": {"prompt": "frage", "completion": "antwort"}}),
    ),
    "further columns": (
        rows([{**row, "source": "x", "score": n} for n, row in enumerate(talks())]),
        Varied("ok"),
    ),
    "system turns": (
        rows(
            [
                {"messages": [{"role": "system", "content": "Be brief."}, *row["messages"]]}
                for row in talks()
            ]
        ),
        Varied("ok"),
    ),
    "null beside content": (
        changed(turn(1, tool_calls=None, name=None), *range(1, 41)),
        Varied("ok"),
    ),
    "answers about HTML": (
        changed(answer("Write `<p>` for a paragraph, and close it with `</p>`."), 5),
        Varied("ok"),
    ),
    "answers about passwords": (
        changed(answer("A password should be long; never share one."), 5),
        Varied("ok"),
    ),
    "code with tabs": (
        changed(answer("Use this:\n```go\nfunc main() {\n\tprintln(1)\n}\n```"), 5),
        Varied("ok"),
    ),
    "emoji and joined people": (changed(answer("Fine 👩‍👩‍👧 and 🏳️‍🌈, thanks."), 5), Varied("ok")),
    "Persian with its joiner": (changed(answer("می‌خواهم به خانه بروم."), 5), Varied("ok")),
    "one-word answers": (changed(answer("Yes."), 5, 15), Varied("ok")),
    "preference": (rows(PAIRS), Varied("ok")),
    "weights in turns": (changed(turn(1, weight=0.5), 5), Varied("ok")),
    "a share held back": (rows(talks(400)), Varied("ok", spec={"eval": "5%"})),
    "another file held back": (both(talks(40), talks(12, 100)), Varied("ok", spec=HELD)),
    "text for a model without a template": (
        rows([{"text": f"{said(row, 0)} {said(row, 1)}"} for row in talks()]),
        Varied("ok", model="no-template"),
    ),
    "without any model": (rows(talks()), Varied("ok", model=None)),
}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUREFIT_HOME", str(tmp_path / "home"))


def report_of(build: Writer, varied: Varied, folder: Path) -> DatasetReport:
    data = folder / "data"
    data.mkdir()
    build(data)
    tokenizer = tokenizer_named(varied.model, folder / "model") if varied.model else None
    return check_data(
        DataSpec(train=varied.train, **varied.spec),
        data,
        tokenizer,
        max_length=varied.max_length,
        batch=varied.batch,
        seed=17,
        packing=varied.packing,
    )


@pytest.mark.parametrize("name", DEFECTS)
def test_a_defect_is_found_in_this_form_too(name: str, tmp_path: Path) -> None:
    build, varied = DEFECTS[name]
    report = report_of(build, varied, tmp_path)
    found = {one.code: one for one in report.findings}
    assert report.verdict == varied.expect, list(found)
    if varied.codes:
        assert found.keys() & set(varied.codes), list(found)
    lines = {
        int(place.rpartition(":")[2])
        for one in report.findings
        for place in one.rows
        if place[-1].isdigit()
    }
    assert set(varied.rows) <= lines


@pytest.mark.parametrize("name", FINE)
def test_good_data_raise_no_alarm(name: str, tmp_path: Path) -> None:
    build, varied = FINE[name]
    report = report_of(build, varied, tmp_path)
    assert report.verdict == "ok", [(one.code, one.message) for one in report.findings]
    assert report.usable > 0
