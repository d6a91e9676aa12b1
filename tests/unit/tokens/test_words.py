"""The table of words gives what the library gives, id for id and mask for mask, or says that it cannot."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import tokenizers
from hypothesis import given, reject, settings
from hypothesis import strategies as st
from token_folders import FAMILIES, SHIPPED, tokenizer_named

from surefit.tokens import ChatTokenizer, Rendered, TemplateRefusalError
from surefit.tokens.encoded import EncodedRow, mask_of
from surefit.tokens.unicode_classes import KNOWN_TEXT, python_pattern
from surefit.tokens.words import WORDS_KEPT, WordTokens, word_tokens

GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
LLAMA3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|"
    r"\s*[\r\n]+|\s+(?!\S)|\s+"
)
QWEN2 = LLAMA3.replace("{1,3}", "")


def _byte_level(**options: bool) -> dict[str, Any]:
    usual = {"add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    return {"type": "ByteLevel", **usual, **options}


def _split(pattern: str, **options: Any) -> dict[str, Any]:
    usual = {"behavior": "Isolated", "invert": False}
    return {"type": "Split", "pattern": {"Regex": pattern}, **usual, **options}


def _sequence(*steps: dict[str, Any]) -> dict[str, Any]:
    return {"type": "Sequence", "pretokenizers": list(steps)}


KNOWN: dict[str, dict[str, Any]] = {
    "gpt2": {"pre_tokenizer": _byte_level()},
    "smollm2": {
        "pre_tokenizer": _sequence({"type": "Digits", "individual_digits": True}, _byte_level())
    },
    "whole numbers": {
        "pre_tokenizer": _sequence({"type": "Digits", "individual_digits": False}, _byte_level())
    },
    "llama3": {
        "pre_tokenizer": _sequence(_split(LLAMA3), _byte_level(use_regex=False)),
        "post_processor": _byte_level(),
    },
    "qwen2": {
        "normalizer": {"type": "NFC"},
        "pre_tokenizer": _sequence(_split(QWEN2), _byte_level(use_regex=False)),
        "post_processor": _byte_level(trim_offsets=False),
    },
}
UNKNOWN: dict[str, dict[str, Any]] = {
    "a space in front": {"pre_tokenizer": _byte_level(add_prefix_space=True)},
    "words by space": {"pre_tokenizer": {"type": "Whitespace"}},
    "no words": {"pre_tokenizer": None},
    "a class of its own": {
        "pre_tokenizer": _sequence(_split(r"\p{Han}+|."), _byte_level(use_regex=False))
    },
    "what is between": {
        "pre_tokenizer": _sequence(_split(GPT2, invert=True), _byte_level(use_regex=False))
    },
    "matches thrown away": {
        "pre_tokenizer": _sequence(_split(GPT2, behavior="Removed"), _byte_level(use_regex=False))
    },
    "a capture": {"pre_tokenizer": _sequence(_split(r"(\s+)|\S+"), _byte_level(use_regex=False))},
    "small letters": {"normalizer": {"type": "Lowercase"}},
}


def _description(changes: dict[str, Any]) -> dict[str, Any]:
    description: dict[str, Any] = json.loads((SHIPPED / "chatml" / "tokenizer.json").read_text())
    return {**description, **changes}


def _tokenizer(changes: dict[str, Any]) -> tokenizers.Tokenizer:
    return tokenizers.Tokenizer.from_str(json.dumps(_description(changes)))


def _library(tokenizer: tokenizers.Tokenizer, text: str) -> list[int]:
    ids: list[int] = tokenizer.encode(text, add_special_tokens=False).ids
    return ids


def _table(tokenizer: tokenizers.Tokenizer) -> WordTokens:
    table = word_tokens(tokenizer)
    assert table is not None
    return table


MARKS = ("<|im_start|>", "<|im_end|>", "<|im_", "<", "|>")
PIECE = st.one_of(
    st.text(max_size=12),
    st.text("aZ 09'\n\t\r_.,-éßЖ好中³½。", max_size=16),
    st.sampled_from([*MARKS, "I'll", "WE'RE", "  \n  ", "x" * 80, "1234567", "don't", "\x1c \x85"]),
)
TEXT = st.lists(PIECE, max_size=8).map("".join)


@pytest.mark.parametrize("name", KNOWN)
@given(text=TEXT)
@settings(max_examples=400, deadline=None)
def test_ids_are_those_of_the_library(name: str, text: str) -> None:
    tokenizer = _tokenizer(KNOWN[name])
    found = _table(tokenizer).encode(text, [])
    if found is None:
        assert not text or not text.isascii()
    else:
        assert found[0] == _library(tokenizer, text)


@pytest.mark.parametrize("family", FAMILIES)
@given(
    contents=st.lists(TEXT, min_size=2, max_size=4),
    rows=st.integers(1, 3),
)
@settings(max_examples=60, deadline=None)
def test_masks_are_those_of_the_library(
    family: str, contents: list[str], rows: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    tokenizer = tokenizer_named(family, tmp_path_factory.mktemp("model"))
    roles = ("user", "assistant") * 2
    messages = [
        {"role": role, "content": text} for role, text in zip(roles, contents, strict=False)
    ]
    try:
        rendered = tokenizer.render_answers(messages[: len(messages) // 2 * 2])
    except TemplateRefusalError:
        reject()
    table = _table(tokenizers.Tokenizer.from_file(str(SHIPPED / family / "tokenizer.json")))
    found = table.encode(rendered.text, rendered.spans)
    wanted = tokenizer._encode_by_library([rendered] * rows)[-1]
    assert found is None or EncodedRow(*found) == wanted
    if all(one.isascii() and one.isalnum() for one in contents):
        assert found is not None


@pytest.mark.parametrize("name", KNOWN)
def test_every_known_character_is_of_the_class_that_the_library_gives_it(name: str) -> None:
    tokenizer = _tokenizer(KNOWN[name])
    table = _table(tokenizer)
    known = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]
    known = [one for one in known if KNOWN_TEXT.fullmatch(one)]
    assert len(known) > 30_000
    for at in range(0, len(known), 500):
        # Beside a letter, a number, a sign, white space and itself: a wrong class moves a border.
        text = "".join(f"a{one}1{one}. {one}{one}b {one} 's{one}\n" for one in known[at : at + 500])
        found = table.encode(text, [])
        if found is not None:  # where the library would compose letters, it is asked
            assert found[0] == _library(tokenizer, text)


@pytest.mark.parametrize("name", KNOWN)
def test_letters_beyond_ascii_need_no_library(name: str) -> None:
    tokenizer = _tokenizer(KNOWN[name])
    text = "It's 12345 o'clock,  isn't it?\n\n  Déjà vu — 好的。\tfoo_bar(1.5)  "
    table = _table(tokenizer)
    found = table.encode(text, [])
    assert found is not None
    assert found[0] == _library(tokenizer, text)


@pytest.mark.parametrize("name", UNKNOWN)
def test_a_step_that_is_not_known_leaves_everything_to_the_library(name: str) -> None:
    assert word_tokens(_tokenizer(UNKNOWN[name])) is None


@pytest.mark.parametrize("option", ["lstrip", "rstrip", "single_word"])
def test_an_added_token_that_looks_at_its_neighbours_leaves_everything_to_the_library(
    option: str,
) -> None:
    description = _description({})
    description["added_tokens"][1][option] = True
    assert word_tokens(tokenizers.Tokenizer.from_str(json.dumps(description))) is None


def test_dropout_leaves_everything_to_the_library() -> None:
    description = _description({})
    description["model"]["dropout"] = 0.1
    assert word_tokens(tokenizers.Tokenizer.from_str(json.dumps(description))) is None


def test_of_added_tokens_that_begin_alike_the_longest_is_taken() -> None:
    description = _description({})
    longer = {**description["added_tokens"][1], "id": 9000, "content": "<|im_start|>user"}
    description["added_tokens"].append(longer)
    tokenizer = tokenizers.Tokenizer.from_str(json.dumps(description))
    text = "<|im_start|>user\nHi<|im_start|>use"
    found = _table(tokenizer).encode(text, [])
    assert found is not None
    assert found[0] == _library(tokenizer, text)


def test_a_span_that_begins_inside_of_a_word_is_left_to_the_library() -> None:
    table = _table(_tokenizer({}))
    assert table.encode("one two", [(3, 7)]) is not None
    assert table.encode("one two", [(4, 7)]) is None
    assert table.encode("one two", [(0, 6)]) is None


@given(text=TEXT, start=st.integers(0, 20), length=st.integers(0, 20))
@settings(max_examples=300, deadline=None)
def test_a_span_anywhere_gives_the_mask_of_the_library(text: str, start: int, length: int) -> None:
    spans = [(start, start + length)] if start + length <= len(text) else []
    found = _table(_tokenizer({})).encode(text, spans)
    wanted = tokenizers.Tokenizer.from_file(str(SHIPPED / "chatml" / "tokenizer.json"))
    assert found is None or found[1] == mask_of(
        wanted.encode(text, add_special_tokens=False), spans
    )


def test_every_token_of_the_last_letter_is_trained() -> None:
    tokenizer = tokenizers.Tokenizer.from_file(str(SHIPPED / "chatml" / "tokenizer.json"))
    text = "Yes 🙂"
    encoding = tokenizer.encode(text, add_special_tokens=False)
    letter = [at for at, place in enumerate(encoding.offsets) if place[1] == len(text)]
    assert len(letter) > 1, "the letter must have several tokens for this to mean anything"
    mask = mask_of(encoding, [(0, len(text))])
    assert set(mask) == {1}
    assert _table(_tokenizer({})).encode(text, [(0, len(text))]) == (encoding.ids, mask)


def test_white_space_at_the_border_is_left_to_a_library_that_trims_it() -> None:
    assert _table(_tokenizer(KNOWN["gpt2"])).encode("one two", [(3, 7)]) is not None
    assert _table(_tokenizer(KNOWN["llama3"])).encode("one two", [(3, 7)]) is None


def test_the_table_begins_anew_when_it_is_full(tmp_path: Path) -> None:
    table = _table(_tokenizer({}))
    for number in range(WORDS_KEPT + 100):
        table.encode(f"w{number:05d} {number}<|im_end|>", [])
        if number > WORDS_KEPT:
            assert len(table._table) <= WORDS_KEPT
    assert table.encode("x" * 100, []) is not None
    assert "x" * 100 not in table._table


@pytest.fixture
def chat(tmp_path: Path) -> ChatTokenizer:
    return tokenizer_named("chatml", tmp_path)


def _rows(count: int) -> Iterator[Rendered]:
    for number in range(count):
        text = f"<|im_start|>assistant\nNumber {number}<|im_end|>"
        yield Rendered(text, [(22, len(text))])


def test_the_first_rows_are_compared_and_a_difference_ends_the_use_of_the_table(
    chat: ChatTokenizer,
) -> None:
    wanted = chat._encode_by_library(list(_rows(300)))
    assert chat._words is not None
    chat._words._table["Number"] = (1, 2, 3)
    assert chat.encode_batch(list(_rows(300))) == wanted
    assert chat._words.encode("Number", []) is None


def test_a_late_difference_is_an_error_of_ours(chat: ChatTokenizer) -> None:
    chat.encode_batch(list(_rows(100)))
    assert chat._words is not None
    chat._words._table["Number"] = (1, 2, 3)
    with pytest.raises(RuntimeError, match="disagree"):
        chat.encode_batch(list(_rows(300)))


def test_a_text_that_the_tokenizer_shall_begin_goes_to_the_library(chat: ChatTokenizer) -> None:
    rows = [chat.render_text("Plain text."), *_rows(1)]
    assert chat.encode_batch(rows) == [chat.encode_batch([row])[0] for row in rows]


def test_an_expression_with_a_class_that_is_not_known_is_not_translated() -> None:
    assert python_pattern(r"\p{Lu}+") is None
    assert python_pattern(r"\d+") is None
    assert python_pattern(r"(\s)") is None
    assert python_pattern(r"[unclosed") is None
