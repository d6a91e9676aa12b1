"""Formats are recognised from what a row holds, and become turns or text."""

from pathlib import Path
from typing import Any

import pytest

from surefit.data.detection import Detection
from surefit.data.row import DataFile, Row
from surefit.data.turns import settle_turns
from surefit.recipe.data_spec import DataSpec

FILE = DataFile("rows.jsonl", Path("rows.jsonl"), "train", 1)
USER, ANSWER = {"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}


def shaped(value: dict[str, Any], *, columnar: bool = False, **spec: Any) -> Row:
    """A row after detection over itself."""
    row = Row(FILE, 1, b"", value, columnar=columnar)
    Detection(DataSpec(train="rows.jsonl", **spec), [row]).shape(row)
    settle_turns(row)
    return row


def talk(row: Row) -> list[tuple[str, Any]]:
    return [(turn["role"], turn["content"]) for turn in row.messages]


PLAIN = [("user", "Hi"), ("assistant", "Hello")]
SAME: dict[str, dict[str, Any]] = {
    "messages": {"messages": [USER, ANSWER]},
    "sharegpt": {
        "conversations": [{"from": "human", "value": "Hi"}, {"from": "gpt", "value": "Hello"}]
    },
    "alpaca": {"instruction": "Hi", "input": " ", "output": "Hello"},
    "prompt_completion": {"prompt": "Hi", "completion": "Hello", "label": "greeting"},
    "preference": {"prompt": "Hi", "chosen": "Hello", "rejected": "Go"},
    "unpaired_preference": {"prompt": "Hi", "completion": "Hello", "label": True},
}


@pytest.mark.parametrize("name", SAME)
def test_every_format_gives_the_same_turns(name: str) -> None:
    row = shaped(SAME[name])
    assert row.format == name
    assert talk(row) == PLAIN


def test_plain_text_stays_text() -> None:
    row = shaped({"text": "Once upon a time", "source": "book"})
    assert (row.format, row.text, row.messages) == ("text", "Once upon a time", [])


def test_conversations_with_roles_are_messages() -> None:
    assert shaped({"conversations": [USER, ANSWER]}).format == "messages"


def test_messages_with_from_and_value_are_sharegpt() -> None:
    row = shaped({"messages": SAME["sharegpt"]["conversations"]})
    assert (row.format, talk(row)) == ("sharegpt", PLAIN)


def test_an_input_follows_its_instruction_after_a_blank_line() -> None:
    row = shaped({"instruction": "Translate.", "input": "Hi", "output": "Salut"})
    assert row.messages[0]["content"] == "Translate.\n\nHi"


@pytest.mark.parametrize("name", ["alpaca", "prompt_completion", "sharegpt"])
def test_a_system_column_becomes_the_first_turn(name: str) -> None:
    assert talk(shaped({**SAME[name], "system": "Be kind."})) == [("system", "Be kind."), *PLAIN]


def test_the_prompts_own_answers_are_not_trained() -> None:
    row = shaped({"prompt": [USER, ANSWER, USER], "completion": [ANSWER]})
    assert [turn.get("weight", 1) for turn in row.messages] == [1, 0, 1, 1]


def test_a_preference_without_prompt_has_it_in_both() -> None:
    row = shaped({"chosen": [USER, ANSWER], "rejected": [USER, {**ANSWER, "content": "Go"}]})
    assert talk(row) == PLAIN
    assert row.rejected is not None
    assert row.rejected[1]["content"] == "Go"


def test_a_function_call_becomes_a_tool_call() -> None:
    call = {"from": "function_call", "value": '{"name": "weather", "arguments": {"city": "Lima"}}'}
    row = shaped({"conversations": [call, {"from": "observation", "value": "sunny"}]})
    function = row.messages[0]["tool_calls"][0]["function"]
    assert function == {"name": "weather", "arguments": {"city": "Lima"}}
    assert row.messages[1]["role"] == "tool"


def test_text_parts_are_joined_and_numbers_become_text() -> None:
    parts = [{"type": "text", "text": "How "}, {"type": "text", "text": "many?"}]
    row = shaped({"messages": [{**USER, "content": parts}, {**ANSWER, "content": 88}]})
    assert talk(row) == [("user", "How many?"), ("assistant", "88")]
    assert row.notes == {"number": "88"}


def test_arguments_as_text_become_an_object() -> None:
    call = {"type": "function", "function": {"name": "weather", "arguments": '{"city": "Lima"}'}}
    row = shaped({"messages": [USER, {**ANSWER, "content": None, "tool_calls": [call]}]})
    assert row.messages[1]["tool_calls"][0]["function"]["arguments"] == {"city": "Lima"}


def test_nulls_that_a_table_filled_in_are_dropped_and_noted() -> None:
    call = {"function": {"name": "weather", "arguments": {"city": "Lima", "days": None}}}
    value = {
        "messages": [{**USER, "name": None}, {**ANSWER, "content": None, "tool_calls": [call]}]
    }
    row = shaped(value, columnar=True)
    assert "name" not in row.messages[0]
    assert row.messages[1]["tool_calls"][0]["function"]["arguments"] == {"city": "Lima"}
    assert row.notes == {"null_arguments": "days"}


def test_a_null_argument_of_a_json_line_is_meant() -> None:
    call = {"function": {"name": "weather", "arguments": {"city": "Lima", "days": None}}}
    row = shaped({"messages": [USER, {**ANSWER, "tool_calls": [call]}]})
    assert row.messages[1]["tool_calls"][0]["function"]["arguments"]["days"] is None


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ('[{"role": "user", "content": "Hi"}]', "json_text"),
        ("[{'role': 'user', 'content': 'Hi', 'name': None}]", "python_text"),
    ],
)
def test_messages_stored_as_text_are_parsed(text: str, note: str) -> None:
    row = shaped({"messages": text})
    assert row.messages[0]["content"] == "Hi"
    assert row.notes == {note: "messages"}


def test_python_text_is_read_as_data_and_never_run() -> None:
    row = shaped({"messages": "__import__('os').system('exit 3')"})
    assert row.messages == []
    assert row.problem.startswith("messages is text")


def test_mapped_columns_are_read_and_decide_the_format() -> None:
    row = shaped(
        {"frage": "Hi", "antwort": "Hello"}, columns={"prompt": "frage", "completion": "antwort"}
    )
    assert (row.format, talk(row)) == ("prompt_completion", PLAIN)


def test_keys_inside_a_turn_are_mapped() -> None:
    turns = [{"speaker": "user", "say": "Hi"}, {"speaker": "assistant", "say": "Hello"}]
    row = shaped({"messages": turns}, columns={"role": "speaker", "content": "say"})
    assert talk(row) == PLAIN


def test_a_chosen_answer_can_be_mapped_to_be_trained() -> None:
    columns = {"prompt": "prompt", "completion": "chosen"}
    row = shaped(SAME["preference"], columns=columns, format="prompt_completion")
    assert (row.format, talk(row)) == ("prompt_completion", PLAIN)


def test_columns_under_usual_other_names_are_read_and_told() -> None:
    row = Row(FILE, 1, b"", {"question": "Hi", "answer": "Hello"})
    detection = Detection(DataSpec(train="rows.jsonl"), [row])
    detection.shape(row)
    assert talk(row) == PLAIN
    assert detection.guessed_columns == {"question": "prompt", "answer": "completion"}


def test_a_misspelt_column_is_not_guessed_away() -> None:
    row = Row(FILE, 1, b"", {"instuction": "Hi", "input": "", "output": "Hello"})
    detection = Detection(DataSpec(train="rows.jsonl"), [row])
    assert detection.format is None
