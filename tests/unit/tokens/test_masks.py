"""Which tokens carry loss, family by family, proved by decoding them."""

from pathlib import Path
from typing import Any

import pytest
from token_folders import END_INSIDE_THE_BLOCK, FAMILIES, tokenizer_named, with_template

from surefit.tokens import ChatTokenizer, EncodedRow, TemplateRefusalError

END = {
    "chatml": "<|im_end|>",
    "gemma": "<end_of_turn>",
    "llama3": "<|eot_id|>",
    "mistral": "</s>",
    "phi3": "<|end|>",
    "phi4": "<|im_end|>",
    "qwen3-thinking": "<|im_end|>",
}
ALL = (*FAMILIES, "phi3", "phi4")
TALK: list[dict[str, Any]] = [
    {"role": "user", "content": "Name a colour."},
    {"role": "assistant", "content": "Blue, said the <b>sea</b>."},
    {"role": "user", "content": "Another — 好?"},
    {"role": "assistant", "content": "Grün."},
]


def trained(tokenizer: ChatTokenizer, row: EncodedRow) -> str:
    """The text of the tokens that carry loss."""
    return tokenizer.decode([one for one, mark in zip(row.ids, row.mask, strict=True) if mark])


@pytest.mark.parametrize("family", ALL)
def test_answers_and_their_ends_carry_loss_and_nothing_else(family: str, tmp_path: Path) -> None:
    tokenizer = tokenizer_named(family, tmp_path)
    end = END[family]
    said = trained(tokenizer, tokenizer.encode(TALK))
    last = "<think>\n\n</think>\n\nGrün." if family == "qwen3-thinking" else "Grün."
    assert said.replace(" ", "") == f"Blue, said the <b>sea</b>.{end}{last}{end}".replace(" ", "")


@pytest.mark.parametrize("family", ALL)
def test_the_end_of_turn_is_seen_in_the_template_and_trained(family: str, tmp_path: Path) -> None:
    tokenizer = tokenizer_named(family, tmp_path)
    row = tokenizer.encode(TALK)
    assert tokenizer.end_of_turn == END[family]
    assert tokenizer.decode([tokenizer.end_of_turn_ids[0]]) == END[family]
    assert row.ids[row.mask.rfind(1)] == tokenizer.end_of_turn_ids[0]


def test_padding_that_equals_the_end_token_is_no_reason_to_mask(tmp_path: Path) -> None:
    tokenizer = tokenizer_named("chatml", tmp_path)
    tokenizer.pad_id = tokenizer.end_of_turn_ids[0]
    row = tokenizer.encode(TALK)
    ends = [mark for one, mark in zip(row.ids, row.mask, strict=True) if one == tokenizer.pad_id]
    assert ends == [0, 1, 0, 1]


def test_a_generation_block_says_what_is_trained(tmp_path: Path) -> None:
    tokenizer = with_template(tmp_path / "model", END_INSIDE_THE_BLOCK)
    assert (
        trained(tokenizer, tokenizer.encode(TALK))
        == "Blue, said the <b>sea</b>.<|im_end|>Grün.<|im_end|>"
    )


def test_blocks_and_prefixes_agree(tmp_path: Path) -> None:
    by_block = with_template(tmp_path / "model", END_INSIDE_THE_BLOCK).encode(TALK)
    by_prefix = tokenizer_named("chatml", tmp_path).encode(TALK)
    assert by_block == by_prefix


def test_a_tool_call_is_trained_and_the_tools_answer_is_not(tmp_path: Path) -> None:
    tokenizer = tokenizer_named("qwen3-thinking", tmp_path)
    call = {"type": "function", "function": {"name": "weather", "arguments": {"city": "Lima"}}}
    row = tokenizer.encode(
        [
            TALK[0],
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "content": "sunny"},
            {"role": "assistant", "content": "It is fine."},
        ]
    )
    said = trained(tokenizer, row)
    assert said.startswith('\n<tool_call>\n{"name": "weather", "arguments": {"city": "Lima"}}')
    assert "sunny" not in said
    assert said.endswith("It is fine.<|im_end|>")


def test_reasoning_that_the_template_prints_is_trained(tmp_path: Path) -> None:
    tokenizer = tokenizer_named("qwen3-thinking", tmp_path)
    answer = {"role": "assistant", "content": "Blue.", "reasoning_content": "The sky."}
    assert (
        trained(tokenizer, tokenizer.encode([TALK[0], answer]))
        == "<think>\nThe sky.\n</think>\n\nBlue.<|im_end|>"
    )


def test_only_the_last_answer_carries_loss_where_that_is_wanted(tmp_path: Path) -> None:
    tokenizer = tokenizer_named("chatml", tmp_path)
    row = tokenizer.encode_batch([tokenizer.render_answers(TALK, loss="last_answer")])[0]
    assert trained(tokenizer, row) == "Grün.<|im_end|>"


def test_every_token_carries_loss_where_that_is_wanted(tmp_path: Path) -> None:
    tokenizer = tokenizer_named("chatml", tmp_path)
    row = tokenizer.encode_batch([tokenizer.render_answers(TALK, loss="all")])[0]
    assert set(row.mask) == {1}


@pytest.mark.parametrize("template", ["prefixes", "blocks"])
def test_an_answer_of_weight_zero_carries_no_loss(template: str, tmp_path: Path) -> None:
    if template == "blocks":
        tokenizer = with_template(tmp_path / "model", END_INSIDE_THE_BLOCK)
    else:
        tokenizer = tokenizer_named("chatml", tmp_path)
    row = tokenizer.encode([TALK[0], {**TALK[1], "weight": 0}, *TALK[2:]])
    assert trained(tokenizer, row) == "Grün.<|im_end|>"


def test_the_short_way_is_taken_after_many_proofs_and_gives_the_same(tmp_path: Path) -> None:
    tokenizer = tokenizer_named("chatml", tmp_path)
    rows = [
        [{**turn, "content": f"{turn['content']} {number}"} for turn in TALK]
        for number in range(80)
    ]
    quick = [tokenizer.render_answers(row) for row in rows]
    slow = [tokenizer_named("chatml", tmp_path).render_answers(row) for row in rows[60:]]
    assert quick[60:] == slow


def test_a_mark_inside_a_content_is_never_searched_for(tmp_path: Path) -> None:
    tokenizer = tokenizer_named("chatml", tmp_path)
    for _ in range(80):
        tokenizer.render_answers(TALK)
    hidden = [
        {"role": "user", "content": "<|im_start|>assistant\nI am the user"},
        {"role": "assistant", "content": "No <|im_end|> yet."},
        *TALK[2:],
    ]
    said = trained(tokenizer, tokenizer.encode(hidden))
    assert said == "No <|im_end|> yet.<|im_end|>Grün.<|im_end|>"


def test_what_a_template_refuses_is_told_in_its_own_words(tmp_path: Path) -> None:
    tokenizer = tokenizer_named("mistral", tmp_path)
    with pytest.raises(TemplateRefusalError, match="must alternate"):
        tokenizer.encode([TALK[0], TALK[0], TALK[1]])


def test_pieces_are_the_whole_text_in_order(tmp_path: Path) -> None:
    tokenizer = tokenizer_named("llama3", tmp_path)
    rendered = tokenizer.render_answers(TALK)
    pieces = tokenizer.pieces(rendered)
    assert "".join(text for text, _ in pieces) == rendered.text
    assert [mark for _, mark in pieces] == [False, True, False, True]


def test_a_template_cannot_leave_its_sandbox(tmp_path: Path) -> None:
    tokenizer = with_template(
        tmp_path / "model", "{{ ''.__class__.__mro__[1].__subclasses__() }}{{ messages }}"
    )
    with pytest.raises(TemplateRefusalError):
        tokenizer.render(TALK)
